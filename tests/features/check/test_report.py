# SPDX-License-Identifier: BSD-3-Clause
"""What a check says: a row for each stage, each finding once and with the command that shows it again; and its JSON."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
from pathlib import Path

import pytest
from rich.console import Console

from emulation.features.check import Finding, Name, Report, Stage, coverage, new
from emulation.features.check.report import Check, Done, merge, plain, show, write
from emulation.lane.errors import Misuse

SPLAT = ("BUG: KASAN: use-after-free in f+0x1/0x2 [tcp_mine]", "Stack:", " 00ff00ff 00ff00ff", "Call Trace:",
         " [<60041ad0>] ? dump_trace+0x0/0x2c0", " [<60041ad1>] kasan_report+0xc1/0xf0",
         " [<602b>] __asan_load8+0x7/0x8",
         " [<8081a041>] f+0x1/0x2 [tcp_mine] (m.c:7)", *["more"] * 20)  # fmt: skip
FREED = Finding(Stage.WORKOUT, Name.USE_AFTER_FREE, "use-after-free in f [tcp_mine]", 2, SPLAT, "f [tcp_mine]", "m.c:7")
EARLY = Finding(Stage.LOAD, Name.REFUSED_LOAD, "File exists", 1)
UNUSED = Finding(
    Stage.BUILD, Name.WARNING, "unused variable 'a' (6.1.0-56-amd64)", console=("  | int a;",), where="m.c:3"
)
STUCK = Finding(Stage.CYCLES, Name.REFUSED_UNLOAD, "1 reference is left", 1)
GIVEN = {
    "--strict": [],
    "--hops": ["3,4"],
    "--cycles": ["50"],
    "--kernels": ["6.1"],
    "--options": ["hex:00"],
    "--seeds": ["1..3"],
    "--only": ["build"],
}


def check(*findings: Finding, modules: tuple[str, ...] = ("tcp_mine",)) -> Check:
    """A check of these modules; the findings are the first one's."""
    done = []
    for module in modules:
        for stage in Stage:
            mine = tuple(f for f in findings if f.stage is stage and module == modules[0])
            done.append(Done(stage, f"what {stage} did", module, Report(stage, mine, (f"note of {stage}",), 1.25)))
    return Check("my modules/mine", GIVEN, modules, done)


def shown(check: Check) -> str:
    file = io.StringIO()
    show(check, Console(file=file, width=140, no_color=True))
    return file.getvalue()


def again(check: Check) -> list[str]:
    return [shlex.join(shlex.split(check.again(done, finding))[2:]) for done, finding in check.findings]


def test_a_finding_of_several_seeds_is_reported_once_with_the_first_seed() -> None:
    def report(seed: int, *texts: str) -> Report:
        found = tuple(Finding(Stage.WORKOUT, Name.LEAK, text, seed) for text in texts)
        return Report(Stage.WORKOUT, found, ("note",), seconds=seed, data={"seed": seed})

    load = Report(Stage.LOAD)
    (first, merged) = merge([[load, report(1, "a")], [load], [load, report(3, "b", "a")]])
    assert (first, merged.seconds, merged.data, merged.notes) == (load, 3, {"seed": 1}, ("note",))
    assert [(finding.text, finding.seed) for finding in merged.findings] == [("a", 1), ("b", 3)]


def test_the_lines_that_ran_are_those_of_all_seeds() -> None:
    """And those that never ran are named, each row of them as one."""

    def report(*counts: int) -> Report:
        return Report(Stage.WORKOUT, data={"coverage": {"m.c": {str(10 * n): c for n, c in enumerate(counts, 1)}}})

    (merged,) = merge([[report(1, 0, 0, 0, 2, 0)], [report(0, 0, 0, 3, 1, 0)]])
    assert coverage.summary(merged.data["coverage"]) == "3 of its 6 lines ran; these did not: m.c:20-30, m.c:60"
    assert coverage.summary({}) == ""


def test_the_lines_that_ran_are_read_from_wherever_one_is(tmp_path, monkeypatch):
    built, kept = tmp_path / "built", tmp_path / "kept"
    for folder in (built, kept):
        folder.mkdir()
    (built / "m.c").write_text("int main(int n, char **a)\n{\n\tif (n > 1)\n\t\treturn 2;\n\treturn 0;\n}\n")
    for command in (["gcc", "--coverage", "-c", "m.c"], ["gcc", "--coverage", "m.o", "-o", "m"], ["./m"]):
        subprocess.run(command, cwd=built, check=True)
    (built / "m.gcda").rename(kept / "m.gcda")
    monkeypatch.chdir(tmp_path)
    assert coverage.read(Path("kept"), built)["m.c"] == {"1": 1, "3": 1, "4": 0, "5": 1}


def test_each_finding_has_the_command_that_shows_it_again() -> None:
    """With the options that its stage depends on, and its seed."""
    assert again(check(UNUSED, EARLY, FREED, STUCK)) == [
        "check 'my modules/mine' --only build --strict --kernels 6.1",
        "check 'my modules/mine' --only load --seeds 1",
        "check 'my modules/mine' --only workout --options hex:00 --seeds 2",
        "check 'my modules/mine' --only cycles --cycles 50 --options hex:00 --seeds 1",
    ]
    assert again(check(FREED, modules=("tcp_mine", "sch_mine"))) == [
        "check 'my modules/mine' --only workout --options hex:00 --seeds 2 --module tcp_mine"
    ]


def test_a_person_reads_verdicts_and_the_telling_lines_of_a_splat() -> None:
    text = shown(check(FREED, UNUSED))
    rows = [line for line in text.splitlines() if "what " in line and " did" in line]
    assert ["1 finding" in row for row in rows] == [True, False, True, False, False, False, False]
    assert "f [tcp_mine]  m.c:7  (workout, seed 2)" in text
    assert "f+0x1/0x2 [tcp_mine] (m.c:7)" in text
    assert not any(word in text for word in ("dump_trace", "00ff00ff", "kasan_report", "asan_load"))
    assert f"{len(SPLAT)} lines in report.md" in text
    assert "note: note of build" in text


def test_what_was_left_out_is_reported() -> None:
    text = shown(Check("mine", {}, ["mine"], [Done(Stage.COMPARE, "mend what was found first", "mine")]))
    assert "left out" in text
    assert "clean" not in text


def test_a_program_reads_json(tmp_path: Path) -> None:
    write(check(FREED), tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == json.loads(json.dumps(plain(check(FREED))))
    assert (report["version"], report["clean"], report["modules"]) == (1, False, ["tcp_mine"])
    (finding,) = (finding for stage in report["stages"] for finding in stage["findings"])
    assert (finding["name"], finding["seed"], finding["where"]) == ("use after free", 2, "f [tcp_mine]")
    assert len(finding["console"]) == len(SPLAT)
    assert finding["again"].startswith("./dcflab module check ")
    assert plain(check())["clean"]


def test_the_report_has_all_lines_and_the_curves(tmp_path: Path) -> None:
    (tmp_path / "curves.png").touch()
    write(check(FREED, UNUSED), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert text.startswith("# module check my modules/mine\n")
    assert "\n".join(SPLAT) in text
    assert "(curves.png)" in text
    assert text.count("```") % 2 == 0


@pytest.mark.parametrize("kind", list(new.PREFIX))
def test_a_new_module_is_called_as_it_should(tmp_path: Path, kind: str) -> None:
    """The file and the module by the whole name, what the kernel's users call it by the short one."""
    name = f"{new.PREFIX[kind]}mine"
    file = new.make(name, kind, tmp_path)
    assert sorted(path.name for path in file.parent.iterdir()) == ["Kbuild", f"{name}.c"]
    assert f"obj-m := {name}.o" in (file.parent / "Kbuild").read_text()
    assert '= "mine",' in file.read_text()
    assert "CHANGE" in file.read_text()
    assert "template" not in file.read_text()
    with pytest.raises(Misuse, match="exists"):
        new.make(name, kind, tmp_path)
