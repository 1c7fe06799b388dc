# SPDX-License-Identifier: BSD-3-Clause
"""Tables of packet error rates in files, in wmediumd's format (-x).

A row is a received power in whole dBm and the packet error rate of each of twelve rates; `#` begins a comment. The
columns are hwsim's rates in order: 1, 2, 5.5, 11, 6, 9 … 54 Mb/s; at 5 GHz the first is 6. Below the first row all
frames are lost, above the last none. The length of a frame is ignored.
"""

import math
import os
from dataclasses import dataclass

from emulation.lane.errors import Misuse

RATES = 12
NOISE_DBM = -91.0  # wmediumd's
ROW = f"a power in dBm and {RATES} packet error rates"
FEWEST, MOST_ROWS = 1, 1000
LARGEST_FILE = 1_000_000  # size of a file, in bytes


@dataclass(frozen=True)
class Table:
    """Packet error rates by received power: a row per dB, from `first_dbm` on."""

    first_dbm: int
    rows: tuple[tuple[float, ...], ...]

    def error(self, snr_db: float, rate: int, length: int = 0) -> float:
        """Return the packet error rate at an SNR over wmediumd's noise, for the rate of this index."""
        row = math.floor(snr_db + NOISE_DBM) - self.first_dbm
        return 1.0 if row < 0 else 0.0 if row >= len(self.rows) else self.rows[row][rate]


def read(path: str) -> Table:
    """Read a table. If there is no such file, try the name with "ax" appended. Mininet-WiFi omits this suffix, and the
    wmediumd that it installs adds it. Raises Misuse with file and line, or OSError."""
    if not os.path.exists(path) and os.path.exists(f"{path}ax"):
        path += "ax"
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise Misuse(f"{path}:1: larger than {LARGEST_FILE // 1_000_000} MB")
    return parse(content.decode(errors="replace"), path)


def parse(text: str, name: str = "table") -> Table:
    """Parse a table. Raises Misuse with `name` and line."""
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
            raise Misuse(f"{where}: {ROW} must be numbers, not {line.strip()[:60]!r}") from None
        if len(errors) != RATES:
            raise Misuse(f"{where}: a row has {ROW}, not {len(errors)} rates")
        if not all(0 <= error <= 1 for error in errors):
            raise Misuse(f"{where}: a packet error rate is between 0 and 1")
        if not -200 <= dbm <= 100 or dbm != int(dbm):
            raise Misuse(f"{where}: a power is in whole dBm, not {fields[0]}")
        if rows and int(dbm) != first + len(rows):
            raise Misuse(f"{where}: after {first + len(rows) - 1} dBm comes {first + len(rows)}, not {dbm:g}")
        first = first if rows else int(dbm)
        rows.append(tuple(errors))
        if len(rows) > MOST_ROWS:
            raise Misuse(f"{where}: more than {MOST_ROWS} rows")
    if len(rows) < FEWEST:
        raise Misuse(f"{name}:1: there is no row: {ROW}")
    return Table(first, tuple(rows))
