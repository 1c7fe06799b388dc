# SPDX-License-Identifier: BSD-3-Clause
"""What commands share: messages of misuse, help, and common options."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import click

from emulation import lanes
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import CHECKOUT, Clock, Lane

FORMATS = ("png", "svg", "pdf")  # of figures; the first is the default


ALL = "--help-all"


class Option(click.Option):
    """An option with the title of its section in the help."""

    def __init__(self, *arguments: Any, group: str = "Options", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.group = group


class Command(click.Command):
    """A command that reports misuse as click does, with the help to read.

    Its help has the options in sections, and `examples`: command lines without the program's name. If `first` names
    options, `--help` shows only these, and `--help-all` shows all.
    """

    def __init__(self, name: str, examples: Sequence[str] = (), first: Sequence[str] = (), **more: Any) -> None:
        super().__init__(name, **more)
        self.examples, self.first = examples, first
        if first:
            self.params = [*self.params, help_all()]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        options = {str(option.name): option for option in self.get_params(ctx) if isinstance(option, click.Option)}
        brief = bool(self.first) and not ctx.meta.get(ALL)
        if brief:
            options = {name: options[name] for name in (*self.first, "help_all", "help") if name in options}
        for option in options.values():
            if record := option.get_help_record(ctx):
                group = "Options used most" if brief else getattr(option, "group", "Options")
                groups.setdefault(group, []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(self.examples, formatter)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Misuse as error:
            raise click.UsageError(str(error), ctx) from None


def help_all() -> click.Option:
    return click.Option([ALL], is_flag=True, is_eager=True, expose_value=False, callback=_help_all,
                        help="show all options, in sections")  # fmt: skip


def _help_all(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        ctx.meta[ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"{'':{formatter.current_indent}}./dcflab {line}\n" for line in examples))


class Seeds(click.ParamType[list[int], str]):
    """Seeds: `3`, `1..5`, `1,4,9`, or a mixture; the value has them in order, each once."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        seeds: list[int] = []
        for part in str(value).split(","):
            first, dots, last = part.partition("..")
            if not (first.isdecimal() and (last.isdecimal() if dots else not last)):
                self.fail(f"{value}: a seed is a whole number; several are written 1..5 or 1,4,9", param, ctx)
            if len(first) > 19 or len(last) > 19 or max(int(first), int(last or 0)) >= 2**63:
                self.fail(f"{value}: a seed must be below 2^63", param, ctx)
            more = int(last or first) + 1 - int(first)
            if more < 1 or len(seeds) + more > 10_000:
                self.fail(f"{value}: give between 1 and 10000 seeds", param, ctx)
            seeds += range(int(first), int(first) + more)
        return list(dict.fromkeys(seeds))


class LaneName(click.ParamType[Lane, str]):
    """A lane by its name or path, with the settings from its own options."""

    name = "lane"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Lane:
        try:
            return lanes.with_settings(lanes.find(value), lane_settings(ctx)) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def lane_settings(ctx: click.Context | None) -> dict[str, Any]:
    found: dict[str, Any] = ctx.meta.setdefault("dcflab.lane", {}) if ctx else {}
    return found


def setting(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    """Store a setting for the lane, which click parses later."""
    if value:
        lane_settings(ctx)[str(parameter.name)] = Clock(value) if parameter.name == "clock" else value


def seeds(default: str = "1") -> click.Option:
    return click.Option(["--seeds", "--seed", "seeds"], type=Seeds(), default=default, show_default=True,
                        help="one seed, or several: 1..5, 1,4,9")  # fmt: skip


def out() -> click.Option:
    return click.Option(["--out"], type=click.Path(path_type=Path), metavar="FOLDER",
                        help="the run folder  [default: runs/NAME-TIME]")  # fmt: skip


def as_json(what: str) -> click.Option:
    return click.Option(["--json", "as_json"], is_flag=True, help=f"print {what}")


def full() -> click.Option:
    return click.Option(["--full"], is_flag=True, help="print all tables, claims and checks, as the report has them")


def as_junit() -> click.Option:
    return click.Option(["--junit"], type=click.Path(path_type=Path), metavar="FILE",
                        help="also write the results as JUnit XML, for a CI (docs/ci.md)")  # fmt: skip


def jobs() -> click.Option:
    return click.Option(["--jobs"], type=click.IntRange(1, 256),
                        help="number of lanes in parallel  [default: one per CPU]")  # fmt: skip


def formats() -> click.Option:
    return click.Option(["--figure-format", "formats"], type=click.Choice(FORMATS), multiple=True,
                        help=f"the format of the figures; repeat it for several  [default: {FORMATS[0]}]")  # fmt: skip


def figure_options() -> list[click.Option]:
    """Return the options for files of figures beside the report. They set `formats`, empty for no figures."""
    option = click.Option(["--figures/--no-figures"], default=None, expose_value=False, is_eager=True,
                         callback=_store_figures,
                         help="also write the report's figures as files; ./dcflab figures RUN does it later  "
                              "[default: --no-figures, but with --figure-format]")  # fmt: skip
    formats_option = formats()
    formats_option.callback = _formats
    return [option, formats_option]


def _store_figures(ctx: click.Context, parameter: click.Parameter, wanted: bool | None) -> None:
    ctx.meta["dcflab.figures"] = wanted


def _formats(ctx: click.Context, parameter: click.Parameter, formats: tuple[str, ...]) -> tuple[str, ...]:
    wanted = ctx.meta["dcflab.figures"]
    if wanted is False:
        return ()
    return formats or (FORMATS[:1] if wanted else ())


def resume() -> click.Option:
    return click.Option(["--resume"], type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="FOLDER",
                        help="continue in this run folder; finished runs are not repeated")  # fmt: skip


def trust() -> click.Option:
    return click.Option(["--trust"], is_flag=True,
                        help="build and run the modules and files that it names without asking")  # fmt: skip


def lane(default: str | None = lanes.DEFAULT) -> list[click.Option]:
    """Return the options for the lane and its settings."""
    kinds = f"{'|'.join(lanes.names())}, or the path of one of your own"
    lane_option: dict[str, Any] = {"expose_value": False, "is_eager": True, "callback": setting}
    return [
        click.Option(["--lane"], type=LaneName(), metavar="NAME", default=default, show_default=bool(default),
                     help=f"where to run: {kinds}"),
        click.Option(["--kernel", "stock"], metavar="RELEASE|PATH", **lane_option,
                     help="with --lane vm: the release or path of the kernel  [default: the latest]"),
        click.Option(["--clock"], type=click.Choice([each.value for each in Clock]), **lane_option,
                     help="with --lane vm: virtual time, or this machine's time  [default: virtual]"),
        click.Option(["--allow-late"], is_flag=True, **lane_option,
                     help="in real time: keep runs in which the lane was late"),
        click.Option(["--outside"], metavar="ADDRESS:PORT", multiple=True, **lane_option,
                     help="in real time: also let a RemoteController be at this address outside; can be repeated"),
    ]  # fmt: skip


@contextmanager
def another_place() -> Iterator[None]:
    """Raises Failure, which names --out, if a file may not be written in this block."""
    try:
        yield
    except PermissionError as error:
        raise Failure(f"{error.filename}: {error.strerror}; give another place with --out") from None


def command_line() -> str:
    """Return this program's command line, without the run folder."""
    words = sys.argv[1:]
    for option in ("--out", "--resume"):
        words = [word for word in words if not word.startswith(f"{option}=")]
        if option in words:
            at = words.index(option)
            del words[at : at + 2]
    return shlex.join(["./dcflab", *words])


def exec_program(program: str, *arguments: str) -> NoReturn:
    """Replace this process by another Python program of the checkout. Raises Failure."""
    from emulation.setup import require_all_packages

    require_all_packages()
    os.chdir(CHECKOUT)
    os.execv(sys.executable, [sys.executable, "-m", program, *arguments])


def size(octets: int) -> str:
    """Format a size for people."""
    return f"{octets / 1e6:.1f} MB" if octets >= 1e6 else f"{octets / 1e3:.0f} kB"
