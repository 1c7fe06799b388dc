# SPDX-License-Identifier: BSD-3-Clause
"""Packet error rates by SINR, in place of equations for bit errors: of a file of wmediumd's (-x), or one curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BeforeValidator, ValidationInfo

from emulation.specification.radio import RATES
from topologies.files import read_by

if TYPE_CHECKING:
    from emulation.lane.per_tables import Table

FRAME = 1500  # bytes of the frames that such a table is taken to be about; it does not say
FIRST_DB, DECADES = 5.0, 0.24  # of `one_curve`: where 10 frames' worth of errors is, and how many decades each dB takes


@dataclass(frozen=True)
class PerTable:
    """Packet error rates of frames of `frame` bytes: a row a dB of SINR from `first_db` on, a column a rate of RATES.

    Raises ValueError for one that makes no sense.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    first_db: float
    rows: tuple[tuple[float, ...], ...]
    frame: int = FRAME
    source: str = "made"  # a file, or that it was none

    def __post_init__(self) -> None:
        if not self.rows or any(len(row) != len(RATES) for row in self.rows):
            raise ValueError(f"rows of {len(RATES)} packet error rates each, and at least one")
        if not all(0 <= error <= 1 for row in self.rows for error in row):
            raise ValueError("a packet error rate is between 0 and 1")
        if not 1 <= self.frame <= 4095:
            raise ValueError(f"frame: 1 to 4095 bytes, not {self.frame}")


def _per(value: object, info: ValidationInfo) -> object:
    """A file's path, on a command line."""
    if not isinstance(value, str):
        return value
    from emulation.lane import per_tables  # as few runs read one

    try:
        return of_table(per_tables.read(read_by(value, info.context)), value)
    except OSError as error:
        raise ValueError(f"{value}: {error.strerror}") from None


MaybePer = Annotated[PerTable | None, BeforeValidator(_per)]


def of_table(table: Table, source: str) -> PerTable:
    """That of a file, whose powers are over wmediumd's noise."""
    from emulation.lane.per_tables import NOISE_DBM

    return PerTable(table.first_dbm - NOISE_DBM, table.rows, FRAME, source)


def one_curve() -> PerTable:
    """One curve for all rates, on which each probability of loss has its SINR: `sinr_of`."""
    rows = [(-math.expm1(-(10 ** (1 - DECADES * (snr - FIRST_DB)))),) * len(RATES) for snr in range(-10, 41)]
    return PerTable(-10.0, tuple(rows))


def sinr_of(loss: float) -> float | None:
    """The SINR at which frames of FRAME bytes are lost with this probability under `one_curve`; None: all of them."""
    if loss >= 1:
        return None
    return min(FIRST_DB + (1 - math.log10(max(-math.log1p(-loss), 1e-9))) / DECADES, 35.0)
