# SPDX-License-Identifier: BSD-3-Clause
"""Build a module against all available kernels, and read what the tools say.

The lane's kernel, the debug kernel and all installed stock headers are built against in parallel, each from a copy of
the sources, with the kernel's extra warnings (W=1). Then sparse checks the same files. A message about the module's
files is a finding; a warning about the kernel's own headers is not. The same message for several kernels is one
finding. If a module compiles for some kernels only, the others are noted as unsupported, unless they were requested.
checkpatch's messages are notes, or findings on request.
"""

from __future__ import annotations

import glob
import itertools
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from emulation.features.check import Finding, Name, Report, Stage, products
from emulation.features.check.subject import Subject, kernels_name
from emulation.setup import cache, kernel, packages
from emulation.setup.modules import SYMBOLS as SYMVERS
from emulation.setup.tools import MISLEADING, REPRODUCIBLE, end_with_us, fingerprint

HEADERS = ("/lib/modules/*/build", "/usr/src/linux-headers-*-amd64")
CHECKPATCH = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
STYLE = ("--no-tree", "--terse", "--max-line-length=120", "--ignore", "LINUX_VERSION_CODE,CONSTANT_COMPARISON")
PLACE = r"(?P<file>[^\s:]+):(?P<line>\d+):(?:\d+:)? "
DIAGNOSTIC = re.compile(PLACE + r"(?P<kind>fatal error|error|warning): (?P<text>.*)")
EXPANDED = re.compile(PLACE + r"note: in expansion of macro")
FOLLOWS = re.compile(r" *\d* \| |" + PLACE + r"(note: | {3})")  # source lines, and what sparse expected there
CALLED = re.compile(r"call to '\w+' declared with attribute \w+: ")  # BUILD_BUG_ON and the like
POSTED = re.compile(r"(?P<kind>ERROR|WARNING): modpost: (?P<text>.*)")
OBJTOOL = re.compile(r"(?P<file>[^\s:]+): warning: (?P<text>objtool: .*)")
STYLED = re.compile(PLACE + r"(?P<text>.*)")
ENGLISH = {"LANG": "C", "LANGUAGE": "C"}  # make does not pass LC_ALL to the compiler
SYMBOLS = "others.symvers"
LANE, DEBUG, SMP = "uml", "debug", "smp"  # kernels that this program boots
HIDDEN = DEBUG, SMP  # their compilers say nothing that those of the same kernels without instrumentation do not
ERRORS = 3  # for one kernel; later errors and warnings are mostly consequences
# The debug kernel's modules call `oracle` at the start and end of their functions, except functions of the kernel's
# headers, and at each access to memory, which KASAN leaves to it. On several CPUs they call `stagger` at each access.
CALLS = "-finstrument-functions", "-finstrument-functions-exclude-file-list=./include/,./arch/"
ORACLE_FOLDER = Path(__file__).parent / "oracle"
ACCESSES = (
    *("-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "--param=tsan-instrument-func-entry-exit=0"),
    "-fno-optimize-sibling-calls",
)
WITHOUT_KASAN = (
    *("-D__SANITIZE_ADDRESS__", "-fprofile-update=atomic"),
    "-fsanitize=object-size",  # KASAN watches no variables without its own code
)
SIZES = 1, 2, 4, 8, 16
CALLED_BY_GCC = (
    *("__cyg_profile_func_enter", "__cyg_profile_func_exit", "__tsan_init", "__tsan_atomic64_fetch_add"),
    *(f"__tsan_{access}_range" for access in ("read", "write")),
    *(f"__tsan_{how}{size}" for how in ("read", "write", "volatile_read", "volatile_write") for size in SIZES),
    *(f"__tsan_unaligned_{how}{size}"
      for how in ("read", "write", "volatile_read", "volatile_write") for size in SIZES if size > 1),
)  # fmt: skip
CALLED_BY_WATCHED = "race_forgive", "race_retried", "race_checked", "memory_per_cpu", "lifetime_taken", "lifetime_last"
# They register their operations with `oracle`, which checks each call, instead of the kernel.
GPL = ("tcp_register_congestion_control", "tcp_unregister_congestion_control")
WATCHED = dict.fromkeys(GPL, "EXPORT_SYMBOL_GPL")
WATCHED |= dict.fromkeys(("register_qdisc", "unregister_qdisc", "qdisc_tree_reduce_backlog"), "EXPORT_SYMBOL")
STOPPING = ("timer_delete", "timer_delete_sync", "timer_shutdown_sync", "cancel_work", "cancel_work_sync", "flush_work",
            "cancel_delayed_work", "cancel_delayed_work_sync", "flush_delayed_work", "__flush_workqueue",
            "drain_workqueue", "destroy_workqueue")  # fmt: skip
WATCHED |= dict.fromkeys(STOPPING, "EXPORT_SYMBOL")
WATCHED |= dict.fromkeys(("__kvmalloc_node_noprof", "kvfree"), "EXPORT_SYMBOL")  # which are traced without the caller
RENAMED = tuple(f"-D{name}=oracle_{name}" for name in WATCHED)
EXPORTED = {f"oracle_{name}": export for name, export in WATCHED.items()}
EXPORTED["oracle_register_larger"] = "EXPORT_SYMBOL_GPL"
EXPORTED |= dict.fromkeys((*CALLED_BY_GCC, *CALLED_BY_WATCHED), "EXPORT_SYMBOL")
# As modpost writes them: a name, its module, its export.
ORACLE = "".join(f"0x00000000\t{name}\toracle\t{export}\t\n" for name, export in EXPORTED.items())
LATE = "a product of two 32-bit numbers becomes 64 bits wide after it may have overflowed: write (u64)a * b"
# With lockdep a lock or a timer is larger, and a congestion control's state may only fit into a socket without it.
STATE, LARGER_STATE = "ICSK_CA_PRIV_SIZE", "-DLARGER_STATE"
LARGER = f"with lockdep its state is larger than {STATE}, so accesses behind its state are not looked for"
LAST = 20  # lines of a log, if nothing else says what is wrong


@dataclass(frozen=True)
class Target:
    """A kernel to build against: its name, its folder, further arguments of make and flags of the compiler, and whether
    sparse checks the files for this kernel."""

    name: str
    folder: Path
    arguments: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    sparse: bool = True
    symbols: str = ""  # of modules that are not built with it, as modpost writes them


def lane_target(built: kernel.Kernel) -> Target:
    return Target(LANE, built.folder, ("ARCH=um",))


def debug_target(built: kernel.Kernel) -> Target:
    """Return the target of the debug kernel. The module has line numbers, and each function in one piece, for stacks
    and debuggers. Uninitialised variables get odd values. Line executions are counted. Functions and accesses to memory
    call `oracle`, which also comes between the kernel and the module's operations."""
    debugging = products.FLAG, "-g", "-fno-reorder-blocks-and-partition", "-ftrivial-auto-var-init=pattern"
    read_first = "-include", shlex.quote(str(ORACLE_FOLDER / "watched.h"))
    flags = *debugging, *CALLS, *ACCESSES, *WITHOUT_KASAN, *RENAMED, *read_first
    arguments = "ARCH=um", "GCOV_PROFILE=y", "KASAN_SANITIZE=n"
    return Target(DEBUG, built.folder, arguments, flags, sparse=False, symbols=ORACLE)


def smp_target(headers: Path, stagger: Path) -> Target:
    """Return the target of a stock kernel with several CPUs, and with our module `stagger`, at this path."""
    return Target(SMP, headers, flags=("-g", *ACCESSES), sparse=False, symbols=(stagger.parent / SYMVERS).read_text())


def kcsan_target(headers: Path) -> Target:
    """Return the target of the debug kernel with several CPUs. Its own flags for modules have KCSAN's calls."""
    return Target(SMP, headers, ("ARCH=x86_64",), ("-g",), sparse=False)


def stock_targets() -> list[Target]:
    """Return the stock kernels whose headers are installed, oldest first."""
    folders = {Path(path).resolve() for pattern in HEADERS for path in glob.glob(pattern)}
    found = [Target(release(folder), folder) for folder in folders if (folder / "Makefile").is_file()]
    return sorted(found, key=lambda target: [int(part) for part in re.findall(r"\d+", target.name)])


def release(folder: Path) -> str:
    """Return the release of a kernel from its headers; Debian has it in the folder's name."""
    release_file = folder / "include" / "config" / "kernel.release"
    named = folder.name.startswith("linux-headers-") or not release_file.is_file()
    return folder.name.removeprefix("linux-headers-") if named else release_file.read_text().strip()


def pick(targets: Sequence[Target], wanted: Iterable[str]) -> list[Target]:
    """Return the targets whose release is, or begins with, a wanted one. Raises ValueError if one matches none."""
    picked: list[Target] = []
    for word in wanted:
        these = [target for target in targets if f"{target.name}.".startswith((f"{word}.", f"{word}-"))]
        if not these:
            there = ", ".join(target.name for target in targets) or "none"
            raise ValueError(f"the headers of a kernel {word} are not installed; there are: {there}")
        picked += these
    return [target for target in targets if target in picked]


def build(
    subject: Subject, targets: Sequence[Target], folder: Path, strict: bool = False, optional: Collection[str] = (),
    style: bool = True,
) -> Report:  # fmt: skip
    """Build in `folder`, where logs and modules stay. The report's data has their paths as `modules`: {target: {module:
    path}}. With `strict`, checkpatch's messages are findings; without `style` it is not asked. The module need not
    support `optional` targets. Raises Failure if checkpatch is not available."""
    began = time.monotonic()
    notes: list[str] = []
    copies = {target.name: folder / target.name / "source" for target in targets}
    for target in targets:
        subject.copy(copies[target.name], tested=target.name == DEBUG)
        (folder / target.name / SYMBOLS).write_text(target.symbols)
    makes = {target.name: make(subject, target, copies[target.name]) for target in targets}
    compiling = {folder / name / "build.log": command for name, command in makes.items()}
    opinion = folder / "checkpatch.log"
    if style:
        written = [str(file.relative_to(subject.folder)) for file in subject.files if file.suffix in (".c", ".h")]
        compiling[opinion] = ["perl", str(checkpatch()), *STYLE, "-f", *written]
    run_all(compiling, subject.folder)
    elsewhere = [not unbuilt(subject, copy) for name, copy in copies.items() if name != DEBUG]
    fits = any(elsewhere) or not elsewhere
    for target in (target for target in targets if target.name == DEBUG and fits and unbuilt(subject, copies[DEBUG])):
        log = folder / DEBUG / "build.log"
        if any(STATE in line for line in lines(log)):
            again = replace(target, flags=(*target.flags, LARGER_STATE))
            run_all({log: make(subject, again, copies[DEBUG])}, subject.folder)
            notes.append(LARGER)
    whole = [target.name for target in targets if target.sparse and not unbuilt(subject, copies[target.name])]
    run_all({folder / name / "sparse.log": [*makes[name], "C=2"] for name in whole}, subject.folder)
    said: dict[tuple[Name, str, str], tuple[Finding, list[str]]] = {}
    some = any(not unbuilt(subject, copy) for copy in copies.values())
    for target in targets:
        if target.name == SMP:
            continue
        all_said = diagnostics(subject, copies[target.name], target.name != DEBUG)
        if some and unbuilt(subject, copies[target.name]):
            all_said = all_said[:1]
            if target.name in optional:
                where = f"{all_said[0].where}: " if all_said[0].where else ""
                notes.append(f"it is not meant for {target.name}: {where}{all_said[0].text}")
                continue
        for one in all_said:
            said.setdefault((one.name, one.where, one.text), (one, []))[1].append(target.name)
    shown = [target.name for target in targets if target.name not in HIDDEN]
    findings = [with_kernels(one, names, shown) for one, names in said.values()]
    wide = products.find(copies[DEBUG]) if DEBUG in copies else ()
    findings += [Finding(Stage.BUILD, Name.WARNING, LATE, where=place) for place in wide]
    opinions = [match for line in lines(opinion) if (match := STYLED.match(line))]
    if strict:
        findings += [
            Finding(Stage.BUILD, Name.CHECKPATCH, m["text"], where=f"{m['file']}:{m['line']}") for m in opinions
        ]
    built = {name: modules_in(copy) for name, copy in copies.items()}
    notes += [] if strict else [f"checkpatch: {match[0]}" for match in opinions]
    data = {"kernels": shown, "modules": built}
    return Report(Stage.BUILD, tuple(findings), tuple(notes), time.monotonic() - began, data)


def make(subject: Subject, target: Target, copy: Path) -> list[str]:
    """Return the command that builds a copy. The module contains no path of the copy: a debugger finds the user's
    files."""
    seen = shlex.quote(f"-fdebug-prefix-map={copy}={subject.folder}")
    tests = [f"-fmacro-prefix-map={shlex.quote(str(subject.suites.parent))}/="] if subject.suites else []
    flags = (*target.flags, f"-fmacro-prefix-map={copy}/=", seen, *tests)
    others = [f"KBUILD_EXTRA_SYMBOLS={copy.parent / SYMBOLS}"] * bool(target.symbols)
    settings = (f"M={copy}", "W=1", f"KCFLAGS={' '.join(flags)}", *others)
    return ["make", "-j2", "-Otarget", "-C", str(target.folder), *target.arguments, *settings, "modules"]


def run_all(commands: dict[Path, list[str]], folder: Path) -> None:
    """Run commands in parallel, each with its own log. They and their children end if this process does."""
    env = {name: value for name, value in os.environ.items() if name not in MISLEADING} | REPRODUCIBLE | ENGLISH
    running: list[subprocess.Popen[bytes]] = []
    ours, theirs = os.pipe()  # the other end stays open as long as one of them exists
    with open(ours, "rb") as gone:
        try:
            for log, command in commands.items():
                with log.open("wb") as output:
                    running.append(
                        subprocess.Popen(
                            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                            preexec_fn=end_with_us, start_new_session=True,
                            pass_fds=[theirs],
                        )
                    )  # fmt: skip
            for process in running:
                process.wait()
        finally:
            os.close(theirs)
            for process in running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            gone.read()


def modules_in(copy: Path) -> dict[str, str]:
    """Return the modules that were built, by name."""
    return {kernels_name(ko.stem): str(ko) for ko in sorted(copy.rglob("*.ko"))}


def unbuilt(subject: Subject, copy: Path) -> set[str]:
    """Return the names of modules that were not built."""
    return set(subject.modules) - set(modules_in(copy))


def lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines() if log.is_file() else []


def diagnostics(subject: Subject, copy: Path, all_: bool) -> list[Finding]:
    """Return the tools' messages about a copy; unless `all_`, only errors that prevented its build."""
    log = lines(copy.parent / "build.log")
    compiled = list(read(log, str(copy)))
    errors = [one for one in compiled if one.name is Name.COMPILE_ERROR]
    if unbuilt(subject, copy) and not errors:
        ends = [line.replace(f"{copy}/", "") for line in log[-LAST:]]
        stop = next((line for line in ends if "***" in line), "make says nothing of why")
        errors = [Finding(Stage.BUILD, Name.COMPILE_ERROR, stop, console=tuple(ends))]
    if errors or not all_:
        return errors[:ERRORS]
    return [*compiled, *read(lines(copy.parent / "sparse.log"), str(copy), Name.SPARSE)]


def read(log: Sequence[str], source: str, name: Name | None = None) -> Iterator[Finding]:
    """Yield the messages of gcc, modpost and objtool in a log; or of sparse, if `name` says so."""
    for at, line in enumerate(log):
        if match := DIAGNOSTIC.match(line):
            bad = "error" in match["kind"]
            follows = tuple(itertools.takewhile(FOLLOWS.match, log[at + 1 :]))
            places = [match, *(found for more in follows if (found := EXPANDED.match(more)))]
            own = [place for place in places if place["file"].startswith(f"{source}/")]
            if not own and (name or not bad):
                continue
            place = (own or places)[0]
            where = f"{place['file'].removeprefix(f'{source}/')}:{place['line']}"
            console = tuple(text.replace(f"{source}/", "") for text in follows)
            kind = name or (Name.COMPILE_ERROR if bad else Name.WARNING)
            yield Finding(Stage.BUILD, kind, CALLED.sub("", match["text"]), console=console, where=where)
        elif name:
            continue
        elif match := POSTED.match(line):
            kind = Name.COMPILE_ERROR if match["kind"] == "ERROR" else Name.WARNING
            yield Finding(Stage.BUILD, kind, match["text"].replace(f"{source}/", ""))
        elif match := OBJTOOL.match(line):
            where = match["file"].removeprefix(f"{source}/")
            yield Finding(Stage.BUILD, Name.WARNING, match["text"], where=where)


def with_kernels(finding: Finding, names: Sequence[str], all_names: Sequence[str]) -> Finding:
    """Add a list of its kernels to a finding, unless it holds for all."""
    only = f" ({', '.join(names)})" if set(all_names) - set(names) else ""
    return replace(finding, text=finding.text + only)


def checkpatch() -> Path:
    """Return the kernel's script, from the lab's kernel or its source archive. Raises Failure if that fails."""
    if found := kernel.find():
        return found.folder / "scripts" / CHECKPATCH[0]
    packages.ensure(packages.Group.BUILD)
    source = kernel.archive()
    assert source
    wanted = [f"scripts/{name}" for name in CHECKPATCH]
    return from_source("checkpatch", source, wanted, "--occurrence=1") / wanted[0]


def from_source(kind: str, source: Path, wanted: Sequence[str], *options: str) -> Path:
    """Return a folder with these files of the kernel's source, which is unpacked if it is an archive. They may be
    patterns; `options` are tar's."""

    def unpack(folder: Path) -> Iterable[str]:
        inside = [f"{source.name.split('.tar')[0]}/{pattern}" for pattern in wanted]
        command = ["tar", "-xf", str(source), "-C", str(folder), "--wildcards", "--strip-components=1", *options]
        subprocess.run([*command, *inside], check=True, preexec_fn=end_with_us)
        return [str(file.relative_to(folder)) for file in sorted(folder.rglob("*")) if file.is_file()]

    return source if source.is_dir() else cache.obtain(f"{kind}-{cache.key(fingerprint(source), *wanted)}", unpack)
