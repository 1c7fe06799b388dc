# SPDX-License-Identifier: BSD-3-Clause
"""The store of earlier results, by their inputs: the plan, kernel, loaded modules, programs in the lane, and those that
read the lane's output. Equal inputs give an equal result, to the byte, so it is looked up.

Each result is a small file, named by a hash and put in place atomically, so parallel programs can share a store. Traces
are not kept. When the store exceeds its bound, the least recently used results are removed. It also remembers how long
runs took on this machine, to estimate later ones.
"""

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
GONE = {"trace": None, "views": None}  # the store keeps what a run found, not its files
NEW = 0.5  # weight of the latest run in the remembered cost


class Store:
    """Results in a folder, which is made on first use. Methods raise OSError if it cannot be written."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache.roots()[-1] / NAME
        self._costs = self._read_costs()

    def get(self, made_of: Mapping[str, str]) -> Run | None:
        """Return the result of a run with these inputs; None if unknown or damaged."""
        file = self._file(made_of)
        try:
            run = Finished.model_validate_json(gzip.decompress(file.read_bytes())).run
        except (OSError, EOFError, ValueError, zlib.error):
            return None
        with contextlib.suppress(OSError):
            os.utime(file)
        return run

    def put(self, run: Run) -> None:
        """Keep a run's result, if the seed determines it."""
        if run.repeatable:
            kept = Finished(run=run.model_copy(update=GONE)).model_dump_json().encode()
            self._write(self._file(run.made_of), gzip.compress(kept, mtime=0))

    def cost(self, task: Task) -> float | None:
        """Return the seconds that a run may take alone, from earlier similar runs; None if there are none."""
        found = next((self._costs[name] for name in cost_keys(task) if name in self._costs), None)
        return None if found is None else found * task.specification.measurement.seconds

    def record_costs(self, taken: Iterable[tuple[Task, Run]]) -> None:
        """Remember how long runs took."""
        self._costs = self._read_costs() | self._costs
        for task, run in taken:
            per_s = run.wall_s / max(run.air_s, 1e-9)
            for name in cost_keys(task):
                self._costs[name] = NEW * per_s + (1 - NEW) * self._costs.get(name, per_s)
        self._write(self.folder / COSTS, json.dumps(self._costs).encode())

    def prune(self, most_bytes: int = MOST_BYTES) -> int:
        """Remove the least recently used results until `most_bytes` are left. Return how many were removed."""
        there = sorted((status.st_mtime_ns, status.st_size, file) for file, status in self._all())
        left, gone = sum(size for _, size, _ in there), 0
        for _, size, file in there:
            if left <= most_bytes:
                break
            file.unlink(missing_ok=True)
            left, gone = left - size, gone + 1
        return gone

    def size(self) -> tuple[int, int]:
        """Return the number of results, and their size in bytes."""
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
        """Write a file atomically, also if others write it at the same time."""
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor, half = tempfile.mkstemp(dir=file.parent)
        try:
            with open(descriptor, "wb") as opened:
                opened.write(what)
            os.replace(half, file)
        finally:
            Path(half).unlink(missing_ok=True)  # already in place, unless something was raised


def key(made_of: Mapping[str, str]) -> str:
    """Return the name of a result with these inputs, for the current programs that read it."""
    version = Finished.model_fields["version"].default
    parts = [version, readers_hash(), sorted(made_of.items())]
    return hashlib.sha256(json.dumps(parts, separators=(",", ":")).encode()).hexdigest()


@functools.cache
def readers_hash() -> str:
    """Return a hash of the programs that make a `Run` from a lane's output."""
    in_c = CHECKOUT / "analysis/traces/native.c", CHECKOUT / "emulation/setup/library.py"  # and how it is built
    return digest([*imports.modules_of_result().values(), *in_c])


def cost_keys(task: Task) -> list[str]:
    """Return the names under which the cost of similar runs is kept: those with the same options except seed and
    duration; else those with the same topology, number of nodes and routing."""
    flat = {name: value for name, value in flatten(task.specification).items() if name not in ("seed", "seconds")}
    same = hashlib.sha256(json.dumps(flat, sort_keys=True).encode()).hexdigest()[:16]
    network = task.specification.network
    routing = network.routing["kind"]
    return [same, f"{flat.get('topology')}, {len(network.standing().nodes)} nodes, {routing}"]
