# SPDX-License-Identifier: BSD-3-Clause
"""The current path of a flow under a routing protocol, from frames on the air."""

from collections.abc import Callable

from table import Table

S = 1_000_000_000


def test_the_way_of_a_flow_is_that_of_its_frames_and_changes_with_it(table: Callable[..., Table]) -> None:
    """First over another station; then direct, as one is near and the other far; then none."""
    live = table(stations=3, routing="aodv")
    seen: list[list[str]] = []

    def play(page: Table) -> None:
        page.do("pause")
        for second in range(1, 3):
            page.until(second * S)
        seen.append(page.session.latest["routes"]["flow1"])
        page.do("move", node="sta3", position=[100, 100])
        page.do("move", node="sta2", position=[9000, 0])
        for second in range(3, 12):
            page.until(second * S)
        seen.append(page.session.latest["routes"]["flow1"])
        page.do("move", node="sta3", position=[5000, 0])
        for second in range(12, 18):
            page.until(second * S)
        seen.append(page.session.latest["routes"]["flow1"])

    live.play(play)
    assert seen[0] == ["sta1", "sta2", "sta3"]
    assert seen[1] == ["sta1", "sta3"]
    assert seen[2] == []
