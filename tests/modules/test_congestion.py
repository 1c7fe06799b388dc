# SPDX-License-Identifier: BSD-3-Clause
"""The arithmetic of the congestion controls: the modules' own files in user space, against the seeds' pseudo-code in
plain Python, against Reno, and against the seeds' tables typed in once more."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel import AF_INET6, CWR, DESTINATION, DISORDER, LOCAL, LOSS, OPEN, RECOVERY, Module, Socket
from seed import AODV, CHEN, DSR, Seed

THRESHOLDS = st.integers(0, 60) | st.integers(0, 65535)
WINDOWS = st.integers(1, 40) | st.integers(1, 2**31 - 1)
ACKED = st.integers(0, 12) | st.integers(0, 2**20)


def loaded(name):
    @pytest.fixture
    def fixture():
        module = Module(name)
        yield module
        module.close()

    return fixture


sca, cwl, dcr = (loaded(name) for name in ("tcp_sca", "tcp_cwl", "tcp_dcr"))


class Within:
    """A module for one example of a property test."""

    def __init__(self, name, **parameters):
        self.module = Module(name)
        for parameter, value in parameters.items():
            assert self.module.set(parameter, value) == 0

    def __enter__(self):
        return self.module

    def __exit__(self, *_):
        self.module.close()


# --- ss, sca, ssca ---------------------------------------------------------------------------------------------------


@given(st.sampled_from(["ss", "sca", "ssca"]), st.integers(1, 30), st.integers(1, 30), st.integers(1, 20),
       st.integers(2, 60), st.lists(st.integers(1, 9), max_size=150))  # fmt: skip
def test_the_window_is_that_of_the_seeds_pseudo_code(name, s_thresh, ca_thresh, cwnd, ssthresh, acks):
    model = Seed(cwnd, ssthresh, None if name == "sca" else s_thresh, None if name == "ss" else ca_thresh)
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
    """Whatever the thresholds become meanwhile; a group is never longer than its threshold says."""
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
@pytest.mark.parametrize("metric", range(41))
def test_adaptive_sca_takes_the_table_by_hop_count(sca, word, table, metric):
    """A metric of 0 through a gateway says nothing: the parameter counts; below 4 hops: Reno; beyond 15: as 15."""
    sca.set("adaptive", word)
    sca.set("ca_increase_thresh", 7)
    sca.route(metric)
    thresh = 7 if metric == 0 else 0 if metric < 4 else table[min(metric, 15)]
    sock = Socket(sca, "sca", snd_cwnd=100_000, snd_ssthresh=2)
    sock.cong_avoid(10_000)
    assert sock.snd_cwnd_cnt == -(-10_000 // (thresh + 1))


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


# --- how the hop count is learnt -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("route", "limit"), [
    ({"metric": 9}, 3), ({"metric": 9, "gateway": 0}, 3),
    ({"metric": 0, "gateway": 0}, 2), ({"metric": 0, "gateway": DESTINATION}, 2),  # a neighbour
    ({"metric": 600, "gateway": 0}, 2),  # NetworkManager's metric of a Wi-Fi
    ({"metric": 64}, 5), ({"metric": 65}, 10), ({"metric": 0}, 10),  # no hop count: no limit
    ({"metric": 9, "kind": LOCAL}, 10), ({"metric": 9, "error": -101}, 10),
])  # fmt: skip
def test_the_routes_metric_is_its_hop_count(cwl, route, limit):
    before = cwl.counters("cwl")
    cwl.route(**route)
    assert Socket(cwl, "cwl").snd_cwnd == limit
    after = cwl.counters("cwl")
    assert after["route_lookups"] - before["route_lookups"] == 1
    assert after["hops_unknown"] - before["hops_unknown"] == (limit == 10)


def test_routes_are_asked_again_only_when_they_have_changed(cwl):
    sock, before = Socket(cwl, "cwl"), cwl.counters("cwl")["route_lookups"]
    for _ in range(5):
        sock.cong_avoid()
        sock.burst()
    assert cwl.counters("cwl")["route_lookups"] == before
    cwl.route(3)
    sock.burst()
    assert sock.snd_cwnd == 1
    assert cwl.counters("cwl")["route_lookups"] == before + 1


def test_ipv6_has_no_hop_count_but_mapped_ipv4_has(cwl):
    native, mapped = (Socket(cwl, "cwl", init=False, family=AF_INET6) for _ in range(2))
    mapped.sock.v6_daddr = (0, 0, 0xFFFF0000, DESTINATION)
    native.sock.v6_daddr = (0x20, 0, 0, 1)
    for sock, window in ((native, 10), (mapped, 2)):
        sock.burst()
        assert sock.snd_cwnd == window


# --- cwl -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rule", "limit"), [
    ("chen", lambda h: CHEN[min(h, 15)]), ("h/4", lambda h: max(h // 4, 1)), ("rthc/5", lambda h: max(2 * h // 5, 1)),
    ("3h/2", lambda h: -(-3 * h // 2)),
])  # fmt: skip
@pytest.mark.parametrize("hops", range(41))
def test_each_rule_for_each_hop_count(cwl, rule, limit, hops):
    cwl.set("rule", rule)
    cwl.route(hops)
    sock = Socket(cwl, "cwl", snd_cwnd=1000)
    assert sock.snd_cwnd == (limit(hops) if hops else 1000)
    cwl.route(0)
    cwl.set("hops", hops)
    assert Socket(cwl, "cwl", snd_cwnd=1000).snd_cwnd == (limit(hops) if hops else 1000)


@given(st.lists(st.tuples(st.sampled_from(["acks", "loss", "undo", "kernel", "limit", "route"]), st.integers(1, 60))))
def test_nothing_is_sent_above_the_limit(events):
    """Whatever sets the window, and however rule, limit and route change: each burst has it; below, nothing."""
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


# --- dcr -------------------------------------------------------------------------------------------------------------

RTT = 80_000  # µs


def dcr_socket(module, **fields):
    return Socket(module, "dcr", srtt_us=RTT << 3, snd_una=1000, **fields)


def duplicate(sock, at_us, *, sack=False):
    """A duplicate ACK comes. Returns whether the kernel would start recovery."""
    if sack:
        sock.set(sacked_out=sock.sacked_out + 1)
    sock.ack_event(at_us)
    if not sack:
        sock.set(sacked_out=sock.sacked_out + 1)
    if sock.sacked_out >= sock.reordering:
        return True
    if sock.ca_state == OPEN:
        sock.state(DISORDER)
    return False


@pytest.mark.parametrize("sack", [False, True])
@pytest.mark.parametrize("percent", [100, 50, 250])
@given(gaps=st.lists(st.integers(1, 30_000), min_size=20, max_size=60))
@settings(max_examples=40)
def test_the_first_duplicate_ack_after_the_delay_starts_recovery(sack, percent, gaps):
    with Within("tcp_dcr", delay_percent=percent) as module:
        sock, at, first = dcr_socket(module), 5_000_000, None
        for number, gap in enumerate(gaps, 1):
            at += gap
            first = first or at
            recovers = duplicate(sock, at, sack=sack)
            assert recovers == (number >= 3 and at >= first + RTT * percent // 100)
            if recovers:
                sock.state(RECOVERY)
                assert (sock.reordering, module.counters("dcr")["holes_delayed"]) != (16384, 0)
                break


def outcomes(module, before):
    after = module.counters("dcr")
    return {
        name: after[name] - before[name] for name in after if name.startswith("holes") and after[name] - before[name]
    }


@pytest.mark.parametrize(("end", "outcome"), [(OPEN, "filled"), (RECOVERY, "retransmitted"), (LOSS, "timed_out")])
def test_how_a_wait_ends_is_counted_and_the_threshold_put_back(dcr, end, outcome):
    sock, before = dcr_socket(dcr, reordering=7), dcr.counters("dcr")
    duplicate(sock, 1000)
    assert sock.reordering > 1000
    sock.state(end)
    assert sock.reordering == 7
    assert outcomes(dcr, before) == {"holes_delayed": 1, f"holes_{outcome}": 1}
    sock.state(LOSS)
    assert outcomes(dcr, before) == {"holes_delayed": 1, f"holes_{outcome}": 1}


def test_after_a_filled_hole_the_next_one_waits_anew(dcr):
    sock = dcr_socket(dcr)
    for at in (1000, 1000 + RTT // 2):
        assert not duplicate(sock, at, sack=True)
    sock.set(snd_una=2000)  # one of two holes is filled: the state stays Disorder
    sock.ack_event(1000 + RTT - 1)
    assert not duplicate(sock, 1000 + 2 * RTT - 2, sack=True)
    assert duplicate(sock, 1000 + 2 * RTT - 1, sack=True)


def test_many_sacked_at_once_do_not_get_past_the_delay(dcr):
    """ACKs get lost: the first that arrives may tell of three segments."""
    sock = dcr_socket(dcr, sacked_out=3)
    sock.ack_event(1000)
    assert sock.reordering > 1000
    sock.state(DISORDER)
    sock.ack_event(1000 + RTT)
    assert sock.reordering == 3


def test_the_kernels_own_lesson_of_reordering_is_kept(dcr):
    sock = dcr_socket(dcr)
    duplicate(sock, 1000)
    sock.set(reordering=20, snd_una=2000)
    duplicate(sock, 2000)
    assert sock.reordering > 1000
    sock.state(OPEN)
    assert sock.reordering == 20


def test_waiting_goes_on_while_the_window_is_reduced_for_another_reason(dcr):
    sock = dcr_socket(dcr)
    duplicate(sock, 1000)
    sock.state(CWR)
    assert sock.reordering > 1000
    sock.ack_event(1000 + RTT)
    assert sock.reordering == 3


def test_the_window_does_not_grow_while_waiting(dcr):
    sock = dcr_socket(dcr)
    duplicate(sock, 1000, sack=True)
    sock.cong_avoid(1)
    assert sock.snd_cwnd == 10
    sock.state(OPEN)
    sock.cong_avoid(1)
    assert sock.snd_cwnd == 11


def test_without_a_delay_it_is_reno(dcr):
    dcr.set("delay_percent", 0)
    for sack in (False, True):
        sock = dcr_socket(dcr, rtt_min=RTT)
        assert [duplicate(sock, at, sack=sack) for at in (1, 2, 3)] == [False, False, True]


@pytest.mark.parametrize(("rtt_min", "percent", "steps"), [
    (RTT, 100, 4), (RTT // 2, 100, 8), (RTT, 50, 2), (RTT, 51, 3), (RTT // 1000, 100, 255), (3, 100, 255),
    (2**32 - 1, 100, 1),
])  # fmt: skip
@pytest.mark.parametrize("end", ["filled", "over", "released"])
def test_racks_window_becomes_the_delay_while_waiting(dcr, rtt_min, percent, steps, end):
    """In steps of a quarter of the shortest round-trip time, upwards; then the kernel's own is put back."""
    dcr.set("delay_percent", percent)
    sock = dcr_socket(dcr, rtt_min=rtt_min, reo_wnd_steps=2, reo_wnd_persist=5)
    duplicate(sock, 1000, sack=True)
    assert (sock.reo_wnd_steps, sock.reo_wnd_persist) == (steps, 16)
    sock.set(snd_una=2000)
    duplicate(sock, 2000, sack=True)
    assert (sock.reo_wnd_steps, sock.reo_wnd_persist) == (steps, 16)
    if end == "filled":
        sock.state(OPEN)
    elif end == "over":
        sock.ack_event(2000 + RTT)
    else:
        sock.release()
    assert (sock.reo_wnd_steps, sock.reo_wnd_persist, sock.reordering) == (2, 5, 3)


# --- all of them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("module", "name", "control"), [
    ("tcp_sca", "ss", "ss"), ("tcp_sca", "sca", "sca"), ("tcp_sca", "ssca", "ssca"), ("tcp_cwl", "cwl", "cwl"),
    ("tcp_dcr", "dcr", "dcr"),
])  # fmt: skip
def test_flows_are_counted_once_they_were_initialized(module, name, control):
    with Within(module) as loaded:
        before = loaded.counters(name)
        sock, never = Socket(loaded, control), Socket(loaded, control, init=False)
        never.state(OPEN)  # as the kernel does with the child of a listening socket
        during = loaded.counters(name)
        sock.release()
        never.release()
        after = loaded.counters(name)
        assert [now["flows"] - before["flows"] for now in (during, after)] == [1, 1]
        assert [now["flows_now"] - before["flows_now"] for now in (during, after)] == [1, 0]


@pytest.mark.parametrize(("module", "parameter", "good", "bad"), [
    ("tcp_sca", "ca_increase_thresh", ["0", "10", "65535"], ["-1", "65536", "ten", ""]),
    ("tcp_sca", "ss_increase_thresh", ["0", "4", "65535"], ["-1", "65536"]),
    ("tcp_sca", "adaptive", ["off", "dsr", "aodv"], ["DSR", "olsr", "", "1"]),
    ("tcp_sca", "min_hops", ["0", "4", "255"], ["256"]),
    ("tcp_sca", "hops", ["0", "255"], ["256"]),
    ("tcp_cwl", "rule", ["chen", "fixed", "h/4", "rthc/5", "3h/2"], ["h", "3h", "Chen"]),
    ("tcp_cwl", "limit", ["1", "65535"], ["0", "65536", "-1"]),
    ("tcp_cwl", "hops", ["0", "255"], ["256"]),
    ("tcp_dcr", "delay_percent", ["0", "100", "65535"], ["-1", "65536"]),
])  # fmt: skip
def test_parameters_take_what_makes_sense(module, parameter, good, bad):
    with Within(module) as loaded:
        for value in good:
            assert loaded.set(parameter, value) == 0
            assert loaded.get(parameter) == value
        for value in bad:
            assert loaded.set(parameter, value) in (errno.EINVAL, errno.ERANGE)
            assert loaded.get(parameter) == good[-1]


def test_all_of_this_is_clean_under_sanitizers():
    """Out-of-bounds accesses and undefined behaviour end the process that runs these tests once more."""
    if os.environ.get("DCF_SANITIZE"):
        return
    libraries = [
        subprocess.run(["gcc", f"-print-file-name={name}"], check=True, capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    ]
    if not all(map(os.path.isabs, libraries)):
        pytest.skip("gcc came without its sanitizers")
    env = {**os.environ, "LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0", "DCF_SANITIZE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
