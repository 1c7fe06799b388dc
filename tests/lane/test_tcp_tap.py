# SPDX-License-Identifier: BSD-3-Clause
"""The tap in a running kernel: its records follow TCP, lost ones are counted, and it changes nothing."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.tcp import senders
from analysis.tcp.senders import Event, Phase, State
from analysis.traces import trace
from emulation.files.foreign import Damaged
from emulation.lanes import virtual
from emulation.lanes.virtual import Listener

WIRE = Path(__file__).parents[1] / "modules"
MS = 1_000_000
CAPACITY = 4 * 4096  # records: SUBBUFS and RECORDS of tcp_tap.c


def play(bench: Any, *command: str, tap: bool = True, seed: int = 1) -> list[str]:
    """Run a lane's command, by default the plan, with or without the tap, and return its output."""
    loaded = ("dcf80211", "tcp_tap") if tap else ("dcf80211",)
    modules = {name: bench.prepared.modules[name] for name in loaded}
    kernel, listener = bench.prepared.kernel.linux, Listener(bench.lines.append)
    bench.lines.clear()
    done = virtual.run(
        kernel, modules, bench.folder, command or ("plan",), seed=seed, wall_limit_s=120, listener=listener
    )
    assert done.status == 0, "\n".join(bench.lines)
    return list(bench.lines)


def script(bench: Any, text: str, **options: Any) -> list[str]:
    path = bench.folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return play(bench, "script", str(path), **options)


RUN = """
    import json, os
    from emulation.lane.net import Net
    folder = os.environ["DCFLAB_RUN"]
    with open(folder + "/plan.json") as file:
        plan = json.load(file)
    with Net.from_plan(plan) as net:
        net.start()
        result = net.run(plan["seconds"])
        with open(folder + "/lane.json", "w") as file:
            json.dump(result, file)
        print(net[plan["applications"][0]["source"]].cmd("cat /proc/net/netstat"))
"""


@pytest.mark.quick
@pytest.mark.parametrize("options", [{"rts": "full"}, {"rts": "none", "tcp": "sack", "flows": 2}], ids=str)
def test_the_summary_is_what_the_kernel_counts(bench: Any, options: dict[str, Any]) -> None:
    """The kernel's own statistics of the sender, and TCP_INFO at the end."""
    plan = bench.plan(stations=5, seconds=60, **options)
    lines = [line.split() for line in script(bench, RUN) if line.startswith("TcpExt:")]
    kernel = {name: int(n) for name, n in zip(*(line[1:] for line in lines), strict=True)}
    lane, path = bench.result(), bench.folder / "tcp.trace"
    flows = senders.flows(path, plan, lane)
    summaries = [flow.summary() for flow in flows.values()]
    assert sum(s.rtos for s in summaries) == kernel["TCPTimeouts"] > 0
    recoveries = kernel["TCPRenoRecovery"] + kernel["TCPSackRecovery"]
    assert sum(s.fast_retransmits for s in summaries) == recoveries > 0
    connections = sorted(senders.read(path).items(), key=lambda one: one[0][3])  # by port, as flows are
    for outcome, summary, (_, records) in zip(lane["applications"], summaries, connections, strict=True):
        info, again = outcome["tcp_info"]["sender"], np.diff(records["total_retrans"].astype(int), prepend=0)
        assert again[records["event"] == Event.RETRANSMIT].sum() == again.sum() == info["total_retrans"]
        assert abs(int(records["cwnd"][-1]) - info["snd_cwnd"]) <= 1  # by the last ACK
        assert 1 < summary.in_flight_mean < summary.cwnd_max
        phases = summary.rto_s + summary.recovery_s + summary.slow_start_s + summary.congestion_avoidance_s
        assert phases == pytest.approx(lane["air_s"], abs=1e-9)


def test_every_event_of_a_conversation(bench: Any) -> None:
    """The test plays the other end segment by segment: a window, three duplicate ACKs, silence, an ACK for all."""
    lines = script(bench, f"""
        import os, sys
        sys.path.insert(0, {str(WIRE)!r})
        from types import SimpleNamespace
        from emulation.lane.recorders.tcp_tap import Recorder
        from traffic.loop import Loop
        from wire import *
        sysctl("net.ipv4.tcp_frto", 0)
        wire = Wire()
        tap = Recorder({{}}, SimpleNamespace(folder=os.environ["DCFLAB_RUN"]))
        tap.start(Loop())
        flow = wire.connect("reno", mss=1000, delay_ns=50 * MS)
        flow.socket.send(bytes(20_000))
        times = [wire.now()]
        def pause(ms):
            wire.wait(times[0] + ms * MS)
            times.append(wire.now())
        pause(60)
        flow.send(ack=1000)
        pause(100)
        for _ in range(3):
            flow.send(ack=1000)
        flow.heard()
        times.append(flow.expect(seq=1000).time_ns)
        times.append(flow.expect(seq=1000).time_ns)
        for ms, acked in (1500, 13_000), (1600, 14_000):
            pause(ms)
            flow.send(ack=acked)
        tap.stop()
        print(*times)
        print(tap.report())
    """)  # fmt: skip
    begun, _, doubted, first, second, healed, end = map(int, lines[0].split())
    assert lines[1] == "{'lost_records': 0}"
    ((ends, records),) = senders.read(bench.folder / "tcp.trace").items()
    assert (ends[0], ends[2]) == ("10.9.0.1", "10.9.0.2")
    seen = " ".join(f"{Event(r['event']).name}/{State(r['ca_state']).name}" for r in records)
    assert seen == (
        "ACK/OPEN ACK/OPEN STATE/DISORDER ACK/DISORDER ACK/DISORDER STATE/RECOVERY RETRANSMIT/RECOVERY"
        " TIMER/RECOVERY STATE/LOSS RETRANSMIT/LOSS TIMER/LOSS STATE/LOSS RETRANSMIT/LOSS"
        " ACK/LOSS ACK/LOSS STATE/OPEN"
    )
    assert records["cwnd"].tolist() == [10, 11, 11, 11, 11, 11, 9, 9, 1, 1, 1, 1, 1, 1, 6, 6]
    flow = senders.follow(records, begun, begun, end)
    assert flow.rtos_ns.tolist() == pytest.approx([first - begun, second - begun], abs=2000)
    changes = np.flatnonzero(np.append(np.diff(flow.phase), 1) != 0)
    phases = [(Phase(flow.phase[i]), flow.time_ns[i + 1]) for i in changes]
    ss, ca, _, rto = Phase
    assert [phase for phase, _ in phases] == [ss, rto, ss, ca]
    ends_ns = [moment - begun for moment in (doubted, second, healed, end)]
    assert [moment for _, moment in phases] == pytest.approx(ends_ns, abs=2000)


def test_one_seed_one_trace(new_bench: Callable[[], Any]) -> None:
    seen = []
    for seed in (1, 1, 2):
        bench = new_bench()
        bench.plan(stations=4, seconds=10, seed=seed, flows=2)
        play(bench, seed=seed)
        seen.append((bench.folder / "tcp.trace").read_bytes())
    assert seen[0] == seen[1] != seen[2]


def test_the_tap_changes_nothing_on_the_air(new_bench: Callable[[], Any]) -> None:
    """Every transmission is at the same nanosecond with and without the tap."""
    seen = []
    for tap in (False, True):
        bench = new_bench()
        bench.plan(stations=5, seconds=20, rts="full")
        play(bench, tap=tap)
        run, lane = trace.read(bench.folder / "air.trace"), bench.result()
        what = ["id", "start_ns", "station", "receiver", "kind", "duration_ns", "rate", "length", "attempt", "msdu"]
        outcomes = ["id", "station", "outcome", "start_ns", "power_mdbm"]
        (flow,) = lane["applications"]
        seen.append((run.start_ns, run.tx[what].tolist(), run.rx[outcomes].tolist(), flow["acked_bytes"]))
    assert seen[0] == seen[1]


# A plan's flows, and a tap that nobody reads until they are done.
TRAFFIC = """
    import ctypes, json, os, time
    from emulation.lane import syscalls
    from emulation.lane.net import Net
    from emulation.lane.recorders.tcp_tap import Recorder
    from traffic.applications import Applications
    from traffic.loop import Loop
    with open(os.environ["DCFLAB_RUN"] + "/plan.json") as file:
        plan = json.load(file)
    net, taps = Net.from_plan(plan), []
    def tap():
        taps.append(Recorder({{}}, net))
        taps[-1].start(Loop())  # which is never run
    def come_and_go(module):
        now = time.monotonic_ns()
        def go():
            assert ctypes.CDLL(None).syscall(176, b"tcp_tap", 0o4000) == 0  # delete_module, O_NONBLOCK
            try:
                taps[0].copy()
            except OSError as error:
                print("gone", not taps[0].there(), error.errno)
        def come():
            syscalls.load_module(module)
            tap()
        loop.at(now + 2_000_000_000, go)
        loop.at(now + 4_000_000_000, come)
    tap()
    with net, Loop() as loop:
        net.start()
        with Applications(plan["applications"], net.nodes, loop, "/run", plan["seconds"]) as traffic:
            traffic.prepare()
            {then}
            traffic.run()
            taps[-1].stop()
            print(taps[-1].report()["lost_records"])
"""


def test_more_records_than_the_channel_holds(bench: Any) -> None:
    """A reader that keeps up loses and repeats none. Losses of another are counted, and its trace is rejected."""
    plan = bench.plan(stations=2, seconds=200, rate=11, rts="none")
    play(bench)
    lane, path = bench.result(), bench.folder / "tcp.trace"
    ((_, records),) = senders.read(path).items()
    assert records.size > CAPACITY and lane["recorders"]["tcp_tap"] == {"lost_records": 0}
    una = np.diff(records["una"].astype(np.uint32))  # modulo 2**32
    assert (una < 2**31).all() and una.sum(dtype=np.int64) > 0.99 * lane["applications"][0]["acked_bytes"]
    assert (una[records["event"][1:] == Event.ACK] <= 8 * 1460).all()
    lines = script(bench, TRAFFIC.format(then="pass"))
    (lost,) = map(int, lines)
    ((_, kept),) = senders.read(path).items()
    assert kept.size == CAPACITY and lost > 0
    assert kept["time_ns"][-1] < lane["stopped_ns"] - 1e9  # the new are lost, not the old
    with pytest.raises(Damaged, match=f"lost {lost}"):
        senders.flows(path, plan, {**lane, "recorders": {"tcp_tap": {"lost_records": lost}}})


def test_the_tap_comes_and_goes_under_traffic(bench: Any) -> None:
    """It is unloaded while sockets send and its file is open; loaded again, it continues with the same sockets."""
    bench.plan(stations=3, seconds=6)
    module = bench.prepared.modules["tcp_tap"]
    lines = script(bench, TRAFFIC.format(then=f"come_and_go({str(module)!r})"))
    assert lines == ["gone True 5", "0"]
    ((_, records),) = senders.read(bench.folder / "tcp.trace").items()
    assert records.size > 20 and np.ptp(records["time_ns"]) <= 2e9
