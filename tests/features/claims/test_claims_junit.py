# SPDX-License-Identifier: BSD-3-Clause
"""Claims as JUnit XML."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from junit_file import cases, read

import experiments
from emulation.cli.main import cli
from emulation.features.claims import record


@pytest.mark.slow
def test_claims_are_cases_in_the_papers_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each column has a case. Open ones are skipped, as those within the noise are; ones that are not reproduced
    fail."""
    file = tmp_path / "claims.xml"
    monkeypatch.setattr("emulation.features.claims.commands.claims.listing", lambda claims: None)
    assert CliRunner().invoke(cli, ["claims", "--junit", str(file)]).exit_code == 0
    root, known = read(file.read_bytes()), record.read().claims
    said = experiments.numbered()
    verdicts = {f"{number}, {column}: {said[number].text}": one for number, of in known.items()
                for column, one in of.columns.items()}  # fmt: skip
    became = cases(root)
    assert became.keys() == verdicts.keys()
    means = {"failure": {"not reproduced"}, "passed": {"reproduced", "reproduced in kind"},
             "skipped": {"open", "within the paper's noise"}}  # fmt: skip
    assert all(one.cause or one.verdict in means[became[name]] for name, one in verdicts.items())
    assert {suite.get("name") for suite in root} == {f"paper 00{n}" for n in range(5)}
