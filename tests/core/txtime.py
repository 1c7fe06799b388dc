# SPDX-License-Identifier: BSD-3-Clause
"""TXTIME of HT, VHT and HE single-user PPDUs, computed again from the standard's formulas with fractions. It shares
nothing with the core, which counts in integers. Clauses are those of IEEE 802.11-2020, and for HE of 802.11ax-2021."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F
from math import ceil, floor

R = [F(1, 2), F(1, 2), F(3, 4), F(1, 2), F(3, 4), F(2, 3), F(3, 4), F(5, 6), F(3, 4), F(5, 6), F(3, 4), F(5, 6)]
N_BPSCS = [1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10]
N_SD = {
    ("ht", 20): 52, ("ht", 40): 108, ("vht", 20): 52, ("vht", 40): 108, ("vht", 80): 234, ("vht", 160): 468,
    ("he", 20): 234, ("he", 40): 468, ("he", 80): 980, ("he", 160): 1960,
}  # fmt: skip
N_SD_SHORT = {20: 60, 40: 120, 80: 240, 160: 492}
N_LTF = {1: 1, 2: 2, 3: 4, 4: 4}
# IEEE 802.11-2020, 21.5: of up to four streams these (width, streams, MCS) are not valid
NOT_VALID = {(20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9)}


@dataclass(frozen=True)
class Mode:
    format: str
    mcs: int
    streams: int
    width: int
    guard_ns: int
    ltf: int = 0
    ldpc: bool = False
    padding_us: int = 0

    @property
    def n_cbps(self) -> int:
        return N_SD[self.format, self.width] * self.streams * N_BPSCS[self.mcs]

    @property
    def n_dbps(self) -> int:
        return floor(self.n_cbps * R[self.mcs])

    @property
    def symbol_us(self) -> F:
        return (F(128, 10) if self.format == "he" else F(32, 10)) + F(self.guard_ns, 1000)

    @property
    def n_es(self) -> int:
        """Tables of 19.5 and 21.5: a second encoder above 300 Mb/s in HT; in VHT one for each 540 Mb/s, and 6 where 5
        would not divide."""
        if self.format == "he":
            return 1
        mbps = F(self.n_dbps, 4)
        if self.format == "ht":
            return 1 if mbps <= 300 else 2
        return 6 if (self.width, self.streams, self.mcs) == (160, 4, 7) else ceil(mbps / 540)

    @property
    def preamble_us(self) -> F:
        n = N_LTF[self.streams]
        if self.format == "ht":  # L-STF, L-LTF, L-SIG, HT-SIG, HT-STF, HT-LTFs
            return F(8 + 8 + 4 + 8 + 4 + 4 * n)
        if self.format == "vht":  # ... VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B
            return F(8 + 8 + 4 + 8 + 4 + 4 * n + 4)
        field = F(32, 10) * self.ltf + F(self.guard_ns, 1000)
        return 8 + 8 + 4 + 4 + 8 + 4 + n * field  # ... RL-SIG, HE-SIG-A, HE-STF, HE-LTFs


def extra(n_pld: int, n_avbits: int, r: F) -> bool:
    """19.3.11.7.5, b to d, with table 19-16: return whether the code words need more room."""
    if n_avbits <= 648:
        n_cw, l_ldpc = 1, 1296 if n_avbits >= n_pld + 912 * (1 - r) else 648
    elif n_avbits <= 1296:
        n_cw, l_ldpc = 1, 1944 if n_avbits >= n_pld + 1464 * (1 - r) else 1296
    elif n_avbits <= 1944:
        n_cw, l_ldpc = 1, 1944
    elif n_avbits <= 2592:
        n_cw, l_ldpc = 2, 1944 if n_avbits >= n_pld + 2916 * (1 - r) else 1296
    else:
        n_cw, l_ldpc = ceil(n_pld / (1944 * r)), 1944
    n_shrt = max(F(0), n_cw * l_ldpc * r - n_pld)
    n_punc = max(F(0), n_cw * l_ldpc - n_avbits - n_shrt)
    unit = n_cw * l_ldpc * (1 - r)
    return (n_punc > F(1, 10) * unit and n_shrt < F(12, 10) * n_punc * r / (1 - r)) or n_punc > F(3, 10) * unit


def txtime_us(mode: Mode, length: int, ldpc_extra: bool = True) -> F:
    """Return the TXTIME of a PSDU with this many bytes, without signal extension."""
    r, tail = R[mode.mcs], 0 if mode.ldpc else 6 * mode.n_es
    n_sym = ceil(F(16 + 8 * length + tail, mode.n_dbps))
    if mode.format == "he":
        return mode.preamble_us + he_data_us(mode, length, tail, n_sym, ldpc_extra)
    if mode.ldpc and ldpc_extra:
        n_pld = 16 + 8 * length if mode.format == "ht" else n_sym * mode.n_dbps
        n_sym += extra(n_pld, n_sym * mode.n_cbps, r)
    return mode.preamble_us + 4 * ceil(n_sym * mode.symbol_us / 4)


def he_data_us(mode: Mode, length: int, tail: int, n_sym: int, ldpc_extra: bool) -> F:
    """27.3.12.5.2 and .3, 27.3.13: return the time of the symbols and the packet extension, us."""
    r = R[mode.mcs]
    cbps_short = N_SD_SHORT[mode.width] * mode.streams * N_BPSCS[mode.mcs]
    dbps_short = cbps_short * r
    excess = (16 + 8 * length + tail) % mode.n_dbps
    a = 4 if excess == 0 else min(ceil(excess / dbps_short), 4)
    if mode.ldpc and ldpc_extra:
        n_pld = (n_sym - 1) * mode.n_dbps + (a * dbps_short if a < 4 else mode.n_dbps)
        n_avbits = (n_sym - 1) * mode.n_cbps + (a * cbps_short if a < 4 else mode.n_cbps)
        if extra(int(n_pld), n_avbits, r):
            n_sym, a = (n_sym + 1, 1) if a == 4 else (n_sym, a + 1)
    t_pe = {0: (0, 0, 0, 0), 8: (0, 0, 4, 8), 16: (4, 8, 12, 16)}[mode.padding_us][a - 1]
    return n_sym * mode.symbol_us + t_pe


def all_modes() -> list[Mode]:
    """Return all modes, without packet padding."""
    modes = [
        Mode(form, mcs, streams, width, guard, ldpc=ldpc)
        for form, most, widths in (("ht", 8, (20, 40)), ("vht", 10, (20, 40, 80, 160)))
        for mcs in range(most) for streams in range(1, 5) for width in widths for guard in (400, 800)
        for ldpc in (False, True) if form == "ht" or (width, streams, mcs) not in NOT_VALID
    ]  # fmt: skip
    modes += [
        Mode("he", mcs, streams, width, guard, ltf, ldpc)
        for mcs in range(12) for streams in range(1, 5) for width in (20, 40, 80, 160)
        for guard, ltf in ((800, 1), (800, 2), (800, 4), (1600, 2), (3200, 4)) for ldpc in (False, True)
        if ldpc or (width == 20 and mcs < 10)
    ]  # fmt: skip
    return modes
