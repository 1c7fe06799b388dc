# SPDX-License-Identifier: BSD-3-Clause
"""The radiotap headers of our packets, back into columns; `native.c` writes them.

Fields are those of the table in docs/trace-layout.md, in the order of their bits, each at its natural alignment. So the
bits of a header say where its fields are.
"""

from dataclasses import dataclass

import numpy as np

from analysis.traces.modes import HE, HT, VHT
from analysis.traces.trace import Array

SHORT_PREAMBLE, FCS, BAD_FCS = 0x02, 0x10, 0x40  # of Flags
# Bit, alignment, size
FLAGS, RATE, CHANNEL, SIGNAL, MCS = (1, 1, 1), (2, 1, 1), (3, 2, 4), (5, 1, 1), (19, 1, 3)
AMPDU, VHT_FIELD, TIMESTAMP, HE_FIELD = (20, 4, 8), (21, 2, 12), (22, 8, 12), (23, 2, 12)
FIELDS = (FLAGS, RATE, CHANNEL, SIGNAL, MCS, AMPDU, VHT_FIELD, TIMESTAMP, HE_FIELD)
ALWAYS = 1 << FLAGS[0] | 1 << CHANNEL[0] | 1 << TIMESTAMP[0]
ONE_OF = tuple(1 << bit for bit, _, _ in (RATE, MCS, VHT_FIELD, HE_FIELD))
AMPDU_LAST = 0x08
BANDWIDTHS = np.array([0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 3])  # of VHT: how often 20 MHz is doubled


@dataclass(frozen=True)
class Radiotap:
    """Headers, as columns. `ours`: it is one that dcflab writes; other columns of others are 0. `rate` is in 500 kb/s,
    0 in a mode of 802.11n and later. `several`: its PPDU has several MPDUs; `reference` is the A-MPDU's number."""

    ours: Array
    length: Array
    flags: Array
    rate: Array
    freq: Array
    dbm: Array
    mode: Array
    several: Array
    reference: Array
    last: Array


def layout(present: int) -> dict[int, int] | None:
    """Return where the fields of a header with these bits are, and its length under -1; None if ours have others."""
    known = sum(1 << bit for bit, _, _ in FIELDS)
    if present & ~known or present & ALWAYS != ALWAYS or sum(bool(present & one) for one in ONE_OF) != 1:
        return None
    found, at = {}, 8
    for bit, alignment, size in FIELDS:
        if present >> bit & 1:
            found[bit] = at = -(-at // alignment) * alignment
            at += size
    return found | {-1: at}


def read(words: Array, at: Array, captured: Array) -> Radiotap:
    """Read the headers that begin at these words of a file, of packets with this many bytes."""
    zero = np.zeros(at.size, np.int64)
    numbers = {name: zero.copy() for name in ("length", "flags", "rate", "freq", "dbm", "mode", "reference")}
    found = Radiotap(**numbers, ours=zero != 0, several=zero != 0, last=zero == 0)
    octets = words.view(np.uint8)
    bits = words[at + 1]
    for present in np.unique(bits).tolist():
        if not (fields := layout(present)):
            continue
        length = fields[-1]
        row = np.flatnonzero((bits == present) & (words[at] == length << 16) & (captured >= length))
        begin = 4 * at[row]

        def field(bit: int, size: int, offset: int = 0, begin: Array = begin, fields: dict[int, int] = fields) -> Array:
            number, place = np.zeros(begin.size, np.int64), begin + fields[bit] + offset
            for byte in range(size):
                number |= octets[place + byte].astype(np.int64) << 8 * byte
            return number

        found.ours[row], found.length[row] = True, length
        found.flags[row], found.freq[row] = field(FLAGS[0], 1), field(CHANNEL[0], 2)
        if RATE[0] in fields:
            found.rate[row] = field(RATE[0], 1)
        if SIGNAL[0] in fields:
            found.dbm[row] = field(SIGNAL[0], 1).astype(np.uint8).view(np.int8)
        if AMPDU[0] in fields:
            found.several[row], found.reference[row] = True, field(AMPDU[0], 4)
            found.last[row] = field(AMPDU[0], 2, 4) & AMPDU_LAST != 0
        if MCS[0] in fields:
            flags, mcs = field(MCS[0], 1, 1), field(MCS[0], 1, 2) & 31
            found.mode[row] = _code(HT, mcs & 7, mcs >> 3, flags & 1, 1 - (flags >> 2 & 1), flags >> 4 & 1)
        if VHT_FIELD[0] in fields:
            short, width, mcs, ldpc = (field(VHT_FIELD[0], 1, offset) for offset in (2, 3, 4, 8))
            width = BANDWIDTHS[width.clip(max=BANDWIDTHS.size - 1)]
            found.mode[row] = _code(VHT, mcs >> 4, (mcs & 15) - 1 & 3, width, 1 - (short >> 2 & 1), ldpc & 1)
        if HE_FIELD[0] in fields:
            data3, data5, data6 = (field(HE_FIELD[0], 2, offset) for offset in (4, 8, 10))
            guard = (data5 >> 4 & 3).clip(max=2) + 1
            found.mode[row] = _code(HE, data3 >> 8 & 15, (data6 & 15) - 1 & 3, data5 & 3, guard, data3 >> 13 & 1,
                                    data5 >> 6 & 3)  # fmt: skip
    return found


def _code(
    form: int, mcs: Array, streams: Array, width: Array, guard: Array, ldpc: Array, ltf: Array | int = 0
) -> Array:
    code: Array = form | mcs << 3 | streams << 7 | width << 9 | guard << 11 | ldpc << 13 | ltf << 14
    return code
