# SPDX-License-Identifier: BSD-3-Clause
"""Rules of the tree: the wall around what runs inside a lane, and one direction of imports between packages and
files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from import_graph import MODULES, imports, module_of
from rooms import BETWEEN, missing, needs

from emulation import features, lanes
from emulation.lanes import CHECKOUT, INSIDE
from emulation.plan import plan
from emulation.play.imports import MAKE_RUNS, modules_of_lane, modules_of_result, modules_of_run
from emulation.specification import specify

# Which package may import which; there are no other arrows. docs/architecture.md draws them.
ARROWS = {
    "analysis": {"emulation.files", "emulation.setup"},
    "benchmarks": {"analysis", "emulation.lane", "emulation.lanes", "emulation.plan", "emulation.play",
                   "emulation.setup", "emulation.specification", "topologies"},
    "emulation": {"emulation.cli", "emulation.setup"},
    "emulation.cli": {"analysis", "emulation.features", "emulation.files", "emulation.lane", "emulation.lanes",
                      "emulation.plan", "emulation.play", "emulation.setup", "emulation.specification", "experiments",
                      "topologies", "traffic"},
    "emulation.features": set(),
    "emulation.files": set(),
    "emulation.lane": {"traffic"},
    "emulation.lanes": {"emulation.files", "emulation.lane", "topologies"},
    "emulation.net": {"emulation.features", "emulation.lane", "emulation.plan", "emulation.specification",
                      "topologies", "traffic"},
    "emulation.plan": {"emulation.features", "emulation.lane", "emulation.specification", "topologies", "traffic"},
    "emulation.play": {"analysis", "emulation.features", "emulation.files", "emulation.lane", "emulation.lanes",
                       "emulation.plan", "emulation.setup", "emulation.specification", "experiments", "topologies",
                       "traffic"},
    "emulation.setup": {"emulation.features", "emulation.lane", "emulation.lanes"},
    "emulation.specification": {"emulation.features", "emulation.lane", "topologies", "traffic"},
    "experiments": {"analysis", "topologies"},
    "labs": {"analysis", "experiments", "topologies"},
    "topologies": set(),
    "traffic": set(),
}  # fmt: skip
# The packages of analysis: each knows those before it, and `growing` and `load` know all.
ANALYSIS = ("traces", "results", "taps", "tcp", "routes", "tables", "figures", "pages")
# Features that code outside of features names, and why. The names of the others are common words, or programs, too.
DISTINCT = {"film", "mininet", "wmediumd"}
NAMED = {
    ("emulation.specification.medium", "wmediumd"): "options are fields of one model, whose format is public",
}
FEATURES = [f"emulation.features.{name}" for name in features.names()]  # in one order: tests side by side ask for it

LOADED = re.compile(r"\.parts\(\"(\w+)\"\)")


def package_of(module: str) -> str:
    """Return a module's package: a folder at the top or of `emulation`, or a feature."""
    parts = module.split(".")
    if parts[:2] == ["emulation", "features"]:
        return ".".join(parts[:3])
    within = parts[0] == "emulation" and len(parts) > 1 and f"emulation.{parts[1]}" in ARROWS
    return ".".join(parts[: 2 if within else 1])


def circle(arrows: dict[str, set[str]]) -> list[str]:
    """Return the files of a circle, the first one again at its end."""
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


AROUND = {"emulation", "emulation.features", *FEATURES}  # packages that Python loads with what is in them


@cache
def inside() -> list[str]:
    """The modules that run inside a lane."""
    return sorted(name for name, file in MODULES.items() if any(folder in file.parents for folder in INSIDE))


def test_what_runs_inside_a_lane_imports_the_standard_library_and_its_own_side_only() -> None:
    assert len(inside()) > 30
    for name in inside():
        for imported in imports(name):
            ours = module_of(imported)
            allowed = imported.partition(".")[0] in sys.stdlib_module_names if ours is None else ours in inside()
            assert allowed or ours in AROUND, f"{name} imports {imported}"


def test_inside_each_feature_is_by_itself() -> None:
    for name in inside():
        if name.startswith("emulation.features."):
            own = {"emulation.lane", "traffic", "emulation", package_of(name)}
            assert {package_of(ours) for one in imports(name) if (ours := module_of(one))} <= own, name


def test_programs_for_lanes_import_what_is_inside() -> None:
    """Of features: such a program is text in a module of the host."""
    texts = [
        node.value for file in MODULES.values() for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]  # fmt: skip
    found = {name for text in texts for name in re.findall(r"^from (emulation\.features\.[\w.]+)", text, re.MULTILINE)}
    of_scripts = {part.__name__.rpartition(".")[0] for part in features.parts("packages")}  # as `emulation.net` is
    assert {name for name in found if package_of(name) not in of_scripts} <= {*inside()}


def closure(roots: Iterable[str]) -> set[str]:
    """Return what these load, with the packages around them."""
    waiting, found = list(roots), set[str]()
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            found.add(name)
            waiting += [name.rpartition(".")[0], *filter(None, map(module_of, imports(name)))]
    return found


def test_what_a_run_depends_on_lies_behind_the_wall() -> None:
    """`Run.made_of`, and so which runs are reused, follows from imports: there is no list."""
    loaded = modules_of_run()
    assert closure(loaded) <= {*loaded, "emulation", "emulation.lane", "traffic"} and loaded.keys() <= {*inside()}
    assert {"emulation.lane.net", "emulation.lane.routing.aodv", "emulation.lane.modprobe", "emulation.lane.hosted",
            "traffic.applications.web"} <= {*loaded}  # fmt: skip
    assert not [name for name in loaded if name.startswith("emulation.features")]


def test_a_run_depends_on_the_medium_that_its_plan_names() -> None:
    for name in features.media():
        module = plan(specify("string", {"medium": name}))["medium"]["module"]
        loaded = modules_of_run(module)
        assert {module} < loaded.keys() - modules_of_run().keys() and loaded.keys() <= {*inside()}


def test_a_run_depends_on_the_lane_that_plays_it() -> None:
    """For example on the kernel's command line, and on a user's own lane."""
    virtual, own = lanes.find("virtual"), lanes.find(str(CHECKOUT / "tests/plugins/lanes/remembering.py"))
    loaded = modules_of_lane(virtual).keys()
    assert {"emulation.lanes", "emulation.lanes.virtual.boot", "emulation.lanes.virtual.bundle"} <= loaded
    assert modules_of_lane(own).keys() - loaded == {type(own).__module__}


def test_what_no_run_loads_discards_no_result() -> None:
    """Such as code that only shows results."""
    made = modules_of_result()
    assert {"analysis.results.result", "analysis.growing", "analysis.tcp.senders", *MAKE_RUNS} <= made.keys()
    ours = {name for name in closure(made) if name.startswith("analysis.")}
    assert (
        ours <= made.keys() and not {"analysis.tables.table", "analysis.pages.report", "analysis.taps.compare"} & ours
    )


def test_a_lanes_programs_load_without_the_environment() -> None:
    """Without site-packages, as the first process loads them."""
    program = "import importlib, sys; sys.path.insert(0, sys.argv[1])\n"
    program += "for name in sys.argv[2:]: importlib.import_module(name)"
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", program, str(CHECKOUT), *inside()], check=True)


@pytest.mark.parametrize("package", [*ARROWS, *FEATURES])
def test_arrows_run_one_way(package: str) -> None:
    """The imports are the allowed ones. A feature may use all packages outside, and the listed other features; nothing
    outside uses a feature."""
    between = {f"emulation.features.{to}" for of, to in BETWEEN if package == f"emulation.features.{of}"}
    allowed = ARROWS.get(package, {*ARROWS, "labs"} | between) | {package, "emulation"}
    for name in MODULES:
        if package_of(name) == package:
            for imported in imports(name):
                if ours := module_of(imported):
                    assert package_of(ours) in allowed, f"{name} imports {imported}"


def names_in(module: str) -> Iterator[str]:
    """Return the identifiers and the strings of one word in a module."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        for field in ("id", "attr", "arg", "name", "value"):
            found = getattr(node, field, None)
            if isinstance(found, str) and " " not in found:
                yield found


def test_what_is_outside_of_features_names_few() -> None:
    """So a removed feature is not offered. What is imported is tested above."""
    found = {
        (module, word)
        for module in MODULES
        if not module.startswith("emulation.features.")
        for name in names_in(module)
        for word in DISTINCT & {*re.findall("[a-z]+", name.lower())}
    }
    assert found == {*NAMED}


@pytest.mark.parametrize("pair", [pytest.param(pair, id="-".join(pair), marks=needs(*pair)) for pair in BETWEEN])
def test_no_arrow_between_features_is_allowed_in_vain(pair: tuple[str, str]) -> None:
    of, to = (f"emulation.features.{name}" for name in pair)
    assert any(package_of(name) == of and to in map(package_of, imports(name)) for name in MODULES)


def test_no_package_is_in_a_circle() -> None:
    arrows: dict[str, set[str]] = {package: set() for package in (*ARROWS, *FEATURES)}
    for name in MODULES:
        for imported in imports(name):
            if ours := module_of(imported):
                arrows[package_of(name)].add(package_of(ours))
    for package, to in arrows.items():
        to -= {package, "emulation"}
    assert circle(arrows) == []


def test_each_package_of_analysis_knows_only_those_before_it() -> None:
    assert {name.split(".")[1] for name in MODULES if name.startswith("analysis.")} == {*ANALYSIS, "growing", "load"}
    for place, package in enumerate(ANALYSIS):
        known = tuple(f"analysis.{one}" for one in ANALYSIS[: place + 1])
        for name in MODULES:
            if f"{name}.".startswith(f"analysis.{package}."):
                for imported in imports(name):
                    ours = module_of(imported) or ""
                    assert not ours.startswith("analysis.") or f"{ours}.".startswith(tuple(f"{one}." for one in known))


def test_no_file_is_in_a_circle() -> None:
    """An import inside a function counts, and a part of features that is loaded by its name. An import only for the
    type checker does not: a part names its whole so, as an interface its node."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) in (["b", "c", "b"], ["c", "b", "c"])
    arrows = {
        name: {ours for imported in imports(name, typing=False) if (ours := module_of(imported))} - {name}
        for name in MODULES
    }
    for name, file in MODULES.items():
        for part in LOADED.findall(file.read_text()):
            arrows[name] |= {to for to in MODULES if re.fullmatch(rf"emulation\.features\.\w+\.{part}", to)}
    assert circle(arrows) == []


@pytest.mark.slow
def test_each_class_of_errors_is_there_once_and_caught_by_its_type() -> None:
    """A class that no code distinguishes from its base is not needed, unless it is also a Python exception."""
    nodes = [node for file in MODULES.values() for node in ast.walk(ast.parse(file.read_text()))]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    kinds, errors = {"Exception", "KeyboardInterrupt"}, list[ast.ClassDef]()
    while found := [
        one
        for one in classes
        if one not in errors and any(base in kinds or base.endswith("Error") for base in bases(one))
    ]:
        errors += found
        kinds |= {one.name for one in found}
    names = [one.name for one in errors]
    assert len(names) > 10 and len(names) == len(set(names)), sorted(names)
    tested = {*told_apart(nodes)}
    assert [one.name for one in errors if one.name not in tested and len(one.bases) == 1] == []


def bases(made: ast.ClassDef) -> set[str]:
    return {ast.unparse(base).rpartition(".")[2] for base in made.bases}


def told_apart(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Return the types of errors that code catches or tests."""
    for node in nodes:
        if isinstance(node, ast.ExceptHandler) and node.type:
            yield from re.findall(r"\w+", ast.unparse(node.type))
        elif isinstance(node, ast.Call) and called(node).endswith(("suppress", "isinstance")):
            yield from re.findall(r"\w+", ast.unparse(node))


def called(node: ast.Call) -> str:
    name: str = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name


def drawn() -> set[str]:
    """Return the folders in CONTRIBUTING.md's tree."""
    block = (CHECKOUT / "CONTRIBUTING.md").read_text().partition("\n## The tree\n")[2].split("```\n")[1]
    above: list[str] = []
    found = set()
    for line in block.splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above[depth:] = [name.rstrip("/")]
        if name.endswith("/"):
            found.add("/".join(above))
    return found


def test_contributing_draws_the_tree_that_there_is() -> None:
    """All folders with files, to the third level; those of tests and labs are alike. Features may be removed."""
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = {str(parent) for file in listed.stdout.splitlines() for parent in Path(file).parents[:-1]}
    there = {folder for folder in folders if not folder.startswith((".", "LICENSES", "tests/"))}
    alike = ("labs/", "analysis/wireshark/")
    shown = {folder for folder in there if folder.count("/") < 3 and not folder.startswith(alike)}
    of_features = {folder for folder in drawn() if folder.startswith("emulation/features/")}
    removed = {folder for folder in of_features if not (CHECKOUT / folder).is_dir()}
    assert drawn() - removed == shown | {"tests/plugins"}


# Names that several files of the road have, and why that helps. A folder's or a kernel's own files are no two files.
SHARED_NAMES = {
    "a noun on its way: specification, plan, lane, analysis": (
        "adaptive_retries.py air.py fading.py flow_routes.py kernel.py measurement.py mesh.py modes.py motion.py "
        "network.py radio.py routes.py wired.py wlan.py"
    ),
    "a command, and what it does": "doctor.py figures.py package.py replay.py run.py script.py study.py view.py",
    "the same part of several kernel modules or lanes": (
        "boot.py channel.h compat.h control.c module.c neighbours.c protocol.h queue.c trace.c types.h"
    ),
    "a study, named after what it shows": "capture.py",
    "errors inside a lane, and of set-up": "errors.py",
}


def test_no_two_files_of_the_road_have_one_name_without_a_reason() -> None:
    roots = "analysis", "emulation", "experiments", "tc_modules", "topologies", "traffic"
    said = subprocess.run(["git", "ls-files", *roots], cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout
    files = [Path(name) for name in said.splitlines() if "/features/" not in name]
    names = Counter(file.name for file in files if re.fullmatch(r"[a-z]\w*\.(py|c|h)", file.name))
    assert {name for name, count in names.items() if count > 1} == {*" ".join(SHARED_NAMES.values()).split()}


def test_what_tests_import_by_name_is_named_once() -> None:
    """Each folder of tests is on the path, so of two modules with one name only the first would load."""
    helpers = [
        file.stem for file in Path(__file__).parent.glob("**/*.py") if not file.stem.startswith(("test_", "conftest"))
    ]
    assert len(helpers) == len(set(helpers)), [name for name in helpers if helpers.count(name) > 1]


def test_files_of_the_users_own_are_loaded_in_few_places() -> None:
    """Each gets a name that the user gave, or that is trusted (`topologies.files.Trust`)."""
    loaders = {name for name in MODULES if "topologies.files.load" in imports(name)}
    assert loaders == {"labs", "topologies", "topologies.mobility", "experiments", "emulation.lanes"}
    others = {
        name for name, file in MODULES.items() if re.search(r"spec_from_file_location|\brunpy\b", file.read_text())
    }
    of_hostap = set[str]() if missing("hostap") else {"emulation.features.hostap.inside.runner"}
    assert others == {"topologies.files", "emulation.lane.first_process"} | of_hostap


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command line loads, and the packages around them."""
    program = "import sys\nfrom emulation.cli.main import cli\n"
    program += "cli.main(prog_name='./dcflab', standalone_mode=False)\nprint('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_help_loads_no_command() -> None:
    """The list of commands uses the first sentences of their files."""
    loaded = loaded_by("--help")
    assert "emulation.cli.main" in loaded and not {"numpy", "pydantic", "rich", "experiments"} & loaded
    commands = {name for name in loaded if name.startswith(("emulation.cli.", "emulation.features."))}
    assert commands <= {f"emulation.cli.{name}" for name in ("command", "groups", "interrupts", "main")}


def test_what_shows_a_run_is_loaded_while_it_runs() -> None:
    """Until its lane boots, a run of a topology loads only what plans it."""
    loaded = loaded_by("run", "string", "--help")
    assert "emulation.play.session" in loaded
    later = {
        "analysis.results.result",
        "emulation.play.reporting",
        "emulation.play.finished",
        "experiments",
        "numpy.ma",
        "rich",
    }
    assert not later & loaded
    assert not [name for name in loaded if "wmediumd" in name]
