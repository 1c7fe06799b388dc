# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's own medium, to the microsecond: what each frame takes, what waits for what, and what is drawn."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.wmediumd.inside import losses
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.formula import Formula
from emulation.features.wmediumd.inside.model import (
    NEVER,
    STAT_ACK,
    US,
    Delivery,
    Medium,
    Report,
    airtime_us,
    category_of,
)
from emulation.features.wmediumd.inside.stations import Loss, Mode, PathLoss, Stations
from emulation.lane.per_tables import Table

STATIONS = [bytes([2, 0, 0, 0, number, 0]) for number in range(5)]
GROUP = b"\xff" * 6
NO_ACK = 2  # hwsim's flag
FULL = 1532  # of 1470 bytes of UDP
DIFS, SIFS = 34, 16
NONE, ALL = Table(-200, ((0.0,) * 12,)), Table(0, ((1.0,) * 12,))


def stations(model: str = "", ifaces: str = "") -> Stations:
    ids = ", ".join(f'"{one.hex(":")}"' for one in STATIONS)
    return parse(f"ifaces: {{ ids = [{ids}]; {ifaces} }};" + (f"model: {{ {model} }};" if model else "")).stations


def frame(source: int, to: bytes, length: int = FULL, head: bytes = b"\x08\x00") -> bytes:
    return (head + b"\0\0" + to + STATIONS[source] + bytes(6) + b"\0\0").ljust(length, b"\0")


class Player:
    """A medium, and what has happened in it."""

    def __init__(self, of: Stations, errors: Formula | Table = NONE, seed: int = 1) -> None:
        self.medium, self.sent = Medium(of, errors, seed), 0

    def send(self, now_us: int, bytes_: bytes, rates: list[tuple[int, int]], freq: int = 2412, flags: int = 0) -> None:
        self.sent += 1
        self.medium.take(now_us * US, b"radio", bytes_, freq, flags, rates, self.sent.to_bytes(8, "little"))

    def run(self) -> list[tuple[int, Delivery | Report]]:
        """(us, what)"""
        found: list[tuple[int, Delivery | Report]] = []
        while (at := self.medium.next_ns()) != NEVER:
            assert not self.medium.due(at - 1)
            found += [(at // US, one) for one in self.medium.due(at)]
        return found

    def reports(self) -> list[tuple[int, int, bool]]:
        """(us, number of the frame, acknowledged)"""
        return [(at, int.from_bytes(one.cookie, "little"), bool(one.flags & STAT_ACK))
                for at, one in self.run() if isinstance(one, Report)]  # fmt: skip


def test_airtimes() -> None:
    assert airtime_us(FULL, 540) == 20 + 4 * 57 and airtime_us(14, 10) == 156 and airtime_us(14, 60) == 44


@pytest.mark.parametrize(("freq", "rate", "mbps"), [(2412, 11, 25.9), (5180, 7, 34.4)])
def test_what_a_link_carries_at_most(freq: int, rate: int, mbps: float) -> None:
    """54 Mb/s: every frame after the one before, without a backoff."""
    player = Player(stations())
    for _ in range(100):
        player.send(0, frame(0, STATIONS[1]), [(rate, 1)], freq)
    last = player.reports()[-1]
    assert last[1:] == (100, True) and round(100 * 1470 * 8 / last[0], 1) == mbps


def test_everybody_waits_for_everybody_on_whatever_channel() -> None:
    player, one = Player(stations()), DIFS + 248 + 172
    player.send(0, frame(0, STATIONS[1]), [(11, 1)])
    player.send(0, frame(2, STATIONS[3]), [(11, 1)], 2462)
    player.send(5000, frame(2, STATIONS[3]), [(11, 1)])
    assert player.reports() == [(one, 1, True), (2 * one, 2, True), (5000 + one, 3, True)]


def test_other_mediums_do_not_wait() -> None:
    player, one = Player(stations(ifaces="medium_array = ((0, 1), (2, 3));")), DIFS + 248 + 172
    player.send(0, frame(0, STATIONS[1]), [(11, 1)])
    player.send(0, frame(2, STATIONS[3]), [(11, 1)])
    player.send(0, frame(0, STATIONS[2]), [(11, 1)])
    assert player.reports() == [(one, 1, True), (one, 2, True), (2 * one, 3, False)]


def test_a_higher_category_waits_for_its_own_only() -> None:
    player, one = Player(stations()), DIFS + 248 + 172
    player.send(0, frame(0, STATIONS[1]), [(11, 1)])
    player.send(0, frame(1, STATIONS[0], head=b"\xb0\x00"), [(11, 1)])  # management
    player.send(0, frame(2, STATIONS[3]), [(11, 1)])
    assert sorted(player.reports()) == [(one, 1, True), (one, 2, True), (2 * one, 3, True)]


@pytest.mark.parametrize(
    ("head", "tid", "category"),
    [(b"\x80\x00", 0, 0), (b"\x08\x00", 0, 2), (b"\x88\x00", 0, 2), (b"\x88\x00", 1, 3), (b"\x88\x00", 5, 1),
     (b"\x88\x00", 7, 0), (b"\x88\x03", 6, 0)],
)  # fmt: skip
def test_categories(head: bytes, tid: int, category: int) -> None:
    at = 30 if head[1] & 3 == 3 else 24
    made = bytearray(frame(0, STATIONS[1], 40, head))
    made[at] = tid
    assert category_of(bytes(made)) == category


def test_retries_take_half_a_window_that_doubles_and_stages_continue() -> None:
    """Nothing gets through: two attempts at 54 Mb/s, two at 6; the first of a stage has no backoff."""
    player = Player(stations(), ALL)
    player.send(0, frame(0, STATIONS[1]), [(11, 2), (4, 2), (-1, 0), (-1, 0)])
    slow = airtime_us(FULL, 60)
    took = 4 * (DIFS + 172) + 2 * 248 + 2 * slow + 15 * 9 // 2 + 31 * 9 // 2
    ((at, report),) = player.run()
    assert isinstance(report, Report) and (at, report.flags) == (took, 0)
    assert report.rates == ((11, 2), (4, 2), (-1, 0), (-1, 0))  # as they were asked for


def test_an_acknowledged_frame_says_which_attempt_it_was() -> None:
    player = Player(stations(), Table(-61, ((0.0,) * 11 + (1.0,),)))  # 54 Mb/s never, the rest always
    player.send(0, frame(0, STATIONS[1]), [(11, 3), (10, 4), (4, 1), (-1, 0)])
    (_, delivery), (_, report) = player.run()
    assert isinstance(delivery, Delivery) and delivery.to == STATIONS[1] and delivery.signal_dbm == -61
    assert isinstance(report, Report) and report.rates == ((11, 3), (10, 1), (-1, 0), (-1, 0))


def test_of_a_probability_one_draw_holds_for_all_attempts() -> None:
    player = Player(stations('type = "prob"; default_prob = 0.5;'))
    for _ in range(2000):
        player.send(0, frame(0, STATIONS[1]), [(11, 7)])
    reports = player.reports()
    assert 0.45 < sum(acked for *_, acked in reports) / len(reports) < 0.55


def test_a_group_frame_arrives_where_it_is_strong_enough_and_waits_for_no_ack() -> None:
    player = Player(stations(ifaces="links = ((0, 1, 0), (0, 2, 1));"))
    player.send(0, frame(0, GROUP), [(0, 1)])
    happened = player.run()
    assert [(one.to, one.signal_dbm) for _, one in happened if isinstance(one, Delivery)] == [
        (STATIONS[2], -90), (STATIONS[3], -61), (STATIONS[4], -61),
    ]  # fmt: skip
    assert happened[-1][0] == DIFS + airtime_us(FULL, 10)


def test_a_frame_that_its_sender_wants_no_ack_for_arrives() -> None:
    """As an access point's answer to a scan."""
    player = Player(stations())
    player.send(0, frame(0, STATIONS[1], 200, b"\x50\x00"), [(0, 1)], flags=NO_ACK)
    (_, delivery), (_, report) = player.run()
    assert isinstance(delivery, Delivery) and delivery.to == STATIONS[1]
    assert isinstance(report, Report) and report.flags == NO_ACK | STAT_ACK


def test_a_frame_without_an_attempt_does_not_arrive() -> None:
    player = Player(stations())
    player.send(0, frame(0, GROUP), [(0, 0)])
    player.send(0, frame(0, STATIONS[1]), [(0, 0)])
    assert player.reports() == [(0, 1, False), (0, 2, False)]


def test_an_unknown_sender_is_lost_and_an_unknown_receiver_acknowledges() -> None:
    player = Player(stations())
    player.send(0, frame(0, STATIONS[1]).replace(STATIONS[0], b"\x02\0\0\0\x09\0"), [(11, 1)])
    player.send(0, b"short", [(11, 1)])
    assert player.run() == []
    player.send(0, frame(0, b"\x02\0\0\0\x09\0"), [(11, 1)])
    assert player.reports() == [(DIFS + 248 + 172, 3, True)]


def string(weak: int) -> Stations:
    """sta1 to sta2 is well; this many others send to one that they reach with -92 dBm."""
    return stations('type = "snr"; links = ((2, 4, -1), (3, 4, -1), (0, 4, -1));', "enable_interference = true;")


def disturbed(others: tuple[int, ...], snr: float) -> list[bool]:
    """Whether sta1's frames are acknowledged while others send weakly all the time."""
    of = string(len(others))
    of.snr[STATIONS[0], STATIONS[1]] = snr
    player = Player(of, Table(-91 + round(snr), ((0.0,) * 12,)))  # anything less is lost
    for i in range(40):
        for other in others:
            player.send(i * 10_000, frame(other, STATIONS[4], 1000), [(0, 1)])
        player.send(i * 10_000 + 9_000, frame(0, STATIONS[1], 100), [(11, 1)])
        player.run()
    player.send(400_000, frame(0, STATIONS[1], 100), [(11, 1)])
    return [acked for *_, acked in player.reports()]


def test_one_that_disturbs_alone_has_no_effect() -> None:
    assert disturbed((2,), 20) == [True]


def test_several_lower_an_snr() -> None:
    """Of -91 dBm each: two are 3 dB."""
    of = string(2)
    medium = Medium(of, NONE)
    medium.weak = {STATIONS[2]: [0.0, -91.0], STATIONS[3]: [0.0, -91.0]}
    medium.busy = {STATIONS[2]: 1.5, STATIONS[3]: 1.0}
    assert medium._interference_db(of.all[0], of.all[1]) == 3
    assert medium._interference_db(of.all[0], of.all[2]) == 0  # one of them is the receiver
    of.interference = False
    assert medium._interference_db(of.all[0], of.all[1]) == 0


def test_with_interference_a_weak_frame_is_acknowledged_and_does_not_arrive() -> None:
    player = Player(string(1))
    player.send(0, frame(2, STATIONS[4]), [(0, 1)])
    ((_, report),) = player.run()
    assert isinstance(report, Report) and report.flags & STAT_ACK


def test_path_losses_are_whole_decibels() -> None:
    assert losses.loss_db(PathLoss(Loss.LOG_DISTANCE, 3.5, 0.0), 69.0) == 104
    assert losses.loss_db(PathLoss(Loss.FREE_SPACE), 69.0) == 76
    assert losses.loss_db(PathLoss(Loss.ITU), 10.0) == 187  # 120 dB too much, as it is there
    assert losses.loss_db(PathLoss(Loss.LOG_DISTANCE, 3.5, 0.0), 0.0) < 0
    of = stations('type = "path_loss"; positions = ((0.0,0.0),(69.0,0.0),(0.0,0.0),(0.0,0.0),(0.0,0.0)); model_name = '
                  '"log_distance"; path_loss_exp = 3.5; xg = 0.0; tx_powers = (15.0,15.0,15.0,15.0,15.0);'
                  "directions = ((0.0,0.0),(-10.0,0.0),(0.0,0.0),(0.0,0.0),(0.0,0.0));")  # fmt: skip
    assert of.mode is Mode.PATH_LOSS and losses.snr(of, *of.all[:2]) == 2
    medium = Medium(of, NONE)
    medium.take(9_000_000_000, b"", frame(0, STATIONS[1]), 2412, 0, [(0, 1)], b"")
    assert of.all[1].position == (39.0, 0.0, 0.0)


def test_fading_is_drawn_again() -> None:
    player = Player(stations('type = "snr"; fading_coefficient = 5;'))
    for _ in range(200):
        player.send(0, frame(0, STATIONS[1]), [(11, 1)])
    signals = {one.signal_dbm for _, one in player.run() if isinstance(one, Delivery)}
    assert len(signals) > 10 and -85 < min(signals) < -65 < -56 < max(signals) < -40


@pytest.mark.parametrize("snr", [-(2**31), 2**31 - 1])
def test_an_snr_may_be_out_of_all_proportion(snr: int) -> None:
    of = stations('type = "snr";')
    of.snr[STATIONS[0], STATIONS[1]] = float(snr)
    player = Player(of, Formula())
    player.send(0, frame(0, STATIONS[1]), [(11, 1)])
    player.send(0, frame(0, GROUP), [(11, 1)])
    assert [acked for *_, acked in player.reports()] == [snr > 0, True]


SENT = st.tuples(
    st.integers(0, 3000), st.integers(0, 4), st.sampled_from([*STATIONS, GROUP]), st.integers(24, 1600),
    st.lists(st.tuples(st.integers(-1, 15), st.integers(0, 8)), min_size=4, max_size=4), st.sampled_from([0, NO_ACK]),
)  # fmt: skip


@given(st.lists(SENT, max_size=12), st.booleans(), st.integers(0, 9))
def test_each_frame_is_reported_once_and_time_goes_on(sent: list[tuple], interference: bool, seed: int) -> None:  # type: ignore[type-arg]
    of = stations('type = "snr"; fading_coefficient = 3; links = ((0, 1, 3), (0, 2, -5));')
    of.interference = interference
    runs = []
    for _ in range(2):
        player = Player(of, Formula(), seed)
        for at, source, to, length, rates, flags in sorted(sent, key=lambda one: one[0]):
            player.send(at, frame(source, to, length), rates, flags=flags)
        runs.append(player.run())
    assert runs[0] == runs[1]  # one seed, one run
    assert [at for at, _ in runs[0]] == sorted(at for at, _ in runs[0])
    reported = sorted(int.from_bytes(one.cookie, "little") for _, one in runs[0] if isinstance(one, Report))
    assert reported == list(range(1, len(sent) + 1))
