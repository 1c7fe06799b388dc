# SPDX-License-Identifier: BSD-3-Clause
"""A mesh: stations on a grid, with flows along every other row, then down every other column.

    sta1 ─── sta2 ─── sta3 ─── sta4 ─── sta5     flow1, from sta1 to sta5
     │        │        │        │        │
    sta6 ─── sta7 ─── sta8 ─── sta9 ─── sta10
     │        │        │        │        │
    sta11 ── sta12 ── sta13 ── sta14 ── sta15    flow2
     │        │        │        │        │
    sta16 ── sta17 ── sta18 ── sta19 ── sta20
     │        │        │        │        │
    sta21 ── sta22 ── sta23 ── sta24 ── sta25    flow3
    flow4             flow5            flow6

The topology of paper 000, section 4, is 5x5 at 200 m with 3 flows (rows), or 6 (also columns), all of 4 hops.
"""

import re
from typing import Self

from pydantic import Field, field_validator, model_validator

from topologies import Layout
from topologies.network import MAX_NODES, Model


class Parameters(Model):
    size: str = Field("5x5", description="columns x rows")
    spacing: float = Field(200.0, gt=0, le=9000, allow_inf_nan=False, description="metres between neighbours")
    flows: int = Field(3, ge=0, le=100, description="flows: along rows 1, 3, 5 …, then down columns 1, 3, 5 …")

    @field_validator("size")
    @classmethod
    def _readable(cls, size: str) -> str:
        if not re.fullmatch("[0-9]{1,2}x[0-9]{1,2}", size):
            raise ValueError("a mesh's size is columns x rows, like 5x5")
        return size

    @property
    def shape(self) -> tuple[int, int]:
        columns, rows = self.size.split("x")
        return int(columns), int(rows)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        columns, rows = self.shape
        if min(columns, rows) < 2 or columns * rows > MAX_NODES:
            raise ValueError(f"a mesh of {self.size} is not possible: at least 2x2, at most {MAX_NODES} stations")
        most = (rows + 1) // 2 + (columns + 1) // 2
        if self.flows > most:
            raise ValueError(f"a mesh of {self.size} has room for at most {most} flows, not {self.flows}")
        return self


def layout(p: Parameters) -> Layout:
    columns, rows = p.shape
    name = [[f"sta{row * columns + column + 1}" for column in range(columns)] for row in range(rows)]
    along = [(name[row][0], name[row][-1]) for row in range(0, rows, 2)]
    down = [(name[0][column], name[-1][column]) for column in range(0, columns, 2)]
    stations = {
        name[row][column]: (column * p.spacing, row * p.spacing, 0.0)
        for row in range(rows)
        for column in range(columns)
    }
    return Layout(stations, (along + down)[: p.flows])
