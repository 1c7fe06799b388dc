# SPDX-License-Identifier: BSD-3-Clause
"""Airtimes at each rate, as in the standard's tables: the core's, and the taps' own."""

from __future__ import annotations

import numpy as np
import pytest
from dcf import airtime_ns as core_ns
from dcf import dsss

from analysis.taps.phy import airtime_ns

# IEEE 802.11-2016, table 17-4: data bits of a symbol of 4 us, 20 MHz
DATA_BITS = {60: 24, 90: 36, 120: 48, 180: 72, 240: 96, 360: 144, 480: 192, 540: 216}
LENGTHS = (14, 20, 28, 100, 1000, 1536, 2304)


def both(rate: int, length: int, short: bool = False, extension_ns: int = 0) -> float:
    """In us; the core and the taps agree."""
    core = core_ns(dsss(signal_extension_ns=extension_ns), rate, length, short)
    taps = airtime_ns(np.array([rate]), np.array([length]), np.array([short]), extension_ns)
    assert [core] == taps.tolist()
    return float(core / 1000)


@pytest.mark.parametrize("rate", DATA_BITS)
def test_ofdm(rate: int) -> None:
    """17.4.3: preamble 16 us, SIGNAL 4 us, and symbols of SERVICE (16 bits), frame and tail (6 bits). At 2.4 GHz 6 us
    more, 18.5.3; there is no short preamble."""
    for length in LENGTHS:
        symbols = -(-(16 + 8 * length + 6) // DATA_BITS[rate])
        assert both(rate, length) == both(rate, length, short=True) == 16 + 4 + 4 * symbols
        assert both(rate, length, extension_ns=6000) == 26 + 4 * symbols


@pytest.mark.parametrize(("rate", "us"), [(540, 248), (60, 2072), (240, 536)])
def test_the_longest_ethernet_frame_at_5_ghz(rate: int, us: int) -> None:
    """Frames of 1536 bytes with MAC header and FCS, by hand: 57, 513 and 129 symbols."""
    assert both(rate, 1536) == us


@pytest.mark.parametrize("rate", [10, 20, 55, 110])
def test_dsss_and_cck(rate: int) -> None:
    """16.3.4: a long preamble and header of 144 + 48 us, a short one of 72 + 24, which 1 Mb/s lacks; then whole
    microseconds."""
    for length in LENGTHS:
        body = -(-80 * length // rate)
        assert both(rate, length) == 192 + body
        assert both(rate, length, short=True) == (192 if rate == 10 else 96) + body
