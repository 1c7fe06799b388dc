# SPDX-License-Identifier: BSD-3-Clause
"""result.json: the formulas of the counters, the schema, and what makes two results equal."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sample_runs import lane, plan, run

from analysis.results.result import APART, LANE_VERSION, PLAN_VERSION, ROWS, Host, Result, Run, from_lane, read


def result(**more: object) -> Result:
    host = Host(lane="virtual", kernel="6.12.43", tools={"iperf3": "3.12"})
    values = {"experiment": "rts-cts", "specification": {"seconds": 120}, "runs": [run()], "host": host}
    return Result.model_validate(values | more)


def test_collisions() -> None:
    """COLLISION and OWN_TX of addressed frames, by payload; MAC ACKs, noise and weak signals are not mixed in."""
    col = run(collisions=10).col
    assert (col.rtscts, col.data, col.ack, col.total) == (10 + 2, 4 + 1, 5, 22)
    assert (col.any.rtscts, col.any.data, col.any.ack, col.any.total) == (20 + 3, 6, 0, 29)


def test_failures() -> None:
    """RTS_LIMIT over all kinds; TCP segments whatever the limit, failed RTS procedures included; no queue drops."""
    r = run(given_up=5)
    assert (r.fail.rtscts, r.fail.data, r.fail.ack, r.fail.total) == (5 + 1, 5 + 2, 1 + 1, 15)
    assert r.queue_drops == 4


def test_goodput() -> None:
    """Whole segments, and kb/s over the flow's own time."""
    r = run(segments=4500)
    assert r.goodput_segments == 4500
    assert r.goodput_kbps == pytest.approx((4500 * 1460 + 700) * 8 / 120_000)
    finished = lane(100)
    finished["applications"][0]["finished_s"] = 2.0
    assert from_lane(plan(), finished, wall_s=1).goodput_kbps == pytest.approx((146_000 + 700) * 8 / 2000)
    late = plan()
    late["applications"][0]["start_s"] = 100.0
    assert from_lane(late, lane(100), wall_s=1).goodput_kbps == pytest.approx((146_000 + 700) * 8 / 20_000)


@pytest.mark.parametrize(
    ("spans", "over_s"),
    [
        ([(0.0, 2.0), (10.0, 13.0)], 5.0),  # one after the other
        ([(10.0, 13.0), (0.0, 2.0)], 5.0),
        ([(0.0, 4.0), (0.0, 4.0)], 4.0),
        ([(0.0, 4.0), (3.0, 9.0), (1.0, 2.0)], 9.0),
        ([(1.0, 1.0)], 0.0),
        ([(0.0, 2.0), (2.0, 5.0)], 5.0),
    ],
)
def test_the_goodput_of_several_flows(spans: list[tuple[float, float]], over_s: float) -> None:
    """What all delivered, over the time in which any of them ran: never more than the radio could carry."""
    made, found = plan(), lane(100)
    [flow], [report] = made["applications"], found["applications"]
    made["applications"] = [
        flow | {"name": f"flow{n}", "start_s": start_s, "stop_s": stop_s} for n, (start_s, stop_s) in enumerate(spans)
    ]
    found["applications"] = [report | {"name": f"flow{n}"} for n in range(len(spans))]
    r = from_lane(made, found, wall_s=1)
    delivered_kb = len(spans) * 146_700 * 8 / 1000
    assert r.goodput_kbps == pytest.approx(delivered_kb / over_s if over_s else 0)
    each = [146_700 * 8 / 1000 / (stop_s - start_s) if stop_s > start_s else 0 for start_s, stop_s in spans]
    assert [flow.goodput_kbps for flow in r.flows] == pytest.approx(each)


def test_shares() -> None:
    """Of what all flows delivered; of nothing there is none."""
    both = plan() | {"applications": [plan()["applications"][0] | {"name": name} for name in ("flow1", "flow2")]}
    found = lane(100)
    found["applications"] = [
        found["applications"][0] | {"name": f"flow{n}", "delivered_bytes": n * 1000} for n in (1, 2)
    ]
    assert [flow.share for flow in from_lane(both, found, wall_s=1).flows] == pytest.approx([1 / 3, 2 / 3])
    nothing = lane(0)
    nothing["applications"][0]["delivered_bytes"] = 0
    assert from_lane(plan(), nothing, wall_s=1).flows[0].share is None


def test_what_is_counted_of_the_mac() -> None:
    """Retries and collided responses over all stations; losses in percent of what the flows' ends sent."""
    r = run(given_up=5)
    assert r.retries == (1 + 3, 2 + 0)
    assert r.responses_spoilt == 2 + 88
    sent = 4 + 5 + 2 + 3  # segments that sta1, the source, had finished; sta5 sent no ACK
    assert r.losses == pytest.approx((100 * (5 + 2 + 1 + 1) / sent, 100 * 3 / sent))


def test_what_radios_take() -> None:
    """Of two radios over 120 s: one sends for 10 s and hears others for 20 s, one only hears, for 30 s."""
    r = run(segments=1000)
    for station, sent, busy in zip(r.stations, (10, 0), (30, 30), strict=True):
        station.counters.update(tx_ns=sent * 10**9, busy_ns=busy * 10**9)
    sent, heard, waited = 10 * 1.140, 50 * 0.939, 180 * 0.819
    assert r.energy.joules == pytest.approx(sent + heard + waited)
    delivered_mb = (1000 * 1460 + 700) / 1e6
    assert r.energy.per_mb == pytest.approx(r.energy.joules / delivered_mb)
    assert r.energy.beyond_idle_per_mb == pytest.approx((r.energy.joules - 240 * 0.819) / delivered_mb)


def test_keys_that_others_rely_on() -> None:
    """The keys of a run that programs read are where they are documented to be."""
    r = json.loads(result().model_dump_json())["runs"][0]
    assert r.keys() >= {
        "made_of", "seed", "goodput_segments", "goodput_kbps", "col", "fail", "in_flight", "queue_drops", "trace",
        "trace_sha256", "air_s", "wall_s", "flows", "settings", "stations",
    }  # fmt: skip
    counts = {*ROWS, *APART}
    assert r["col"].keys() == {*counts, "any", "same_slot"} and r["col"]["any"].keys() == counts
    assert r["fail"].keys() == counts and r["in_flight"].keys() == {"data", "ack", "total"}


def test_round_trip() -> None:
    """What was written is read back the same; another version or an unknown key is refused."""
    text = result().model_dump_json()
    assert Result.model_validate_json(text) == result()
    for wrong in ({"version": 1}, {"surprise": 1}):
        with pytest.raises(ValidationError):
            Result.model_validate(json.loads(text) | wrong)


@pytest.mark.parametrize(
    ("text", "says"),
    [('{"version": 1}', "has version 1; this program reads version 3"), ("[]", "has no version"), ("{", "property")],
)
def test_what_is_no_result_of_this_version_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(ValueError, match=says):
        read(tmp_path / "result.json")
    (tmp_path / "result.json").write_text(result().model_dump_json())
    assert read(tmp_path / "result.json") == result()


@pytest.mark.parametrize(("what", "found"), [("plan", plan() | {"version": 1}), ("lane", lane(1) | {"version": 2})])
def test_what_a_lane_of_another_version_left_is_refused(what: str, found: dict[str, Any]) -> None:
    reads = {"plan": PLAN_VERSION, "lane": LANE_VERSION}[what]
    said = f"{what}.json has version {found['version']}; this program reads version {reads}"
    with pytest.raises(ValueError, match=said):
        from_lane(**{"plan": plan(), "lane": lane(1), what: found}, wall_s=1)


def test_an_application_may_say_other_things_than_a_flow() -> None:
    """Then its report is kept unchanged; an application that delivers nothing is no flow."""
    made, found = plan(), lane(100)
    made["applications"] += [made["applications"][0] | {"name": name} for name in ("pings", "packets")]
    pings = {"name": "pings", "rtt_ms": [1.5, None]}
    packets = found["applications"][0] | {"name": "packets", "sent": 8}
    found["applications"] += [pings, packets]
    r = from_lane(made, found, wall_s=1)
    assert [flow.name for flow in r.flows] == ["flow1", "packets"]
    assert r.applications == [pings, packets]


def test_comparable() -> None:
    """Wall times, lateness, the host and inputs make no difference; anything else does."""
    slow = result(runs=[run(wall_s=99.0, made_of={"kernel": "00"})], host=Host(lane="virtual", kernel="6.12.99"))
    assert slow != result() and slow.comparable() == result().comparable()
    assert result(runs=[run(segments=4501)]).comparable() != result().comparable()
    assert result(runs=[run(trace_sha256="11" * 32)]).comparable() != result().comparable()


def test_a_failed_lane_is_no_result() -> None:
    """A run that failed in its lane is an error, with the lane's message."""
    failed = {"version": 3, "ok": False, "error": "sta1: no such device"}
    with pytest.raises(ValueError, match="sta1: no such device"):
        from_lane(plan(), failed, wall_s=1)


def test_a_network_of_wires_has_no_stations() -> None:
    assert from_lane(plan(), lane(1) | {"air": None}, wall_s=1).stations == []


def test_without_a_trace() -> None:
    """A run without a trace has no in-flight means, and says so by null."""
    r = from_lane(plan(), lane(1), wall_s=1)
    assert isinstance(r, Run) and r.in_flight is None and r.trace is None


def test_hops() -> None:
    """As the route was planned: its metric, or 1 to a neighbour; None where there is no route."""

    def planned(routing: dict[str, Any], neighbours: dict[str, str]) -> int | None:
        of_plan = plan()
        of_plan["nodes"] = [
            {"name": name, "routing": routing,
             "interfaces": [{"ip": f"{ip}/24" if ip else "", "neighbours": neighbours}]}
            for name, ip in (("sta1", "10.0.0.1"), ("sta5", "10.0.0.5"))
        ]  # fmt: skip
        return from_lane(of_plan, lane(1), wall_s=1).flows[0].hops

    assert planned({"routes": [{"to": "10.0.0.5", "metric": 4}]}, {"10.0.0.2": ""}) == 4
    assert planned({"routes": []}, {"10.0.0.5": ""}) == 1
    assert planned({}, {"10.0.0.2": ""}) is None
    assert from_lane(plan(), lane(1), wall_s=1).flows[0].hops is None
