# SPDX-License-Identifier: BSD-3-Clause
"""The air module in a running kernel.

No message from user space, however malformed, harms it; it can be taken away under traffic; the same seed gives the
same bytes; and its table, the taps and tshark agree on what was on the air.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from rooms import needs

from analysis.taps import compare, observe, phy
from analysis.traces import capture, pcapng, trace

FUZZ = """
    import os, random, struct
    from emulation.lane.air import *
    from emulation.lane.netlink import Generic, NetlinkError, build

    draw = random.Random({seed})
    air = Air.load(os.environ["DCFLAB_AIR"])
    plan = {plan}
    configured, refused, accepted = False, 0, 0
    for number in range(6000):
        if number % 500 == 0:  # now and then a sound air, so that what follows reaches it
            try:
                air.configure(plan)
                air.start()
            except NetlinkError:
                pass
        kinds = [draw.randrange(0, 55) for _ in range(draw.randrange(0, 24))]
        values = []
        for kind in kinds:
            size = draw.choice([0, 1, 2, 4, 4, 8, 8, 6, 16, 64, 48, draw.randrange(0, 3000)])
            small = size and draw.random() < 0.5
            values.append((kind, bytes([draw.randrange(4)]) + bytes(size - 1) if small else draw.randbytes(size)))
        command = draw.choice([1, 3, 3, 4, 4, 5, 6, 7, 8, draw.randrange(0, 256), 2 if number % 50 == 0 else 8])
        try:
            air.netlink.command(FAMILY, command, values)
            accepted += 1
        except NetlinkError:
            refused += 1
    air.names = ["any"]
    air.close()
    print(refused > 1000, accepted > 0)
"""


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_control_message_harms_the_kernel(bench, seed: int) -> None:  # type: ignore[no-untyped-def]
    plan = bench.plan(stations=3)
    assert bench.script(FUZZ.format(seed=seed, plan=json.dumps(plan).replace("null", "None").replace("true", "True")
                                    .replace("false", "False")))[-1] == "True True"  # fmt: skip


def test_what_is_wrong_is_said(bench) -> None:  # type: ignore[no-untyped-def]
    """Each error has a message."""
    plan = bench.plan(stations=2)
    lines = bench.script(f"""
        import copy, json, os
        from emulation.lane.air import Air
        from emulation.lane.netlink import NetlinkError
        plan = json.loads({json.dumps(plan)!r})
        for key, value in (("cw_min", 30), ("slot_ns", 0), ("cs_threshold_mdbm", -1000), ("snap", 3),
                           ("sifs_ns", 0), ("signal_extension_ns", 10**7), ("basic_rates", []),
                           ("sensing_ns", 20_000), ("detection_db", {{"ofdm": 61, "dsss": 4}})):
            changed = copy.deepcopy(plan)
            changed["air"][key] = value
            try:
                Air.load(os.environ["DCFLAB_AIR"]).configure(changed)
            except NetlinkError as error:
                print(key, error.strerror)
    """)
    keys = ["cw_min", "slot_ns", "cs_threshold_mdbm", "snap", "sifs_ns", "signal_extension_ns", "basic_rates",
            "sensing_ns", "detection_db"]  # fmt: skip
    assert [line.split()[0] for line in lines] == keys
    assert all(len(line.split()) > 6 for line in lines)
    assert "one less than a power of two" in lines[0]
    assert "carrier sense threshold" in lines[2]


def test_air_is_taken_away_under_traffic_and_comes_back(bench) -> None:  # type: ignore[no-untyped-def]
    """Tear-down and unloading during a flow: no crash, the radios have no medium, and a new air works."""
    bench.plan(stations=3, seconds=5)
    lines = bench.script("""
        import ctypes, json, os
        from emulation.lane.air import Air
        from emulation.lane.net import Net
        from traffic.applications import Applications
        from traffic.loop import Loop
        with open(os.environ["DCFLAB_RUN"] + "/plan.json") as file:
            plan = json.load(file)
        with Net.from_plan(plan) as net:
            net.start()
            net.air.start()
            with Loop() as loop, Applications(plan["applications"], net.nodes, loop, "/run", 5.0) as traffic:
                traffic.prepare()
                def away():
                    net.air.close()
                    assert ctypes.CDLL(None).syscall(176, b"dcf80211", 0o4000) == 0  # delete_module, O_NONBLOCK
                    print("unloaded")
                def back():
                    net.air = Air.load(os.environ["DCFLAB_AIR"])
                    net.air.configure(plan)
                    print("loaded")
                import time
                now = time.monotonic_ns()
                loop.at(now + 1_000_000_000, away)
                loop.at(now + 2_000_000_000, back)
                traffic.run()
                print(traffic.finish()[0]["delivered_bytes"] > 0)
    """)
    assert lines == ["unloaded", "loaded", "True"]


def test_rates_left_to_the_kernel_are_all_modelled(bench) -> None:  # type: ignore[no-untyped-def]
    """Without HT, rate control only chooses rates that the air has."""
    plan = bench.plan(stations=2, seconds=1)
    for node in plan["nodes"]:
        node["interfaces"][0]["rates"] = []
    (bench.folder / "plan.json").write_text(json.dumps(plan))
    assert bench.run("plan").status == 0
    result = bench.result()
    assert [result["air"][name] for name in ("refused_frames", "unknown_radios", "lost_messages")] == [0, 0, 0]
    assert result["applications"][0]["delivered_bytes"] > 0


def play(bench, topology: str = "string", **options: object) -> Path:  # type: ignore[no-untyped-def]
    plan = bench.plan(topology, **options)
    assert bench.run("plan", seed=plan["seed"]).status == 0
    path: Path = bench.folder / pcapng.AIR
    pcapng.write(trace.read(bench.folder / "air.trace"), phy.radios(plan), bench.folder)
    return path


@pytest.mark.quick
def test_same_seed_same_bytes_other_seed_other_bytes(new_bench: Callable[[], object]) -> None:
    one, same, other = (
        play(new_bench(), stations=5, seconds=10, rts="full", seed=seed).read_bytes() for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_a_full_queue_breaks_no_link(bench) -> None:  # type: ignore[no-untyped-def]
    """Slow start overflows the sender's queue of 50; a mesh takes dozens of lost frames for a broken link."""
    play(bench, stations=2, seconds=3, rate=54, link="mesh")
    (flow,), stations = bench.result()["applications"], bench.result()["air"]["stations"]
    assert stations[0]["counters"]["end"]["tcp_data"]["QUEUE_FULL"] > 24
    assert flow["delivered_bytes"] > 3_000_000


@pytest.mark.parametrize(
    "options",
    [
        {"rts": "full"}, {"rts": "partial"}, {"rts": "none"}, {"rts": "none", "ack": "delayed", "flows": 3},
        {"rts": "full", "rate": 11}, {"rts": "partial", "rate": 54, "spacing": 200},
        {"rts": "full", "rate": 54, "freq": 5180, "seconds": 5},
        {"rts": "none", "reception": "sinr"}, {"topology": "mesh", "size": "3x3", "rts": "partial"},
        {"rts": "none", "rate": 11, "rate_control": "minstrel", "spacing": 100, "stations": 3},
        {"rts": "full", "link": "mesh"}, {"rts": "none", "link": "mesh", "rate": 54, "reception": "sinr"},
        {"rts": "none", "rate": 54, "reception": "sinr", "seconds": 5},
        {"rts": "full", "propagation": "disc,radius_m=250,tx_power_dbm=40"},
        {"rts": "full", "like": "ns2", "stations": 9, "seconds": 60},
        {"rts": "full", "stations": 9, "recorders": ["adaptive_retries"]},
        {"rts": "full", "fading": "rayleigh,coherence_ms=20", "spacing": 150},
    ],
    ids=str,
)  # fmt: skip
def test_table_and_taps_agree_to_the_last_unit(bench, options: dict[str, object]) -> None:  # type: ignore[no-untyped-def]
    path = play(bench, **{"seconds": 20, **options})
    plan, lane = json.loads((bench.folder / "plan.json").read_text()), bench.result()
    seen = observe.observe(capture.read(path), phy.Medium.of_plan(plan, lane["started_ns"], lane["changes"]))
    module = [station["counters"] for station in lane["air"]["stations"]]
    assert compare.differences(seen.counters(), module) == []
    assert sum(c["tx"].get("tcp_data", 0) for c in module) > 50


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@needs("export")
def test_tshark_counts_the_same(bench) -> None:  # type: ignore[no-untyped-def]
    """Wireshark's own filters on the same files give the module's numbers."""
    from emulation.features.export import stations

    air = play(bench, stations=4, seconds=20, rts="full")
    views = bench.folder / "stations.pcapng.gz"
    assert stations.write(bench.folder, views)
    counters = [station["counters"] for station in bench.result()["air"]["stations"]]

    def tshark(path: Path, *filters: str) -> list[int]:
        """Return how many frames pass each of these filters."""
        counted = ["-q", "-z", ",".join(["io,stat,0", *filters])]
        command = ["tshark", "-o", "wlan.check_checksum:TRUE", "-r", str(path), *counted]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        (row,) = re.findall(r"^\| *[\d.]+ <> *[\d.]+ *\|(.+)\|$", said, re.MULTILINE)
        return [int(count) for count in re.findall(r"\d+", row)[::2]]  # frames and bytes take turns

    def sent(kind: str) -> int:
        return sum(c["tx"].get(kind, 0) for c in counters)

    def arrived(kind: str, *outcomes: str) -> int:
        return sum(c["rx"].get(kind, {}).get(outcome, 0) for c in counters for outcome in outcomes)

    kinds = {"rts": "wlan.fc.type_subtype == 0x1b", "cts": "wlan.fc.type_subtype == 0x1c",
             "ack": "wlan.fc.type_subtype == 0x1d", "tcp_data": "tcp.len > 0"}  # fmt: skip
    *told, again, malformed = tshark(air, *kinds.values(), "wlan.fc.retry == 1", "_ws.malformed")
    assert told == [sent(kind) for kind in kinds] and min(told) > 0
    control = list(kinds)[:3]
    for bad in ("radiotap.flags.badfcs == 1", "wlan.fcs.status == 0"):
        spoilt = tshark(views, *(f"{bad} && {kinds[kind]}" for kind in control))
        assert spoilt == [arrived(kind, "COLLISION", "OWN_TX") for kind in control]
    sent_again = trace.read(bench.folder / "air.trace").tx
    assert again == int(((sent_again["attempt"] > 1) & (sent_again["kind"] > 2)).sum()) > 0
    assert malformed == 0


def test_the_air_goes_with_whoever_made_it(bench) -> None:  # type: ignore[no-untyped-def]
    """However its process ends."""
    plan = bench.plan(stations=2)
    assert bench.script(f"""
        import json, os, signal, time
        from emulation.lane.air import Air
        from emulation.lane.netlink import NetlinkError
        plan = json.loads({json.dumps(plan)!r})
        air = Air.load(os.environ["DCFLAB_AIR"])
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            mine = Air()
            mine.configure(plan)
            os.write(write, b"!")
            while True:
                signal.pause()
        os.read(read, 1)
        try:
            air.configure(plan)
        except NetlinkError as error:
            print(error.strerror)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        air.configure(plan)
        print("again")
    """) == ["the air: set-up: Device or resource busy: there is an air already: one a kernel", "again"]


def test_what_is_refused_changes_nothing(bench) -> None:  # type: ignore[no-untyped-def]
    """Neither a station nor a row of powers, even if only the last value is invalid."""
    bench.plan(stations=3, seconds=5)
    lines = bench.script("""
        import json, os
        from emulation.lane.net import Net
        from emulation.lane.netlink import NetlinkError
        from traffic.ping import ping
        with open(os.environ["DCFLAB_RUN"] + "/plan.json") as file:
            plan = json.load(file)
        with Net.from_plan(plan) as net:
            net.start()
            air, (a, b, _) = net.air, net.nodes.values()
            there = {**air.station_settings[1], "freq": 2437}
            for ask in (
                lambda: air.set_station(1, {**there, "rx_threshold_mdbm": -99_000}),
                lambda: air.set_station(1, {**there, "address": air.station_settings[0]["address"]}),
                lambda: air.set_powers({0: [None, None, -60_000]}, {0: [0, 0, 10**9]}),
            ):
                try:
                    ask()
                    print("taken")
                except NetlinkError as error:
                    print("refused")
            print(air.station_settings[1]["freq"], [rtt is not None for _, _, rtt in ping(a, b.IP(), count=1)])
    """)
    assert lines == ["refused"] * 3 + ["2412 [True]"]
