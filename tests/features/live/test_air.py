# SPDX-License-Identifier: BSD-3-Clause
"""Frames of a growing trace: the same for any pieces, and with the air's own counts."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from table import Table

from analysis.traces.trace import Records
from emulation.features.live.air import COUNTED, Air
from emulation.features.live.paths import CurrentPaths
from emulation.features.live.show import radios

MOST, SECOND = 10**9, 1_000_000_000


@pytest.fixture(scope="module")
def played(prepared: Any, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Two seconds of four stations with two opposite flows."""
    made = Table(prepared, tmp_path_factory.mktemp("run"), "string", {"stations": 4, "flows": 2, "rts": "partial"})

    def play(page: Table) -> None:
        page.do("pause")
        page.until(2 * SECOND)

    made.play(play)
    return made


def new_air(table: Table) -> Air:
    names = radios(table.session.plan)
    return Air(names, CurrentPaths(table.session.plan, names))


def test_it_counts_as_the_air_does(played: Table) -> None:
    air = new_air(played)
    air.feed(played.trace(), 2 * SECOND, MOST, False)
    lane = json.loads((played.session.trace.parent / "lane.json").read_text())
    stations = [station["counters"] for station in lane["air"]["stations"]]
    assert air.counters["sent"] == sum(sum(counted["tx"].values()) for counted in stations) > 500
    for name, kinds in COUNTED.items():
        of_kinds = [counted["addressed"].get(kind.name.lower(), {}) for counted in stations for kind in kinds]
        assert air.counters[name] == sum(row.get("COLLISION", 0) + row.get("OWN_TX", 0) for row in of_kinds)
    assert air.counters["COL_RTS/CTS"] and air.counters["COL_ACK"]
    assert air.sent_ns.tolist() == [sum(counted["airtime_ns"].values()) for counted in stations]


def test_each_frame_is_shown_once_whatever_the_pieces(played: Table) -> None:
    """In slow motion, also once when it begins."""
    data, whole, piecewise = played.trace(), new_air(played), new_air(played)
    rows = whole.feed(data, 2 * SECOND, MOST, False)
    began_ns, draw = whole.began_ns, random.Random(1)
    starts = np.sort(Records.of(np.frombuffer(data, np.uint8), 0).tx["start_ns"]) - began_ns
    found, begun, at = list[Any](), list[Any](), 0
    while at < len(data):
        end = min(at + draw.randrange(1, 2000), len(data))
        so_far = Records.of(np.frombuffer(data[:end], np.uint8), 0)
        now_ns = max(int(so_far.tx["start_ns"].max(initial=0)), began_ns) - began_ns
        for row in piecewise.feed(data[at:end], now_ns, MOST, True):
            (begun if row[5] is None else found).append(row)
        at = end
    found += [row for row in piecewise.feed(b"", 3 * SECOND, MOST, True)]
    whole_rows = [*rows, *whole.feed(b"", 3 * SECOND, MOST, False)]
    assert sorted(found) == sorted(whole_rows)
    assert len(whole_rows) == len(starts) and whole.counters == piecewise.counters
    assert Counter((row[0], row[3]) for row in begun).most_common(1)[0][1] == 1
    collided = [row for row in whole_rows if row[5] == "collision"]
    assert collided and all(culprit in whole.names for *_, culprit, _ in collided)
    assert {row[2] for row in whole_rows} >= {"rts", "cts", "data", "ack", "tcpack"}


def test_of_too_many_frames_collisions_come_first(played: Table) -> None:
    rows = new_air(played).feed(played.trace(), 2 * SECOND, MOST, False)
    few = new_air(played).feed(played.trace(), 2 * SECOND, 200, False)
    assert len(few) == 200 and [row for row in rows if row in few] == few
    bad = [row for row in rows if row[5] == "collision"]
    assert [row for row in few if row[5] == "collision"] == bad[:200] and len(bad) > 0


def test_a_frame_that_nobody_can_hear_was_too_weak(table: Callable[..., Table]) -> None:
    live = table(stations=2)

    def play(page: Table) -> None:
        page.do("pause")
        page.until(SECOND // 10)
        page.do("move", node="sta2", position=[5000, 0])
        page.until(SECOND)

    live.play(play)
    rows = new_air(live).feed(live.trace(), SECOND, MOST, False)
    late = [row for row in rows if row[0] > SECOND // 5]
    assert late and {row[5] for row in late} <= {"weak", "none"} and "weak" in {row[5] for row in late}
