# SPDX-License-Identifier: BSD-3-Clause
"""Plays hostap's tests: a lane for each file of tests, so that results do not depend on the tests of other files.

If a test ends the runner or the lane, it has failed, and another lane continues with the next test.
"""

import enum
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import topologies
from emulation import files
from emulation.features.hostap.inside import tests as inside
from emulation.features.hostap.source import Source
from emulation.lanes import LaneError, Listener, Reason
from emulation.plan import plan
from emulation.play.lab import Lab
from emulation.play.processes import Parent, run_all
from emulation.specification import specify

VERSION = 1  # of hostap.json
PROGRAM = Path(inside.__file__)
RADIOS, APART_M = 7, 2.0
HOST_DELAY_US = 100.0  # a daemon that logs; without it, two access points answer in the same nanosecond
LINE = re.compile(r"(START|PASS|FAIL|SKIP) (\w+)(?: ([\d.e-]+))?")
ERROR = re.compile(r"^(?:\w+\.)*\w*(?:Exception|Error|Skip|Timeout)\w*: ?(.*)")
SKIPPED = re.compile(r"Skip test case: (.*)")
STARTED, ENDED = "START", {"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}
LIMIT_S, PER_TEST_S = 300.0, 60.0  # wall time
OF_MACHINE = {Reason.INTERRUPTED, Reason.NOT_STARTED, Reason.DISK_FULL}  # reasons that no test can cause


class Medium(enum.StrEnum):
    """What carries frames between the radios."""

    AIR = "air"
    HWSIM = "hwsim"
    COMPAT = "wmediumd-compat"
    WMEDIUMD = "wmediumd"


@dataclass(frozen=True)
class Test:
    """The result of a test: `passed`, `failed` or `skipped`; why not passed; and its duration in the lane's time."""

    name: str
    file: str
    result: str
    why: str = ""
    seconds: float | None = None


def plan_radios(medium: Medium, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plan with the radios, 2 m apart. Raises Misuse."""
    nodes = {
        f"wlan{number}": topologies.Node(
            kind="station" if number else "ap",
            position=(APART_M * number, 0.0, 0.0),
            settings={"mac": f"02:00:00:00:{number:02x}:00"},
        )
        for number in range(RADIOS)
    }
    link = topologies.Link(nodes=tuple(nodes), kind="infrastructure", settings={"client": "wpa_supplicant"})
    network = topologies.Network(nodes=nodes, links=(link,))
    chosen = dict(options)
    if medium in (Medium.COMPAT, Medium.WMEDIUMD):
        chosen["medium"] = str(medium)
    return plan(specify(network, {**chosen, "trace": False, "host_delay_us": HOST_DELAY_US}))


def play(
    lab: Lab, source: Source, chosen: Mapping[str, Sequence[str]], radios: Mapping[str, Any], medium: Medium,
    folder: Path, jobs: int | None, heard: Callable[[Test], None],
) -> list[Test]:  # fmt: skip
    """Play the tests, `jobs` files at a time, and return the results in order. Raises LaneError or OSError."""
    calls = [partial(_play_file, lab, source, file, tests, radios, medium, folder) for file, tests in chosen.items()]
    results = run_all(calls, lambda index, test: heard(test), jobs)
    return [test for tests in results for test in tests]


def _play_file(
    lab: Lab, source: Source, file: str, tests: Sequence[str], radios: Mapping[str, Any], medium: Medium,
    folder: Path, parent: Parent,
) -> list[Test]:  # fmt: skip
    results: list[Test] = []
    for attempt in itertools.count(1):
        if not (left := tests[len(results) :]):
            break
        where = folder / f"{file.removeprefix('test_').removesuffix('.py')}-{attempt}"
        for test in _play_lane(lab, source, file, left, radios, medium, where):
            parent.report(test)
            results.append(test)
    return results


def _play_lane(
    lab: Lab, source: Source, file: str, tests: Sequence[str], radios: Mapping[str, Any], medium: Medium, where: Path
) -> list[Test]:
    """Play tests in one lane, and return the results of those it came to; at least of the first."""
    where.mkdir(parents=True)
    job = {"plan": radios, "programs": source.programs(), "tests": list(tests)}
    files.write(where / "job.json", json.dumps(job))
    lines: list[str] = []
    ending = "the runner ended"
    try:
        lab.lane.run(
            lab.kernel, lab.select_modules([]) if medium is Medium.AIR else {}, where, ["script", str(PROGRAM)],
            seed=radios["seed"], wall_limit_s=LIMIT_S + PER_TEST_S * len(tests), listener=Listener(lines.append),
            plugins=[source.folder],
        )  # fmt: skip
    except LaneError as error:
        if error.reason in OF_MACHINE:
            raise
        ending = str(error)
        if not any(LINE.match(line) for line in lines):
            raise
    finally:
        files.write(where / "output.txt", "".join(f"{line}\n" for line in lines))
    return results_of(lines, tests, file, where, ending)


def results_of(lines: Sequence[str], tests: Sequence[str], file: str, where: Path, ending: str) -> list[Test]:
    """Return the results in the runner's output. A test that began and did not end has failed."""
    found: dict[str, Test] = {}
    began = tests[0]
    for line in lines:
        if not (said := LINE.match(line)):
            continue
        word, name, seconds = said.groups()
        if word == STARTED:
            began = name
        elif name in tests:
            result = ENDED[word]
            why = "" if result == "passed" else reason(where / "logs" / f"{name}.log")
            found[name] = Test(name, file, result, why, float(seconds) if seconds else None)
    if began not in found or not found:
        last = next((line for line in reversed(lines) if line.strip() and not LINE.match(line)), "")
        found[began] = Test(began, file, "failed", f"{ending}: {last}" if last else ending)
    return [found[test] for test in tests if test in found]


def reason(log: Path) -> str:
    """Return why a test did not pass, from its log."""
    try:
        lines = files.read(log).decode(errors="replace").splitlines()
    except OSError:
        return ""
    found = ""
    for line in lines:
        if said := (ERROR.match(line) or SKIPPED.search(line)):
            found = said[1] or line
    return found or (lines[-1] if lines else "")


def as_dict(tests: Sequence[Test], medium: Medium, options: Mapping[str, Any]) -> dict[str, Any]:
    count = {result: sum(test.result == result for test in tests) for result in ENDED.values()}
    head = {"version": VERSION, "medium": str(medium), "options": dict(options)}
    return {**head, **count, "tests": [*map(asdict, tests)]}
