# SPDX-License-Identifier: BSD-3-Clause
"""ackthin as a queue of the kernel: changed, reset, under a parent, full; and the flows that it keeps and lists."""

from __future__ import annotations

import textwrap

import pytest
from output import MODULE, NAMES, Script
from rooms import needs
from thinning import over_ipv6, packet

pytestmark = pytest.mark.lane


def test_a_change_lets_go_and_a_reset_drops(script: Script) -> None:
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        acks = [bytes.fromhex(packet) for packet in {[packet(ack=1000 * n).hex() for n in range(6)]}]
        output = Output(policy="delayed", count=9)

        def show():
            statistics = output.statistics()
            left = [(us // 1000, acks.index(packet)) for us, packet in output.left()]
            print(left, statistics["flows"], statistics["held"])

        output.wait(0)
        for packet in acks[:3]:
            output.send(packet)
        show()
        output.wait(10_000)
        output.set(count=2)
        show()
        output.send(acks[3])
        show()
        output.wait(20_000)
        output.route.set_link(output.wire.index, up=False)
        output.route.set_link(output.wire.index, up=True)
        print(output.witness.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
        output.wait(300_000)
        show()
        output.send(acks[4])
        show()
        """),
        MODULE,
    )
    assert lines == [
        "[(0, 0)] 1 1",
        "[(10, 2)] 1 0",
        "[] 1 1",
        "100",  # the link is down
        "[] 0 0",
        "[(300, 4)] 1 0",  # the first that is known
    ]


@needs("check")
def test_the_queue_is_a_queue(script: Script) -> None:
    """Behind a token bucket of 100 kB/s packets wait in order; a held ACK has its place; a full queue drops."""
    data = [packet(payload=bytes(960), seq=n).hex() for n in range(9)]
    acks = [packet(ack=n, dport=9).hex() for n in range(4)]
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        from types import SimpleNamespace
        from emulation.features.check.inside import queues
        data, acks = ([bytes.fromhex(packet) for packet in packets] for packets in ({data}, {acks}))
        output = Output()
        link = output.wire.index
        end = SimpleNamespace(route=output.route, radio=SimpleNamespace(index=link))  # all that it wants of a station
        queues.put(end, "ackthin")
        queues.put_behind_bucket(end, "ackthin", 100_000)
        options = ackthin.pack({{"limit": 6, "policy": "delayed", "count": 9, "timeout_us": 30_000}})
        queues.put(end, "ackthin", options, parent=queues.CHILD)

        def show():
            # of the bucket, and of its child: packets in it, dropped ones
            for index, _, found in output.route.qdiscs():
                if index == link:
                    length, _, drops = struct.unpack_from("=3I", attributes(found[7])[3])
                    print(found[1].decode().rstrip(chr(0)), length, drops)

        output.wait(0)
        for packet in [*acks[:3], *data[:-1]]:
            output.send(packet)
        try:
            output.send(data[-1])
        except OSError as error:
            print(error.strerror)
        show()
        output.wait(500_000)
        show()
        print([(us, (acks + data).index(packet)) for us, packet in output.left()])
        """),
        MODULE,
    )
    assert lines == [
        "No buffer space available",
        "tbf 6 2",  # to a parent, what its child thins is dropped
        "ackthin 6 1",
        "tbf 0 2",
        "ackthin 0 1",
        # 4000 bytes at once, then 100 a millisecond; the newest ACK joins the queue when its timer fires, at 30 ms
        "[(0, 0), (0, 4), (0, 5), (0, 6), (400, 7), (10400, 8), (20400, 9), (30400, 10), (40400, 11), (40800, 2)]",
    ]


def test_flows_are_bounded(script: Script) -> None:
    """The flow not seen for longest is forgotten, and its held ACK leaves."""
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        first, second = bytes.fromhex("{packet().hex()}"), bytes.fromhex("{packet(ack=1000).hex()}")
        output = Output(policy="delayed", timeout_us=10_000_000, limit=5000)
        output.wait(0)
        seen = []
        for port in range(1030):
            for packet in (first, second):
                output.send(packet[:22] + port.to_bytes(2, "big") + packet[24:])
            seen += output.left()
        print([int.from_bytes(packet[22:24], "big") for us, packet in seen if packet[28:32] != bytes(4)])
        statistics = output.statistics()
        print(statistics["flows"], statistics["evicted"], statistics["held"])
        output.wait(20_000_000)
        print(len(output.left()), len(open("/proc/net/ackthin").read().splitlines()))
        """),
        MODULE,
    )
    assert lines == ["[0, 1, 2, 3, 4, 5]", "1024 6 1024", "1024 1025"]


def test_proc_lists_the_flows_of_its_namespace(script: Script) -> None:
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        packets = {[packet(ack=1000 * n).hex() for n in range(4)]} + {[over_ipv6(packet()).hex()]}
        output = Output(policy="delayed", count=2)
        for data in packets:
            output.send(bytes.fromhex(data))
        print(open("/proc/net/ackthin").read(), end="")
        syscalls.new_network_namespace()
        print(open("/proc/thread-self/net/ackthin").read(), end="")
        """),
        MODULE,
    )
    title = "device source destination acks passed thinned held timers dwin_milli interval_ns"
    assert lines[0] == lines[3] == title
    assert lines[1].split()[1:] == ["[1:203:405:607:809:a0b:c0d:e0f]:1", "[1011:1213:1415:1617:1819:1a1b:1c1d:1e1f]:2",
                                    "1", "1", "0", "0", "0", "1000", "0"]  # fmt: skip
    assert lines[2] == "wire0 10.0.0.1:1 10.0.0.2:2 4 2 1 1 0 1000 0"
