# SPDX-License-Identifier: BSD-3-Clause
"""Our own modules build for every kernel there is, and no tool has a word to say: compiler (W=1), sparse, checkpatch.
And they say what they are: modinfo has a text for each, and for each parameter."""

from __future__ import annotations

import re
from pathlib import Path

import once
import pytest
from once import ROOT

from emulation.features.check import build as builder
from emulation.features.check.build import build, checkpatch, lane_target, stock_targets
from emulation.features.check.subject import INFO, find
from emulation.play.imports import modules as modules_in
from emulation.play.imports import reachable
from emulation.setup import kernel, modules
from emulation.setup.modules import SYMBOLS
from emulation.setup.tools import fingerprint

SOURCE = ROOT / "tc_modules"


@pytest.fixture(scope="session")
def lane_kernel() -> kernel.Kernel:
    return kernel.obtain()


@pytest.mark.slow
def test_no_tool_reports_anything(lane_kernel: kernel.Kernel, tmp_path: Path) -> None:
    subject = find(SOURCE)
    targets = [lane_target(lane_kernel), *stock_targets()]

    def passes() -> None:
        report = build(subject, targets, tmp_path, strict=True)
        assert report.findings == ()
        assert {name: set(built) for name, built in report.data["modules"].items()} == {
            target.name: set(subject.modules) for target in targets
        }

    kernels = [lane_kernel.key, *(fingerprint(target.folder / SYMBOLS) for target in targets)]
    tools = [*once.programs("gcc", "sparse", "perl"), fingerprint(checkpatch())]
    builds = reachable([builder.__name__], modules_in(Path(builder.__file__).parent))
    program = once.contents(*builds.values(), Path(__file__))
    once.check("own_modules", passes, *kernels, *tools, *program, *once.contents(SOURCE))


@pytest.fixture(scope="session")
def infos(lane_kernel: kernel.Kernel) -> dict[str, dict[str, list[str]]]:
    """What modinfo would tell, by module and field."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, path in modules.obtain(SOURCE, lane_kernel).items():
        for key, value in INFO.findall(path.read_bytes()):
            found.setdefault(name, {}).setdefault(key.decode(), []).append(value.decode())
    return found


def test_modinfo_explains_modules_and_parameters(infos: dict[str, dict[str, list[str]]]) -> None:
    assert set(infos) == set(find(SOURCE).modules)
    for name, info in infos.items():
        assert len(info["description"]) == 1
        parts = [SOURCE / f"{name}.c"] if name != "sch_ackthin" else (SOURCE / "ackthin").glob("*.c")
        text = "".join(part.read_text() for part in parts)
        written = set(re.findall(r"^module_param\w*\((\w+),", text, re.MULTILINE))
        assert {text.partition(":")[0] for text in info.get("parm", [])} == written


def test_what_a_socket_asks_for_is_found_by_its_name(infos: dict[str, dict[str, list[str]]]) -> None:
    """The kernel loads tcp_NAME for a congestion control that it does not have."""
    for control, module in {
        "ss": "tcp_sca",
        "sca": "tcp_sca",
        "ssca": "tcp_sca",
        "cwl": "tcp_cwl",
        "dcr": "tcp_dcr",
    }.items():
        assert f"tcp_{control}" in [module, *infos[module].get("alias", [])]
