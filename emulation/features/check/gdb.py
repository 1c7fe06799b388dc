# SPDX-License-Identifier: BSD-3-Clause
"""Repeat the workout under gdb, which stops where the kernel finds the fault, with the stack that caused it.

User-Mode Linux is an ordinary process, so gdb needs no stub and no second machine. The same seed does the same again,
and addresses are not randomised. So the fault recurs, and the module has the addresses that an earlier workout.json
recorded. Signals are the kernel's own (faults, timers, interrupts), so gdb passes them on.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emulation.features.check import Finding, Name, exercise
from emulation.features.check.corpus import ALONE, Search
from emulation.features.check.inside import tested_module
from emulation.features.check.subject import Module
from emulation.files import read_json
from emulation.lane.errors import Failure
from emulation.lanes.virtual import boot, confine
from emulation.lanes.virtual.scratch import scratch
from emulation.setup import Prepared

# All reports of the kernel and of `oracle` pass one of these. add_taint's first argument says whether it is about a
# fault.
STOPS = (
    *("panic", "oracle_reported", "lockdep_rcu_suspicious", "debug_locks_off", "__ubsan_handle_divrem_overflow"),
    *("__ubsan_handle_out_of_bounds", "__ubsan_handle_shift_out_of_bounds", "__ubsan_handle_load_invalid_value"),
)
TAINT_BAD_PAGE, TAINT_DIE, TAINT_WARN = 5, 7, 9
TAINTED = f"break *add_taint if $edi == {TAINT_WARN} || $edi == {TAINT_DIE} || $edi == {TAINT_BAD_PAGE}"
SIGNALS = "SIGSEGV SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGIO SIGCHLD SIGWINCH SIGHUP SIGPIPE"
SHOW = """python
import re
if frame := re.search(r"^#([0-9]+) .*\\b{}\\b.* \\(", gdb.execute("backtrace", to_string=True), re.MULTILINE):
    gdb.execute(f"frame {{frame[1]}}")
end"""  # gdb's own `frame function` stops at inlined functions
NOWHERE = "0x700000000000"  # for what is not loaded: at 0 it would name all small numbers
UNNOTICED = (Name.LEAK,)  # at the time it happens


def debug(
    prepared: Prepared, module: Module, folder: Path, sections: Mapping[str, Mapping[str, str]], *,
    finding: Finding | None = None, seed: int = 1, cycles: int = exercise.CYCLES, batch: bool = False,
    search: Search = ALONE,
) -> str:  # fmt: skip
    """Run the workout under gdb until something is found, and leave the terminal to gdb's user.

    `sections` are those of modules in a run with the same seed and cycles; `folder` must be empty. When gdb has
    stopped, it shows the function of the `finding`. If nothing detects the fault at the time, as with a leak, gdb stops
    at the function.
    With `batch`, gdb prints the stack and ends; its output is returned.
    """
    exercise.write_job(prepared, module, folder, seed, cycles, search)
    modules = exercise.modules_of(prepared, module)
    with contextlib.ExitStack() as stack:
        private = stack.enter_context(scratch("lane", boot.memory_folder(exercise.MEMORY_MB)))
        cpu = stack.enter_context(boot.claimed_cpu())
        reports = stack.enter_context((folder / "reports.log").open("wb")).fileno()
        command = ["script", str(exercise.PROGRAM)]
        kernel = prepared.kernel.linux
        handed = boot.passed(kernel, modules, command, [])
        cell = stack.enter_context(confine.cell([*handed, folder.resolve(), private]))
        boot.write_boot(private, kernel, folder.resolve(), modules, command, [], cell)
        linux, *arguments = boot.command_line(
            prepared.kernel.linux, private, seed, exercise.MEMORY_MB, reports, cell, exercise.KERNEL_ARGUMENTS
        )  # fmt: skip
        output, console = (shlex.quote(str(folder.resolve() / name)) for name in ("output.log", "console.log"))
        run = f"run {shlex.join(arguments)} </dev/null >{output} 2>{console}"
        script = folder / "gdb.script"
        files = {tested_module.ORACLE: prepared.modules[tested_module.ORACLE], module.name: module.path}
        symbols = [placed(file, sections[name], folder.resolve()) for name, file in files.items() if name in sections]
        script.write_text("\n".join(commands(symbols, len(modules), run, finding)) + "\n")
        stack.enter_context(interrupts_for_gdb())
        done = subprocess.run(
            ["gdb", "-q", "-nx", *["-batch"] * batch, "-x", str(script), linux],
            cwd=private,
            stdin=subprocess.DEVNULL if batch else None,
            stdout=subprocess.PIPE if batch else None,
            stderr=subprocess.STDOUT if batch else None,
            pass_fds=[reports, *cell.passed.values()],
            env=os.environ | {"TMPDIR": private, "SHELL": "/bin/sh"},
            preexec_fn=functools.partial(prepare, cpu, os.getpid()),
        )
    return (done.stdout or b"").decode(errors="replace")


def prepare(cpu: int, parent: int) -> None:
    """Runs in the child before it becomes gdb."""
    boot.settle({cpu}, parent)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextlib.contextmanager
def interrupts_for_gdb() -> Iterator[None]:
    """Let Ctrl-C stop the kernel instead of this program."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def commands(symbols: Sequence[Path], earlier: int, run: str, finding: Finding | None) -> list[str]:
    """Return gdb's script: run until the module, after `earlier` others, is about to be initialised; then to the
    fault."""
    function = finding.where.partition(" ")[0] if finding and finding.where[:1] != "[" else ""
    stops = [*STOPS, function] if finding and finding.name in UNNOTICED and function else STOPS
    return [
        *("set pagination off", "set confirm off", "set width 0", "set breakpoint pending on"),
        *("set print thread-events off", "set print inferior-events off"),
        *("set startup-with-shell on", "set disable-randomization on", "set detach-on-fork on"),
        f"handle {SIGNALS} nostop noprint pass",
        *("tbreak *do_init_module", f"ignore 1 {earlier}", run),
        *(f"add-symbol-file {shlex.quote(str(file))}" for file in symbols),
        *(f"break *{name}" for name in stops),
        *(TAINTED, "continue", "backtrace"),
        *([SHOW.format(function), "list"] if function else []),
    ]


def placed(module: Path, sections: Mapping[str, str], folder: Path) -> Path:
    """Copy a module and give its sections their addresses in the kernel. gdb accepts addresses of sections, but then
    uses the stack frames of .text for all sections."""
    copy = folder / module.name
    places = {".modinfo": NOWHERE, **sections}
    moved = [f"--change-section-address={name}={address}" for name, address in places.items()]
    subprocess.run(["objcopy", "--no-change-warnings", *moved, module, copy], check=True)
    return copy


def sections_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the addresses of the module and of `oracle` from an earlier workout's run folder. Raises Failure if they
    were never loaded there."""
    try:
        found: dict[str, dict[str, str]] = read_json(folder / "workout.json")["sections"]
    except (OSError, KeyError, ValueError):
        raise Failure(f"{folder} does not say where the module was: it was never loaded there") from None
    return found
