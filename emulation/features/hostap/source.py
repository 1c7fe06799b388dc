# SPDX-License-Identifier: BSD-3-Clause
"""hostap's source tree: its tests, and the programs that it was built into."""

import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from emulation.features.hostap.inside.tests import SOURCE, TESTS
from emulation.lane import programs
from emulation.lane.errors import Misuse

TEST = re.compile(r"^def test_(\w+)\(", re.MULTILINE)
RUNNER = "run-tests.py"
DAEMONS = ("hostapd/hostapd", "wpa_supplicant/wpa_supplicant")
TOOLS = ("hostapd/hostapd_cli", "wpa_supplicant/wpa_cli", "hostapd/hlr_auc_gw")  # that some tests call


@dataclass(frozen=True)
class Source:
    """The root of hostap's sources. Raises Misuse if there are no tests in it."""

    folder: Path

    def __post_init__(self) -> None:
        if not (self.folder / TESTS / RUNNER).is_file():
            raise Misuse(f"--source: {self.folder} has no {TESTS}/{RUNNER}; give the root of hostap's sources")

    @cached_property
    def files(self) -> dict[str, list[str]]:
        """The tests by the names of their files, each in the order of its file."""
        paths = sorted((self.folder / TESTS).glob("test_*.py"))
        return {path.name: list(dict.fromkeys(TEST.findall(path.read_text(errors="replace")))) for path in paths}

    def select(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Return the tests that these words name, by file: names, patterns with *, and files; all without words.

        Raises Misuse for a word that names nothing.
        """
        chosen: dict[str, set[str]] = {}
        for word in words or ["*"]:
            found = {
                (file, test)
                for file, tests in self.files.items()
                for test in tests
                if file == word or fnmatch.fnmatchcase(test, word.removeprefix("test_"))
            }
            if not found:
                raise Misuse(f"there is no test {word} in {self.folder / TESTS}; names are like ap_open, ap_* or "
                             "test_ap_open.py")  # fmt: skip
            for file, test in found:
                chosen.setdefault(file, set()).add(test)
        return {file: [test for test in self.files[file] if test in chosen[file]] for file in sorted(chosen)}

    @property
    def built(self) -> bool:
        return all((self.folder / path).is_file() for path in DAEMONS)

    def programs(self) -> Mapping[str, str]:
        """Return the programs' paths in a lane, by their paths in the tree: the tree's, or the distribution's.

        Raises OSError if a daemon is not there.
        """
        own = {path: f"{SOURCE}/{path}" for path in (*DAEMONS, *TOOLS) if (self.folder / path).is_file()}
        return own if self.built else {path: programs.find(Path(path).name) for path in DAEMONS}
