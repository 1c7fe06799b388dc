# SPDX-License-Identifier: BSD-3-Clause
"""Write tables as files, CSV and Parquet, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

Writer = Callable[[Path, Iterator["DataFrame"]], int]


def csv(path: Path, pieces: Iterator[DataFrame]) -> int:
    """Write UTF-8 with a header; missing values are empty. Return the number of rows. Raises OSError if that fails."""
    rows = 0
    with path.open("wb") as file:
        for piece in pieces:
            piece.to_csv(file, index=False, header=not rows, lineterminator="\n")
            rows += len(piece)
    return rows


def parquet(path: Path, pieces: Iterator[DataFrame]) -> int:
    """Write a row group for each piece, names as dictionaries, compressed by Snappy. Return the number of rows."""
    import fastparquet

    first = next(pieces, None)
    if first is None:
        return 0
    rows = len(first)

    def others() -> Iterator[DataFrame]:
        nonlocal rows
        for piece in pieces:
            rows += len(piece)
            yield piece

    never_missing = ("i", "b")  # numpy's integers and flags are never missing
    fastparquet.write(
        str(path), first, compression="SNAPPY", write_index=False, object_encoding="utf8",
        has_nulls=[name for name, dtype in first.dtypes.items() if getattr(dtype, "kind", "O") not in never_missing
                   or not hasattr(dtype, "byteorder")],
    )  # fmt: skip
    fastparquet.ParquetFile(str(path)).write_row_groups(others(), compression="SNAPPY")
    return rows


WRITERS: Mapping[str, Writer] = {"csv": csv, "parquet": parquet}
