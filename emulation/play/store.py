# SPDX-License-Identifier: BSD-3-Clause
"""Results that were found before, by what they are made of: the plan, the kernel, modules, programs in the lane, and
the programs that read what it left. Where these are the same, so would the result be, to the byte; so it is looked up.

Each is a small file, named by a hash and put in place whole, so that programs side by side share a store. Traces are
not kept. What has not been used for longest goes when a store has outgrown its bound. Beside the results it remembers
what runs took on this machine, so that what the next ones will take can be said.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from analysis.results.result import Run
from emulation.lanes import CHECKOUT
from emulation.play import imports
from emulation.play.finished import Finished
from emulation.play.lab import digest
from emulation.play.run import Task
from emulation.setup import cache
from emulation.specification import flatten

NAME, SUFFIX, COSTS = "results", ".json.gz", "costs.json"
MOST_BYTES = 1 << 30
GONE = {"trace": None, "views": None}  # what a run found is kept, not what it left
NEW = 0.5  # how much the latest run counts in what is remembered of its like


class Store:
    """Results in a folder, which is made when the first is put there. OSError if it cannot be written."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache.roots()[-1] / NAME
        self._costs = self._read_costs()

    def get(self, made_of: Mapping[str, str]) -> Run | None:
        """What a run that is made of this found; None if that is not known, or what is there is damaged."""
        file = self._file(made_of)
        try:
            run = Finished.model_validate_json(gzip.decompress(file.read_bytes())).run
        except (OSError, EOFError, ValueError, zlib.error):
            return None
        with contextlib.suppress(OSError):
            os.utime(file)
        return run

    def put(self, run: Run) -> None:
        """Keep what it found, if the seed decides that."""
        if run.repeatable:
            kept = Finished(run=run.model_copy(update=GONE)).model_dump_json().encode()
            self._write(self._file(run.made_of), gzip.compress(kept, mtime=0))

    def cost(self, task: Task) -> float | None:
        """The seconds that this run may take alone, by those of its like; None if there has been none."""
        found = next((self._costs[name] for name in likes(task) if name in self._costs), None)
        return None if found is None else found * task.specification.measurement.seconds

    def took(self, taken: Iterable[tuple[Task, Run]]) -> None:
        """Remember what runs took."""
        self._costs = self._read_costs() | self._costs
        for task, run in taken:
            per_s = run.wall_s / max(run.air_s, 1e-9)
            for name in likes(task):
                self._costs[name] = NEW * per_s + (1 - NEW) * self._costs.get(name, per_s)
        self._write(self.folder / COSTS, json.dumps(self._costs).encode())

    def prune(self, most_bytes: int = MOST_BYTES) -> int:
        """Remove what has not been used for longest, until so much is left; returns how many results went."""
        there = sorted((status.st_mtime_ns, status.st_size, file) for file, status in self._all())
        left, gone = sum(size for _, size, _ in there), 0
        for _, size, file in there:
            if left <= most_bytes:
                break
            file.unlink(missing_ok=True)
            left, gone = left - size, gone + 1
        return gone

    def size(self) -> tuple[int, int]:
        """How many results there are, and their bytes."""
        sizes = [status.st_size for _, status in self._all()]
        return len(sizes), sum(sizes)

    def _all(self) -> Iterator[tuple[Path, os.stat_result]]:
        for file in self.folder.glob(f"*/*{SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                yield file, file.stat()

    def _file(self, made_of: Mapping[str, str]) -> Path:
        name = key(made_of)
        return self.folder / name[:2] / f"{name[2:]}{SUFFIX}"

    def _read_costs(self) -> dict[str, float]:
        try:
            return dict(json.loads((self.folder / COSTS).read_bytes()))
        except (OSError, ValueError):
            return {}

    def _write(self, file: Path, what: bytes) -> None:
        """Whole or not at all, whoever else writes it."""
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, half = tempfile.mkstemp(dir=file.parent)
        try:
            with open(descriptor, "wb") as opened:
                opened.write(what)
            os.replace(half, file)
        finally:
            Path(half).unlink(missing_ok=True)  # in place already, but if something was raised


def key(made_of: Mapping[str, str]) -> str:
    """The name of a result that is made of this, read as it is read now."""
    version = Finished.model_fields["version"].default
    parts = [version, readers(), sorted(made_of.items())]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


@functools.cache
def readers() -> str:
    """A hash of the programs that make a `Run` of what a lane left."""
    return digest([*imports.of_its_result().values(), CHECKOUT / "analysis/traces/native.c"])


def likes(task: Task) -> list[str]:
    """Names of those that take about as long as this one for each second of air: of the same options, whatever the seed
    and the duration; and, if there are none, of as many nodes of the same topology and routing."""
    flat = {name: value for name, value in flatten(task.specification).items() if name not in ("seed", "seconds")}
    same = hashlib.sha256(json.dumps(flat, sort_keys=True).encode()).hexdigest()[:16]
    network = task.specification.network
    routing = network.routing["kind"]
    return [same, f"{flat.get('topology')}, {len(network.standing().nodes)} nodes, {routing}"]
