# SPDX-License-Identifier: BSD-3-Clause
"""The bundle of modules for a lane's first process: all that an ordinary run loads, as in the checkout."""

from __future__ import annotations

import marshal
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from emulation.lane.init import CHECKOUT as IN_LANE
from emulation.lanes import CHECKOUT
from emulation.lanes.virtual.boot import PYTHON
from emulation.lanes.virtual.bundle import bundle

LOADS = """
import importlib, importlib.machinery, marshal, sys
sys.path.insert(0, sys.argv[1])
from emulation.lane.init import Bundle
for name in [name for name in sys.modules if name.startswith(("emulation", "importlib.", "collections"))]:
    del sys.modules[name]
class Looked(importlib.machinery.PathFinder):
    def find_spec(name, *where):
        found = importlib.machinery.PathFinder.find_spec(name, *where)
        if found and found.origin.endswith(".py"):
            print(name)
        return found
sys.meta_path[-1] = Looked
sys.meta_path.insert(0, Bundle(marshal.loads(sys.stdin.buffer.read())))
for name in sys.argv[2:]:
    importlib.import_module(name)
print("at", sys.modules["emulation.lane.net"].Net.__init__.__code__.co_filename)
"""


def test_an_ordinary_run_looks_for_nothing_else() -> None:
    ordinary = [
        *("emulation.lane.first_process", "emulation.lane.net", "emulation.lane.air", "emulation.lane.links.adhoc"),
        *("emulation.lane.interfaces.radio", "emulation.lane.routing.static", "emulation.lane.recorders.air_trace"),
        *("emulation.lane.recorders.tcp_tap", "emulation.lane.motion", "traffic.applications.bulk"),
    ]
    command = [PYTHON, "-s", "-S", "-B", "-c", LOADS, CHECKOUT, *ordinary]
    found = subprocess.run(command, input=bundle(), capture_output=True, check=True).stdout.decode()
    assert found == f"at {IN_LANE}/emulation/lane/net.py\n"


def test_what_is_frozen_into_the_interpreter_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newer Pythons freeze more."""
    monkeypatch.setattr(sys.modules[bundle.__module__], "STANDARD", ("os", "re"))
    modules = marshal.loads(bundle.__wrapped__())
    assert "re" in modules and "os" not in modules


def test_it_has_the_checkouts_code() -> None:
    modules = marshal.loads(bundle())
    _, origin, code = modules["emulation.lane.net"]
    source = CHECKOUT / Path(origin).relative_to(IN_LANE)
    assert marshal.loads(code) == compile(source.read_bytes(), source, "exec", dont_inherit=True)


def test_an_exact_one_is_the_same_from_another_checkout_and_process(tmp_path: Path) -> None:
    for top in ("emulation", "traffic"):
        shutil.copytree(CHECKOUT / top, tmp_path / top, ignore=shutil.ignore_patterns("__pycache__"))
    program = "import sys; from emulation.lanes.virtual.bundle import bundle; sys.stdout.buffer.write(bundle(True))"
    other = subprocess.run([PYTHON, "-B", "-c", program], cwd=tmp_path, capture_output=True, check=True).stdout
    assert other == bundle(exact=True)
