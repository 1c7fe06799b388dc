# SPDX-License-Identifier: BSD-3-Clause
"""Help of the command line, and suggestions for misspelt words."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from rooms import command_of, needs

import dcflab
from emulation.cli.groups import SECTIONS, RunCommands
from emulation.cli.main import cli, refusal
from emulation.specification import OPTIONS
from emulation.specification.medium import ABSENT

ROOT = Path(__file__).resolve().parents[1]


def shown(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments, prog_name="./dcflab").output


def refused(*arguments: str) -> tuple[str, str | None]:
    """Return the message of a misuse and its suggestions."""
    with pytest.raises(click.UsageError) as caught:
        cli.main(arguments, prog_name="./dcflab", standalone_mode=False)
    return refusal(caught.value)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("doctr", "doctor"),
        pytest.param("module chek", "check", marks=needs("check")),
        ("run strng", "string"),
        pytest.param("shell strng", "string", marks=needs("prompt")),
        ("bench sped", "speed"),
        ("run string --station 3", "--stations"),
        ("run string --rts ful", "full"),
        ("run string --tcp newrno", "newreno"),
        ("run string --link mes", "mesh"),
        ("run string --routing statc", "static"),
        ("run string --traffic bluk", "bulk"),
        ("run string --motion lin", "line"),
        ("run string --motion line,nod=sta1", "node"),
        ("run string --propagation disk", "disc"),
        ("run string --propagation log-distance,exponnt=4", "exponent"),
        ("run string --ackthin skp", "skip"),
        ("run string --ackthin skip,skp=2", "skip"),
        ("run string --lane virtul", "virtual"),
        ("run string --vary rat=2,11", "rate"),
        ("run rts-cts --variant ful", "full"),
        pytest.param("module check . --only workut", "workout", marks=needs("check")),
    ],
)
def test_what_was_meant_is_reported(arguments: str, meant: str) -> None:
    assert refused(*arguments.split())[1] == meant


@pytest.mark.parametrize(
    "arguments", ["xyzzy", "run string --tcp xyzzy", "run string --stations 0", "run string --rts 7"]
)
def test_what_is_like_nothing_has_no_hint(arguments: str) -> None:
    assert refused(*arguments.split())[1] is None


def test_the_version_is_the_projects() -> None:
    assert f'version = "{shown("--version").split()[1]}"' in (ROOT / "pyproject.toml").read_text()
    assert shown("--version").split()[1] == dcflab.__version__


def test_help_names_the_program_and_every_default() -> None:
    """No text says `python -m`."""
    text = shown("run", "string", "--help-all")
    assert text.startswith("Usage: ./dcflab run string [OPTIONS]")
    for name, field in OPTIONS.items():
        if name in ("own", "topology", "parameters") or name in ABSENT:
            continue
        lines = text.split("\n  --" + name.replace("_", "-"), 1)[1].split("\n  --")[0]
        assert (field.default is None) == ("[default:" not in lines), name


SHELL = pytest.param("shell string", marks=needs("prompt"))


@pytest.mark.parametrize("command", ["run string", "run rts-cts", SHELL])
def test_help_has_the_options_in_groups_and_examples(command: str) -> None:
    text = shown(*command.split(), "--help-all")
    titles = ["Network:", "Radios:", "The air:", "Flows, TCP and queues:", "Modules and plug-ins:",
              "What is measured:", "Options:"]  # fmt: skip
    at = [text.index(f"\n{title}\n") for title in titles]
    assert at == sorted(at)
    lines = text.split("\nExamples:\n")[1].splitlines()
    assert lines and all(line.startswith(f"  ./dcflab {command}") for line in lines)
    for line in lines:  # each is sound, but for a lane that is not there
        assert "there is no file none.py" in refused(*shlex.split(line)[1:], "--lane", "none.py")[0]


@pytest.mark.parametrize(
    "command", ["run string", "run mobile", "run rts-cts", SHELL, pytest.param("sweep rts-cts", marks=needs("sweeps"))]
)
def test_the_short_help_has_what_people_use_first(command: str) -> None:
    """At most ten options, and how to see the others."""
    text = shown(*command.split(), "--help")
    _, options = text.split("Examples:")[0].split("\nOptions used most:\n")
    there = re.findall(r"^  (--[\w-]+)", options, re.MULTILINE)
    assert there[-1] == "--help-all" and len(there) <= 11 and {"--seconds", "--seeds", "--rate"} <= {*there}
    assert "--stations" in there and len(text.splitlines()) < 45 and max(map(len, text.splitlines())) <= 82
    assert len(shown(*command.split(), "--help-all")) > 3 * len(text)


def test_commands_are_listed_in_groups_on_a_line_each() -> None:
    """In at most 80 columns. Each command's file names its group, and no list has it."""
    text = shown("--help")
    sections = re.findall(r"^([A-Z][\w ]+):\n((?:  \S.*\n)+)", text, re.MULTILINE)
    titles = [title for title, _ in sections if title not in ("Options", "Examples")]
    assert titles == [title for title in SECTIONS if title in titles], "a command without a group, or in another"
    listed = [line.split()[0] for title, lines in sections if title in SECTIONS for line in lines.splitlines()]
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    for line in text.splitlines():
        assert len(line) <= 80, line
    for _, lines in sections:
        assert all(line.rstrip().endswith(".") for line in lines.splitlines() if line.split()[0] in listed)


def commands(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Return all commands; of those for topologies, studies and labs, one each."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        if (command := command_of(group, ctx, name)) is None:
            continue
        if isinstance(group, RunCommands) and name not in ("string", "rts-cts"):
            continue
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that examples name."""
    where = tmp_path_factory.mktemp("examples")
    for folder in (
        "runs/rts-cts-…/full-1",
        "runs/string-…",
        "runs/mobile-…",
        "hidden-terminal-ada",
        "sheets",
        "hostap",
    ):
        (where / folder).mkdir(parents=True)
    for file in ("my_study.py", "my_script.py"):
        (where / file).touch()
    shutil.copy(ROOT / "tests/plugins/topologies/ring.py", where / "ring.py")
    (where / "my_sweep.toml").write_text('topology = "string"\n[grid]\nrts = ["none", "full"]\n')
    (where / "names.csv").write_text("ada\n")
    return where


ALL = list(commands(cli))


@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_each_command_has_an_example_that_is_sound(
    words: tuple[str, ...], command: click.Command, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line accepts it: all options exist and their values are valid."""
    monkeypatch.chdir(place)
    examples = list(getattr(command, "examples", ()))
    assert examples and all(isinstance(line, str) for line in examples)
    for line in examples:
        arguments = shlex.split(line.replace("~/", ""))
        assert tuple(arguments[: len(words[:1])]) == words[:1], line
        context = cli.make_context("./dcflab", arguments)
        while isinstance(context.command, click.Group) and (rest := [*context._protected_args, *context.args]):
            name, found, left = context.command.resolve_command(context, rest)
            assert found is not None, line
            try:
                context = found.make_context(name, left, parent=context)
            except click.exceptions.Exit:  # --help
                break


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("export", marks=needs("export")),
        pytest.param("claims", marks=needs("claims")),
        pytest.param("lab check", marks=needs("labs")),
        "view",
        "replay",
    ],
)
def test_arguments_are_in_the_usage_and_not_among_options(command: str) -> None:
    """An option begins with a dash."""
    usage, options = shown(*command.split(), "--help").split("Options:\n")
    assert usage.splitlines()[0].endswith(("RUN_FOLDER", "[NUMBERS]...", "NAME ANSWERS"))
    assert all(
        line.startswith("  -") for line in options.splitlines() if line[:2] == "  " and line[2:3] not in (" ", ".")
    )
