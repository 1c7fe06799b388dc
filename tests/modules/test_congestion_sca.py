# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of ss, sca and ssca: the module's own file in user space, against the papers' pseudo-code in plain
Python, Reno, and a second copy of the papers' tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel import ACKED, WINDOWS, Socket, Within, loaded
from paper_rules import AODV, DSR, PaperTcp

THRESHOLDS = st.integers(0, 60) | st.integers(0, 65535)

sca = loaded("tcp_sca")


@given(st.sampled_from(["ss", "sca", "ssca"]), st.integers(1, 30), st.integers(1, 30), st.integers(1, 20),
       st.integers(2, 60), st.lists(st.integers(1, 9), max_size=150))  # fmt: skip
def test_the_window_is_that_of_the_papers_pseudo_code(name, s_thresh, ca_thresh, cwnd, ssthresh, acks):
    model = PaperTcp(cwnd, ssthresh, None if name == "sca" else s_thresh, None if name == "ss" else ca_thresh)
    with Within("tcp_sca", ss_increase_thresh=s_thresh, ca_increase_thresh=ca_thresh) as module:
        sock = Socket(module, name, snd_cwnd=cwnd, snd_ssthresh=ssthresh)
        for n in acks:
            sock.cong_avoid(n)
            model.acks(n)
            assert (sock.snd_cwnd, sock.snd_cwnd_cnt) == (model.cwnd, model.counted)


EVENTS = st.lists(st.tuples(st.sampled_from(["acks"] * 8 + ["loss", "undo", "timeout", "unlimited"]), ACKED))


@given(st.sampled_from(["ss", "sca", "ssca"]), WINDOWS, WINDOWS, WINDOWS, EVENTS)
def test_threshold_0_is_reno_to_the_last_bit(name, cwnd, ssthresh, clamp, events):
    fields = {"snd_cwnd": cwnd, "snd_ssthresh": ssthresh, "snd_cwnd_clamp": clamp}
    with Within("tcp_sca", ss_increase_thresh=0, ca_increase_thresh=0) as module:
        both = Socket(module, name, **fields), Socket(module, "reno", **fields)
        for what, amount in events:
            for sock in both:
                if what == "acks":
                    sock.cong_avoid(amount)
                elif what == "unlimited":
                    sock.set(cwnd_limited=amount % 2)
                elif what == "undo":
                    sock.undo()
                else:
                    sock.lose()
                    sock.set(snd_cwnd=1 if what == "timeout" else sock.snd_cwnd)
            assert both[0].window == both[1].window


@given(THRESHOLDS, st.lists(st.tuples(THRESHOLDS, ACKED), max_size=30))
def test_all_that_is_acked_is_counted_or_held_back(first, changes):
    """Thresholds change meanwhile; a group is never longer than its threshold."""
    with Within("tcp_sca", ca_increase_thresh=first) as module:
        sock, before = Socket(module, "sca", snd_ssthresh=2), module.counters("sca")
        for thresh, acked in changes:
            module.set("ca_increase_thresh", thresh)
            was = module.counters("sca")
            sock.cong_avoid(acked)
            now = module.counters("sca")
            counted = now["segments_counted"] - was["segments_counted"]
            assert acked // (thresh + 1) <= counted <= -(-acked // (thresh + 1))
        sums = [now["segments_counted"] + now["segments_held_back"] for now in (before, module.counters("sca"))]
        assert sums[1] - sums[0] == sum(acked for _, acked in changes)


@given(st.sampled_from(["ss", "sca", "ssca"]), THRESHOLDS, THRESHOLDS, st.integers(1, 2**31 - 2), WINDOWS,
       st.lists(st.integers(0, 2**30), max_size=10))  # fmt: skip
def test_windows_neither_shrink_nor_overflow(name, s_thresh, ca_thresh, cwnd, ssthresh, acks):
    with Within("tcp_sca", ss_increase_thresh=s_thresh, ca_increase_thresh=ca_thresh) as module:
        sock = Socket(module, name, snd_cwnd=cwnd, snd_ssthresh=ssthresh, snd_cwnd_clamp=2**31 - 1)
        reno = Socket(module, "reno", snd_cwnd=cwnd, snd_ssthresh=ssthresh, snd_cwnd_clamp=2**31 - 1)
        for n in acks:
            sock.cong_avoid(n)
            reno.cong_avoid(n)
            assert cwnd <= sock.snd_cwnd <= 2**31 - 1
        if cwnd >= ssthresh:
            assert sock.snd_cwnd <= reno.snd_cwnd


def test_a_lowered_threshold_begins_a_new_group(sca):
    sca.set("ca_increase_thresh", 50)
    sock = Socket(sca, "sca", snd_cwnd=1, snd_ssthresh=1)
    sock.cong_avoid(20)
    assert sock.snd_cwnd == 2
    sca.set("ca_increase_thresh", 4)
    sock.cong_avoid(1)
    assert sock.snd_cwnd_cnt == 1


def test_nothing_counts_while_the_window_is_not_the_limit(sca):
    sock = Socket(sca, "ssca", cwnd_limited=0)
    sock.cong_avoid(100)
    sock.set(cwnd_limited=1)
    sock.cong_avoid(1)
    assert sock.snd_cwnd == 11  # the first ACK that was let in is the first of its group


@pytest.mark.parametrize(("word", "table"), [("dsr", DSR), ("aodv", AODV)])
def test_adaptive_sca_takes_the_table_by_hop_count(sca, word, table):
    """A metric of 0 through a gateway gives no hop count: the parameter counts. Below 4 hops: Reno; beyond 15: as for
    15."""
    sca.set("adaptive", word)
    sca.set("ca_increase_thresh", 7)
    for metric in range(41):
        sca.route(metric)
        thresh = 7 if metric == 0 else 0 if metric < 4 else table[min(metric, 15)]
        sock = Socket(sca, "sca", snd_cwnd=100_000, snd_ssthresh=2)
        sock.cong_avoid(10_000)
        assert sock.snd_cwnd_cnt == -(-10_000 // (thresh + 1)), metric


def test_the_switch_off_concerns_all_of_ssca_and_nothing_of_ss(sca):
    sca.set("adaptive", "dsr")
    sca.route(3)
    for name, cwnd in (("ssca", 60), ("ss", 20)):
        sock = Socket(sca, name)
        sock.cong_avoid(50)
        assert sock.snd_cwnd == cwnd


def test_below_min_hops_is_what_the_user_says(sca):
    sca.set("adaptive", "dsr")
    sca.set("min_hops", 3)
    for hops, counted in ((2, 43), (3, 1), (4, 1)):
        sca.set("hops", hops)
        sock = Socket(sca, "sca", snd_cwnd=1000, snd_ssthresh=2)
        sock.cong_avoid(43)  # a group of table 4.4's entry for 4 hops
        assert sock.snd_cwnd_cnt == counted
