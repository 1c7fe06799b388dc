# SPDX-License-Identifier: BSD-3-Clause
"""What docs/compatibility.md promises is what there is."""

from __future__ import annotations

import re
from pathlib import Path

from rooms import needs

import emulation
from analysis.results import result
from emulation.play.finished import Finished
from emulation.setup import prebuilt
from emulation.specification import Specification

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/compatibility.md").read_text()


def family(name: str) -> int:
    """The version of a netlink family."""
    [specification] = ROOT.glob(f"emulation/**/{name}.yaml")
    return int(re.findall(r"^version: (\d+)$", specification.read_text(), re.MULTILINE)[0])


@needs("check", "claims", "labs")
def test_the_page_has_the_version_of_each_format() -> None:
    from emulation.features.check import report
    from emulation.features.claims.record import Record
    from emulation.features.labs.marks import Marks

    models = {
        "result.json": result.Result, "run.json": Finished, "specification": Specification, "claims.json": Record,
        "marks.json": Marks,
    }  # fmt: skip
    versions = {name: model.model_fields["version"].default for name, model in models.items()} | {
        "plan.json": result.PLAN_VERSION, "lane.json": result.LANE_VERSION, "report.json": report.VERSION,
        "dcflab.json": prebuilt.VERSION, "dcf80211": family("dcf80211"), "manet": family("manet"),
    }  # fmt: skip
    rows = re.findall(r"^\|[^|`]*`([\w.]+)`[^|]*\| (\d+) \|", PAGE, re.MULTILINE)
    assert {name: int(version) for name, version in rows} == versions


def test_the_changelog_begins_with_this_version() -> None:
    [newest, *_] = re.findall(r"^## (\S+) - ", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest == emulation.version()
