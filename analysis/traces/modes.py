# SPDX-License-Identifier: BSD-3-Clause
"""Modes of 802.11n and later, as columns of numbers.

A mode is a number of 16 bits; 0 is a legacy rate. From the lowest bit on:

| bits | | |
|---|---|---|
| 3 | format | 2 HT, 3 VHT, 4 HE |
| 4 | MCS | HT: 0 to 7 for any number of streams |
| 2 | streams | less one |
| 2 | width | 20, 40, 80, 160 MHz |
| 2 | guard interval | 0.4, 0.8, 1.6, 3.2 us |
| 1 | coding | 1: LDPC |
| 2 | HE-LTF symbols | none, 1, 2, 4 times 3.2 us |

How long a PPDU takes follows from its mode and its MPDUs alone, by IEEE 802.11-2020, 9.7, 19.4.3 and 21.4.3, and
802.11ax-2021, 27.4.3. The air has its own code for that, in C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.traces.columns import begins, ends
from analysis.traces.trace import Array

LEGACY, HT, VHT, HE = 0, 2, 3, 4
NAMES = {HT: "HT", VHT: "VHT", HE: "HE"}
BITS = np.array([1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10, 0, 0, 0, 0])  # coded, of a subcarrier, by MCS
CODE = np.array([(1, 2), (1, 2), (3, 4), (1, 2), (3, 4), (2, 3), (3, 4), (5, 6), (3, 4), (5, 6), (3, 4), (5, 6)]
                + 4 * [(1, 2)])  # fmt: skip
SUBCARRIERS = {HT: (52, 108, 0, 0), VHT: (52, 108, 234, 468), HE: (234, 468, 980, 1960)}
QUARTER = np.array((60, 120, 240, 492))  # of HE
TRAINING = np.array((1, 2, 4, 4))  # long training fields, by streams
GUARD_NS = np.array((400, 800, 1600, 3200))
LTF = np.array((0, 1, 2, 4))
DELIMITER = 4


@dataclass(frozen=True)
class Modes:
    """The parts of modes, as columns. `streams` counts from 1, `width` is in MHz, `guard_ns` in ns; `ltf` is 0 but for
    HE."""

    format: Array
    mcs: Array
    streams: Array
    width: Array
    guard_ns: Array
    ldpc: Array
    ltf: Array

    @classmethod
    def of(cls, code: Array) -> Modes:
        code = code.astype(np.int64)
        return cls(
            format=code & 7, mcs=code >> 3 & 15, streams=(code >> 7 & 3) + 1, width=20 << (code >> 9 & 3),
            guard_ns=GUARD_NS[code >> 11 & 3], ldpc=code >> 13 & 1, ltf=LTF[code >> 14 & 3],
        )  # fmt: skip

    @property
    def doublings(self) -> Array:
        """How often 20 MHz is doubled to the width."""
        return np.searchsorted((20, 40, 80, 160), self.width)

    @property
    def symbol_ns(self) -> Array:
        found: Array = np.where(self.format == HE, 12_800, 3_200) + self.guard_ns
        return found

    def _of_symbol(self, subcarriers: Array) -> tuple[Array, Array]:
        """Return the data and the coded bits of a symbol with this many subcarriers."""
        coded = subcarriers * BITS[self.mcs] * self.streams
        numerator, denominator = CODE[self.mcs].T
        return coded * numerator // denominator, coded

    @property
    def bits(self) -> tuple[Array, Array]:
        """Data bits and coded bits of a symbol."""
        known = np.zeros((8, 4), np.int64)
        for of, subcarriers in SUBCARRIERS.items():
            known[of] = subcarriers
        return self._of_symbol(known[self.format, self.doublings])

    @property
    def rate(self) -> Array:
        """In 100 kb/s, to the nearest; 0 at a legacy rate."""
        found: Array = (self.bits[0] * 10_000 + self.symbol_ns // 2) // self.symbol_ns
        return found

    @property
    def preamble_ns(self) -> Array:
        """All before the data."""
        field = np.where(self.format == HE, 3_200 * self.ltf + self.guard_ns, 4_000)
        found: Array = np.where(self.format == HT, 32_000, 36_000) + TRAINING[self.streams - 1] * field
        return found

    @property
    def encoders(self) -> Array:
        """Those of BCC, whose tails take 6 bits each; 0 with LDPC."""
        bits, _ = self.bits
        many = np.where(self.format == HT, 1 + (bits > 1200), -(-bits // 2160))
        many = np.where((self.format == VHT) & (self.width == 160) & (self.streams == 4) & (self.mcs == 7), 6, many)
        return np.where(self.ldpc != 0, 0, np.where(self.format == HE, 1, many))

    def txtime_ns(self, psdu: Array) -> Array:
        """Return how long PPDUs with PSDUs of this many bytes take, without signal extension."""
        bits, _ = self.bits
        bits = bits.clip(min=1)
        all_bits = 16 + 8 * psdu + 6 * self.encoders
        symbols, over = -(-all_bits // bits), all_bits % bits
        quarter = self._of_symbol(QUARTER[self.doublings])[0].clip(min=1)
        parts = np.where((self.format == HE) & (over > 0) & (over <= 3 * quarter), -(-over // quarter), 4)
        symbols, parts = self._with_ldpc(psdu, symbols, parts)
        data = symbols * self.symbol_ns
        return self.preamble_ns + np.where(self.format == HE, data + (4_000 * parts - 16_000).clip(min=0),
                                           -(-data // 4_000) * 4_000)  # fmt: skip

    def _with_ldpc(self, psdu: Array, symbols: Array, parts: Array) -> tuple[Array, Array]:
        """Return the symbols, and the quarters of the last one, with the room that LDPC takes more (19.3.11.7.5)."""
        rows, short = np.flatnonzero(self.ldpc), self._of_symbol(QUARTER[self.doublings])
        he, fills = self.format == HE, parts == 4
        last = [np.where(fills, whole, parts * quarter) for whole, quarter in zip(self.bits, short, strict=True)]
        payload, room = (np.where(he, (symbols - 1) * whole + end, symbols * whole)
                         for whole, end in zip(self.bits, last, strict=True))  # fmt: skip
        payload = np.where(self.format == HT, 16 + 8 * psdu, payload)
        more = np.zeros(symbols.size, np.int64)
        columns = (column[rows].tolist() for column in (*CODE[self.mcs].T, payload, room))
        more[rows] = [_wants_more(*row) for row in zip(*columns, strict=True)]
        return symbols + np.where(he & ~fills, 0, more), np.where(he & (more > 0), parts % 4 + 1, parts)

    def name(self, row: int) -> str:
        """Return the mode as people write it: `VHT80 MCS 9, 2 streams, 0.4 us`."""
        several = "" if self.streams[row] == 1 else f", {self.streams[row]} streams"
        guard = f"{self.guard_ns[row] / 1000:g} us"
        return f"{NAMES.get(self.format[row], '?')}{self.width[row]} MCS {self.mcs[row]}{several}, {guard}"


def _wants_more(numerator: int, denominator: int, payload: int, room: int) -> bool:
    """Return whether LDPC punctures too many of the coded bits that it has room for (19.3.11.7.5, steps b to d)."""
    rate, left = numerator / denominator, denominator - numerator
    if room <= 648:
        words, word = 1, 1296 if room >= payload + 912 * (1 - rate) else 648
    elif room <= 1296:
        words, word = 1, 1944 if room >= payload + 1464 * (1 - rate) else 1296
    elif room <= 1944:
        words, word = 1, 1944
    elif room <= 2592:
        words, word = 2, 1944 if room >= payload + 2916 * (1 - rate) else 1296
    else:
        words, word = -(-payload * denominator // (1944 * numerator)), 1944
    coded = words * word
    shortened = max(coded // denominator * numerator - payload, 0)
    punctured = max(coded - room - shortened, 0)
    many = 10 * denominator * punctured > coded * left and 10 * left * shortened < 12 * numerator * punctured
    return many or 10 * denominator * punctured > 3 * coded * left


def ppdu_ns(code: Array, psdu: Array) -> Array:
    """Return how long PPDUs in these modes take, for PSDUs with this many bytes."""
    distinct, which = np.unique(code.astype(np.int64) << 32 | psdu, return_inverse=True)
    found: Array = Modes.of(distinct >> 32).txtime_ns(distinct & 0xFFFF_FFFF)[which]
    return found


def parts_ns(code: Array, ppdu: Array, psdu: Array, took: Array) -> tuple[Array, Array]:
    """Divide PPDUs, which take so long (ns), among their MPDUs: return the begin of each part within its PPDU, and its
    duration. The first has the preamble. `psdu` is from `psdu_bytes`."""
    modes = Modes.of(code)
    over = modes.preamble_ns + (16 + 8 * psdu) * modes.symbol_ns // modes.bits[0].clip(min=1)
    over = np.where(ends(ppdu), took, over)
    begin = np.where(begins(ppdu), 0, np.append(0, over[:-1])[: over.size])
    return begin, over - begin


def psdu_bytes(code: Array, ppdu: Array, length: Array, spacing_ns: Array | int) -> Array:
    """Return for each MPDU the bytes from the start of its PSDU to the MPDU's end. `ppdu` is equal for those of one
    PPDU, which are in order; `length` has the FCS; `spacing_ns` is the least time between their starts (10.12.3)."""
    modes = Modes.of(code)
    first = begins(ppdu)
    alone = first & np.append(first[1:], True)[: first.size]
    bits, symbol = modes.bits[0].clip(min=1), modes.symbol_ns
    apart = _padded(-(-spacing_ns * bits // (8 * symbol)))
    taken = np.maximum(_padded(DELIMITER + length), apart)  # from one delimiter to the next
    before = np.cumsum(taken) - taken
    start = before - before[np.maximum.accumulate(np.where(first, np.arange(first.size), 0))]
    return np.where(alone & (modes.format < VHT), length, start + DELIMITER + length)


def _padded(size: Array) -> Array:
    found: Array = -(-size // 4) * 4
    return found
