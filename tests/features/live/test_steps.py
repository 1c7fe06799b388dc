# SPDX-License-Identifier: BSD-3-Clause
"""The ends of steps."""

from collections.abc import Callable

import numpy as np
from table import Table

from analysis.traces import trace
from emulation.features.live.air import COLLIDED
from emulation.features.live.session import ARRIVES_NS, SEARCH_NS
from emulation.lane.protocol import DOINGS

MS = 1_000_000
EXCHANGING = {"send", "sifs", "wait_cts", "wait_ack"}


def test_a_step_ends_with_a_frame_or_an_exchange(table: Callable[..., Table]) -> None:
    """Also after unanswered frames; for frames, at the next end of one."""
    live = table(stations=3)
    frames_ns, doings = list[int](), list[set[str]]()

    def play(page: Table) -> None:
        page.do("pause")
        page.until(500 * MS)
        for to in ("frame", "exchange"):
            for _ in range(30):
                before_ns = page.session.t_ns
                page.do("step", to=to)
                page.wait(lambda session, since=before_ns: session.t_ns > since)  # type: ignore[misc]
                if to == "frame":
                    frames_ns.append(page.session.t_ns)
                else:
                    doings.append({node["doing"] for node in page.session.latest["nodes"].values()})
        page.until(page.session.t_ns + 100 * MS)  # until all that was on the air is in the trace

    live.play(play)
    found = trace.read(live.session.trace)
    ends_ns = found.tx["start_ns"] + found.tx["duration_ns"] - found.start_ns
    over = ends_ns[(ends_ns > 500 * MS) & (ends_ns <= frames_ns[-1])]
    assert sorted(set(over.tolist())) == frames_ns
    assert all(doing <= set(DOINGS) - EXCHANGING for doing in doings)


def test_a_step_ends_with_the_next_collision(table: Callable[..., Table]) -> None:
    """As soon as it is known at the receiver. With nothing on the air it ends, too, and says so."""
    live = table(stations=5)
    stops_ns, states = list[int](), list[object]()

    def play(page: Table) -> None:
        page.do("pause")
        page.until(500 * MS)
        for _ in range(5):
            page.do("step", to="collision")
            states.append(page.session.search)
            page.wait(lambda session: session.search is None)
            stops_ns.append(page.session.t_ns)
        page.until(page.session.t_ns + 100 * MS)
        page.do("step", to="collision")
        page.do("pause")
        states.append(page.session.search)
        page.do("stop", flow="flow1")
        page.until(page.session.t_ns + 5_000 * MS)
        page.do("step", to="collision")
        page.wait(lambda session: session.search == "in vain")
        states.append(page.session.t_ns >= stops_ns[-1] + SEARCH_NS)

    live.play(play)
    found = trace.read(live.session.trace)
    lost = found.rx[(found.rx["addressed"] != 0) & np.isin(found.rx["outcome"], COLLIDED)]
    tx = found.tx[np.isin(found.tx["id"], lost["id"])]
    ends_ns = np.unique(tx["start_ns"] + tx["duration_ns"] - found.start_ns)
    expected, at_ns = list[int](), 500 * MS
    for _ in range(5):
        at_ns = int(ends_ns[ends_ns > at_ns][0]) + ARRIVES_NS
        expected.append(at_ns)
    assert stops_ns == expected
    assert states == ["on"] * 5 + [None, True]
