# SPDX-License-Identifier: BSD-3-Clause
"""Whatever clients ask for, the air is told powers and delays that it takes."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from emulation.features.wmediumd.daemon import air
from emulation.features.wmediumd.inside.arguments import Arguments
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.control import FORMATS, Client, Request
from emulation.features.wmediumd.inside.stations import Mode, Stations
from emulation.lane.air import Air, attowatts
from emulation.lane.protocol import Attribute, Command
from traffic.loop import Loop

MACS = [bytes([2, 0, 0, 0, number, 0]) for number in range(3)]
PLACES = "positions = ((0.0,0.0),(40.0,0.0),(80.0,0.0)); tx_powers = (15.0,15.0,15.0);"
MODELS = {
    Mode.SNR: 'type = "snr"; fading_coefficient = 30;',
    Mode.PROB: 'type = "prob";',
    Mode.SPECIFIC: 'type = "snr";',
    Mode.PATH_LOSS: f'type = "path_loss"; model_name = "two_ray_ground"; noise_threshold = -80; {PLACES}',
}


class Told(Air):
    """An air that no kernel has, and what it is told."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.station_settings: dict[int, Any] = {}
        self.power_mdbm: dict[int, Any] = {}
        self.radios: dict[int, bytes] = {}
        self.links: dict[int, list[tuple[int, int, int]]] = {}

    def _ask(self, command: int, values: Sequence[tuple[int, Any]], what: str) -> dict[int, bytes]:
        of = dict(values)
        if command == Command.STATION:
            self.radios[struct.unpack("=H", of[Attribute.STATION])[0]] = of[Attribute.RADIO]
        if command == Command.LINKS:
            self.links[struct.unpack("=H", of[Attribute.STATION])[0]] = list(
                struct.iter_unpack("=QiI", of[Attribute.LINKS])
            )
        return {}

    def report(self) -> dict[str, Any]:
        return {"refused_frames": 0}

    def close(self) -> None:
        pass


def stations(mode: Mode = Mode.SNR) -> Stations:
    ids = ", ".join(f'"{one.hex(":")}"' for one in MACS)
    found = parse(f"ifaces: {{ ids = [{ids}]; }}; model: {{ {MODELS[mode]} }};").stations
    found.mode = mode
    return found


@contextmanager
def playing(of: Stations, **asked: Any) -> Iterator[tuple[air.Medium, list[Told]]]:
    made: list[Told] = []

    def load() -> Air:
        made.append(Told())
        return made[-1]

    with pytest.MonkeyPatch.context() as patch, Loop() as loop:
        patch.setattr(air, "load", load)
        with air.Medium(loop, of, None, Arguments(**asked), lambda level, sentence: None) as medium:
            yield medium, made


def test_the_air_is_of_these_radios_and_powers() -> None:
    with playing(stations()) as (_, (told,)):
        assert told.radios == dict(enumerate(MACS))
        aw = attowatts(-61_000)
        assert told.links[0] == [(0, 0, 0), (aw, -61_000, 0), (aw, -61_000, 0)]


def test_places_have_delays_and_a_model() -> None:
    with playing(stations(Mode.PATH_LOSS)) as (_, (told,)):
        assert [delay for _, _, delay in told.links[0]] == [0, 133, 267]
        assert told.links[0][1][1] > told.links[0][2][1] > -80_000


@pytest.mark.parametrize("freq", [2412, 5180])
def test_a_band_has_its_constants(freq: int) -> None:
    with playing(stations(), freq=freq) as (medium, _):
        assert medium.specification.radio.freq == freq


ADDRESSES = st.sampled_from([*MACS, b"\x42\0\0\0\1\0", b"\xff" * 6, bytes(6), b"\x02\0\0\0\x09\0"])
FLOATS = st.floats(width=32)
INTS = st.one_of(st.integers(-40, 40), st.integers(-(2**31), 2**31 - 1))
FIXED = st.integers(0, 2**32 - 1)
OWN = st.sampled_from([15, 17, 19, 23])
MESSAGES = st.one_of(
    st.builds(lambda kind, a, n: bytes([kind]) + a + struct.pack(">i", n), OWN, ADDRESSES, INTS),
    st.builds(lambda a, xyz: b"\x0d" + a + struct.pack(">fff", *xyz), ADDRESSES, st.tuples(FLOATS, FLOATS, FLOATS)),
    st.builds(lambda a, n: b"\x15" + a + struct.pack(">f", n), ADDRESSES, FLOATS),
    st.builds(lambda a, b, n: b"\x01" + a + b + struct.pack(">i", n), ADDRESSES, ADDRESSES, INTS),
    st.builds(lambda a, b, n: b"\x09" + a + b + struct.pack(">I", n), ADDRESSES, ADDRESSES, FIXED),
    st.builds(lambda a, b, n: b"\x0b" + a + b + struct.pack(">I", n) * 144, ADDRESSES, ADDRESSES, FIXED),
    st.builds(lambda kind, a: bytes([kind]) + a, st.sampled_from([3, 7]), ADDRESSES),
    st.builds(lambda n: b"\x05" + struct.pack(">i", n), INTS),
)


@examples(60)
@given(st.sampled_from(Mode), st.lists(MESSAGES, max_size=12))
def test_whatever_is_asked_the_air_takes_it(mode: Mode, messages: list[bytes]) -> None:
    of = stations(mode)
    with playing(of) as (medium, made):
        client = Client(of)
        for message in messages:
            for done in client.feed(message):
                medium.on_change(done)
        if of.all:
            told = made[-1]
            assert [told.radios[number] for number in range(len(of.all))] == [one.address for one in of.all]
            assert all(len(row) == len(of.all) for row in told.links.values()) and len(told.links) == len(of.all)
            cells = [cell for row in told.links.values() for cell in row]
            assert all(aw <= attowatts(40_000) and delay < 32_000 for aw, _, delay in cells)
        else:
            assert medium.air is None


def test_requests_are_all_known() -> None:
    assert set(FORMATS) == set(Request)
