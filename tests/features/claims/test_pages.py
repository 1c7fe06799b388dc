# SPDX-License-Identifier: BSD-3-Clause
"""The pages on claims: the page, its figures, and the HTML file."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

import experiments
from analysis.figures.dots import Row, dots
from analysis.pages.packed import unpack
from emulation.features.claims import page, pictures, record
from emulation.features.claims.record import Claims, Look, read
from emulation.features.claims.report import page_of


def test_the_file_and_the_page_are_what_the_code_makes_of_them() -> None:
    """After a change of a study or claim, its old results may not count."""
    filed = record.read()
    now = Claims(filed.model_copy(deep=True))
    now.record.claims = page.standings(now)
    changed = [number for number, known in now.record.claims.items() if filed.claims.get(number) != known]
    assert not changed, f"run ./dcflab claims --write; to test these again: ./dcflab claims {' '.join(changed)} --write"
    assert record.FILE.read_text() == record.text(now.record), "run ./dcflab claims --write"
    assert page.PAGE.read_text() == page.page(now.record), "run ./dcflab claims --write"
    assert page.DETAILS.read_text() == page.details(now.record), "run ./dcflab claims --write"


def test_each_claim_is_a_clause_on_the_page() -> None:
    """Once, with both verdicts; its whole text is on the page of details."""
    shown, details = page.PAGE.read_text(), " ".join(page.DETAILS.read_text().split())
    for number, said in experiments.numbered().items():
        [row] = [line for line in shown.splitlines() if line.startswith(f"| [{number}]")]
        assert row.count(" | ") == 4 and said.short in row and len(said.short) <= 110
        assert said.text in details and said.short in details


@pytest.mark.slow
def test_a_look_at_some_seeds_leaves_the_figures_as_they_are(tmp_path: Path) -> None:
    for name, look in ("all", Look()), ("some", Look([1, 2, 3], 0.95)):
        (tmp_path / name).mkdir()
        pictures.draw(Claims(read(), look), tmp_path / name)
    files = list((tmp_path / "all").iterdir())
    assert files
    for file in files:
        assert file.read_bytes() == (tmp_path / "some" / file.name).read_bytes()


@pytest.mark.slow
def test_each_paper_has_a_figure_of_what_is_known() -> None:
    """A new figure would have the same rows."""
    claims = Claims(read())
    for paper in page.PAPERS:
        found = pictures.rows(claims, paper)
        assert page.picture(paper).exists() == bool(found)
        drawn = html.unescape(page.picture(paper).read_text()) if found else ""
        assert all(row.label in drawn for row in found), "run ./dcflab claims --write"


def test_a_figure_is_the_same_file_each_time(tmp_path: Path) -> None:
    """A value far outside the published range is an arrow at the edge."""
    rows = [Row("one", (1.1, 1.2), {"as published": (1.15, 1.1, 1.2), "today": (0.9, 0.8, 1.0)}),
            Row("another", (0.5, 0.5), {"today": (40.0, 1.0, 1600.0)})]  # fmt: skip
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        dots(tmp_path / name / "dots.svg", rows, "Paper 000")
    first, again = ((tmp_path / name / "dots.svg").read_bytes() for name in ("a", "b"))
    assert first == again and b"another" in first and b"as published" in first


@pytest.mark.slow
def test_the_report_has_all_of_it_in_one_file() -> None:
    claims = Claims(read())
    head, _ = unpack(page_of(claims))
    told = [claim for subject in head["subjects"] for claim in subject["claims"]]
    assert [claim["number"] for claim in told] == [
        number for about in page.subjects() for number, said in experiments.numbered().items() if said.about == about
    ]
    assert all(len(claim["columns"]) == 2 and all(one["verdict"] for one in claim["columns"]) for claim in told)
    assert sum(row[2] for row in head["counts"]) == len(told)
    assert [paper["picture"] is None for paper in head["papers"]] == [
        not pictures.rows(claims, paper) for paper in page.PAPERS
    ]
