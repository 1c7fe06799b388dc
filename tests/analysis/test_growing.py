# SPDX-License-Identifier: BSD-3-Clause
"""A trace converted while it grows gives the same bytes as at once, for any parts."""

import math
from dataclasses import fields
from pathlib import Path

import pytest
from sample import Sample

from analysis import growing
from analysis.growing import GrowingTrace
from analysis.routes.control import Control
from analysis.routes.paths import Legs
from analysis.taps.phy import radios
from analysis.tcp.hops import of_trace
from analysis.tcp.journeys import in_flight
from emulation.files.foreign import Damaged


def grow(
    folder: Path, sample: Sample, part: int, size: int | None = None, most: float = math.inf
) -> tuple[str, str | None]:  # fmt: skip
    """Write the sample's trace bit by bit, in parts of at most this many bytes, and convert it meanwhile."""
    raw = sample.trace.data.tobytes()[:size]
    with GrowingTrace(folder / "air.trace", radios(sample.air.plan()), folder, most, part=1, routed=True) as growing:
        growing.convert_new()  # there is no file yet
        for at in range(0, len(raw), part):
            with (folder / "air.trace").open("ab") as file:
                file.write(raw[at : at + part])
            growing.convert_new()
        grown = growing.finish()
    stations = radios(sample.air.plan())
    assert grown.flight.means() == in_flight(of_trace(sample.trace, stations)).means()
    assert grown.legs and grown.control
    legs, control = Legs.of_trace(sample.trace, stations), Control.of_trace(sample.trace)
    for each in fields(Legs):
        assert getattr(grown.legs, each.name).tolist() == getattr(legs, each.name).tolist() != []
    assert grown.control.octets == control.octets
    assert {name: times.tolist() for name, times in grown.control.time_ns.items()} == {
        name: times.tolist() for name, times in control.time_ns.items()
    }
    return grown.air_sha256, grown.views_sha256


@pytest.mark.slow
@pytest.mark.parametrize("part", [1001, 1 << 30])
def test_the_same_bytes_in_whatever_parts(sample: Sample, tmp_path: Path, part: int) -> None:
    assert grow(tmp_path, sample, part) == sample.sha256
    for file in (sample.pcapng, sample.views):
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(("part", "less", "kept"), [(1 << 30, 0, True), (1001, 1, False)])
def test_what_stations_received_is_left_out_if_it_is_much(
    sample: Sample, tmp_path: Path, part: int, less: int, kept: bool
) -> None:
    """All or nothing, at the byte, for any parts."""
    most = sample.views.stat().st_size - less
    assert grow(tmp_path, sample, part, most=most) == (sample.sha256[0], sample.sha256[1] if kept else None)
    assert (tmp_path / sample.views.name).exists() == kept


@pytest.mark.slow
def test_what_is_held_back_is_needed(sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If parts are held for less than the longest frame takes, arrivals come too late."""
    monkeypatch.setattr(growing, "HOLD_NS", 3_000_000)
    with pytest.raises(Damaged, match="an arrival of a transmission that is not in the trace"):
        grow(tmp_path, sample, 1001)


@pytest.mark.slow
def test_what_is_not_finished_is_gone(sample: Sample, tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="truncated"):
        grow(tmp_path, sample, 10_000, size=sample.trace.data.size - 8)
    assert [file.name for file in tmp_path.iterdir()] == ["air.trace"]
