# SPDX-License-Identifier: BSD-3-Clause
"""The taps agree, to the last unit, with the tiny air and with the air's own core in C."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dcf import KINDS, OUTCOMES, REASONS, RULES, US, Core, address, dsss
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from properties import examples
from sample import Sample, make_sample
from tiny_air import busy_string, ip, ipv4
from tiny_air import tcp as tcp_header

from analysis.taps.compare import differences, totals
from analysis.taps.fading import Fading
from analysis.taps.observe import Observation, observe
from analysis.taps.phy import Medium, Own, airtime_ns
from analysis.taps.signals import Links
from analysis.traces import pcapng, trace
from analysis.traces.capture import read
from analysis.traces.trace import Kind
from emulation.files.foreign import Damaged
from emulation.plan.fading import plan_fading
from emulation.specification import channel

FULL, PARTIAL, NONE = 0, 100, 4000
FADING = [channel.Fading(model="rayleigh", coherence_ms=kept) for kept in (None, 1)]


@pytest.mark.parametrize("rts_above", [FULL, PARTIAL, NONE])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_agrees_with_the_tiny_air(seed: int, rts_above: int, tmp_path: Path) -> None:
    """Every counter that the taps derive equals the tiny air's, whenever it is stopped."""
    seconds = 3 + seed * 0.137
    sample = make_sample(busy_string(seconds, seed, rts_above=rts_above), seconds, tmp_path)
    counters = observe(sample.capture, Medium.of_plan(sample.air.plan())).counters()
    assert differences(counters, sample.air.counters) == []
    assert totals(counters) == totals(sample.air.counters)


def test_everything_happens(sample: Sample) -> None:
    """The sample covers enough: all outcomes and limits, duplicates, and open frames."""
    outcomes, reasons = Counter[str](), Counter[str]()
    for counters in sample.air.counters:
        for row in counters["addressed"].values():
            outcomes.update(row)
        for row in counters["end"].values():
            reasons.update(row)
    assert all(outcomes[name] for name in ("OK", "COLLISION", "OWN_TX", "BELOW_THRESHOLD"))
    assert all(reasons[name] for name in ("ACKED", "GROUP", "RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "QUEUE_FULL"))
    t = sample.trace
    good = t.rx[(t.rx["addressed"] == 1) & (t.rx["outcome"] == 0)]
    tx = t.tx[np.searchsorted(t.tx["id"], good["id"])]
    data = tx[tx["kind"] == Kind.TCP_DATA]
    assert len(data) > len(np.unique(data[["station", "msdu"]]))  # received twice: the ACK was lost
    assert any(station.queue for station in sample.air.stations)  # open at the stop


def test_without_a_plan_all_sense_all(sample: Sample) -> None:
    """Without the plan, a corrupted frame is a collision if anything overlaps it, however far away."""
    known = totals(observe(sample.capture, Medium.of_plan(sample.air.plan())).counters())
    assumed = totals(observe(sample.capture).counters())
    assert {k: v for k, v in assumed.items() if "COL" not in k} == {k: v for k, v in known.items() if "COL" not in k}
    with pytest.raises(Damaged, match="4 stations, the plan 3"):
        observe(sample.capture, Medium.of_all(3))


@pytest.mark.parametrize(
    ("rate", "length", "short", "us"),
    [
        (10, 14, False, 304), (10, 14, True, 304), (20, 1536, False, 6336), (20, 1536, True, 6240),
        (55, 1536, False, 2427), (110, 1536, False, 1310), (60, 14, False, 44), (540, 1536, False, 248),
    ],
)  # fmt: skip
def test_airtime(rate: int, length: int, short: bool, us: int) -> None:
    """Durations by hand; 802.11 rounds each frame up to whole microseconds, or OFDM symbols."""
    assert airtime_ns(np.array([rate]), np.array([length]), np.array([short]), 0).tolist() == [us * 1000]


def test_signal_extension() -> None:
    """ERP-OFDM frames last 6 us longer; DSSS frames in the same air do not."""
    rate, length = np.array([60, 10]), np.array([14, 14])
    assert airtime_ns(rate, length, np.array([False, False]), 6000).tolist() == [50_000, 304_000]


def observed(core: Core, medium: Medium, folder: Path) -> Observation:
    """Return what the taps derive from a core's run."""
    core.stop()
    records = trace.parse(np.frombuffer(bytes(core.raw), np.uint8))
    stations = [
        {"name": f"sta{i + 1}", "address": address(i).hex(":"), "ip": f"10.0.0.{i + 1}/24"} for i in range(core.n)
    ]
    pcapng.write(records, stations, folder)
    return observe(read(folder / pcapng.AIR), medium)


def own_counters(core: Core) -> list[dict[str, Any]]:
    """Return the core's counters, as in lane.json."""

    def table(rows: Any, columns: tuple[str, ...]) -> dict[str, dict[str, int]]:
        return {kind: dict(zip(columns, rows[k], strict=True)) for k, kind in enumerate(KINDS)}

    counters = [core.counters(station) for station in range(core.n)]
    return [
        {
            "tx": dict(zip(KINDS, c.tx, strict=True)), "airtime_ns": dict(zip(KINDS, c.airtime_ns, strict=True)),
            "rx": table(c.rx, OUTCOMES), "addressed": table(c.addressed, OUTCOMES), "end": table(c.end, REASONS),
            "retries": {"short": c.short_retries, "long": c.long_retries},
        }
        for c in counters
    ]  # fmt: skip


@given(
    st.integers(0, 2**32), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([0, 25]),
    st.sampled_from([60, 200, 60_000]),
)  # fmt: skip
@examples(300, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_agrees_with_the_core(
    tmp_path: Path, seed: int, sinr: bool, stages: bool, faded: bool, start_ms: int, stop_ms: int
) -> None:  # fmt: skip
    """On random networks with random traffic the taps and the air's core count the same, both reception models, limits
    and rate stages, ns-2's rules, fading or not, with thresholds and limits of each station's own, whenever it is
    started and stopped. (What the stages gave up no tap can see, so that is not compared; nor can one tell noise from
    what was on the air before the start.)"""
    r = random.Random(seed)
    n = r.randrange(2, 8)
    power = [[0] * n for _ in range(n)]
    delay = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            power[i][j] = power[j][i] = r.choice([0, 20, 50, 200, 1000, 20_000])
            delay[i][j] = delay[j][i] = r.randrange(2000)  # ns-2's fixed timeouts are for 600 m at most
    rules = [] if sinr else [rule for rule in RULES if r.random() < 0.3]  # ns-2's
    core = Core(power, delay, seed=seed, reception=int(sinr), eifs=r.randrange(3), stages=stages, rules=rules,
                phy=dsss(basic_rates=0b10001, signal_extension_ns=6000))  # fmt: skip
    alike = bool(start_ms)  # and unfaded: who sent an ACK that nobody received, of DATA before the start, no tap knows
    fading = plan_fading(FADING[seed % 2]) if faded and not alike else None
    if fading:
        core.fade(**fading)
    unknown = bool(fading) and "data_if_idle" in rules  # who sent a CTS-to-self that nobody received, and no DATA then
    high = 500 if sinr else 40  # above what it receives
    own = np.array([[10 if alike else r.choice([10, 10, 40, high]), 100 if alike else r.choice([100, 100, 300]),
                     r.randrange(1, 8), r.randrange(1, 5)]
                    for _ in range(n)])  # fmt: skip
    for i, (sense, receive, short, long) in enumerate(own.tolist()):
        assert core.lib.dcf_set_thresholds(core.memory, i, receive, sense)
        assert core.lib.dcf_set_station(core.memory, i, 2412, short, long, 50, False)
    lengths, begun = {True: 1460, False: 0}, bool(sinr or stages or not start_ms)
    if not begun:
        core.stop()
    for at in sorted(r.randrange(60_000) for _ in range(r.randrange(1, 60))):
        if not begun and at > start_ms * 1000:
            core.run(start_ms * 1000 * US)
            core.raw.clear()
            core.lib.dcf_start(core.memory, core.now)
            begun = True
        s, to, full = r.randrange(n), r.randrange(n), r.random() < 0.5
        receiver = to if power[s][to] >= 100 else b"\xff" * 6
        body = ipv4(ip(s), ip(to), 6, tcp_header(1, 2, at, 4, 0x10, bytes(lengths[full])))
        rate, rts = r.choice([10, 20, 110, 60, 540]), r.random() < 0.5
        core.send(s, receiver, body, at * US, rate=rate, rts=rts, short_preamble=r.random() < 0.5,
                  cts_to_self=not rts and rate >= 60 and not unknown,
                  stages=[(rate, 2), (10, 2)] if stages else None)  # fmt: skip
    if not begun:
        return
    core.run(stop_ms * 1000 * US)
    sense, receive, short, long = (Own(np.arange(n), np.zeros(n, int), column) for column in own.T)
    medium = Medium(
        Links(np.array(power), np.array(delay), Fading.of_plan({"fading": fading, "seed": seed})),
        1 if sinr else sense, receive, (10, 60), signal_extension_ns=6000, noise=sinr,
        detection=(2.512, 0.229) if sinr else None,
        fixed_timeouts="fixed_timeouts" in rules,
        short_limit=None if stages else short, long_limit=None if stages else long,
    )  # fmt: skip
    found, wanted = observed(core, medium, tmp_path).counters(), own_counters(core)
    for ours, theirs in zip(found, wanted, strict=True):
        _merge_rts_limits(ours)
        _merge_rts_limits(theirs)
    assert differences(found, wanted) == []


def _merge_rts_limits(counters: dict[str, Any]) -> None:
    """The length of a frame for which only RTSs were sent, at a mixture of rates. In so short a run it cannot be known,
    so only the sum over kinds is compared."""
    ends = counters["end"].values()
    total = sum(row.get("RTS_LIMIT", 0) for row in ends)
    for row in ends:
        row["RTS_LIMIT"] = total


class Relay(Core):
    """Five stations in a row, 2 Mb/s, relay TCP segments: `window` of them at a time from the first to the last, which
    acknowledges each. A lost one is replaced after a while."""

    def __init__(self, seed: int, rts_above: int, window: int) -> None:
        power = [[{1: 1000, 2: 40}.get(abs(i - j), 0) for j in range(5)] for i in range(5)]
        delay = [[667 * abs(i - j) for j in range(5)] for i in range(5)]
        self.powers, self.delays = power, delay
        super().__init__(power, delay, seed=seed)
        self.rts_above, self.window, self.segments, self.out = rts_above, window, 0, 0

    @property
    def medium(self) -> Medium:
        return Medium(Links(np.array(self.powers), np.array(self.delays)), 10, 100)

    def pass_on(self, station: int, packet: bytes) -> None:
        step = 1 if packet[8 + 19] - 1 > station else -1
        rts = 24 + len(packet) + 4 > self.rts_above
        self.send(station, station + step, packet, self.now, rts=rts)

    def segment(self, source: int, destination: int, payload: int) -> None:
        self.segments += 1
        packet = tcp_header(1, 2, self.segments, 7, 0x10, bytes(payload))
        self.pass_on(source, ipv4(ip(source), ip(destination), 6, packet, self.segments))

    def play(self, seconds: float) -> None:
        stop, done, last = int(seconds * 1e9), 0, 0
        while self.now < stop:
            while self.out < self.window or self.now - last > 500_000 * US:
                self.out, last = min(self.out + 1, self.window), self.now
                self.segment(0, 4, 1460)
            following = min(self.lib.dcf_next(self.memory), stop, last + 500_001 * US)
            self.run(max(following, self.now + 1))
            for _, station, octets in self.delivered[done:]:
                packet = octets[24:]
                if packet[8 + 19] - 1 != station:
                    self.pass_on(station, packet)
                elif station == 4:
                    self.segment(4, 0, 0)
                else:
                    self.out, last = self.out - 1, self.now
            done = len(self.delivered)


@pytest.mark.parametrize("rts_above", [PARTIAL, *(pytest.param(each, marks=pytest.mark.slow) for each in (FULL, NONE))])
def test_agrees_with_the_core_on_the_studied_string(rts_above: int, tmp_path: Path) -> None:
    """Hidden terminals, exposed ones, retries and give-ups on a string of five: all counters agree, kind by kind."""
    core = Relay(rts_above + 1, rts_above, 12)
    core.play(20)
    wanted = own_counters(core)
    assert differences(observed(core, core.medium, tmp_path).counters(), wanted) == []
    numbers = totals(wanted)
    assert numbers["COL_ACK" if rts_above else "COL_RTS/CTS"] > 500 and numbers["FAIL_DATA"] + numbers["FAIL_ACK"] > 5
