# SPDX-License-Identifier: BSD-3-Clause
"""The modules build for every kernel there is, and no tool has a word to say: compiler (W=1), sparse, checkpatch.
And they say what they are: modinfo has a text for each, and for each parameter; dkms.conf names them all."""

from __future__ import annotations

import lzma
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from emulation.features.check.build import build, lane_target, stock_targets
from emulation.features.check.subject import INFO, find
from emulation.setup import MODULES, kernel, modules, stock

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "tc_modules"
SETTING = re.compile(r'^(\w+?)(?:\[\d+\])?="(.*)"$', re.MULTILINE)


def test_no_tool_has_a_word_to_say(lane_kernel: kernel.Kernel, tmp_path: Path) -> None:
    subject = find(SOURCE)
    targets = [lane_target(lane_kernel), *stock_targets()]
    report = build(subject, targets, tmp_path, strict=True)
    assert report.findings == ()
    assert {name: set(built) for name, built in report.data["modules"].items()} == {
        target.name: set(subject.modules) for target in targets
    }


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


@pytest.mark.parametrize("folder", MODULES, ids=lambda folder: folder.name)
def test_dkms_builds_all_modules_of_this_version(folder: Path) -> None:
    settings = SETTING.findall((folder / "dkms.conf").read_text())
    assert {value for name, value in settings if name == "BUILT_MODULE_NAME"} == set(find(folder).modules)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert ("PACKAGE_VERSION", project["version"]) in settings
    read = subprocess.run(["bash", "-euc", f". {folder}/dkms.conf; echo $PACKAGE_NAME"], capture_output=True, text=True)
    assert read.stdout == f"dcflab-{folder.name.replace('tc_', 'tc-')}\n"


def test_what_dkms_has_built_of_this_source_is_taken(
    lane_kernel: kernel.Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Packed or not; of another source, or if one of them lacks, nothing is."""
    own, copy = tmp_path / "modules", tmp_path / "tap"
    built = modules.obtain(shutil.copytree(ROOT / "emulation/tcp_tap", copy), lane_kernel)["tcp_tap"].read_bytes()
    monkeypatch.setattr(stock, "modules_of", lambda release: own)
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "cache"))
    here = stock.Installed("6.1")
    assert modules.installed(copy, here) == {}
    place = own / "updates/dkms/tcp_tap.ko.xz"
    place.parent.mkdir(parents=True)
    place.write_bytes(lzma.compress(built))
    (own / "modules.dep").write_text("updates/dkms/tcp_tap.ko.xz:\n")
    taken = modules.installed(copy, here)
    assert [path.read_bytes() for path in taken.values()] == [built] and set(taken) == {"tcp_tap"}
    with (copy / "tcp_tap.c").open("a") as source:
        source.write("\n")
    assert modules.installed(copy, here) == {}
