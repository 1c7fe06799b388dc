# SPDX-License-Identifier: BSD-3-Clause
"""Each feature can be removed: without its folder, the rest of the program works, and help does not list it.

In a tree without any feature, the quick tests outside of features pass, too. To save time, those that boot a lane and
folders of tests that no feature can touch are left out. `DCFLAB_ROOMS=all ./dcflab test tests/test_rooms.py` runs all
quick tests outside of features in that tree, and in one without each feature; `DCFLAB_ROOMS=film,live` only in those
without these.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rooms import BETWEEN, tree_without

from emulation import features
from emulation.lanes import CHECKOUT

ALL = features.names()
QUICK = "--quick", "-q", "-p", "no:cacheprovider"
COLLECT = "--collect-only", "--assert=plain", "-q", "-p", "no:cacheprovider"
REQUESTED = os.environ.get("DCFLAB_ROOMS", "")
# They test cores and modules in C, models, and what reads runs: none of that imports a feature (tests/test_house.py).
FAR_FROM_FEATURES = ("analysis", "core", "manet", "mobility", "modules", "traffic")
# Load all modules outside of features, and all commands; plan something, and show the help.
PROGRAM = """
import importlib, pkgutil, sys
from emulation import features
from emulation.cli.main import cli
for top in "analysis", "benchmarks", "emulation", "experiments", "labs", "topologies", "traffic":
    for module in pkgutil.walk_packages(importlib.import_module(top).__path__, f"{top}."):
        if not module.name.startswith("emulation.features.") and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
for part in "of_benchmarks", "of_files", "of_networks", "of_runs", "of_setup":
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
# A command of a feature that needs another one works as far as it does without it, or names it.
OF_ONE = """
import subprocess, sys
command, name = sys.argv[1:]
done = subprocess.run([sys.executable, "-m", "emulation", command, "--help"], capture_output=True, text=True)
said = f"dcflab: this needs the feature {name}, but the folder emulation/features/{name} is not here\\n"
assert (done.returncode, done.stderr) in ((0, ""), (1, said)), done
"""


def run(tree: Path, *words: str) -> str:
    variables = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-P", *words], cwd=tree, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-1000:] + done.stdout[-3000:]  # pytest names what failed last
    return done.stdout


def of_the_road(tree: Path, without: Sequence[str] = ()) -> list[str]:
    """Return the test files outside of features and of some folders, except this one, which would run itself."""
    left_out = {tree / "tests" / folder for folder in ("features", *without)}
    files = sorted(file for file in tree.glob("tests/**/test_*.py") if left_out.isdisjoint(file.parents))
    return [str(file.relative_to(tree)) for file in files if file.name != Path(__file__).name]


def commands(said: str) -> set[str]:
    return set(re.findall(r"^  ([a-z]\S+)  ", said.partition("\nRun:\n")[2].partition("\nExamples:")[0], re.M))


@pytest.fixture(scope="module")
def listed() -> set[str]:
    """Return the commands of the whole tree."""
    return commands(run(CHECKOUT, "-m", "emulation", "--help"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_the_road_does_without(listed: set[str], name: str, tmp_path: Path) -> None:
    own = {path.stem for path in (CHECKOUT / "emulation/features" / name / "commands").glob("[a-z]*")}
    assert own <= listed
    in_need = [other for other, of in BETWEEN if of == name]
    tree = tree_without([name], tmp_path / "tree")
    assert commands(run(tree, "-c", PROGRAM, *in_need)) == listed - own
    for command, file in features.commands().items():
        if any(f"/features/{other}/" in file for other in in_need):
            run(tree, "-c", OF_ONE, command, name)


@pytest.mark.slow
def test_the_road_does_without_any(tmp_path: Path) -> None:
    """All its tests can be collected, too, and those pass that are quick without being marked so, as lanes are."""
    tree = tree_without(ALL, tmp_path / "tree")
    listed = commands(run(tree, "-c", PROGRAM))
    assert {"run", "replay", "test"} < listed and listed.isdisjoint({*features.commands()})
    near = of_the_road(tree, FAR_FROM_FEATURES)
    run(tree, "-m", "pytest", *COLLECT, *sorted({*of_the_road(tree)} - {*near}))
    run(tree, "-m", "pytest", *QUICK, "-m", "not quick", *near)


@pytest.mark.slow
def test_the_tests_of_a_removed_feature_are_left_out(tmp_path: Path) -> None:
    """And those of features that import it."""
    tree = tree_without([], tmp_path / "tree")
    shutil.rmtree(tree / "emulation/features/prompt")
    found = set(
        re.findall(r"^tests/features/(\w+)/", run(tree, "-m", "pytest", *COLLECT, "tests/features"), re.MULTILINE)
    )
    assert found == {*ALL} - {"mininet", "prompt", "wmediumd"}


@pytest.mark.lane
@pytest.mark.skipif(not REQUESTED, reason="takes long, so it is asked for: DCFLAB_ROOMS=all")
@pytest.mark.parametrize("name", [*ALL, ""], ids=lambda name: name or "all")
def test_the_roads_tests_pass_without(name: str, tmp_path: Path) -> None:
    if REQUESTED != "all" and name not in REQUESTED.split(","):
        pytest.skip("it was not asked for")
    tree = tree_without([name] if name else ALL, tmp_path / "tree")
    run(tree, "-m", "pytest", *QUICK, *of_the_road(tree))
