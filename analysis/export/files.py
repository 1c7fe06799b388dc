# SPDX-License-Identifier: BSD-3-Clause
"""Tables as files, CSV and Parquet, piece after piece.

Files have their names only once all of them are whole: whoever reads them meanwhile, or after an interruption, reads
those before, and never tables of which some are missing.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from emulation.files import naming

if TYPE_CHECKING:
    from pandas import DataFrame

Writer = Callable[[Path, Iterator["DataFrame"]], int]


def csv(path: Path, pieces: Iterator[DataFrame]) -> int:
    """UTF-8, with a header; what is missing is empty. Returns how many rows there were. Raises OSError."""
    rows = 0
    with path.open("wb") as file:
        for piece in pieces:
            piece.to_csv(file, index=False, header=not rows, lineterminator="\n")
            rows += len(piece)
    return rows


def parquet(path: Path, pieces: Iterator[DataFrame]) -> int:
    """A row group a piece, names as dictionaries, compressed by Snappy."""
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

    sure = ("i", "b")  # numpy's integers and flags are never missing
    fastparquet.write(
        str(path), first, compression="SNAPPY", write_index=False, object_encoding="utf8",
        has_nulls=[name for name, dtype in first.dtypes.items() if getattr(dtype, "kind", "O") not in sure
                   or not hasattr(dtype, "byteorder")],
    )  # fmt: skip
    fastparquet.ParquetFile(str(path)).write_row_groups(others(), compression="SNAPPY")
    return rows


WRITERS: Mapping[str, Writer] = {"csv": csv, "parquet": parquet}


@contextmanager
def at_once(folder: Path) -> Iterator[Path]:
    """Where to write files that are in `folder` once all are written. If anything is raised, none of them is, and a
    folder that was not there before goes. Raises OSError."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with naming(folder), _temporary(folder) as half:
            yield Path(half)
            made = sorted(Path(half).iterdir())
            for target in (folder / file.name for file in made):
                if target.is_dir():
                    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
            for file in made:
                file.replace(folder / file.name)
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def _temporary(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """A folder in it, that goes. Raises OSError, which names `folder`."""
    try:
        return tempfile.TemporaryDirectory(dir=folder, prefix=".half-")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None
