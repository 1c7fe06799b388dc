# SPDX-License-Identifier: BSD-3-Clause
"""How good the module bench is: our own modules with one mistake each, and how many of the mistakes are found.

    python -m benchmarks.mutants --out FOLDER [--count 100] [--seed 1] [--compare]

A mutant is one line changed as people forget or slip: a free, a lock, a bound or a check is gone, a comparison is off
by one, memory is asked for where that may sleep. Which ones are tried follows from the seed; what no compiler takes is
no mutant. Each is built and put to work in the debug kernel as `module check` does, under one seed; with `--compare`,
those that nothing was found in are compared with Reno, too. What came of each is a line of mutants.jsonl, to which an
interrupted campaign adds. Some mutants do the same as what they were made from; nobody can find those.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from emulation.check import Name, Report, build, compare, exercise, subject
from emulation.lanes import LaneError
from emulation.play.lab import Lab
from emulation.setup import Prepared, prepare

HERE = Path(__file__).resolve().parents[1] / "tc_modules"
MODULES = {
    "tcp_sca": ("tcp_sca.c",),
    "tcp_cwl": ("tcp_cwl.c",),
    "tcp_dcr": ("tcp_dcr.c",),
    "sch_ackthin": tuple(f"ackthin/{part}.c" for part in ("qdisc", "flow", "probe", "configuration", "proc")),
}
CYCLES = 30
LEFT_OUT = r"\1/* gone */;"
# What is done to a line; each place where the pattern fits is a mutant.
MISTAKES = tuple((what, re.compile(pattern), change) for what, pattern, change in (
    ("a free is gone", r"^(\s+)(?:\w*free\w*|consume_skb|netdev_put|\w*put_net|module_put)\(.*\);$", LEFT_OUT),
    ("a lock is gone", r"^(\s+)(?:spin_(?:un)?lock\w*|rcu_read_(?:un)?lock\w*|mutex_(?:un)?lock)\(.*\);$", LEFT_OUT),
    ("a lock is another", r"\bspin_(lock|unlock)_bh\(", r"spin_\1("),
    ("an end is gone", r"^(\s+)(?:\w*(?:cancel|unregister|barrier|synchronize|flush)\w*)\(.*\);$", LEFT_OUT),
    ("a beginning is gone", r"^(\s+)(?:\w*init\w*|\w+_setup|INIT_\w+|netdev_hold)\(.*\);$", LEFT_OUT),
    ("it may sleep", r"\bGFP_ATOMIC\b", "GFP_KERNEL"),
    ("the owner is gone", r"\.owner\s*= THIS_MODULE,", ""),
    ("too little memory", r"sizeof\(\*(\w+)\)", r"sizeof(\1)"),
    ("a bound is gone", r"\b(?:min|max)\(([^,()]+(?:\([^()]*\))?), [^()]*\)", r"(\1)"),
    ("a bound is gone", r"\b(?:min|max)_t\(\w+, ([^,()]+(?:\([^()]*\))?), [^()]*\)", r"(\1)"),
    ("a bound is gone", r"\bclamp(?:_t)?\(([^,()]+), [^()]*\)", r"(\1)"),
    ("a check is gone", r"^(\s+)if \((.*)\)$", r"\1if (0 && (\2))"),
    ("a check is wrong", r"^(\s+)if \((.*)\)$", r"\1if (!(\2))"),
    ("off by one", r" < ", " <= "),
    ("off by one", r" <= ", " < "),
    ("off by one", r" > ", " >= "),
    ("off by one", r" >= ", " > "),
    ("off by one", r" [+-] 1\b", ""),
    ("an increment is gone", r"^(\s+)[\w.>-]+(?:\+\+|--);$", LEFT_OUT),
))  # fmt: skip
DECLARES = re.compile(r"^\s*(//|\*|/\*|#|for \()")


@dataclass(frozen=True)
class Mutant:
    """A module with one line changed."""

    module: str
    file: str
    line: int
    what: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: {self.text.strip()}"


def mutants() -> Iterator[Mutant]:
    """All there are."""
    for module, files in MODULES.items():
        for file in files:
            for number, line in enumerate((HERE / file).read_text().splitlines(), 1):
                if DECLARES.match(line):
                    continue
                for what, pattern, change in MISTAKES:
                    for match in pattern.finditer(line):
                        text = line[: match.start()] + match.expand(change) + line[match.end() :]
                        yield Mutant(module, file, number, what, text)


def folder_of(mutant: Mutant, folder: Path) -> subject.Subject:
    """Its sources, and nothing but its module to build."""
    whole = subject.find(HERE, mutant.module)
    whole.copy(folder)
    lines = (folder / mutant.file).read_text().splitlines()
    lines[mutant.line - 1] = mutant.text
    (folder / mutant.file).write_text("\n".join(lines) + "\n")
    kbuild = (folder / "Kbuild").read_text()
    (folder / "Kbuild").write_text(re.sub(r"(?m)^obj-m := .*$", f"obj-m := {mutant.module}.o", kbuild))
    return subject.find(folder)


def try_out(mutant: Mutant, debug: Prepared, lab: Lab | None, scratch: Path) -> str | None:
    """The name of the first thing that is found in a mutant, empty if nothing is; None if it is no C."""
    sources, run = scratch / "sources", scratch / "run"
    run.mkdir()
    targets = [build.debug_target(debug.kernel)]
    if lab:
        targets.append(build.lane_target(type(debug.kernel)(lab.kernel.parent)))
    report = build.build(folder_of(mutant, sources), targets, scratch / "build")
    built = report.data["modules"]
    if any(mutant.module not in modules for modules in built.values()):
        return None
    warned = [finding for finding in report.findings if finding.name is not Name.CHECKPATCH]
    module = subject.examine(Path(built[build.DEBUG][mutant.module]), sources.rglob("*.c"))
    try:
        reports: list[Report] = exercise.exercise(debug, module, run, cycles=CYCLES)
        found = [*warned, *(finding for one in reports for finding in one.findings)]
        if not found and lab:
            module = subject.examine(Path(built[build.LANE][mutant.module]), sources.rglob("*.c"))
            found += compare.compare(lab, module, [], "reno", [4], [1], scratch / "compare").findings
    except LaneError as error:
        return f"lane: {error.reason.name}"
    return str(found[0].name) if found else ""


def campaign(count: int, seed: int, out: Path, with_compare: bool, tell: Callable[[str], None]) -> None:
    """Try so many mutants, or go on where an earlier campaign ended."""
    debug = exercise.debug_kernel()
    prepared = prepare() if with_compare else None
    lab = Lab(prepared.kernel.linux, prepared.modules) if prepared else None
    out.mkdir(parents=True, exist_ok=True)
    log = out / "mutants.jsonl"
    before = map(json.loads, log.read_text().splitlines() if log.exists() else ())
    tried = {one["mutant"]: one["found"] for one in before}
    everything = list(mutants())
    random.Random(seed).shuffle(everything)
    done = 0
    for mutant in everything:
        if mutant.name not in tried:
            with tempfile.TemporaryDirectory(prefix="dcflab-mutant-") as scratch:
                tried[mutant.name] = try_out(mutant, debug, lab, Path(scratch))
            with log.open("a") as file:
                entry = {"module": mutant.module, "what": mutant.what, "mutant": mutant.name}
                file.write(json.dumps({**entry, "found": tried[mutant.name]}) + "\n")
            tell(f"{mutant.name}: {tried[mutant.name]!r}")
        done += tried[mutant.name] is not None
        if done == count:
            break
    tell(summary(log))


def summary(log: Path) -> str:
    """How many of each kind of mistake were found."""
    entries = [one for one in map(json.loads, log.read_text().splitlines()) if one["found"] is not None]
    all_, found = Counter(one["what"] for one in entries), Counter(one["what"] for one in entries if one["found"])
    lines = [f"{what}: {found[what]} of {count}" for what, count in all_.most_common()]
    return "\n".join([*lines, f"{found.total()} of {all_.total()} mutants of {len(list(mutants()))} were found"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compare", action="store_true")
    options = parser.parse_args()
    campaign(options.count, options.seed, options.out, options.compare, lambda text: print(text, flush=True))


if __name__ == "__main__":
    main()
