# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of cwl: the module's own file in user space, against the papers' rules, a second copy of their table,
and Reno."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel import ACKED, WINDOWS, Socket, Within, loaded
from paper_rules import CHEN

cwl = loaded("tcp_cwl")


@pytest.mark.parametrize(("rule", "limit"), [
    ("chen", lambda h: CHEN[min(h, 15)]), ("h/4", lambda h: max(h // 4, 1)), ("rthc/5", lambda h: max(2 * h // 5, 1)),
    ("3h/2", lambda h: -(-3 * h // 2)),
])  # fmt: skip
def test_each_rule_for_each_hop_count(cwl, rule, limit):
    """By the hop count of the route, and by that of a parameter."""
    cwl.set("rule", rule)
    for hops in range(41):
        cwl.route(hops)
        cwl.set("hops", 0)
        assert Socket(cwl, "cwl", snd_cwnd=1000).snd_cwnd == (limit(hops) if hops else 1000), hops
        cwl.route(0)
        cwl.set("hops", hops)
        assert Socket(cwl, "cwl", snd_cwnd=1000).snd_cwnd == (limit(hops) if hops else 1000), hops


@given(st.lists(st.tuples(st.sampled_from(["acks", "loss", "undo", "kernel", "limit", "route"]), st.integers(1, 60))))
def test_nothing_is_sent_above_the_limit(events):
    """However the window is set, and however rule, limit and route change: each burst has the limit; a smaller window
    stays."""
    with Within("tcp_cwl", rule="fixed") as module:
        sock, limit = Socket(module, "cwl"), 4
        for what, amount in events:
            if what == "acks":
                sock.cong_avoid(amount)
            elif what == "loss":
                sock.lose()
            elif what == "undo":
                sock.undo()
            elif what == "kernel":
                sock.set(snd_cwnd=amount)
            elif what == "limit":
                module.set("rule", "fixed")
                module.set("limit", limit := amount)
            else:
                module.set("rule", "3h/2")
                module.route(amount)
                limit = -(-3 * amount // 2)
            before = sock.snd_cwnd
            assert sock.burst() == 2
            assert sock.snd_cwnd == min(before, limit)


@given(WINDOWS, WINDOWS, st.lists(ACKED))
def test_an_unknown_hop_count_is_reno(cwnd, ssthresh, acks):
    with Within("tcp_cwl") as module:
        module.route(0)
        both = [Socket(module, name, snd_cwnd=cwnd, snd_ssthresh=ssthresh) for name in ("cwl", "reno")]
        for n in acks:
            for sock in both:
                sock.cong_avoid(n)
                sock.burst()
            assert both[0].window == both[1].window
