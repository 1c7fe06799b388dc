# SPDX-License-Identifier: BSD-3-Clause
"""dcr's reaction to duplicate ACKs: the module's own file in user space; when recovery begins, and which values are
restored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel import CWR, DISORDER, LOSS, OPEN, RECOVERY, Socket, Within, loaded
from properties import examples

RTT = 80_000  # µs

dcr = loaded("tcp_dcr")


def dcr_socket(module, **fields):
    return Socket(module, "dcr", srtt_us=RTT << 3, snd_una=1000, **fields)


def duplicate(sock, at_us, *, sack=False):
    """Process a duplicate ACK; return whether the kernel would start recovery."""
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
@examples(40)
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
    """ACKs get lost: the first that arrives may report three segments."""
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


def test_waiting_continues_while_the_window_is_reduced_for_another_reason(dcr):
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
    """In steps of a quarter of the shortest round-trip time, upwards; then the kernel's own value is restored."""
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
