# SPDX-License-Identifier: BSD-3-Clause
"""ackthin in a running kernel, in virtual time: packets in at exact times, packets out at exact times.

Most tests write packets to the output of a TUN device whose root qdisc is ackthin, and read there what leaves. Others
let the kernel's own TCP answer over it, or put it on a station of a lab.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_ackthin import BESIDES, NEVER_THINNED, Item, edited, over_ipv6, packet

from emulation.lane import ackthin
from emulation.lanes import virtual
from emulation.lanes.virtual import Listener
from emulation.setup import AIR, kernel, modules

pytestmark = pytest.mark.lane
Script = Callable[..., list[str]]
Schedule = list[tuple[int, bytes]]  # µs, packet

ROOT = Path(__file__).parents[2]
WALL_LIMIT_S = 120
PLUGIN = ROOT / "tc_modules" / "tc"
MODULE = "sch_ackthin"
NAMES = """
import contextlib, json, os, select, socket, struct, time
from emulation.lane import ackthin
from emulation.lane import syscalls
from emulation.lane.netlink import NetlinkError, parse as attributes
from emulation.lane.rtnetlink import Route
from traffic.loop import set_timer, timer

class Output:
    # a TUN device under ackthin, and what leaves it: told by the kernel, as reading the clock costs time in a lane
    def __init__(self, name="wire0", **options):
        sysctl("net.ipv6.conf.default.disable_ipv6", 1)  # the kernel itself keeps silent
        self.wire, self.route = Wire(name), Route()
        self.writer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM)
        self.writer.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE: what is held is charged to it
        self.witness = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.htons(3))
        self.witness.bind((name, 3))
        self.witness.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
        self.witness.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
        self.alarm = timer()
        self.set(**options)
        self.begin = (time.time_ns() // 10**9 + 1) * 10**9  # times count from there, in µs

    def set(self, **options):
        self.route.replace_qdisc(self.wire.index, "ackthin", ackthin.pack(options))

    def options(self):
        return ackthin.unpack(self.route.qdisc(self.wire.index)[2])

    def statistics(self):
        return ackthin.statistics(attributes(self.route.qdisc(self.wire.index)[7])[4])

    def wait(self, us):
        set_timer(self.alarm, self.begin + us * 1000 - AHEAD)
        select.select([self.alarm], [], [])

    def send(self, packet):
        kind = 0x86DD if packet[0] >> 4 == 6 else 0x0800
        self.writer.sendto(packet, (self.wire.name, kind))

    def left(self):
        # (µs, packet) of each that has left
        with contextlib.suppress(BlockingIOError):
            while True:
                os.read(self.wire.tun, 65536)  # make room
        found = []
        while True:
            try:
                packet, [(_, _, stamp)], _, address = self.witness.recvmsg(65536, 100)
            except BlockingIOError:
                return found
            seconds, ns = struct.unpack("qq", stamp)
            if address[2] == socket.PACKET_OUTGOING:
                found.append(((seconds * 10**9 + ns - self.begin) // 1000, packet))

    def play(self, schedule, until_us):
        for at, packet in schedule:
            self.wait(at)
            self.send(packet)
        self.wait(until_us)
        return self.left()

AHEAD = round((time.time_ns() - time.monotonic_ns()) / 1000) * 1000  # CLOCK_REALTIME, by which packets are stamped
"""
PLAY = """
jobs = json.loads(open(os.environ["DCFLAB_RUN"] + "/jobs.json").read())
for number, job in enumerate(jobs):
    output = Output(f"wire{number}", **job["options"])
    schedule = [(at, bytes.fromhex(packet)) for at, packet in job["schedule"]]
    left = output.play(schedule, job["until_us"])
    print(json.dumps({"left": [(at, packet.hex()) for at, packet in left], "statistics": output.statistics()}))
"""
SECOND = 1_000_000
LATE = 50_000


@pytest.fixture
def thinned(script: Script, tmp_path: Path) -> Callable[..., Any]:
    """Play schedules, each on a device of its own, and return for each what left, as (µs, number), and statistics."""

    def play(*jobs: tuple[Schedule, dict[str, int | str]], until_us: int = SECOND) -> list[Any]:
        written = [
            {"schedule": [(at, data.hex()) for at, data in schedule], "options": options, "until_us": until_us}
            for schedule, options in jobs
        ]
        (tmp_path / "jobs.json").write_text(json.dumps(written))
        found = []
        for (schedule, _), line in zip(jobs, script(NAMES + PLAY, MODULE), strict=True):
            said = json.loads(line)
            number = {data.hex(): i for i, (_, data) in enumerate(schedule)}
            assert len(number) == len(schedule), "the packets of a schedule must differ"
            found.append(([(at, number[data]) for at, data in said["left"]], said["statistics"]))
        return found

    return play


def acks(*at_ms: float, first: int = 0) -> Schedule:
    """Acknowledgments of 1000 bytes more each."""
    return [(round(at * 1000), packet(ack=first + 1000 * n)) for n, at in enumerate(at_ms)]


# --- The policies ---


def test_policies_to_the_microsecond(thinned: Callable[..., Any]) -> None:
    ten = acks(*range(0, 100, 10))
    found = thinned(
        (ten, {"policy": "plain"}),
        (ten, {"policy": "delayed", "count": 2, "timeout_us": 3000}),
        (ten, {"policy": "delayed", "count": 3, "timeout_us": 100_000}),
        (ten, {"policy": "delayed", "count": 3, "timeout_us": 17_000, "granularity_us": 4000}),
        (ten, {"policy": "skip", "skip": 2, "start": 4, "timeout_us": 0}),
        (ten, {"policy": "skip", "skip": 1, "start": 1, "timeout_us": 9999}),
        (ten, {"policy": "daa", "mu": 1000}),
        (ten, {"policy": "daa", "mu": 1000, "granularity_us": 25_000}),
        (ten, {"policy": "dynamic"}),
    )
    assert [left for left, _ in found] == [
        [(10_000 * n, n) for n in range(10)],
        [(0, 0), *[(10_000 * n + 3000, n) for n in range(1, 10)]],
        [(0, 0), (30_000, 3), (60_000, 6), (90_000, 9)],
        # a group begins at 10 ms, its timer runs out at 27, the next beat is at 28; the next begins at 30
        [(0, 0), (28_000, 2), (48_000, 4), (68_000, 6), (88_000, 8), (108_000, 9)],
        [(0, 0), (10_000, 1), (20_000, 2), (50_000, 5), (80_000, 8)],
        [(0, 0), *[(10_000 * n + 9999, n) for n in range(1, 10)]],
        # groups of 1, 2, 3, then 4: the last three wait 2.2 intervals of 10 ms after the last
        [(0, 0), (10_000, 1), (30_000, 3), (60_000, 6), (112_000, 9)],
        [(0, 0), (10_000, 1), (30_000, 3), (60_000, 6), (125_000, 9)],
        [(10_000 * n, n) for n in range(10)],
    ]
    for left, statistics in found:
        passed = statistics["passed"]
        assert sum(passed.values()) == len(left)
        assert statistics["acks"] == 10 == sum(passed.values()) + statistics["thinned"] + statistics["held"]
    assert [statistics["held"] for _, statistics in found] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert found[1][1]["passed"]["timer"] == 9
    assert found[6][1]["dwin_milli"] == 2000  # its timer fired: a sign of loss


def test_timers_of_several_flows(thinned: Callable[..., Any]) -> None:
    """Each at its own time; flows whose timers run out on one beat go in the order in which they began to wait."""
    flows = [(n, packet(ack=0, dport=n)) for n in range(2, 7)]
    held = [(at, packet(ack=1000, dport=n)) for at, n in ((10_000, 4), (11_000, 2), (12_500, 6), (13_000, 3))]
    exact, beats = thinned(
        (flows + held, {"policy": "delayed", "timeout_us": 4500}),
        (flows + held, {"policy": "delayed", "timeout_us": 4500, "granularity_us": 8000}),
    )
    assert exact[0][5:] == [(14_500, 5), (15_500, 6), (17_000, 7), (17_500, 8)]
    assert beats[0][5:] == [(16_000, 5), (16_000, 6), (24_000, 7), (24_000, 8)]


# --- What is never thinned ---


def test_what_a_segment_alone_forbids(thinned: Callable[..., Any]) -> None:
    """It passes at once, and what was held of its flow goes before it; over IPv4 and IPv6."""
    alone = {name: packet(ack=3000, **fields) for name, (fields, _) in NEVER_THINNED.items()}  # type: ignore[arg-type]
    alone["AE"] = edited(packet(ack=3000), 32, b"\x51")
    cases = {f"{name}, IPv4": ([packet(ack=1000), packet(ack=2000)], data) for name, data in alone.items()}
    cases |= {f"{name}, IPv6": ([over_ipv6(p) for p in before], over_ipv6(data))
              for (name, data), (before, _) in zip(alone.items(), list(cases.values()), strict=True)}  # fmt: skip
    first, second = cases["ECE, IPv6"][0]
    cases["congestion experienced, IPv4"] = [packet(), packet(ack=2000)], edited(packet(ack=3000), 1, b"\3")
    cases["congestion experienced, IPv6"] = [first, second], edited(over_ipv6(packet(ack=3000)), 1, b"\x30")
    cases["the first fragment"] = [packet(), packet(ack=2000)], edited(packet(ack=3000), 6, b"\x20\0")
    jobs = [
        ([(0, before[0]), (1000, before[1]), (LATE, data)], {"policy": "delayed", "count": 9})
        for before, data in cases.values()
    ]
    for name, (left, statistics) in zip(cases, thinned(*jobs), strict=True):
        assert left == [(0, 0), (LATE, 1), (LATE, 2)], name
        assert statistics["passed"]["flushed"] == 1, name


def test_what_came_before_forbids(thinned: Callable[..., Any]) -> None:
    jobs = []
    for items, _ in BESIDES.values():
        whole = [Item(0, 1000), Item(1000_000, 2000), *items]
        jobs.append(([(item.at // 1000 + n, item.bytes() + bytes(n)) for n, item in enumerate(whole)], {"count": 9}))
    for (name, (items, reasons)), (left, statistics) in zip(BESIDES.items(), thinned(*jobs), strict=True):
        assert left == [(0, 0), (LATE + 2, 1), *[(LATE + 2 + n, 2 + n) for n in range(len(items))]], name
        wanted = {reason: reasons.count(reason) for reason in reasons}
        wanted["first"] = wanted.get("first", 0) + 1
        assert {r: n for r, n in statistics["passed"].items() if n} == {**wanted, "flushed": 1}, name


def test_what_is_not_tcp_passes(thinned: Callable[..., Any]) -> None:
    """UDP, later fragments, extension headers, nonsense: all in order, while an ACK is held."""
    strange = [
        edited(packet(ack=1), 9, b"\x11"),
        edited(packet(ack=2), 6, b"\0\1"),
        edited(packet(ack=3), 32, b"\x40"),
        over_ipv6(packet(ack=4), next_header=0),
        over_ipv6(packet(ack=5))[:50],
        packet(ack=6)[:30],
    ]
    schedule = [*acks(0, 1), *[(2000 + n, data) for n, data in enumerate(strange)]]
    [(left, statistics)] = thinned((schedule, {"policy": "delayed", "timeout_us": 20_000}))
    assert left == [(0, 0), *[(2000 + n, 2 + n) for n in range(len(strange))], (21_000, 1)]
    assert statistics["passed"]["other"] == len(strange)


# --- The kernel's own TCP ---

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
    """A hole is told at once, with each segment beyond it, and so is that it is filled; then it goes on as before."""
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
    """That it closes, and that it opens again, is told at once: the sender waits for nothing else."""
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
    """SYN and FIN pass at once, with what is held; skip without a timer holds even the last ACK until asked again."""
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


# --- Configuration ---


def test_what_is_set_is_what_is_there(script: Script) -> None:
    lines = script(
        NAMES
        + textwrap.dedent("""
        output = Output(policy="daa")
        print(json.dumps(output.options()))
        for name, parameter in ackthin.PARAMETERS.items():
            for value in (parameter.minimum, parameter.maximum):
                if name == "policy":
                    value = ackthin.POLICIES[value]
                wanted = {"policy": "plain", "dwin_min": 1, "dwin_max": 255, "timeout_us": 1, name: value}
                output.set(**wanted)
                assert output.options()[name] == value, name
        print("all")
        """),
        MODULE,
    )
    defaults = {name: parameter.default for name, parameter in ackthin.PARAMETERS.items()}
    assert json.loads(lines[0]) == {**defaults, "policy": "daa", "limit": 500}  # as long as a TUN device's queue
    assert lines[1] == "all"


def test_what_is_wrong_is_refused_with_a_sentence(script: Script) -> None:
    """And what was there stays."""
    lines = script(
        NAMES
        + textwrap.dedent("""
        from emulation.lane.netlink import build
        output = Output(policy="daa", timeout_us=0)
        before = output.options()
        wrong = [[(p.attribute, v)] for n, p in ackthin.PARAMETERS.items() for v in (p.minimum - 1, p.maximum + 1)
                 if 0 <= v < 1 << 32]
        wrong += [[(8, 5)], [(9, 1)], [(1, 1)], [(1, 4)], [(16, 1)], [(3, b"12")], [(3, b"")]]
        for values in wrong:
            try:
                output.route.replace_qdisc(output.wire.index, "ackthin", build(values))
                print(values, "was accepted")
            except NetlinkError as error:
                print(values, error.strerror)
        print(output.options() == before)
        """),
        MODULE,
    )
    assert lines.pop() == "True"
    said = [line.partition("] ")[2].partition(": ")[2].partition(": ")[2] for line in lines]
    ranges = len(lines) - 7
    assert said[:ranges] == ["integer out of range"] * ranges
    assert ranges == 20
    assert said[ranges:] == [
        "sch_ackthin: dwin_min must not be above dwin_max",
        "sch_ackthin: dwin_min must not be above dwin_max",
        *["sch_ackthin: delayed and dynamic need a timeout: without one, a flow's last ACK would never leave"] * 2,
        "Unknown attribute type",
        *["invalid attribute length"] * 2,
    ]


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


def test_the_queue_is_a_queue(script: Script) -> None:
    """Behind a token bucket of 100 kB/s packets wait in order; what is held has its place; a full queue drops."""
    data = [packet(payload=bytes(960), seq=n).hex() for n in range(9)]
    acks = [packet(ack=n, dport=9).hex() for n in range(4)]
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        from types import SimpleNamespace
        from emulation.lane.check import queues
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
    """The flow that was not seen for longest is forgotten, and what is held of it goes."""
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


# --- tc ---


@pytest.mark.skipif(not shutil.which("tc", path="/sbin:/usr/sbin:/bin:/usr/bin"), reason="no tc")
def test_tc_sets_and_shows(script: Script, tmp_path: Path) -> None:
    """The plugin, by the tc of this machine's iproute2: what it takes, says, and refuses."""
    shutil.copytree(PLUGIN, tmp_path / "modules" / "tc")
    shutil.copy(PLUGIN.parent / "pkt_ackthin.h", tmp_path / "modules")
    subprocess.run(["make", "-s", "CFLAGS=-Werror"], cwd=tmp_path / "modules" / "tc", check=True)
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        from subprocess import run
        os.environ["TC_LIB_DIR"] = {str(tmp_path / "modules" / "tc")!r}

        def tc(text):
            done = run(["tc", *text.split()], capture_output=True, text=True)
            print(json.dumps([done.returncode, done.stdout + done.stderr]))

        wire = Wire()
        tc("qdisc replace dev wire0 root ackthin delayed count 3 timeout 40ms granularity 10ms limit 77")
        flow = wire.accept()
        for n in range(6):
            flow.send(payload=bytes(1000))
        tc("-s qdisc show dev wire0")
        tc("-j -s qdisc show dev wire0")
        tc("qdisc change dev wire0 root ackthin daa dwin_max 3 alpha 800")
        tc("qdisc show dev wire0")
        for wrong in ("daa dwin_min 9", "count 256", "timeout 11s", "interval 1us", "count", "timeout soon", "fast"):
            tc(f"qdisc change dev wire0 root ackthin {{wrong}}")
        tc("qdisc change dev wire0 root ackthin dynamic")
        tc("qdisc del dev wire0 root")
        tc("qdisc add dev wire0 root ackthin")
        tc("qdisc show dev wire0")
        """),
        MODULE,
    )
    said = [json.loads(line) for line in lines]
    assert said[0] == [0, ""]
    text = said[1][1]
    assert "delayed limit 77 count 3 timeout 40ms granularity 10ms \n" in text
    assert re.search(r"acks 6 thinned 3 held 2? ?", text), text
    assert "passed:" in text
    [shown] = json.loads(said[2][1])
    assert shown["options"] | {"policy": "delayed", "limit": 77, "count": 3, "timeout_us": 40_000} == shown["options"]
    assert set(shown["options"]) == set(ackthin.PARAMETERS)
    assert set(shown["passed"]) == set(ackthin.REASONS)
    assert said[3] == [0, ""]
    assert "daa limit 77 timeout 40ms granularity 10ms dwin_min 2 dwin_max 3 alpha 800 kappa 200 mu 300" in said[4][1]
    assert [code for code, _ in said[5:12]] == [2, 1, 1, 1, 1, 1, 1]
    for (_, text), words in zip(said[5:12], ("dwin_min must not be above dwin_max", '"count" is from 1 to 255, not 256',
                                '"timeout" is from 0us to 10s, not 11s', '"interval" is from 1ms to 60s',
                                '"count" needs a number', '"timeout" needs a time, not soon', 'what is "fast"?'),
                                strict=True):  # fmt: skip
        assert words in text
    assert said[12] == [0, "Warning: sch_ackthin: this is no wireless device of cfg80211's: nothing is skipped.\n"]
    assert said[13:15] == [[0, ""], [0, ""]]
    assert "delayed limit 500 count 2 timeout 100ms granularity 0us" in said[15][1]


# --- On the air ---


def test_a_station_whose_acks_follow_the_air(lane_kernel: kernel.Kernel, tmp_path: Path) -> None:
    """On a wireless device ackthin is the root queue in front of mac80211's, and dynamic learns of failed attempts:
    of all of them, those of an RTS too, whose sum is the air's own."""
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import json
        from emulation.lane import ackthin
        from emulation.net import Adhoc, Net
        from emulation.lane.netlink import parse

        net = Net(rts="full", seed=1)
        stations = [net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in range(1, 6)]
        net.addLink(*stations, cls=Adhoc)
        net.addFlow(stations[0], stations[-1], bytes=200_000)
        with net:
            net.start()
            last = stations[-1]
            last.route.replace_qdisc(last.radio.index, "ackthin", ackthin.pack({"policy": "dynamic"}))
            result = net.run(20)
            statistics = ackthin.statistics(parse(last.route.qdisc(last.radio.index)[7])[4])
            told = last.cmd("iw dev sta5-wlan0 station dump")
            print(json.dumps([statistics, told, result["air"]["stations"][-1]["counters"], result["applications"][0]]))
        print("closed")
        """)
    )
    lines: list[str] = []
    built = modules.obtain(ROOT / "tc_modules", lane_kernel) | modules.obtain(AIR, lane_kernel)
    wanted = {name: built[name] for name in (MODULE, "dcf80211")}
    command = ["script", str(tmp_path / "script.py")]
    listener = Listener(lines.append)
    done = virtual.run(lane_kernel.linux, wanted, tmp_path, command, listener=listener, wall_limit_s=WALL_LIMIT_S)
    assert (done.status, lines[-1]) == (0, "closed")
    statistics, told, air, flow = json.loads(lines[0])
    assert flow["delivered_bytes"] == 200_000
    assert statistics["samples"] > 10
    assert statistics["failures_milli"] > 100
    assert 1 <= statistics["skip"] <= 3
    assert statistics["thinned"] > 0
    left = sum(n for reason, n in statistics["passed"].items() if reason not in ("other", "control"))
    assert left == sum(air["end"]["tcp_ack"].values())
    [(retries, failed)] = re.findall(r"tx retries:\s+(\d+)\s+tx failed:\s+(\d+)", told)
    assert int(retries) + int(failed) == air["retries"]["short"] + air["retries"]["long"]
