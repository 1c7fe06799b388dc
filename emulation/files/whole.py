# SPDX-License-Identifier: BSD-3-Clause
"""Several files that appear in a folder together, or not at all.

They get their names only when all are complete. A reader, also after an interruption, sees only the earlier files or
only the new ones.
"""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from emulation.files import naming


@contextmanager
def at_once(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder, whose files move to `folder` at the end. If an exception is raised, none of them do,
    and a `folder` that did not exist before is removed. Raises OSError."""
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
    """Make a temporary folder in it. Raises OSError, which names `folder`."""
    try:
        return tempfile.TemporaryDirectory(dir=folder, prefix=".half-")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(folder)) from None
