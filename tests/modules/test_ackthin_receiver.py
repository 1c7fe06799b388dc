# SPDX-License-Identifier: BSD-3-Clause
"""ackthin below the kernel's own TCP as a receiver, in virtual time: which ACKs a sender gets, and when."""

from __future__ import annotations

import textwrap

import pytest
from output import MODULE, NAMES, Script

pytestmark = pytest.mark.lane

RECEIVER = """
output = Output(policy={policy!r}, count=3, timeout_us=40_000, start=1, skip=2)
output.route.add_route(output.wire.index, output.wire.peer, None, {{"quickack": 1}})
flow = output.wire.accept(sack={sack})
at = lambda ms: output.wait(ms * 1000)

def said():
    for us, packet in output.left():
        segment = parse(packet, 0)
        if segment and us >= 0:
            print(us, segment.flags, segment.ack - flow.our_first, segment.window > 0)
"""


@pytest.mark.parametrize("sack", [False, True])
def test_a_receiver_with_a_loss(script: Script, sack: bool) -> None:
    """A hole is acknowledged at once, with each segment beyond it, and also when it is filled; then thinning
    continues."""
    lines = script(
        NAMES
        + RECEIVER.format(policy="delayed", sack=sack)
        + textwrap.dedent("""
        for n in (0, 1, 2, 3, 4, 6, 7, 8):  # 5 is lost
            at(10 * n)
            flow.send(seq=1000 * n, payload=bytes(1000))
        at(90)
        flow.send(seq=5000, payload=bytes(1000))
        for n in (9, 10, 11):
            at(10 * n + 10)
            flow.send(seq=1000 * n, payload=bytes(1000))
        at(500)
        said()
        """),
        MODULE,
    )
    assert lines == [
        "0 A 1000 True",  # the first of a flow
        "30000 A 4000 True",  # one of three
        "60000 A 5000 True",  # what was held, and the first duplicate
        *[f"{us} A 5000 True" for us in (60_000, 70_000, 80_000)],
        "90000 A 9000 True",  # filled
        "120000 A 12000 True",  # one of three
    ]


def test_a_receiver_whose_window_closes(script: Script) -> None:
    """A closed window, and one that opens again, is announced at once: the sender waits for nothing else."""
    lines = script(
        NAMES
        + RECEIVER.format(policy="skip", sack=False)
        + textwrap.dedent("""
        flow.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        for n in range(20):
            at(10 * n)
            flow.send(seq=500 * n, payload=bytes(500))
        at(500)
        flow.socket.recv(1 << 20)
        at(501)
        said()
        """),
        MODULE,
    )
    assert lines == [
        "0 A 500 True",  # the first
        "30000 A 2000 True",  # one of three
        *[f"{us} A 2000 False" for us in range(40_000, 200_000, 10_000)],  # no room
        "500000 A 2000 True",
    ]


def test_a_connection_from_beginning_to_end(script: Script) -> None:
    """SYN and FIN pass at once, with what is held; `skip` without a timer holds even the last ACK until another segment
    comes."""
    lines = script(
        NAMES
        + RECEIVER.format(policy="skip", sack=False)
        + textwrap.dedent("""
        output.set(timeout_us=0)
        for n in range(3):
            at(10 * n)
            flow.send(payload=bytes(1000))
        at(100)
        flow.socket.shutdown(socket.SHUT_WR)
        at(200)
        flow.send("FA", ack=1)
        at(300)
        flow.send("FA", ack=1, seq=3000)
        at(400)
        said()
        """),
        MODULE,
    )
    assert lines == ["0 A 1000 True", "100000 A 3000 True", "100000 FA 3000 True", *["300000 A 3001 True"] * 2]
