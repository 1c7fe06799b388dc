# SPDX-License-Identifier: BSD-3-Clause
"""ackthin in a running kernel, in virtual time: packets enter and leave at exact times. They are written to the output
of a TUN device whose root qdisc is ackthin, and read there as they leave."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from output import MODULE, NAMES, Script
from thinning import BESIDES, NEVER_THINNED, Item, edited, over_ipv6, packet

pytestmark = pytest.mark.lane
Schedule = list[tuple[int, bytes]]  # µs, packet

PLAY = """
jobs = json.loads(open(os.environ["DCFLAB_RUN"] + "/jobs.json").read())
for number, job in enumerate(jobs):
    output = Output(f"wire{number}", **job["options"])
    schedule = [(at, bytes.fromhex(packet)) for at, packet in job["schedule"]]
    left = output.play(schedule, job["until_us"])
    print(json.dumps({"left": [(at, packet.hex()) for at, packet in left], "statistics": output.statistics()}))
"""
SECOND = 1_000_000
LATE = 50_000


@pytest.fixture
def thinned(script: Script, tmp_path: Path) -> Callable[..., Any]:
    """Play schedules, each on a device of its own; return for each what left, as (µs, number), and statistics."""

    def play(*jobs: tuple[Schedule, dict[str, int | str]], until_us: int = SECOND) -> list[Any]:
        written = [
            {"schedule": [(at, data.hex()) for at, data in schedule], "options": options, "until_us": until_us}
            for schedule, options in jobs
        ]
        (tmp_path / "jobs.json").write_text(json.dumps(written))
        found = []
        for (schedule, _), line in zip(jobs, script(NAMES + PLAY, MODULE), strict=True):
            said = json.loads(line)
            number = {data.hex(): i for i, (_, data) in enumerate(schedule)}
            assert len(number) == len(schedule), "the packets of a schedule must differ"
            found.append(([(at, number[data]) for at, data in said["left"]], said["statistics"]))
        return found

    return play


def acks(*at_ms: float, first: int = 0) -> Schedule:
    """Return acknowledgments, each of 1000 more bytes."""
    return [(round(at * 1000), packet(ack=first + 1000 * n)) for n, at in enumerate(at_ms)]


# --- The policies ---


def test_policies_to_the_microsecond(thinned: Callable[..., Any]) -> None:
    ten = acks(*range(0, 100, 10))
    found = thinned(
        (ten, {"policy": "plain"}),
        (ten, {"policy": "delayed", "count": 2, "timeout_us": 3000}),
        (ten, {"policy": "delayed", "count": 3, "timeout_us": 100_000}),
        (ten, {"policy": "delayed", "count": 3, "timeout_us": 17_000, "granularity_us": 4000}),
        (ten, {"policy": "skip", "skip": 2, "start": 4, "timeout_us": 0}),
        (ten, {"policy": "skip", "skip": 1, "start": 1, "timeout_us": 9999}),
        (ten, {"policy": "daa", "mu": 1000}),
        (ten, {"policy": "daa", "mu": 1000, "granularity_us": 25_000}),
        (ten, {"policy": "dynamic"}),
    )
    assert [left for left, _ in found] == [
        [(10_000 * n, n) for n in range(10)],
        [(0, 0), *[(10_000 * n + 3000, n) for n in range(1, 10)]],
        [(0, 0), (30_000, 3), (60_000, 6), (90_000, 9)],
        # a group begins at 10 ms, its timer expires at 27, the next tick is at 28; the next begins at 30
        [(0, 0), (28_000, 2), (48_000, 4), (68_000, 6), (88_000, 8), (108_000, 9)],
        [(0, 0), (10_000, 1), (20_000, 2), (50_000, 5), (80_000, 8)],
        [(0, 0), *[(10_000 * n + 9999, n) for n in range(1, 10)]],
        # groups of 1, 2, 3, then 4: the last three wait 2.2 intervals of 10 ms after the last
        [(0, 0), (10_000, 1), (30_000, 3), (60_000, 6), (112_000, 9)],
        [(0, 0), (10_000, 1), (30_000, 3), (60_000, 6), (125_000, 9)],
        [(10_000 * n, n) for n in range(10)],
    ]
    for left, statistics in found:
        passed = statistics["passed"]
        assert sum(passed.values()) == len(left)
        assert statistics["acks"] == 10 == sum(passed.values()) + statistics["thinned"] + statistics["held"]
    assert [statistics["held"] for _, statistics in found] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert found[1][1]["passed"]["timer"] == 9
    assert found[6][1]["dwin_milli"] == 2000  # its timer fired: a sign of loss


def test_timers_of_several_flows(thinned: Callable[..., Any]) -> None:
    """Each at its own time; flows whose timers expire at one tick leave in the order in which they began to wait."""
    flows = [(n, packet(ack=0, dport=n)) for n in range(2, 7)]
    held = [(at, packet(ack=1000, dport=n)) for at, n in ((10_000, 4), (11_000, 2), (12_500, 6), (13_000, 3))]
    exact, beats = thinned(
        (flows + held, {"policy": "delayed", "timeout_us": 4500}),
        (flows + held, {"policy": "delayed", "timeout_us": 4500, "granularity_us": 8000}),
    )
    assert exact[0][5:] == [(14_500, 5), (15_500, 6), (17_000, 7), (17_500, 8)]
    assert beats[0][5:] == [(16_000, 5), (16_000, 6), (24_000, 7), (24_000, 8)]


# --- What is never thinned ---


def test_what_a_segment_alone_forbids(thinned: Callable[..., Any]) -> None:
    """It passes at once, after what was held of its flow; over IPv4 and IPv6."""
    alone = {name: packet(ack=3000, **fields) for name, (fields, _) in NEVER_THINNED.items()}  # type: ignore[arg-type]
    alone["AE"] = edited(packet(ack=3000), 32, b"\x51")
    cases = {f"{name}, IPv4": ([packet(ack=1000), packet(ack=2000)], data) for name, data in alone.items()}
    cases |= {f"{name}, IPv6": ([over_ipv6(p) for p in before], over_ipv6(data))
              for (name, data), (before, _) in zip(alone.items(), list(cases.values()), strict=True)}  # fmt: skip
    first, second = cases["ECE, IPv6"][0]
    cases["congestion experienced, IPv4"] = [packet(), packet(ack=2000)], edited(packet(ack=3000), 1, b"\3")
    cases["congestion experienced, IPv6"] = [first, second], edited(over_ipv6(packet(ack=3000)), 1, b"\x30")
    cases["the first fragment"] = [packet(), packet(ack=2000)], edited(packet(ack=3000), 6, b"\x20\0")
    jobs = [
        ([(0, before[0]), (1000, before[1]), (LATE, data)], {"policy": "delayed", "count": 9})
        for before, data in cases.values()
    ]
    for name, (left, statistics) in zip(cases, thinned(*jobs), strict=True):
        assert left == [(0, 0), (LATE, 1), (LATE, 2)], name
        assert statistics["passed"]["flushed"] == 1, name


def test_what_came_before_forbids(thinned: Callable[..., Any]) -> None:
    jobs = []
    for items, _ in BESIDES.values():
        whole = [Item(0, 1000), Item(1000_000, 2000), *items]
        jobs.append(([(item.at // 1000 + n, item.bytes() + bytes(n)) for n, item in enumerate(whole)], {"count": 9}))
    for (name, (items, reasons)), (left, statistics) in zip(BESIDES.items(), thinned(*jobs), strict=True):
        assert left == [(0, 0), (LATE + 2, 1), *[(LATE + 2 + n, 2 + n) for n in range(len(items))]], name
        wanted = {reason: reasons.count(reason) for reason in reasons}
        wanted["first"] = wanted.get("first", 0) + 1
        assert {r: n for r, n in statistics["passed"].items() if n} == {**wanted, "flushed": 1}, name


def test_what_is_not_tcp_passes(thinned: Callable[..., Any]) -> None:
    """UDP, later fragments, extension headers, nonsense: all in order, while an ACK is held."""
    strange = [
        edited(packet(ack=1), 9, b"\x11"),
        edited(packet(ack=2), 6, b"\0\1"),
        edited(packet(ack=3), 32, b"\x40"),
        over_ipv6(packet(ack=4), next_header=0),
        over_ipv6(packet(ack=5))[:50],
        packet(ack=6)[:30],
    ]
    schedule = [*acks(0, 1), *[(2000 + n, data) for n, data in enumerate(strange)]]
    [(left, statistics)] = thinned((schedule, {"policy": "delayed", "timeout_us": 20_000}))
    assert left == [(0, 0), *[(2000 + n, 2 + n) for n in range(len(strange))], (21_000, 1)]
    assert statistics["passed"]["other"] == len(strange)
