# SPDX-License-Identifier: BSD-3-Clause
"""What a check found, as JUnit's XML."""

from __future__ import annotations

from junit_file import cases, read

from emulation.features.check import Finding, Name, Report, Stage
from emulation.features.check.junit import suite
from emulation.features.check.report import Check, Done
from emulation.play.junit import text

FREED = Finding(Stage.WORKOUT, Name.USE_AFTER_FREE, "in f()", 2, ("BUG: KASAN: \x1b[1m<f>", "f+0x1/0x2"), "f", "m.c:7")
LEAKED = Finding(Stage.WORKOUT, Name.LEAK, "64 bytes")


def checked(*findings: Finding, modules: tuple[str, ...] = ("tcp_mine",)) -> Check:
    done = [Done(Stage.BUILD, "against uml", "", Report(Stage.BUILD, notes=("checkpatch: a space",), seconds=8.25))]
    for module in modules:
        mine = findings if module == modules[0] else ()
        done.append(Done(Stage.WORKOUT, "losses", module, Report(Stage.WORKOUT, mine, seconds=30)))
        done.append(Done(Stage.COMPARE, "the workout has findings", module))
    return Check("my/mine", {"--cycles": ["9"]}, modules, done)


def test_a_check_has_a_case_for_each_stage() -> None:
    root = read(text([suite(checked(FREED, LEAKED))]))
    assert cases(root) == {
        "build": "passed", "load": "skipped", "workout": "failure", "cycles": "skipped",
        "reference": "skipped", "smp": "skipped", "compare": "skipped",
    }  # fmt: skip
    [failure] = root.iter("failure")
    assert failure.get("type") == "use after free"
    assert failure.get("message") == "use after free, f, m.c:7: in f() (seed 2) (and 1 more)"
    said = failure.text or ""
    assert "BUG: KASAN: \ufffd[1m<f>" in said and "leak: 64 bytes" in said, "what XML cannot have is replaced"
    assert "again: ./dcflab module check my/mine --only workout --seeds 2\n" in said
    assert [case.get("classname") for case in root.iter("testcase")] == ["module check.mine"] * len(Stage)
    assert root[0].get("time") == "38.250" and root[0].findtext("system-out") == "build: checkpatch: a space"
    skipped = {
        case.get("name"): case[0].get("message") for case in root.iter("testcase") if case.find("skipped") is not None
    }
    assert skipped["load"] == "it was not asked for" and skipped["compare"] == "the workout has findings"


def test_of_several_modules_each_has_its_own() -> None:
    root = read(text([suite(checked(FREED, modules=("tcp_a", "tcp_b")))]))
    assert {name for name, what in cases(root).items() if what == "failure"} == {"workout tcp_a"}
    assert cases(root)["workout tcp_b"] == "passed"
