# SPDX-License-Identifier: BSD-3-Clause
"""Each feature can be removed: a tree without its folder does all that the road does, and its help does not list it.

`DCFLAB_ROOMS=all ./dcflab test tests/test_rooms.py` passes the road's quick tests in each of these trees, and in one
without any; `DCFLAB_ROOMS=film,live` in those without these.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from affected import WHOLE_TREE
from rooms import BETWEEN, tree_without

from emulation import features
from emulation.lanes import CHECKOUT

ALL = features.names()
REQUESTED = os.environ.get("DCFLAB_ROOMS", "")
# All modules of the road are loaded, and all commands but those of some features; something is planned, the help shown.
PROGRAM = """
import importlib, pkgutil, sys
from emulation import features
from emulation.cli.main import cli
for top in "analysis", "emulation", "experiments", "topologies", "traffic":
    for module in pkgutil.walk_packages(importlib.import_module(top).__path__, f"{top}."):
        if not module.name.startswith("emulation.features.") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
for part in "of_files", "of_media", "of_networks", "of_runs":
    list(features.parts(part))
from emulation.plan import plan
from emulation.specification import specify
assert plan(specify("string", {"stations": 2}))["nodes"]
for name, file in cli.files.items():
    if not any(f"/features/{feature}/" in file for feature in sys.argv[1:]):
        assert cli.get_command(None, name), name
sys.argv[1:] = []
cli.main(["--help"], prog_name="./dcflab")
"""


def run(tree: Path, *words: str) -> str:
    variables = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-P", *words], cwd=tree, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def of_the_road(tree: Path) -> list[str]:
    """The files of tests outside of features; not those that look at all the tree, which is another one here."""
    files = sorted(file for file in tree.glob("tests/**/test_*.py") if tree / "tests/features" not in file.parents)
    return [
        str(file.relative_to(tree)) for file in files if not re.search(rf"{WHOLE_TREE}|tree_without", file.read_text())
    ]


def commands(said: str) -> set[str]:
    return set(re.findall(r"^  ([a-z]\S+)  ", said.partition("\nRun:\n")[2].partition("\nExamples:")[0], re.M))


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """The commands of the whole tree."""
    return commands(run(CHECKOUT, "-m", "emulation", "--help"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_road_does_without(listed: set[str], name: str, tmp_path: Path) -> None:
    own = {path.stem for path in (CHECKOUT / "emulation/features" / name / "commands").glob("[a-z]*")}
    assert own <= listed
    in_need = [other for other, of in BETWEEN if of == name]
    assert commands(run(tree_without([name], tmp_path / "tree"), "-c", PROGRAM, *in_need)) == listed - own


@pytest.mark.slow
def test_the_road_does_without_any(tmp_path: Path) -> None:
    """Nor do its tests need one to be collected."""
    tree = tree_without(ALL, tmp_path / "tree")
    listed = commands(run(tree, "-c", PROGRAM))
    assert {"run", "replay", "test"} < listed and listed.isdisjoint({*features.commands()})
    words = "--collect-only", "--assert=plain", "-q", "-p", "no:cacheprovider"
    run(tree, "-m", "pytest", *words, *of_the_road(tree))


@pytest.mark.lane
@pytest.mark.skipif(not REQUESTED, reason="takes long, so it is asked for: DCFLAB_ROOMS=all")
@pytest.mark.parametrize("name", [*ALL, ""], ids=lambda name: name or "all")
def test_the_roads_tests_pass_without(name: str, tmp_path: Path) -> None:
    if REQUESTED != "all" and name not in REQUESTED.split(","):
        pytest.skip("it was not asked for")
    tree = tree_without([name] if name else ALL, tmp_path / "tree")
    run(tree, "-m", "pytest", "--quick", "-q", "-p", "no:cacheprovider", *of_the_road(tree))
