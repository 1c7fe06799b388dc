# SPDX-License-Identifier: BSD-3-Clause
"""Measured links: what arrives of each station at each other one, from CSV.

The first line names the columns: `from`, `to`, and one of `dbm` (received power), `snr` (dB over the noise) and
`delivery` (the share of frames that arrive, 0 to 1, sent at the `rate` in Mb/s of another column). Each direction has
its own line, as the two are seldom equal; without a line nothing arrives. The values become part of the specification,
so a run no longer needs the file.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, ValidationInfo

from topologies.files import number, opened, prefix_errors, read_by
from topologies.network import MAX_NODES, NAME

LIMITS = {"dbm": (-200.0, 40.0), "snr": (-100.0, 140.0), "delivery": (0.0, 1.0)}  # of each quantity
RATES = (1.0, 2.0, 5.5, 6.0, 9.0, 11.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
MOST_BYTES = 8_000_000  # all pairs of a full network at four rates, with a margin

Row = tuple[str, str, float, float | None]  # from, to, the quantity, and the rate of a delivery ratio
Rows = dict[tuple[str, str, float | None], Row]  # by the ends and the rate


@dataclass(frozen=True)
class Links:
    """What arrives, by ordered pair. Raises ValueError for invalid rows."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    quantity: str
    rows: tuple[Row, ...]
    source: str = "drawn"  # a file, or none

    def __post_init__(self) -> None:
        if self.quantity not in LIMITS:
            raise ValueError(f"the strength of links is given in one of {', '.join(LIMITS)}; not in {self.quantity!r}")
        rows: Rows = {}
        for row in self.rows:
            _add(rows, self.quantity, row)

    @property
    def name(self) -> str:
        """Name for people."""
        return Path(self.source).name

    @property
    def stations(self) -> list[str]:
        """The stations, in order of first occurrence."""
        return list(dict.fromkeys(end for row in self.rows for end in row[:2]))


def _add(rows: Rows, quantity: str, row: Row) -> None:
    """Add a row. Raises ValueError if it is invalid, or already set."""
    a, b, value, rate = row
    for end in (a, b):
        if not re.fullmatch(NAME, end):
            raise ValueError(f"{end!r} is not a name of a station: use up to nine letters, digits, dots and hyphens")
    if a == b:
        raise ValueError(f"from {a} to itself")
    least, most = LIMITS[quantity]
    if not least <= value <= most:  # nan is not, either
        raise ValueError(f"{quantity}: {value:g} is not between {least:g} and {most:g}")
    if (quantity == "delivery") != (rate in RATES):
        raise ValueError(f"rate: a delivery ratio must be for one of {', '.join(f'{each:g}' for each in RATES)} Mb/s")
    if (a, b, rate) in rows:
        raise ValueError(f"from {a} to {b}{f' at {rate:g} Mb/s' if rate else ''} is already set")
    rows[a, b, rate] = row


def read(name: str) -> Links:
    """Return the links in a file, which may be in .gz. Raises ValueError, which names the line."""
    source = str(Path(name).resolve())
    numbered = _numbered(source)
    place, head = next(numbered, (name, ""))
    with prefix_errors(place):
        columns = [word.strip().lower() for word in head.split(",")]
        quantity = next((each for each in LIMITS if each in columns), None)
        needed = {"from", "to", quantity} | ({"rate"} if quantity == "delivery" else set())
        if quantity is None or len(columns) != len(needed) or set(columns) != needed:
            raise ValueError(f"the columns are from,to,dbm or from,to,snr or from,to,rate,delivery; not {head[:80]!r}")
    rows: Rows = {}
    for place, line in numbered:
        with prefix_errors(place):
            fields = [field.strip() for field in next(csv.reader([line]))]
            if len(fields) != len(columns):
                raise ValueError(f"{len(fields)} fields, but there are {len(columns)} columns")
            of = dict(zip(columns, fields, strict=True))
            rate = number(of["rate"]) if "rate" in of else None
            _add(rows, quantity, (of["from"], of["to"], number(of[quantity]), rate))
    links = Links(quantity, tuple(rows.values()), source)
    if not 2 <= len(links.stations) <= MAX_NODES:
        raise ValueError(f"{name}: links join 2 to {MAX_NODES} stations, not {len(links.stations)}")
    return links


def _numbered(name: str) -> Iterator[tuple[str, str]]:
    """Yield the lines except empty ones and comments, each with its name for messages. Raises ValueError."""
    with opened(name) as stream:
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{name}: a file of links has at most {MOST_BYTES:,} bytes")
    for place, line in enumerate(content.decode("utf-8-sig", "replace").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{name}, line {place}", line.strip()


def _found(value: object, info: ValidationInfo) -> object:
    return read(read_by(value, info.context)) if isinstance(value, str) else value


LinksFile = Annotated[Links, BeforeValidator(_found)]  # a path, or what was read from it
