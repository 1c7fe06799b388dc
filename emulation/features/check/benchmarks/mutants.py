# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab bench mutants`: mutation tests of `module check`, on our own modules with one mistake each.

A mutant has one line changed by a typical mistake: a free, a lock, a bound or a check is missing, a comparison is off
by one, or an allocation may sleep in atomic context. The seed selects the mutants. Code that does not compile, or
compiles to the same code, is no mutant. Each mutant goes through the stages of `module check` up to its first finding:
build, load with the module's suites of KUnit (tests/modules/kunit), workout in the debug kernel, comparison with Reno;
under one seed, on one string. Each result is a line of mutants.jsonl in --out; the same command continues after the
last one. For a mutant that was not found, the line says whether its line ran, and whether the comparison differs from
that of the unchanged module. If not, the mutant may be equivalent. If so, it may be a sound module with another policy.
"""

import argparse
import hashlib
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import show_table, table
from emulation.features.check import Finding, Name, Report, Stage, build, compare, exercise, subject
from emulation.lanes import CHECKOUT, LaneError, Reason
from emulation.play.lab import Lab
from emulation.setup import Prepared, kernel, prepare

HERE, SUITES = CHECKOUT / "tc_modules", CHECKOUT / "tests/modules/kunit"
MODULES = {
    "tcp_sca": ("tcp_sca.c",),
    "tcp_cwl": ("tcp_cwl.c",),
    "tcp_dcr": ("tcp_dcr.c",),
    "sch_ackthin": tuple(f"ackthin/{part}.c" for part in ("qdisc", "flow", "probe", "configuration", "proc")),
}
CYCLES = 30
LIMIT_S = 60  # of CPU time, three times that of a workout
HOPS, SEED = 4, 1
NO_C, SAME_CODE = "no C", "same code"
PLAIN, COMPARE, KUNIT = "plain", "compare", "kunit"
LEFT_OUT = r"\1/* gone */;"
# Changes of a line; each match of a pattern is a mutant.
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
    """A module with one changed line."""

    module: str
    file: str
    line: int
    what: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}: {self.what}: {self.text.strip()}"


def mutants() -> Iterator[Mutant]:
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
    """Write a mutant's sources, with only its module to build."""
    found = only(subject.find(HERE, mutant.module), mutant.module, folder)
    lines = (folder / mutant.file).read_text().splitlines()
    lines[mutant.line - 1] = mutant.text
    (folder / mutant.file).write_text("\n".join(lines) + "\n")
    return found


def only(whole: subject.Subject, module: str, folder: Path) -> subject.Subject:
    """Return a copy that builds one of the modules."""
    whole.copy(folder)
    kbuild = (folder / "Kbuild").read_text()
    kbuild = re.sub(r"(?m)^ccflags-y .*SOURCE_SHA256.*$", "", kbuild)  # which makes all mutants different
    (folder / "Kbuild").write_text(re.sub(r"(?m)^obj-m := .*$", f"obj-m := {module}.o", kbuild))
    return subject.find(folder)


@dataclass(frozen=True)
class Bench:
    """The environment for mutants. `plain` is the target without instrumentation: it shows whether two modules have the
    same code, and gives the tools' warnings. In `place` make compiles only the file that differs from the last
    mutant's."""

    debug: Prepared
    lab: Lab
    out: Path
    place: Path
    skip: Collection[str] = ()  # COMPARE, KUNIT

    @property
    def plain(self) -> build.Target:
        without = "ARCH=um", "KASAN_SANITIZE=n", "UBSAN_SANITIZE=n"
        return build.Target(PLAIN, self.debug.kernel.folder, without)

    def try_out(self, mutant: Mutant, scratch: Path) -> dict[str, Any]:
        """Return the result: why it is `no` mutant; or what was `found`, and in which `stage`."""
        place = self.place / mutant.module
        sources = folder_of(mutant, place / "sources")
        report = self.report(sources, self.plain, place)
        if mutant.module not in report.data["modules"][PLAIN]:
            return {"no": NO_C}
        code = code_of(Path(report.data["modules"][PLAIN][mutant.module]))
        if code == self.sound_code(mutant.module):
            return {"no": SAME_CODE}
        if report.findings:
            return told(report.findings[0])
        try:
            return self.put_to_work(mutant, sources, scratch)
        except LaneError as error:
            if error.reason is Reason.INTERRUPTED:
                raise  # by the user, who may continue
            if error.reason is not Reason.KILLED:
                return {"found": "", "ran": False, "differs": None, "notes": [str(error)]}
            return {"found": str(Name.HANG), "stage": str(Stage.WORKOUT)}

    def put_to_work(self, mutant: Mutant, sources: subject.Subject, scratch: Path) -> dict[str, Any]:
        """Run the suites, the workout and the comparison. Raises LaneError."""
        tested = sources if KUNIT in self.skip else subject.with_suites(sources, SUITES)
        place = self.place / mutant.module
        module = self.build(tested, mutant.module, build.debug_target(self.debug.kernel), place)
        run = scratch / "run"
        run.mkdir()
        limit = resource.getrusage(resource.RUSAGE_SELF).ru_utime + LIMIT_S  # of CPU time, as other processes may run
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), resource.getrlimit(resource.RLIMIT_CPU)[1]))
        reports = exercise.exercise(
            self.debug, module, run, seed=SEED, cycles=CYCLES, wall_limit_s=30 * LIMIT_S, one_is_enough=True
        )
        if found := [finding for one in reports for finding in one.findings]:
            return told(found[0])
        ran: dict[str, Any] = next((one.data["coverage"] for one in reports if "coverage" in one.data), {})
        ran_here = ran.get(mutant.file, {}).get(str(mutant.line), 0) > 0
        notes = [note for one in reports for note in one.notes if not note.startswith("KUnit")]
        missed = {"found": "", "ran": ran_here, "differs": None, "notes": notes}
        if COMPARE not in self.skip:
            report, goodput = self.compare(sources, mutant.module, scratch)
            if report.findings:
                return told(report.findings[0])
            missed["differs"] = goodput != self.sound_goodput(mutant.module)
        return missed

    def report(self, sources: subject.Subject, target: build.Target, folder: Path) -> Report:
        for module in (folder / target.name).rglob("*.ko"):
            module.unlink()  # of another mutant
        return build.build(sources, [target], folder / target.name, style=False)

    def build(self, sources: subject.Subject, name: str, target: build.Target, scratch: Path) -> subject.Module:
        report = self.report(sources, target, scratch)
        return subject.examine(Path(report.data["modules"][target.name][name]), sources.files)

    def compare(self, sources: subject.Subject, name: str, scratch: Path) -> tuple[Report, object]:
        """Compare a module with Reno, and return findings and results."""
        module = self.build(sources, name, build.lane_target(kernel.Kernel(self.lab.kernel.parent)), scratch)
        report = compare.compare(self.lab, module, "reno", [HOPS], [SEED], scratch / "compare")
        runs = [[run["case"], run["variant"], run["goodput_kbps"]] for run in report.data.get("runs", ())]
        return report, [*runs, report.data.get("bottleneck")]

    def sound_code(self, name: str) -> Any:
        return self.sound(
            name, "code", lambda sources, scratch: code_of(self.build(sources, name, self.plain, scratch).path)
        )

    def sound_goodput(self, name: str) -> Any:
        return self.sound(name, "goodput", lambda sources, scratch: self.compare(sources, name, scratch)[1])

    def sound(self, name: str, what: str, make: Callable[[subject.Subject, Path], object]) -> Any:
        """Return something of the unchanged module, cached under the kernel's name."""
        kept = self.out / f"{name}-{what}-{self.debug.kernel.folder.name}.json"
        if not kept.exists():
            with tempfile.TemporaryDirectory(prefix="dcflab-sound-") as folder:
                sources = only(subject.find(HERE, name), name, Path(folder) / "sources")
                kept.write_text(json.dumps(make(sources, Path(folder))))
        return json.loads(kept.read_text())


def told(finding: Finding) -> dict[str, Any]:
    return {"found": str(finding.name), "stage": str(finding.stage), "where": finding.where, "text": finding.text}


def code_of(module: Path) -> str:
    """Return the SHA-256 of a module without debugging sections."""
    stripped = module.with_suffix(".stripped")
    subprocess.run(["objcopy", "-g", "-R", ".note.gnu.build-id", str(module), str(stripped)], check=True)
    return hashlib.sha256(stripped.read_bytes()).hexdigest()


def campaign(
    bench: Bench, count: int, seed: int, minutes: float, tell: Callable[[str], None], again: str | None = None
) -> list[dict[str, Any]]:
    """Try `count` mutants for at most `minutes`, continuing an earlier campaign. Return all results. Mutants that were
    not found are tried again if their names match the regular expression `again`."""
    ends = time.monotonic() + 60 * minutes
    log = bench.out / "mutants.jsonl"
    everything = list(mutants())
    random.Random(seed).shuffle(everything)
    done = 0
    for mutant in everything:
        known = {one["mutant"]: one for one in entries(log)}  # another process may have added entries
        missed = mutant.name in known and not known[mutant.name].get("found", "no mutant")
        retry = again is not None and missed and re.search(again, mutant.name)
        if (retry or mutant.name not in known) and time.monotonic() < ends:
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
    return entries(log)


def entries(log: Path) -> list[dict[str, Any]]:
    """Return the latest result of each mutant."""
    lines = map(json.loads, log.read_text().splitlines() if log.exists() else ())
    return list({one["mutant"]: one for one in lines}.values())


def cpu_s() -> float:
    """Return the CPU time of this process and its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def summary(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Count how many mistakes of each kind were found, and in which stage; and the others."""
    tried = [one for one in entries if "found" in one]
    found = [one for one in tried if one["found"]]
    all_, caught = (Counter(one["what"] for one in some) for some in (tried, found))
    left = Counter((one["ran"], one["differs"]) for one in tried if not one["found"])
    return {
        "tried": len(tried),
        "found": len(found),
        "cpu_minutes": round(sum(one["cpu_s"] for one in entries) / 60, 1),
        "kinds": {what: {"tried": count, "found": caught[what]} for what, count in all_.most_common()},
        "stages": dict(Counter(one["stage"] for one in found).most_common()),
        "names": dict(Counter(one["found"] for one in found).most_common()),
        "not_found": [{"ran": ran, "differs": differs, "count": count} for (ran, differs), count in left.items()],
        "noted": sum(bool(one.get("notes")) for one in tried),
        "no_mutants": dict(Counter(one["no"] for one in entries if "no" in one)),
    }


def show(figures: dict[str, Any]) -> None:
    title = f"{figures['found']} of {figures['tried']} mutants found in {figures['cpu_minutes']:.0f} min of CPU time"
    rows = table(title, "what is wrong", "found", "of")
    for what, row in figures["kinds"].items():
        rows.add_row(what, str(row["found"]), str(row["tried"]))
    show_table(rows)
    for what in ("stages", "names", "no_mutants"):
        said = ", ".join(f"{name}: {count}" for name, count in figures[what].items())
        print(f"{what.replace('_', ' ')}: {said or 'none'}")
    outcome = {None: "was left out", True: "differs", False: "is the same"}
    for row in figures["not_found"]:
        ran = "ran" if row["ran"] else "did not run"
        print(f"not found: {row['count']} whose line {ran}, and whose comparison {outcome[row['differs']]}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dcflab bench mutants", description=(__doc__ or "").partition("\n\n")[2])
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"), help="folder of the results (runs/mutants)")
    parser.add_argument("--count", type=int, default=100, help="number of mutants (100)")
    parser.add_argument("--seed", type=int, default=1, help="decides which mutants (1)")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start none after this time (unlimited)")
    parser.add_argument("--again", metavar="REGEX", nargs="?", const="",
                        help="also try again mutants that were not found, whose names match (all)")  # fmt: skip
    parser.add_argument("--skip", choices=[COMPARE, KUNIT], action="append", default=[],
                        help="leave out the comparison, a third of the time, or KUnit's suites")  # fmt: skip
    given = parser.parse_args()
    prepared = prepare()
    given.out.mkdir(parents=True, exist_ok=True)
    lab = Lab(prepared.kernel.linux, prepared.modules)

    def tell(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="dcflab-mutants-") as place:
        bench = Bench(exercise.debug_kernel(), lab, given.out, Path(place), given.skip)
        known = campaign(bench, given.count, given.seed, given.minutes, tell, given.again)
    figures = {"seed": given.seed, **summary(known)}
    if given.json:
        print(json.dumps(figures, indent=1))
    else:
        show(figures)
