# SPDX-License-Identifier: BSD-3-Clause
"""Where steps end."""

from collections.abc import Callable

from table import Table

from analysis.traces import trace
from emulation.lane.protocol import DOINGS

MS = 1_000_000
EXCHANGING = {"send", "sifs", "wait_cts", "wait_ack"}


def test_a_step_ends_with_a_frame_or_an_exchange(table: Callable[..., Table]) -> None:
    """Also after frames that nobody answered; of frames, with the next that ends."""
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
