# SPDX-License-Identifier: BSD-3-Clause
"""What the command line says of itself, and of what was misspelt."""

from __future__ import annotations

import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import dcflab
from emulation.cli.main import cli, refusal
from emulation.specification import OPTIONS

ROOT = Path(__file__).resolve().parents[1]


def shown(*arguments: str) -> str:
    return CliRunner().invoke(cli, arguments, prog_name="./dcflab").output


def refused(*arguments: str) -> tuple[str, str | None]:
    """What is said of a misuse, and what may have been meant."""
    with pytest.raises(click.UsageError) as caught:
        cli.main(arguments, prog_name="./dcflab", standalone_mode=False)
    return refusal(caught.value)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("doctr", "doctor"),
        ("module chek", "check"),
        ("run strng", "string"),
        ("shell strng", "string"),
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
        ("module check . --only workut", "workout"),
    ],
)
def test_what_was_meant_is_said(arguments: str, meant: str) -> None:
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
    """Nobody is told to type `python -m`."""
    text = shown("run", "string", "--help")
    assert text.startswith("Usage: ./dcflab run string [OPTIONS]")
    for name, field in OPTIONS.items():
        if name in ("own", "topology", "parameters"):
            continue
        lines = text.split("\n  --" + name.replace("_", "-"), 1)[1].split("\n  --")[0]
        assert (field.default is None) == ("[default:" not in lines), name


@pytest.mark.parametrize("command", ["run string", "run rts-cts", "shell string"])
def test_help_has_the_options_in_groups_and_examples(command: str) -> None:
    text = shown(*command.split(), "--help")
    titles = ["Network:", "Radios:", "The air:", "Flows, TCP and queues:", "Modules and plug-ins:",
              "What is measured:", "Options:"]  # fmt: skip
    at = [text.index(f"\n{title}\n") for title in titles]
    assert at == sorted(at)
    lines = text.split("\nExamples:\n")[1].splitlines()
    assert lines and all(line.startswith(f"  ./dcflab {command}") for line in lines)
    for line in lines:  # each is sound, but for a lane that is not there
        assert "there is no file none.py" in refused(*shlex.split(line)[1:], "--lane", "none.py")[0]


@pytest.mark.parametrize("command", ["export", "claims", "lab check", "view", "replay"])
def test_arguments_are_in_the_usage_and_not_among_options(command: str) -> None:
    """An option begins with a dash."""
    usage, options = shown(*command.split(), "--help").split("Options:\n")
    assert usage.splitlines()[0].endswith(("RUN_FOLDER", "[NUMBERS]...", "NAME ANSWERS"))
    assert all(
        line.startswith("  -") for line in options.splitlines() if line[:2] == "  " and line[2:3] not in (" ", ".")
    )
