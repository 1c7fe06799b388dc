# SPDX-License-Identifier: BSD-3-Clause
"""JUnit's XML: as the schema of Ant's task asks for, the strictest of those in use, and as the findings say."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from xml.etree import ElementTree as Xml

import click
import pytest
import yaml
from click.testing import CliRunner

import experiments
from emulation.cli.main import cli
from emulation.features.check import Finding, Name, Report, Stage
from emulation.features.check.junit import suite
from emulation.features.check.report import Check, Done
from emulation.features.claims import record
from emulation.play.junit import Case, Outcome, Suite, text

# By element: the attributes that it must and those that it may have, and its children in order, with how many at most.
MANY = 10**6
SCHEMA: dict[str, tuple[set[str], set[str], dict[str, int]]] = {
    "testsuites": (set(), set(), {"testsuite": MANY}),
    "testsuite": (
        {"package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"}, {"skipped"},
        {"properties": 1, "testcase": MANY, "system-out": 1, "system-err": 1},
    ),
    "testcase": ({"name", "classname", "time"}, set(), {"skipped": 1, "error": 1, "failure": 1}),
    "failure": ({"type"}, {"message"}, {}), "error": ({"type"}, {"message"}, {}), "skipped": (set(), {"message"}, {}),
    "properties": (set(), set(), {}), "system-out": (set(), set(), {}), "system-err": (set(), set(), {}),
}  # fmt: skip


def read(data: bytes) -> Xml.Element:
    """The file, which is held to the schema: its elements, and that each suite counts its own."""
    root = Xml.fromstring(data)
    assert root.tag == "testsuites"
    for element in root.iter():
        must, may, children = SCHEMA[element.tag]
        assert must <= set(element.keys()) <= must | may, element.tag
        order = [list(children).index(child.tag) for child in element]
        assert order == sorted(order) and all(order.count(n) <= most for n, most in enumerate(children.values()))
    for number, element in enumerate(root):
        assert element.get("id") == str(number) and len(element.findall("system-out")) == 1
        for count, path in (("tests", "testcase"), ("failures", "testcase/failure"), ("skipped", "testcase/skipped")):
            assert element.get(count) == str(len(element.findall(path)))
        assert all(len(case) <= 1 for case in element.iter("testcase")), "one outcome each"
        names = [case.get("name") for case in element.iter("testcase")]
        assert len(names) == len(set(names)) and not any("\n" in name for name in names if name)
    return root


FREED = Finding(Stage.WORKOUT, Name.USE_AFTER_FREE, "in f()", 2, ("BUG: KASAN: \x1b[1m<f>", "f+0x1/0x2"), "f", "m.c:7")
LEAKED = Finding(Stage.WORKOUT, Name.LEAK, "64 bytes")


def checked(*findings: Finding, modules: tuple[str, ...] = ("tcp_mine",)) -> Check:
    done = [Done(Stage.BUILD, "against uml", "", Report(Stage.BUILD, notes=("checkpatch: a space",), seconds=8.25))]
    for module in modules:
        mine = findings if module == modules[0] else ()
        done.append(Done(Stage.WORKOUT, "losses", module, Report(Stage.WORKOUT, mine, seconds=30)))
        done.append(Done(Stage.COMPARE, "the workout has findings", module))
    return Check("my/mine", {"--cycles": ["9"]}, modules, done)


def cases(root: Xml.Element) -> dict[str | None, str]:
    """What became of each case."""
    return {case.get("name"): case[0].tag if len(case) else "passed" for case in root.iter("testcase")}


def test_a_check_has_a_case_for_each_stage() -> None:
    root = read(text([suite(checked(FREED, LEAKED))]))
    assert cases(root) == {
        "build": "passed", "load": "skipped", "workout": "failure", "cycles": "skipped", "compare": "skipped",
    }  # fmt: skip
    [failure] = root.iter("failure")
    assert failure.get("type") == "use after free"
    assert failure.get("message") == "use after free, f, m.c:7: in f() (seed 2) (and 1 more)"
    said = failure.text or ""
    assert "BUG: KASAN: \ufffd[1m<f>" in said and "leak: 64 bytes" in said, "what XML cannot have is replaced"
    assert "again: ./dcflab module check my/mine --only workout --seeds 2\n" in said
    assert [case.get("classname") for case in root.iter("testcase")] == ["module check.mine"] * 5
    assert root[0].get("time") == "38.250" and root[0].findtext("system-out") == "build: checkpatch: a space"
    skipped = {
        case.get("name"): case[0].get("message") for case in root.iter("testcase") if case.find("skipped") is not None
    }
    assert skipped["load"] == "it was not asked for" and skipped["compare"] == "the workout has findings"


def test_of_several_modules_each_has_its_own() -> None:
    root = read(text([suite(checked(FREED, modules=("tcp_a", "tcp_b")))]))
    assert {name for name, what in cases(root).items() if what == "failure"} == {"workout tcp_a"}
    assert cases(root)["workout tcp_b"] == "passed"


def test_claims_are_cases_in_the_papers_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case for each column; those that are skipped are open, and those that fail are not reproduced."""
    file = tmp_path / "claims.xml"
    monkeypatch.setattr("emulation.features.claims.commands.claims.listing", lambda claims: None)
    assert CliRunner().invoke(cli, ["claims", "--junit", str(file)]).exit_code == 0
    root, known = read(file.read_bytes()), record.read().claims
    said = experiments.numbered()
    verdicts = {f"{number}, {column}: {said[number].text}": one for number, of in known.items()
                for column, one in of.columns.items()}  # fmt: skip
    became = cases(root)
    assert became.keys() == verdicts.keys()
    means = {"failure": {"not reproduced"}, "skipped": {"open"}, "passed": {"reproduced", "reproduced in kind"}}
    assert all(one.cause or one.verdict in means[became[name]] for name, one in verdicts.items())
    assert {suite.get("name") for suite in root} == {f"paper 00{n}" for n in range(5)}


def test_each_outcome_is_written() -> None:
    root = read(
        text([Suite("p", "s", [Case("a"), Case("b", Outcome.SKIPPED, "no"), Case("c", Outcome.FAILED, "<&", "x")])])
    )
    assert cases(root) == {"a": "passed", "b": "skipped", "c": "failure"}
    assert [failure.get("message") for failure in root.iter("failure")] == ["<&"]


@pytest.mark.parametrize("words", ["claims", "module check mine"])
@pytest.mark.parametrize(("there", "said"), [("no/a.xml", "there is no such folder"), (".", "it is a folder")])
def test_where_there_can_be_no_file_is_said_first(words: str, there: str, said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        cli.main([*words.split(), "--junit", there], standalone_mode=False)


CI = Path(__file__).parents[1] / "docs/ci.md"
COMMANDS = re.findall(r"(?:    \./dcflab|dcflab/dcflab) (.+)$", CI.read_text(), re.M)


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
    """As YAML; each writes the file that it names, and keeps it however the check ends."""
    jobs = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", CI.read_text(), re.S)]
    assert len(jobs) == 2 and len(COMMANDS) > 6
    steps = jobs[0]["jobs"]["check"]["steps"]
    assert any("--junit report.xml" in step.get("run", "") for step in steps)
    assert [step["with"].get("report_paths") for step in steps if step.get("if") == "always()"] == [None, "report.xml"]
    job = jobs[1]["module check"]
    assert any("--junit report.xml" in line for line in job["script"])
    assert job["artifacts"]["when"] == "always" and job["artifacts"]["reports"] == {"junit": "report.xml"}
