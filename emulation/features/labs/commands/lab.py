# SPDX-License-Identifier: BSD-3-Clause
"""`lab`: list the labs of a course, start one, hand it out, or mark answers."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

import labs
from emulation.cli import own
from emulation.cli.command import Command, as_json, as_junit, jobs, trust
from emulation.cli.groups import Group
from emulation.features.labs import begin, marks, roster, sheet
from emulation.features.labs.judge import Answer, Marked, State, judge, most_points
from emulation.features.labs.marks import Mark
from emulation.lane.errors import Misuse
from emulation.play import junit as xml
from emulation.play.lab import Lab
from emulation.play.session import provide
from emulation.setup import require_all_packages
from labs import SHEET, Found

HOW = {State.RIGHT: "green", State.PARTLY: "yellow", State.NOT_YET: "red"}


def found(name: str) -> Found:
    """Return the lab of this name, or at this path. Raises Misuse."""
    try:
        return labs.find(name)
    except ValueError as error:
        raise Misuse(str(error)) from None


class Labs(Group):
    """`lab` lists the labs; with the name of a lab, it shows that lab."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = "[NAME [OPTIONS] | class NAMES.csv [OPTIONS] | check NAME ANSWERS [OPTIONS]]"
        formatter.write_usage(ctx.command_path, options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["check", "class", *labs.names()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in (CHECK.name, CLASS.name):
            return CHECK if cmd_name == CHECK.name else CLASS
        return of_lab(cmd_name) if cmd_name in labs.names() or labs.is_path(cmd_name) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command: click.Command | None = None
        if labs.is_path(args[0]) and own.other_writers(program := str(Path(args[0], labs.FILE))):
            try:
                command, rest = own.command_unless_trusted(program, "lab", args[1:], ctx.help_option_names)
            except Misuse as error:
                raise click.UsageError(str(error), ctx) from None
            args = [args[0], *rest]
        if (command := command or self.get_command(ctx, args[0])) is None:
            there = ", ".join(labs.names())
            raise click.UsageError(f"there is no lab {args[0]!r}; there are: {there}, or the path of one", ctx)
        return args[0], command, args[1:]


def listing(as_json: bool) -> None:
    """Print the labs, what each teaches, and how long it takes."""
    all_ = [labs.find(name) for name in labs.names()]
    if as_json:
        rows = [{"name": each.name, "title": each.lab.title, "teaches": each.lab.teaches, "minutes": each.lab.minutes,
                 "points": sum(map(most_points, each.lab.questions))} for each in all_]  # fmt: skip
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    width = max(len(each.name) for each in all_)
    for each in all_:
        click.echo(f"{each.name:{width}}  {each.lab.minutes:3} min  {each.lab.teaches}")
    click.echo("\n./dcflab lab NAME shows one; ./dcflab lab NAME --student YOU begins it")


def of_lab(name: str) -> click.Command:
    """Return the command that shows a lab, or begins it."""

    def callback(student: str | None, out: Path | None, as_json: bool) -> None:
        one = found(name)
        if student is None and out:
            raise Misuse("--out needs --student NAME")
        if student is None:
            return show(one, as_json)
        who = sheet.student_named(one, student)
        folder = out or Path(roster.folder_name(one, who))
        begin.check(one, who)
        answers = begin.begin(one, who, folder)
        if as_json:
            click.echo(json.dumps({"folder": str(folder), "answers": str(answers), **begin.own_numbers(who)}))
            return
        click.echo(f"{folder}/{begin.WRITTEN} is your handout: its commands have your numbers, seed {who.seed}")
        check = f"./dcflab lab check {shlex.quote(name)} {shlex.quote(str(folder))}"
        click.echo(f"{answers} is your sheet; fill it in and run {check}")

    params = [
        click.Option(["--student"], metavar="NAME", help="make your folder; your name decides the seed"),
        click.Option(["--out"], type=click.Path(path_type=Path), metavar="FOLDER",
                     help="your folder  [default: LAB-NAME]"),
        as_json("what the lab is, or where your folder is, as JSON"),
    ]  # fmt: skip
    title = found(name).lab.title
    return Command(name, [f"lab {name}", f"lab {name} --student ada"], params=params, callback=callback, help=title)


def show(one: Found, as_json: bool) -> None:
    lab = one.lab
    if as_json:
        asked = [{"name": q.name, "asks": q.asks, "points": q.points} for q in lab.questions]
        what = {"name": one.name, "title": lab.title, "teaches": lab.teaches, "minutes": lab.minutes,
                "handout": str(one.folder / labs.HANDOUT), "questions": asked}  # fmt: skip
        click.echo(json.dumps(what, indent=1, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=None if sys.stdout.isatty() else 110).print(Markdown(begin.handout(one)))
    click.echo(f"\nThe drawing: {one.folder}/*.svg. To begin: ./dcflab lab {one.name} --student YOU")


def check(name: str, answers: Path, as_json: bool, junit: Path | None, jobs: int | None, trust: bool) -> None:
    """Mark a sheet of answers with its programs, or all sheets of a folder.

    ANSWERS is a sheet, a student's folder, or a folder of either. The right answers come from a run of the lab with the
    student's seed. For a folder it writes marks.csv and marks.json there. The exit status is 1 if a
    single sheet has a wrong or missing answer, or if one of several sheets is broken.
    """
    if labs.is_path(name) and own.other_writers(program := str(Path(name, labs.FILE))):
        own.confirm(program, "lab", trust)
    one = found(name)
    if not answers.exists():
        raise Misuse(f"there is no {answers}")
    many = answers.is_dir() and not (answers / SHEET).exists()
    if junit and not many:
        raise Misuse("--junit is for a folder of sheets")
    xml.check_writable(junit)
    theirs = None if many else sheet.read(one, answers)
    require_all_packages()
    lab = provide()
    if theirs is None:
        return check_all(lab, one, answers, as_json, junit, jobs)
    marked = judge(lab, one, theirs, jobs)
    if as_json:
        click.echo(json.dumps(as_data(marked), indent=1, ensure_ascii=False))
    else:
        say(one, marked)
    sys.exit(0 if marked.points == marked.of else 1)


def as_data(marked: Marked) -> dict[str, Any]:
    """Return a judged sheet as JSON."""
    return {**marked.model_dump(mode="json"), "points": marked.points, "of": marked.of}


def say(one: Found, marked: Marked) -> None:
    """Print each answer's state and hint."""
    click.echo(f"{one.lab.title}: {marked.student}, seed {marked.seed}: {marked.points} of {marked.of} points")
    width = max(len(answer.question) for answer in marked.answers)
    for answer in marked.answers:
        click.echo(f"  {answer.question:{width}}  {line(answer)}")


def line(answer: Answer) -> str:
    points = f" ({answer.points} of {answer.of})" if answer.state is State.PARTLY else ""
    several = "\n" in answer.hint
    hint = "".join(f"\n      {each}" for each in answer.hint.splitlines()) if several else answer.hint
    shown = f":{' ' * (not several)}{hint}" if hint else ""
    return click.style(answer.state, fg=HOW.get(answer.state)) + points + shown


def check_all(lab: Lab, one: Found, folder: Path, as_json: bool, junit: Path | None, jobs: int | None) -> None:
    """Mark a folder of sheets, and print a row for each."""

    def on_mark(name: str, mark: Mark) -> None:
        if not as_json:
            click.echo(row(name, mark))

    try:
        kept = marks.mark(lab, one, folder, jobs, on_mark)
    except KeyboardInterrupt:
        click.echo(f"the marks so far are in {folder / marks.FILE}; run the same command to continue", err=True)
        raise
    written = marks.table(folder, kept)
    if junit:
        xml.write(junit, marks.suites(kept))
    broken = [mark for mark in kept.sheets.values() if mark.broken]
    if as_json:
        rows = [{"sheet": name, **(as_data(mark.marked) if mark.marked else {"broken": mark.broken}),
                 "alike": kept.alike().get(name, [])} for name, mark in kept.sheets.items()]  # fmt: skip
        click.echo(json.dumps({"lab": one.name, "sheets": rows}, indent=1, ensure_ascii=False))
    else:
        for name, others in kept.alike().items():
            click.echo(f"{name}: the same wrong numbers as {', '.join(others)}")
        for student, names in kept.twice().items():
            click.echo(f"{student}: several sheets: {', '.join(names)}")
        full = f", {len(broken)} broken" if broken else ""
        click.echo(f"{len(kept.sheets)} sheets{full}; table: {written}; details: {folder / marks.FILE}")
    sys.exit(1 if broken else 0)


def row(name: str, mark: Mark) -> str:
    if mark.marked is None:
        return f"{name}: broken: {mark.broken}"
    signs = {State.RIGHT: "+", State.PARTLY: "~", State.NOT_YET: "-", State.NO_ANSWER: ".", State.TEACHER: "t"}
    states = " ".join(f"{answer.question} {signs[answer.state]}" for answer in mark.marked.answers)
    return f"{name}: {mark.marked.student}: {mark.marked.points} of {mark.marked.of}: {states}"


def hand_out(names: Path, only: tuple[str, ...], out: Path, as_json: bool) -> None:
    """Make the folders of a whole class: for each lab and each name of NAMES.csv one to hand out.

    NAMES.csv has a name per line, or a column with the heading "name". Each folder has the handout in HTML with the
    student's own numbers and questions, the network, and an empty sheet of answers. It has no answers. Run it again to
    add students; existing folders are kept. To mark: ./dcflab lab check LAB FOLDER/LAB writes marks.csv.
    """
    class_ = roster.names(names)
    chosen = [found(name) for name in only or labs.names()]
    made = roster.make(chosen, class_, out)
    if as_json:
        click.echo(json.dumps({"new": [str(each) for each in made.new], "kept": [str(each) for each in made.kept]}))
        return
    kept = f", {len(made.kept)} kept as they are" if made.kept else ""
    click.echo(f"{len(class_)} names, {len(chosen)} labs: {len(made.new)} new folders{kept} in {out}/")
    click.echo(f"hand out {out}/LAB/LAB-NAME/ (to print: {roster.PAGE}); collect the folders or their {SHEET} there")
    click.echo(f"to mark: ./dcflab lab check {chosen[0].name} {shlex.quote(str(out / chosen[0].name))}")


CLASS = Command(
    "class", ["lab class names.csv", "lab class names.csv --lab hidden-terminal --out monday"],
    params=[
        click.Argument(["names"], type=click.Path(path_type=Path), metavar="NAMES.csv"),
        click.Option(["--lab", "only"], metavar="LAB", multiple=True,
                     help="only this lab; repeat it for several  [default: all]"),
        click.Option(["--out"], type=click.Path(path_type=Path, file_okay=False), default=Path("class"),
                     metavar="FOLDER", show_default=True, help="the folder of the class"),
        as_json("the folders as JSON"),
    ],
    callback=hand_out, help=hand_out.__doc__,
)  # fmt: skip
CHECK = Command(
    "check", ["lab check hidden-terminal hidden-terminal-ada", "lab check hidden-terminal sheets --junit marks.xml"],
    params=[
        click.Argument(["name"], metavar="NAME"),
        click.Argument(["answers"], type=click.Path(path_type=Path), metavar="ANSWERS"),
        as_json("what was judged, as JSON"),
        as_junit(),
        jobs(),
        trust(),
    ],
    callback=check, help=check.__doc__,
)  # fmt: skip


@click.pass_context
def _callback(ctx: click.Context, as_json: bool) -> None:
    if ctx.invoked_subcommand is None:
        listing(as_json)
    elif as_json:
        raise click.UsageError("--json comes after the lab's name", ctx)


GROUP = "Teach"
COMMAND = Labs(
    "lab", invoke_without_command=True, params=[as_json("the labs as JSON")], callback=_callback,
    help="List the labs of a course, start one, hand it out, or mark answers.",
    examples=["lab", "lab hidden-terminal", "lab hidden-terminal --student ada", *CLASS.examples, *CHECK.examples],
)  # fmt: skip
