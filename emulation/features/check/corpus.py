# SPDX-License-Identifier: BSD-3-Clause
"""The corpus: settings of earlier checks that ran code which nothing else ran, per kind of module. A check tries them
first (`inside.reach`). It is one small file in the cache. Each check copies what it used to its run folder, from which
`--corpus` reads it again."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from emulation import files
from emulation.lane.errors import Misuse
from emulation.setup import cache

FILE = "corpus.json"
MOST = 12  # settings of a kind
ROUNDS = 60

Settings = dict[str, Any]
Corpus = Mapping[str, Sequence[Settings]]  # by kind of module
CORPUS = TypeAdapter(dict[str, list[Settings]])


@dataclass(frozen=True)
class Search:
    """How long a workout looks for code that did not run: a number of rounds. Those of the corpus come first."""

    rounds: int = ROUNDS
    corpus: Corpus = field(default_factory=dict)


ALONE = Search()  # without a corpus


def kept() -> dict[str, list[Settings]]:
    """Return what earlier checks kept; nothing if it is unreadable."""
    try:
        return read(cache.roots()[-1] / FILE)
    except Misuse:
        return {}


def read(file: Path) -> dict[str, list[Settings]]:
    """Raises Misuse if this is no corpus."""
    try:
        return CORPUS.validate_python(files.read_json(file), strict=True)
    except ValidationError:
        raise Misuse(f"{file} is no corpus, which has lists of settings by kind of module") from None
    except (OSError, ValueError) as error:
        raise Misuse(f"{file}: {error}") from None


def keep(kind: str, new: Iterable[Settings]) -> None:
    """Put settings in front of the corpus of a kind. Without rights to the cache nothing is kept."""
    corpus = kept()
    before = corpus.get(kind, [])
    corpus[kind] = [*(one for one in new if one not in before), *before][:MOST]
    root = cache.roots()[-1]
    with contextlib.suppress(OSError):
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=root, prefix=f".{FILE}", delete=False) as file:
            json.dump(corpus, file)
        os.replace(file.name, root / FILE)
