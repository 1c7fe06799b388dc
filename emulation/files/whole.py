# SPDX-License-Identifier: BSD-3-Clause
"""Several files that come into a folder together, or not at all.

They have their names only once all of them are whole: whoever reads them meanwhile, or after an interruption, reads
those before, and never some of each.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from emulation.files import naming


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
