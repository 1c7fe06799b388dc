# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates: tables in files (-x), and what wmediumd works out without one.

A table's row is a received power in whole dBm and the packet error rate of each of twelve rates; `#` begins a remark.
Its columns are hwsim's rates in their order, 1, 2, 5.5, 11, 6, 9 … 54 Mb/s; at 5 GHz the first is 6. Below the first
row all is lost, above the last nothing, and the length of a frame means nothing.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from emulation.lane.wmediumd.libconfig import ConfigurationError
from emulation.lane.wmediumd.stations import NOISE_DBM, RATES

HEADLINE = f"a power in dBm and {RATES} packet error rates"
FEWEST, MOST_ROWS = 1, 1000
LONGEST = 1_000_000  # bytes of a file
PERFECT_DB = 100.0  # no bit is wrong
# Of each rate: bits a symbol (1: BPSK), and the free distance of its code, 10, 6 and 5 at rates 1/2, 2/3 and 3/4. DSSS
# and CCK are taken for the OFDM rates that are nearest.
CODED = (
    (1, 10), (1, 10), (1, 10), (2, 10),
    (1, 10), (1, 5), (2, 10), (2, 5), (4, 10), (4, 5), (6, 6), (6, 5),
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Packet error rates by received power, as a file has them: from `first_dbm` on, a row a dB."""

    first_dbm: int
    rows: tuple[tuple[float, ...], ...]

    def error(self, snr_db: float, rate: int, length: int = 0) -> float:
        """The packet error rate at an SNR over wmediumd's noise, of the rate of this index."""
        row = math.floor(snr_db + NOISE_DBM) - self.first_dbm
        return 1.0 if row < 0 else 0.0 if row >= len(self.rows) else self.rows[row][rate]


def read(path: str) -> Table:
    """Raises ConfigurationError, with file and line; OSError. Mininet-WiFi names its table without the "ax" at the end
    of its name, which the wmediumd that it installs adds."""
    if not os.path.exists(path) and os.path.exists(f"{path}ax"):
        path += "ax"
    with open(path, "rb") as file:
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise ConfigurationError(f"{path}:1: larger than {LONGEST // 1_000_000} MB")
    return parse(content.decode(errors="replace"), path)


def parse(text: str, name: str = "table") -> Table:
    """Raises ConfigurationError, with `name` and line."""
    first = 0
    rows: list[tuple[float, ...]] = []
    for number, line in enumerate(text.split("\n"), 1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        where = f"{name}:{number}"
        try:
            dbm, *errors = map(float, fields)
        except ValueError:
            raise ConfigurationError(f"{where}: {HEADLINE} are numbers, not {line.strip()[:60]!r}") from None
        if len(errors) != RATES:
            raise ConfigurationError(f"{where}: a row is {HEADLINE}, not {len(errors)}")
        if not all(0 <= error <= 1 for error in errors):
            raise ConfigurationError(f"{where}: a packet error rate is between 0 and 1")
        if not -200 <= dbm <= 100 or dbm != int(dbm):
            raise ConfigurationError(f"{where}: a power is in whole dBm, not {fields[0]}")
        if rows and int(dbm) != first + len(rows):
            raise ConfigurationError(
                f"{where}: after {first + len(rows) - 1} dBm comes {first + len(rows)}, not {dbm:g}"
            )
        first = first if rows else int(dbm)
        rows.append(tuple(errors))
        if len(rows) > MOST_ROWS:
            raise ConfigurationError(f"{where}: more than {MOST_ROWS} rows")
    if len(rows) < FEWEST:
        raise ConfigurationError(f"{name}:1: there is no row: {HEADLINE}")
    return Table(first, tuple(rows))


class Formula:
    """What wmediumd works out: bit errors of BPSK and QAM in white noise, the code's first error event, and each bit of
    the frame by itself."""

    def error(self, snr_db: float, rate: int, length: int) -> float:
        """The packet error rate of a frame of so many bytes."""
        bits, distance = CODED[rate]
        wrong = _first_event(_bit_error(bits, 10 ** (min(snr_db, PERFECT_DB) / 10)), distance)
        return 1.0 - (1.0 - wrong) ** (8 * length) if wrong < 1 else 1.0


def _bit_error(bits: int, snr: float) -> float:
    """Of BPSK, QPSK or M-QAM, Gray coded (Proakis, Digital Communications, 5.2)."""
    if bits == 1:
        return 0.5 * math.erfc(math.sqrt(snr))
    m = 2**bits
    return min(0.5, 2 / bits * (1 - 1 / math.sqrt(m)) * math.erfc(math.sqrt(1.5 * snr / (m - 1))))


def _first_event(p: float, distance: int) -> float:
    """Of hard decisions, the probability that a path of the free distance is taken for the right one."""
    half = sum(
        math.comb(distance, k) * p**k * (1 - p) ** (distance - k) for k in range(distance // 2 + 1, distance + 1)
    )
    if distance % 2 == 0:
        k = distance // 2
        half += 0.5 * math.comb(distance, k) * (p * (1 - p)) ** k
    return min(1.0, half)
