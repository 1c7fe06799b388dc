# SPDX-License-Identifier: BSD-3-Clause
"""Tests that play scripts boot lanes."""

import sys
from pathlib import Path

import pytest

from analysis.results.result import Script
from emulation.features.mininet import packages
from emulation.lanes import Listener, virtual
from emulation.play.script import play_script

SCRIPTS = Path(__file__).parent / "scripts"


class Stage:
    def __init__(self, lab, folder):
        self.lab, self.folder, self.options = lab, folder / "run", {}

    def play(self, name, *arguments, typed=(), kept=False):
        """Run a script of the folder, or these lines, and return its output; with `kept`, also the run."""
        path = SCRIPTS / f"{name}.py"
        if "\n" in name:
            path = self.folder.with_name("mine.py")
            path.write_text(name)
        self.folder.mkdir()
        lines, answers = [], iter(typed)
        listener = Listener(line=lines.append, ask=lambda prompt: next(answers, None))
        if kept:
            script = Script(path=str(path), arguments=arguments, seeds=[1], options=self.options)
            self.found = play_script(self.lab, script, self.folder, listener)
            if self.found.error:
                raise self.found.error
            assert self.found.status == 0, lines
        else:
            command = ["script", str(path), *arguments]
            done = virtual.run(self.lab.kernel, self.lab.modules, self.folder, command, listener=listener,
                               options=self.options)  # fmt: skip
            assert done.status == 0, lines
        return lines


@pytest.fixture
def stage(lab, tmp_path):
    return Stage(lab, tmp_path)


@pytest.fixture
def installed(monkeypatch):
    """Make Mininet's packages importable, as in a lane."""
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    packages.install()


def run(lines):
    """Run lines of a script here; return the names that it has then."""
    there = {}
    exec(lines, there)
    return there
