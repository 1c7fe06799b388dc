# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab module new NAME`: make a first module, from the commented ones in `template`.

The templates are modules that build as they are; only the word `template` is replaced.
"""

from __future__ import annotations

from pathlib import Path

from emulation.lane.errors import Misuse
from traffic import tcp

TEMPLATES = Path(__file__).with_name("template")
PREFIX = {"congestion": "tcp_", "qdisc": "sch_"}
WORD = "template"
LONGEST = 15  # TCP_CA_NAME_MAX and IFNAMSIZ are 16, with the final NUL
TAKEN = ("module", "qdisc", "skb", "tcp")  # the kernel has functions with these names


def short(name: str, kind: str) -> str:
    """Return the name that users of the kernel see: tcp_mine is `mine`."""
    return name.removeprefix(PREFIX[kind])


def check(name: str, kind: str) -> None:
    """Raises Misuse if the name is not possible."""
    word = short(name, kind)
    if not (word.isascii() and word.isidentifier() and name.isidentifier()):
        raise Misuse(f"{name!r} is not a name in C; use letters, digits and _, without a digit at the start")
    if len(word) > LONGEST:
        raise Misuse(f"{word!r} is too long: the kernel allows {LONGEST} letters")
    if word in TAKEN:
        raise Misuse(f"{word!r} has another meaning in the kernel; choose another name")
    if kind == "congestion" and word in tcp.NAMES:
        raise Misuse(f"the congestion control {word!r} exists; choose another name")


def make(name: str, kind: str, where: Path) -> Path:
    """Write the module to a new folder; return its C file. Raises Misuse, or OSError if it cannot be written."""
    check(name, kind)
    folder = where / name
    if folder.exists():
        raise Misuse(f"{folder} exists; choose another name")
    folder.mkdir()
    for file in sorted((TEMPLATES / kind).iterdir()):
        word = short(name, kind) if file.suffix == ".c" else name
        (folder / file.name.replace(WORD, name)).write_text(file.read_text().replace(WORD, word))
    return folder / f"{name}.c"
