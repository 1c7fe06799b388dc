# SPDX-License-Identifier: BSD-3-Clause
"""Find the test files that a change can affect: `./dcflab test --changed`.

A test file reaches what it imports, what that imports in turn (`emulation.play.imports`), and what the fixtures that it
names import. It also reaches programs, C sources and other data whose name, or whose folder's name, is in one of its
strings, or of those modules. This finds too much rather than too little. A file that no test is known to reach affects
all.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from import_graph import MODULES, TOP, imported, loaded, statements

from emulation.lanes import CHECKOUT
from emulation.play.imports import imported as in_text
from emulation.play.imports import modules

ALL = ("pyproject.toml", "requirements.lock", "tests/conftest.py")  # all tests use these
WHOLE_TREE = "ls-files"  # a test with this in it reads the whole tree
# Modules that load others by their names: those in their own folder, or these.
LOADS = re.compile(r"\bplugins\.find\(__name__|\bimport_module\(f\"\{__name__\}\.\{[^{}]*\}\"\)")
BY_NAME = {
    "emulation.cli.main": ("emulation.cli.commands.*", "emulation.features.*.commands.*"),
    "emulation.plan": ("emulation.features.*.media.*",),
    "labs": ("labs.*",),
}
OFTEN = ("__init__.py", "__main__.py", "conftest.py")  # names that identify no file
OUTSIDE = ("tests.affected", "tests.once")  # the one names others, and the other keeps what is made: they reach nothing
PARTS = re.compile(r"\.parts\(\"(\w+)\"\)")
FILE = re.compile(r"[\"'/](\w+\.py)[\"'/]")
PROGRAM = re.compile(r"\"-m\", \"emulation\"|\"dcflab\"|/dcflab\"")  # it runs the command line


def changed_since(base: str, root: Path = CHECKOUT) -> set[str]:
    """Return the files that differ from where HEAD left a branch, or from a commit, and files that are not committed.
    Raises ValueError if there is no such commit."""

    def git(*arguments: str) -> list[str]:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"no changes since {base}: git {arguments[0]} says: {done.stderr.strip() or 'nothing'}")
        return done.stdout.rstrip("\0\n").split("\0")

    [fork] = git("merge-base", "HEAD", base)
    differ = git("diff", "--name-only", "--no-renames", "-z", fork)
    return {*differ, *git("ls-files", "--others", "--exclude-standard", "-z")} - {""}


def by_changes_since(base: str) -> tuple[list[str], str]:
    """Return the test files that changes since then can affect, and a message about them."""
    changed = changed_since(base)
    tests, unknown = Reach(changed).tests(changed)
    said = f"{len(changed)} files have changed since {base}; they can have touched {len(tests)} files of tests"
    if unknown:
        said += f": all, as nobody is known to read {', '.join(sorted(unknown))}"
    return sorted(tests), said


class Reach:
    """The modules and files that each module reaches: modules by name, and fixtures as `tests.conftest:name`. `name@`
    is a module that is only loaded: the package around another, or imported by one that is only loaded. Its functions
    may not be called, so it reaches what it loads, but neither programs nor data."""

    def __init__(self, gone: Iterable[str] = ()) -> None:
        there = MODULES | modules(CHECKOUT / "tests") | {"dcflab": CHECKOUT / "dcflab.py"}
        self.files = {name: str(file.relative_to(CHECKOUT)) for name, file in there.items()}
        self.texts = {name: (CHECKOUT / file).read_text() for name, file in self.files.items()}
        for name in OUTSIDE:
            self.texts[name] = ""
        for file in gone:
            if file.endswith(".py") and not (CHECKOUT / file).exists():
                self.files[name := file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")] = file
                self.texts[name] = ""
        self.short = {name.rpartition(".")[2]: name for name in self.files if name.startswith("tests.")}
        self.by_file: dict[str, list[str]] = {}
        for name, file in self.files.items():
            if not file.endswith(OFTEN) and not is_test(file):
                self.by_file.setdefault(Path(file).name, []).append(name)
        self.fixtures: dict[str, dict[str, str]] = {}  # for each conftest, the text of each fixture
        for name in [name for name in self.files if name.endswith("conftest")]:
            self._take_fixtures(name)
        self.reached_by: dict[str, set[str]] = {}
        for name, text in self.texts.items():
            tree, package = ast.parse(text), self._package(name)
            for to in self._uses(name, text, tree, package):
                self.reached_by.setdefault(to, set()).add(name)
            for to in self._loads(name, tree, package):
                self.reached_by.setdefault(to, set()).add(f"{name}@")

    def _take_fixtures(self, conftest: str) -> None:
        """A fixture is reached by who names it only; what else is in the file by all tests in its folder."""
        lines, found = self.texts[conftest].splitlines(), {}
        for node in reversed(ast.parse(self.texts[conftest]).body):
            if isinstance(node, ast.FunctionDef) and any("fixture" in ast.dump(each) for each in node.decorator_list):
                own = slice(node.decorator_list[0].lineno - 1, node.end_lineno)
                found[node.name] = "\n".join(lines[own])
                lines[own] = []
        self.fixtures[conftest] = found
        self.texts[conftest] = "\n".join(lines)
        self.texts |= {f"{conftest}:{name}": source for name, source in found.items()}

    def _resolved(self, by: str, module: str) -> tuple[str, ...]:
        """Return the module of ours that is imported, and the packages around it; nothing for other modules."""
        one = self.short.get(module.partition(".")[0], module) if by.startswith("tests.") else module
        while one and one not in self.texts:
            one = one.rpartition(".")[0]
        return (one, *around(one)) if one else ()

    def _package(self, name: str) -> str:
        module = name.partition(":")[0]
        return module if self.files[module].endswith("__init__.py") else module.rpartition(".")[0]

    def _loads(self, name: str, tree: ast.Module, package: str) -> Iterator[str]:
        """Return what is loaded with a module."""
        yield from (f"{one}@" for one in around(name))
        for module in imported(loaded(tree.body), package):
            yield from (f"{one}@" for one in self._resolved(name, module))

    def _uses(self, name: str, text: str, tree: ast.Module, package: str) -> Iterator[str]:
        """Return what a module can use at any time: what it imports, runs as a program, or finds by name; and
        fixtures."""
        yield f"{name}@"
        written = {*imported(statements(tree, typing=False), package)}
        typed = {*imported(statements(tree), package)} - written
        typed |= {one.rpartition(".")[0] for one in typed} - {one.rpartition(".")[0] for one in written}
        for module in written | {*in_text(text)} - typed:  # a text may contain a program
            if found := self._resolved(name, module):
                yield found[0]
                yield from (f"{one}@" for one in found[1:])
        patterns = [f"emulation.features.*.{part}" for part in PARTS.findall(text)]
        patterns += BY_NAME.get(name, ())
        if LOADS.search(text):
            patterns.append(f"{name}.*")
        yield from (one for pattern in patterns for one in self.files if fnmatchcase(one, pattern))
        beside = tuple(name.split(".")[:3])
        for file in FILE.findall(text):
            yield from (one for one in self.by_file.get(file, ()) if tuple(one.split(".")[:3]) == beside)
        if name.startswith("tests."):
            if PROGRAM.search(text):
                yield "emulation.__main__"
            for conftest, fixtures in self.fixtures.items():
                if name != conftest and name.startswith(conftest.removesuffix("conftest")):
                    yield conftest
                    yield from (
                        f"{conftest}:{one}"
                        for one in fixtures
                        if re.search(rf"\b{one}: |[(, ]{one}[,)]|\"{one}\"", text)
                    )

    def who_reads(self, file: str) -> set[str]:
        """The modules that can read or run a file without importing it: those that have its name in a string; and if it
        is no module, the name of the outermost folder around it that is no package, the module beside it that differs
        in its suffix only, or if there are none the package that it is in. Of what tests have, all tests beside it.
        Pages are read by tests."""
        holder = Path(file).parent
        while holder.parts and not (CHECKOUT / holder / "__init__.py").is_file() and not self._tests_in(holder):
            holder = holder.parent
        *folders, own = Path(file).relative_to(holder).parts
        if own in OFTEN or is_test(file):
            return set()
        of_tests, module = holder.parts[:1] == ("tests",), self._of_file(file)
        names = {own: ""}
        if not module:
            names |= dict.fromkeys(folders[:1], "tests." if of_tests or own.endswith(".md") else "")
        found = {
            name for name, text in self.texts.items() for part, of in names.items()
            if name.startswith(of) and part in text and re.search(rf"[\"'/]{re.escape(part)}[\"'/]", text)
        }  # fmt: skip
        if of_tests and (folders or not module):
            found |= {*self._tests_in(holder)}
        if not module:
            found |= {*self._of_file(str(Path(file).with_suffix(".py")))}
            found |= {*self._of_file(f"{holder}/__init__.py")} - {*TOP} | {"labs"} & {holder.name}
        return found

    def _tests_in(self, folder: Path) -> list[str]:
        return [name for name, file in self.files.items() if Path(file).parent == folder and is_test(file)]

    def _of_file(self, file: str) -> list[str]:
        """Return the module, and the fixtures, in a file."""
        modules = [name for name, other in self.files.items() if other == file]
        return modules + [f"{name}:{fixture}" for name in modules for fixture in self.fixtures.get(name, ())]

    def tests(self, changed: Iterable[str]) -> tuple[set[str], set[str]]:
        """Return the test files that reach one of these files, and those files that no test is known to reach."""
        tests = {file for file in self.files.values() if is_test(file)}
        always = {file for name, file in self.files.items() if file in tests and WHOLE_TREE in self.texts[name]}
        found, unknown = set[str](), set[str]()
        for file in changed:
            own = {f"{name}@" if name in self.files else name for name in self._of_file(file)}
            reaching = self._reaching(own | self.who_reads(file)) & tests
            found |= reaching
            if file in ALL or not (reaching or file in tests or file.endswith(".md")):
                unknown.add(file)
        return tests if unknown else found | always, unknown

    def _reaching(self, names: Iterable[str]) -> set[str]:
        """Return the files of all modules that reach these."""
        waiting, found = [*names], set[str]()
        while waiting:
            if (name := waiting.pop()) not in found:
                found.add(name)
                waiting += self.reached_by.get(name, ())
        return {self.files[name] for name in found if name in self.files}


def around(module: str) -> Iterator[str]:
    """Return the packages around a module."""
    while module := module.partition(":")[0].rpartition(".")[0]:
        yield module


def is_test(file: str) -> bool:
    return file.startswith("tests/") and Path(file).name.startswith("test_") and file.endswith(".py")
