# SPDX-License-Identifier: BSD-3-Clause
"""JUnit XML: it follows the schema, and the CI page's jobs use it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
import yaml
from junit_file import cases, read
from rooms import needs

from emulation.cli.main import cli
from emulation.play.junit import Case, Outcome, Suite, text


def test_each_outcome_is_written() -> None:
    root = read(
        text([Suite("p", "s", [Case("a"), Case("b", Outcome.SKIPPED, "no"), Case("c", Outcome.FAILED, "<&", "x")])])
    )
    assert cases(root) == {"a": "passed", "b": "skipped", "c": "failure"}
    assert [failure.get("message") for failure in root.iter("failure")] == ["<&"]


@pytest.mark.parametrize(
    "words", [pytest.param("claims", marks=needs("claims")), pytest.param("module check mine", marks=needs("check"))]
)
@pytest.mark.parametrize(("there", "said"), [("no/a.xml", "there is no such folder"), (".", "it is a folder")])
def test_where_there_can_be_no_file_is_reported_first(words: str, there: str, said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        cli.main([*words.split(), "--junit", there], standalone_mode=False)


CI = Path(__file__).parents[1] / "docs/ci.md"
COMMANDS = re.findall(r"(?:    \./dcflab|dcflab/dcflab) (.+)$", CI.read_text(), re.M)


@needs("check", "claims")
@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_page_are_sound(line: str) -> None:
    command: click.Command = cli
    ctx, words = click.Context(cli), shlex.split(line)
    while isinstance(command, click.Group):
        found = command.get_command(ctx, words.pop(0))
        assert found, line
        command = found
    command.make_context("dcflab", words)


def test_the_pages_jobs_hand_the_report_on() -> None:
    """They are YAML; each writes the file that it names, and keeps it however the check ends."""
    jobs = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", CI.read_text(), re.S)]
    assert len(jobs) == 2 and len(COMMANDS) > 6
    steps = jobs[0]["jobs"]["check"]["steps"]
    assert any("--junit report.xml" in step.get("run", "") for step in steps)
    assert [step["with"].get("report_paths") for step in steps if step.get("if") == "always()"] == [None, "report.xml"]
    job = jobs[1]["module check"]
    assert any("--junit report.xml" in line for line in job["script"])
    assert job["artifacts"]["when"] == "always" and job["artifacts"]["reports"] == {"junit": "report.xml"}
