# SPDX-License-Identifier: BSD-3-Clause
"""A wheel with all that a run needs, for installation by pip, pipx or uv, without a compiler and without root.

It has the package `dcflab` (dcflab.py), and in it, as `home`, the program as git has it, without tests, and the built
kernel as one file (`prebuilt`). The first run unpacks that into the user's cache. What every run loads is required;
other packages are the extra `all`. There is no separate environment from a lock file. The tag says which glibc the
built programs need. One commit and one kernel make the same bytes.
"""

import base64
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from emulation.setup import DOCS_LOCK_FILE, LOCK_FILE, ROOT, RUN_LOCK_FILE, cache, prebuilt, sources
from emulation.setup.errors import say
from emulation.setup.sources import Contents, files_of

HOME = "dcflab/home"
# These files make an environment, or another machine, from a checkout.
LOCK_FILES = (LOCK_FILE.name, RUN_LOCK_FILE.name, DOCS_LOCK_FILE.name)
LEFT_OUT = ("dcflab", *LOCK_FILES, "Containerfile", ".containerignore", "Vagrantfile")
GLIBC = re.compile(rb"GLIBC_2\.(\d+)\0")
WHEEL = "Wheel-Version: 1.0\nGenerator: dcflab\nRoot-Is-Purelib: false\nTag: {tag}\n"
COMMANDS = "[console_scripts]\ndcflab = dcflab:main\n"
EXTRA = "all"


def build(contents: Contents, kernels: Sequence[Path], folder: Path) -> Path:
    """Build the wheel in a folder, with these files of prebuilt kernels; return its path. Raises SetupError."""
    tag = f"py3-none-manylinux_2_{oldest_glibc(contents.entries())}_x86_64"
    name = f"dcflab-{contents.version}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    built, record = folder / f"{name}-{tag}.whl", f"{name}.dist-info/RECORD"
    said = [
        (f"{HOME}/{prebuilt.NOTE}", sources.note(contents).encode()),
        (f"{name}.dist-info/METADATA", "".join(metadata(contents.version, project)).encode()),
        (f"{name}.dist-info/WHEEL", WHEEL.format(tag=tag).encode()),
        (f"{name}.dist-info/entry_points.txt", COMMANDS.encode()),
    ]
    files = [("dcflab/__init__.py", ROOT / "dcflab.py"), *((f"{HOME}/{file.name}", file) for file in kernels)]
    files += [(f"{HOME}/{file}", ROOT / file) for file in files_of(ROOT) if file not in LEFT_OUT]
    files += [(f"{name}.dist-info/licenses/{file}", ROOT / file) for file in licenses()]
    said += [(place, file.read_bytes()) for place, file in files]
    rows = [f"{place},sha256={digest(content)},{len(content)}" for place, content in said]
    say(f"packing {len(said)} files")
    with cache.scratch(folder, "package") as staged:
        unfinished = staged / built.name
        with zipfile.ZipFile(unfinished, "w") as packed:
            for place, content in [*said, (record, "\n".join([*rows, f"{record},,\n"]).encode())]:
                about = zipfile.ZipInfo(place)  # with a date in 1980, readable by all
                about.external_attr = 0o100644 << 16
                about.compress_type = zipfile.ZIP_STORED if place.endswith(".xz") else zipfile.ZIP_DEFLATED
                packed.writestr(about, content, compresslevel=9)
        unfinished.rename(built)
    return built


def oldest_glibc(entries: Iterable[Path]) -> int:
    """Return the minor version of the oldest glibc 2 on which all programs and libraries in these folders run."""
    programs = (file for entry in entries for file in entry.rglob("*") if file.is_file() and not file.is_symlink())
    contents = (file.read_bytes() for file in programs)
    return max(int(minor) for content in contents if content.startswith(b"\x7fELF") for minor in GLIBC.findall(content))


def metadata(version: str, project: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the wheel's METADATA, from the `project` of pyproject.toml."""
    yield f"Metadata-Version: 2.4\nName: dcflab\nVersion: {version}\nSummary: {project['description']}\n"
    yield f"License-Expression: {' AND '.join(Path(file).stem for file in licenses())}\n"
    yield from (f"License-File: {file}\n" for file in licenses())
    yield f"Requires-Python: {project['requires-python']}\n"
    yield from (f"Requires-Dist: {each}\n" for each in project["dependencies"])
    yield f"Provides-Extra: {EXTRA}\n"
    yield from (f'Requires-Dist: {each} ; extra == "{EXTRA}"\n' for each in project["optional-dependencies"][EXTRA])


def licenses() -> list[str]:
    """Return the files with license texts; each license applies to a part of the wheel."""
    return sorted(str(file.relative_to(ROOT)) for file in (ROOT / "LICENSES").iterdir())


def digest(content: bytes) -> str:
    """Return a digest in the form of the wheel's RECORD."""
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
