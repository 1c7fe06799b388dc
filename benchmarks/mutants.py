# SPDX-License-Identifier: BSD-3-Clause
"""How good the module bench is: our own modules with one mistake each, and how many of the mistakes are found.

    python -m benchmarks.mutants --out FOLDER [--count 100] [--seed 1] [--minutes 5]

A mutant is one line changed as people forget or slip: a free, a lock, a bound or a check is gone, a comparison is off
by one, memory is asked for where that may sleep. Which ones are tried follows from the seed; what no compiler takes is
no mutant, nor is what compiles to the same code. Each goes through what `module check` does, as far as its first
finding: build, workout in the debug kernel, comparison with Reno; of all seeds and strings, one. What came of each is a
line of mutants.jsonl, to which the same command adds where the last one ended. Of one that was not found it says
whether its line ran in the workout, and whether it came out otherwise than the sound module beside Reno: if not, it
may do the same as that always, and nobody can find it; if so, it may be as sound, and keep to another policy.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import resource
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emulation.features.check import Finding, Name, Report, Stage, build, compare, exercise, subject
from emulation.lanes import LaneError, Reason
from emulation.play.lab import Lab
from emulation.setup import Prepared, kernel, prepare

HERE = Path(__file__).resolve().parents[1] / "tc_modules"
MODULES = {
    "tcp_sca": ("tcp_sca.c",),
    "tcp_cwl": ("tcp_cwl.c",),
    "tcp_dcr": ("tcp_dcr.c",),
    "sch_ackthin": tuple(f"ackthin/{part}.c" for part in ("qdisc", "flow", "probe", "configuration", "proc")),
}
CYCLES = 30
LIMIT_S = 60  # of CPU time, which is three times what a workout takes
HOPS, SEED = 4, 1
NO_C, SAME_CODE = "no C", "same code"
PLAIN = "plain"
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
DECLARES = re.compile(r"^\s*(//|\*|/\*|#)")


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
    found = only(subject.find(HERE, mutant.module), mutant.module, folder)
    lines = (folder / mutant.file).read_text().splitlines()
    lines[mutant.line - 1] = mutant.text
    (folder / mutant.file).write_text("\n".join(lines) + "\n")
    return found


def only(whole: subject.Subject, module: str, folder: Path) -> subject.Subject:
    """A copy that builds one of the modules."""
    whole.copy(folder)
    kbuild = (folder / "Kbuild").read_text()
    (folder / "Kbuild").write_text(re.sub(r"(?m)^obj-m := .*$", f"obj-m := {module}.o", kbuild))
    return subject.find(folder)


@dataclass(frozen=True)
class Bench:
    """What mutants are tried on; `plain` is the debug kernel's code without what watches or counts in it, from which
    one sees whether two modules are the same, and what the tools warn of."""

    debug: Prepared
    lab: Lab
    out: Path

    @property
    def plain(self) -> build.Target:
        without = "ARCH=um", "KASAN_SANITIZE=n", "UBSAN_SANITIZE=n"
        return build.Target(PLAIN, self.debug.kernel.folder, without)

    def try_out(self, mutant: Mutant, scratch: Path) -> dict[str, Any]:
        """What came of it: why it is `no` mutant; or what was `found`, and in which `stage`."""
        sources = folder_of(mutant, scratch / "sources")
        report = build.build(sources, [self.plain], scratch / PLAIN)
        if mutant.module not in report.data["modules"][PLAIN]:
            return {"no": NO_C}
        code = code_of(Path(report.data["modules"][PLAIN][mutant.module]))
        if code == self.sound(mutant.module)["code"]:
            return {"no": SAME_CODE}
        if report.findings:
            return told(report.findings[0])
        try:
            return self.put_to_work(mutant, sources, scratch)
        except LaneError as error:
            hang = error.reason is Reason.KILLED
            return {"found": str(Name.HANG) if hang else f"lane: {error.reason.name}", "stage": str(Stage.WORKOUT)}

    def put_to_work(self, mutant: Mutant, sources: subject.Subject, scratch: Path) -> dict[str, Any]:
        """In both kernels. Raises LaneError."""
        module = self.build(sources, mutant.module, build.debug_target(self.debug.kernel), scratch)
        run = scratch / "run"
        run.mkdir()
        limit = resource.getrusage(resource.RUSAGE_SELF).ru_utime + LIMIT_S  # of CPU time: others may be at work, too
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.getrlimit(resource.RLIMIT_CPU)[1]))
        reports = exercise.exercise(
            self.debug, module, run, seed=SEED, cycles=CYCLES, wall_limit_s=30 * LIMIT_S, one_is_enough=True
        )
        if found := [finding for one in reports for finding in one.findings]:
            return told(found[0])
        ran: dict[str, Any] = next((one.data["coverage"] for one in reports if "coverage" in one.data), {})
        report, goodput = self.compare(sources, mutant.module, scratch)
        if report.findings:
            return told(report.findings[0])
        ran_here = ran.get(mutant.file, {}).get(str(mutant.line), 0) > 0
        notes = [note for one in reports for note in one.notes]
        differs = goodput != self.sound(mutant.module)["goodput"]
        return {"found": "", "ran": ran_here, "differs": differs, "notes": notes}

    def build(self, sources: subject.Subject, name: str, target: build.Target, scratch: Path) -> subject.Module:
        report = build.build(sources, [target], scratch / target.name)
        return subject.examine(Path(report.data["modules"][target.name][name]), sources.files)

    def compare(self, sources: subject.Subject, name: str, scratch: Path) -> tuple[Report, object]:
        """How it did beside Reno, and what is to be said of that."""
        module = self.build(sources, name, build.lane_target(kernel.Kernel(self.lab.kernel.parent)), scratch)
        report = compare.compare(self.lab, module, [], "reno", [HOPS], [SEED], scratch / "compare")
        runs = [[run["case"], run["variant"], run["goodput_kbps"]] for run in report.data.get("runs", ())]
        return report, [*runs, report.data.get("bottleneck")]

    def sound(self, name: str) -> dict[str, Any]:
        """What the module is and does without a mistake, which is kept with the kernel's name."""
        kept = self.out / f"{name}-{self.debug.kernel.folder.name}.json"
        if not kept.exists():
            with tempfile.TemporaryDirectory(prefix="dcflab-sound-") as folder:
                scratch = Path(folder)
                sources = only(subject.find(HERE, name), name, scratch / "sources")
                code = code_of(self.build(sources, name, self.plain, scratch).path)
                _, goodput = self.compare(sources, name, scratch)
            kept.write_text(json.dumps({"code": code, "goodput": goodput}))
        found: dict[str, Any] = json.loads(kept.read_text())
        return found


def told(finding: Finding) -> dict[str, Any]:
    return {"found": str(finding.name), "stage": str(finding.stage), "where": finding.where, "text": finding.text}


def code_of(module: Path) -> str:
    """The SHA-256 of a module without what is for debuggers."""
    stripped = module.with_suffix(".stripped")
    subprocess.run(["objcopy", "-g", "-R", ".note.gnu.build-id", str(module), str(stripped)], check=True)
    return hashlib.sha256(stripped.read_bytes()).hexdigest()


def campaign(bench: Bench, count: int, seed: int, minutes: float, tell: Callable[[str], None]) -> None:
    """Try so many mutants, going on where an earlier campaign ended, for so many minutes."""
    ends = time.monotonic() + 60 * minutes
    log = bench.out / "mutants.jsonl"
    everything = list(mutants())
    random.Random(seed).shuffle(everything)
    done = 0
    for mutant in everything:
        known = {one["mutant"]: one for one in entries(log)}  # which another process may have gone on with
        if mutant.name not in known and time.monotonic() < ends:
            began = cpu_s()
            with tempfile.TemporaryDirectory(prefix="dcflab-mutant-") as scratch:
                came = bench.try_out(mutant, Path(scratch))
            entry = {"mutant": mutant.name, "module": mutant.module, "what": mutant.what, **came}
            entry["cpu_s"] = round(cpu_s() - began, 1)
            with log.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            known[mutant.name] = entry
            tell(f"{mutant.name}: {came}")
        done += "found" in known.get(mutant.name, {})
        if done == count:
            break
    tell(summary(entries(log)))


def entries(log: Path) -> list[dict[str, Any]]:
    """What came of each mutant, the last time it was tried."""
    lines = map(json.loads, log.read_text().splitlines() if log.exists() else ())
    return list({one["mutant"]: one for one in lines}.values())


def cpu_s() -> float:
    """What this process and its children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def summary(entries: list[dict[str, Any]]) -> str:
    """How many of each kind of mistake were found, and where; and what of the others."""
    tried = [one for one in entries if "found" in one]
    all_, found = Counter(one["what"] for one in tried), Counter(one["what"] for one in tried if one["found"])
    lines = [f"{what}: {found[what]} of {count}" for what, count in all_.most_common()]
    stages = Counter(one["stage"] for one in tried if one["found"])
    lines.append(", ".join(f"{stage}: {count}" for stage, count in stages.most_common()))
    left = Counter((one["ran"], one["differs"]) for one in tried if not one["found"])
    lines += [
        f"not found: {count}; its line {'ran' if ran else 'did not run'}, and beside Reno it came out "
        f"{'otherwise' if differs else 'the same'}"
        for (ran, differs), count in sorted(left.items())
    ]
    lines.append(f"not found, but told of in a note: {sum(bool(one.get('notes')) for one in tried)}")
    no = Counter(one["no"] for one in entries if "no" in one)
    lines.append(f"no mutants: {', '.join(f'{why}: {count}' for why, count in sorted(no.items()))}")
    seconds = sum(one["cpu_s"] for one in entries)
    return "\n".join([*lines, f"{found.total()} of {len(tried)} were found, in {seconds / 60:.0f} minutes of CPU time"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    given = parser.parse_args()
    prepared = prepare()
    given.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(exercise.debug_kernel(), Lab(prepared.kernel.linux, prepared.modules), given.out)
    campaign(bench, given.count, given.seed, given.minutes, lambda text: print(text, flush=True))


if __name__ == "__main__":
    main()
