# SPDX-License-Identifier: BSD-3-Clause
"""`module check PATH`: check a kernel module. Misuse is refused before anything starts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from emulation import lanes
from emulation.cli.command import Command, Seeds, as_junit, lane
from emulation.cli.command import lane_settings as of_lane
from emulation.features.check import Stage, build, corpus, of_setup, reference, smp
from emulation.features.check.bench import IN_DEBUG_KERNEL, Bench, Options, bar
from emulation.features.check.corpus import ROUNDS, Search
from emulation.features.check.exercise import CYCLES, Place, debug_kernel
from emulation.features.check.junit import suite
from emulation.features.check.report import Check, show, write
from emulation.features.check.subject import find, with_suites
from emulation.lane.netlink import TYPE_MASK
from emulation.lane.netlink import build as build_attributes
from emulation.lanes import Lane
from emulation.lanes.virtual.scratch import scratch
from emulation.play.drawing import artist
from emulation.play.junit import check_writable
from emulation.play.junit import write as write_junit
from emulation.play.session import failures, new_folder, provide
from emulation.setup import prepare_stock
from emulation.setup.kernel import OWN_SOURCE, archive
from traffic import tcp

MOST_HOPS = 20
WIDTHS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}  # bytes
IN_LANES = ("virtual", "vm")
STAGES = click.Choice([str(stage) for stage in Stage])


class Hops(click.ParamType[list[int], str]):
    """`4`, `3..8` or `3,5,8`: lengths of strings, in order."""

    name = "hops"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        hops: set[int] = set()
        for part in str(value).split(","):
            first, dots, last = part.partition("..")
            if not (first.isdecimal() and (last.isdecimal() if dots else not last)):
                self.fail(f"{value}: a length is a whole number of hops; several are written 3..8 or 3,5,8", param, ctx)
            if not 1 <= int(first) <= int(last or first) <= MOST_HOPS:
                self.fail(f"{value}: strings have 1 to {MOST_HOPS} hops", param, ctx)
            hops.update(range(int(first), int(last or first) + 1))
        return sorted(hops)


class QdiscOptions(click.ParamType[str, str]):
    """`1=1000,2:u8=3`: netlink attributes by number, u32 or as wide as they say; or `hex:` and all of TCA_OPTIONS."""

    name = "options"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            if str(value).startswith("hex:"):
                return f"hex:{bytes.fromhex(value[4:]).hex()}"
            return f"hex:{build_attributes(map(attribute, value.split(','))).hex()}"
        except (KeyError, ValueError, OverflowError):
            self.fail(f"{value}: write NUMBER=VALUE or NUMBER:u8=VALUE, with commas between, or hex:BYTES", param, ctx)


def attribute(text: str) -> tuple[int, bytes]:
    """Return number and value of an attribute. Raises KeyError, ValueError or OverflowError if it is malformed."""
    name, _, value = text.partition("=")
    number, _, width = name.partition(":")
    if not 0 < int(number) <= TYPE_MASK:
        raise ValueError
    return int(number), int(value).to_bytes(WIDTHS[width or "u32"], "little")


@click.command(cls=Command, params=[as_junit(), *lane()], examples=[
    "module check mine", "module check mine --hops 3..6 --seeds 1..3", "module check mine --only workout --gdb",
])  # fmt: skip
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--against", default="reno", show_default=True, metavar="NAME", help="congestion control to compare with")
@click.option("--reference", "of_which", default=reference.KERNELS, show_default=True, metavar="PATH|none",
              help="what this is a changed copy of; kernel: the lab's kernel's own of the same name")  # fmt: skip
@click.option("--seeds", "--seed", "seeds", type=Seeds(), default="1..3", show_default=True,
              help="seeds of the workout and the comparison: 1..5, 1,4,9")  # fmt: skip
@click.option("--cycles", type=click.IntRange(0, 100_000), default=CYCLES, show_default=True,
              help="how many times the module is loaded and unloaded")  # fmt: skip
@click.option("--hops", type=Hops(), default="3..8", show_default=True, help="lengths of the strings to compare on")
@click.option("--module", metavar="NAME", help="check only this module of a folder that builds several")
@click.option("--kunit", type=click.Path(path_type=Path, file_okay=False, exists=True), metavar="FOLDER",
              help="suites of KUnit: each file is compiled with the one of the same name in PATH")  # fmt: skip
@click.option("--options", "of_qdisc", type=QdiscOptions(), default="hex:", metavar="OPTIONS", show_default=False,
              help="options that the qdisc cannot be without: 1=1000,2:u8=3, or hex:BYTES")  # fmt: skip
@click.option("--kernels", metavar="RELEASE[,...]",
              help="build only for these stock kernels, with installed headers; none: for no stock kernel")  # fmt: skip
@click.option("--kernel-source", type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="a tree or an archive of Linux to build the lab's kernels from, instead of Debian's")  # fmt: skip
@click.option("--smp", "smp_kernel", type=click.Choice(smp.KERNELS), default=smp.STOCK, show_default=True,
              help="kernel of the stage smp: the latest stock one, or ours with KCSAN and lockdep")  # fmt: skip
@click.option("--smp-tries", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="tries of the stage smp, which finds a race in some of them only")  # fmt: skip
@click.option("--rounds", type=click.IntRange(0, 10_000), default=ROUNDS, show_default=True, metavar="N",
              help="rounds of the workout that look for code that never ran")  # fmt: skip
@click.option("--corpus", "corpus_file", type=click.Path(path_type=Path), metavar="FILE",
              help="settings that these rounds try first, from a run folder  [default: of earlier checks]")  # fmt: skip
@click.option("--strict", is_flag=True, help="count the findings of checkpatch, too")
@click.option("--skip", type=STAGES, multiple=True, help="leave out a stage, or several by repeating it")
@click.option("--only", type=STAGES, multiple=True, help="only this stage, or several by repeating it")
@click.option(
    "--gdb", is_flag=True, help="repeat it under gdb, and stop at the first error that the debug kernel finds"
)
@click.option("--json", "as_json", is_flag=True, help="print report.json instead of tables")
@click.option("--out", type=click.Path(path_type=Path), metavar="FOLDER",
              help="the run folder  [default: runs/check-NAME-TIME]")  # fmt: skip
def check(
    path: Path, against: str, of_which: str, seeds: list[int], cycles: int, hops: list[int], module: str | None,
    kunit: Path | None, of_qdisc: str, kernels: str | None, kernel_source: Path | None, smp_kernel: str,
    smp_tries: int, rounds: int, corpus_file: Path | None, strict: bool, skip: Sequence[str], only: Sequence[str],
    gdb: bool, as_json: bool, out: Path | None, junit: Path | None, lane: Lane,
) -> None:  # fmt: skip
    """Check a kernel module: build it, put it to work under load, and compare it with another.

    PATH is a folder with a Kbuild file, or a single C file. The module is built against the lab's kernel and the stock
    kernels whose headers are installed; put to work in a debug kernel; and compared with another congestion control.
    With --lane vm, all of that is done in the distribution's kernel. Exits with 1 if anything was found.
    """
    if gdb and as_json:
        raise click.UsageError("--gdb and --json cannot be combined; give one of them")
    if lane.name not in IN_LANES:
        raise click.UsageError(f"--lane: modules are checked in {' or '.join(IN_LANES)}, which they may break")
    if gdb and lanes.stock(lane) is not None:
        raise click.UsageError("--gdb is for the debug kernel, which the lane virtual has")
    if kunit and lanes.stock(lane) is not None:
        raise click.UsageError("--kunit is for the debug kernel, which the lane virtual has")
    check_writable(junit)
    stages = frozenset(Stage(word) for word in only or Stage) - {Stage(word) for word in skip}
    if not stages:
        raise click.UsageError("every stage is skipped; leave out a --skip")
    if kernel_source:
        os.environ[OWN_SOURCE] = str(kernel_source.resolve())
        if archive() is None:
            raise click.UsageError(f"--kernel-source: {kernel_source} is neither an archive nor a source tree of Linux")
    stock = picked(kernels)
    comparable(against)
    if of_which not in (reference.KERNELS, reference.NONE):
        find(Path(of_which))
    subject = with_suites(find(path, module), kunit) if kunit else find(path, module)
    name = module or (subject.modules[0] if len(subject.modules) == 1 else subject.folder.name)
    search = Search(rounds, corpus.kept() if corpus_file is None else corpus.read(corpus_file))
    lab = provide(of_setup.CHECK, *([of_setup.DEBUG] if gdb else []), lane=lane)
    debug = place_of(lane) if stages.intersection(IN_DEBUG_KERNEL) else None
    many = smp.chosen(smp_kernel, stock, lanes.stock(lane)) if Stage.SMP in stages else ""
    folder = new_folder(out, f"check-{name}")
    optional = () if kernels else [target.name for target in stock]
    options = lane_settings()
    if search.corpus:
        (folder / corpus.FILE).write_text(json.dumps(search.corpus))
        options["--corpus"] = [str(folder / corpus.FILE)]
    wish = Options(
        subject, stages, stock, optional, seeds, hops, cycles, against, strict, smp_tries, search, of_qdisc[4:],
        of_which,
    )  # fmt: skip
    with failures(), scratch("check") as place:
        with artist() as draw, bar() as progress:
            bench = Bench(wish, lab, debug, folder, Path(place), progress, draw, many)
            done = bench.check()
        checked = Check(str(path), options, subject.modules, done)
        write(checked, folder)
        if junit:
            write_junit(junit, [suite(checked)])
        if as_json:
            click.echo((folder / "report.json").read_text(), nl=False)
        else:
            show(checked, Console(width=None if sys.stdout.isatty() else 120))
            click.echo(f"{folder}/report.md has the whole report")
        if gdb:
            click.echo(bench.stop_at_finding(), nl=False)
    sys.exit(1 if checked.findings else 0)


def place_of(lane: Lane) -> Place:
    """Return where modules are exercised. Raises Failure if there is no such place."""
    return debug_kernel() if (wanted := lanes.stock(lane)) is None else prepare_stock(wanted)


def picked(kernels: str | None) -> list[build.Target]:
    """Return the requested stock kernels among the installed ones."""
    try:
        there = build.stock_targets()
        return there if kernels is None else build.pick(there, [word for word in kernels.split(",") if word != "none"])
    except ValueError as error:
        raise click.UsageError(f"--kernels: {error}") from None


def comparable(against: str) -> None:
    """Refuse a baseline whose sysctls differ from those of a user's module: both share the ends of a string."""
    possible = [name for name in tcp.NAMES if tcp.find(name).sysctl == tcp.FRESH]
    if against not in possible:
        there = ", ".join(sorted(possible))
        raise click.UsageError(f"--against: there is no {against!r} to compare with; there are: {there}")


def lane_settings() -> dict[str, list[str]]:
    """Return the options that the user gave, as words for repeating the command."""
    ctx = click.get_current_context()
    words: dict[str, list[str]] = {}
    for param in ctx.command.params:
        name = str(param.name)
        if isinstance(param, click.Option) and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            value = ctx.params["lane"].name if name == "lane" else {**ctx.params, **of_lane(ctx)}[name]
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            words[param.opts[0]] = [] if param.is_flag else [text]
    return words


COMMAND = check
