# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates by SINR, instead of bit error equations: from a file of wmediumd's (-x), or as one curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, ValidationInfo

from emulation.specification.radio import RATES
from topologies.files import read_by

if TYPE_CHECKING:
    from emulation.lane.per_tables import Table

FRAME = 1500  # bytes; the assumed length of the frames of a table, which does not say it
FIRST_DB, DECADES = 5.0, 0.24  # of `one_curve`: the SINR at which a frame has 10 errors in the mean, and decades per dB


@dataclass(frozen=True)
class PerTable:
    """Packet error rates of frames of `frame` bytes: a row per dB of SINR from `first_db`, a column per rate of RATES.

    Raises ValueError if it is not valid.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    first_db: float
    rows: tuple[tuple[float, ...], ...]
    frame: int = FRAME
    source: str = "made"  # the file, or "made"

    def __post_init__(self) -> None:
        if not self.rows or any(len(row) != len(RATES) for row in self.rows):
            raise ValueError(f"give one or more rows of {len(RATES)} packet error rates each")
        if not all(0 <= error <= 1 for row in self.rows for error in row):
            raise ValueError("a packet error rate is between 0 and 1")
        if not 1 <= self.frame <= 4095:
            raise ValueError(f"frame: 1 to 4095 bytes, not {self.frame}")


def _per(value: object, info: ValidationInfo) -> object:
    """Accept the path of a file, as on a command line."""
    if not isinstance(value, str):
        return value
    from emulation.lane import per_tables  # few runs need it

    try:
        return of_table(per_tables.read(read_by(value, info.context)), value)
    except OSError as error:
        raise ValueError(f"{value}: {error.strerror}") from None


MaybePer = Annotated[PerTable | None, BeforeValidator(_per)]


def of_table(table: Table, source: str) -> PerTable:
    """Convert the table of a file, whose powers are relative to wmediumd's noise."""
    from emulation.lane.per_tables import NOISE_DBM

    return PerTable(table.first_dbm - NOISE_DBM, table.rows, FRAME, source)


def one_curve() -> PerTable:
    """Return one curve for all rates, on which every loss probability has an SINR: `sinr_of`."""
    rows = [(-math.expm1(-(10 ** (1 - DECADES * (snr - FIRST_DB)))),) * len(RATES) for snr in range(-10, 41)]
    return PerTable(-10.0, tuple(rows))


def sinr_of(loss: float) -> float | None:
    """Return the SINR at which frames of FRAME bytes have this loss probability under `one_curve`; None if it is 1."""
    if loss >= 1:
        return None
    return min(FIRST_DB + (1 - math.log10(max(-math.log1p(-loss), 1e-9))) / DECADES, 35.0)
