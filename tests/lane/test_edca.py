# SPDX-License-Identifier: BSD-3-Clause
"""EDCA in a lane: which parameters reach the air, and which category a packet gets."""

from __future__ import annotations

import json

import pytest

FOUND = """
def found(station):
    categories = net.air.report()["stations"][station]["counters"]["categories"]
    return {name: [of["aifsn"], of["cw_min"], of["cw_max"], of["txop_us"]] for name, of in categories.items()}
"""
DCF = [2, 15, 1023, 0]  # the kernel knows of OFDM at 2.4 GHz, whatever rate is asked for
QOS = {"VO": [2, 3, 7, 1504], "VI": [2, 7, 15, 3008], "BE": [3, 15, 1023, 0], "BK": [7, 15, 1023, 0]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("edca='kernel'", dict.fromkeys(QOS, DCF)),
        ("edca='kernel', link='mesh'", QOS),
        ("edca='standard', rate=54", QOS),
        ("edca='standard', rate=2", {"VO": [2, 7, 15, 3264], "VI": [2, 15, 31, 6016], "BE": [3, 31, 1023, 0],
                                     "BK": [7, 31, 1023, 0]}),
    ],
)  # fmt: skip
def test_whose_parameters_are_in_force(bench, options: str, expected: dict[str, list[int]]) -> None:  # type: ignore[no-untyped-def]
    """mac80211's for the kind of interface, or the standard's; a node's own override both."""
    (line,) = bench.script(f"""
        import json
        from emulation.net import Net
        {FOUND.replace(chr(10), chr(10) + " " * 8)}
        own = {{"VO": {{"aifsn": 5, "cw_min": 1, "cw_max": 2, "txop_us": 64}}}}
        with Net({options}) as net:
            net.addStation("a", position=(0, 0, 0)), net.addStation("b", position=(20, 0, 0), edca=own)
            net.start()
            print(json.dumps([found(0), found(1)]))
        """)
    assert json.loads(line) == [expected, expected | {"VO": [5, 1, 2, 64]}]


def test_what_hostapd_tells_its_clients_reaches_the_air(bench) -> None:  # type: ignore[no-untyped-def]
    """hostapd uses parameters of its own, which favour it, and sends clients the standard's."""
    (line,) = bench.script(f"""
        import json
        from emulation.net import Net
        {FOUND.replace(chr(10), chr(10) + " " * 8)}
        from emulation.lane.clock import wait_for_multiple
        with Net(edca="kernel", rate=54, link="infrastructure") as net:
            net.addAccessPoint("ap1"), net.addStation("sta1", position=(20, 0, 0))
            net.start()
            wait_for_multiple()  # mac80211 says so just after it has said that it is connected
            print(json.dumps([found(0), found(1)]))
        """)
    ap, client = json.loads(line)
    assert ap["VO"] == [1, 3, 7, 1504] and ap["BE"] == [3, 15, 63, 0]
    assert client == QOS


def test_dscp_says_which_category_a_packet_has(bench) -> None:  # type: ignore[no-untyped-def]
    """mac80211 sorts packets by DSCP for stations with QoS, which peers of an IBSS have once they have met."""
    (line,) = bench.script("""
        import json, socket
        from emulation.net import Net
        with Net(edca="kernel") as net:
            a, b = net.addStation("a", position=(0, 0, 0)), net.addStation("b", position=(20, 0, 0))
            net.start()
            with b:
                sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sink.bind(("10.0.0.2", 5000))
            net.air.start()
            seen = {}
            for tos in (0x00, 0x20, 0x80, 0xb8):  # best effort, CS1, CS4, EF
                with a:
                    source = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                source.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
                source.sendto(bytes(100), ("10.0.0.2", 5000))
                sink.recv(1000)
                counters = net.air.report()["stations"][0]["counters"]
                seen[tos] = [name for name, of in counters["categories"].items() if of["tx"]]
            print(json.dumps(seen))
        """)
    assert json.loads(line) == {"0": ["BE"], "32": ["BE", "BK"], "128": ["VI", "BE", "BK"],
                                "184": ["VO", "VI", "BE", "BK"]}  # fmt: skip


def test_a_run_says_which_category_sent(bench) -> None:  # type: ignore[no-untyped-def]
    from analysis.traces import trace

    bench.plan(stations=3, seconds=1, edca="standard", tcp_trace=False)
    bench.run("plan")
    read = trace.read(bench.folder / "air.trace")
    own = read.tx[read.tx["kind"] >= trace.Kind.TCP_DATA]
    names = {trace.CATEGORIES[number - 1] for number in set(own["category"].tolist())}
    assert names == {"BE"} and not read.tx["category"][read.tx["kind"] == trace.Kind.ACK].any()
    assert set(read.end["category"].tolist()) == {1 + trace.CATEGORIES.index("BE")}
    shares = [station["counters"]["categories"]["BE"] for station in bench.result()["air"]["stations"]]
    assert sum(share["tx"] for share in shares) == own.size


def test_voice_goes_before_tcp(bench) -> None:  # type: ignore[no-untyped-def]
    """Its packets have EF: under the standard's parameters they wait half as long in a cell that TCP fills."""
    ends = [("voice", "sta3", "sta2"), ("bulk", "sta1", "sta2"), ("bulk", "sta2", "sta1")]
    application = [f"{kind},from={source},to={destination}" for kind, source, destination in ends]
    delay = {}
    for edca in ("off", "standard"):
        options = {"stations": 3, "spacing": 20, "flows": 0, "edca": edca, "application": application}
        bench.plan(seconds=5, tcp_trace=False, **options)
        bench.run("plan")
        delay[edca] = bench.result()["applications"][0]["datagrams"]["delay_ms"]
    assert all(delay["standard"][what] < delay["off"][what] / 1.5 for what in ("mean", "p95", "max"))
