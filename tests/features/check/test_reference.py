# SPDX-License-Identifier: BSD-3-Clause
"""The stage reference: what two logs of calls say of each other, and a changed copy of the kernel's Veno in a lane."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from emulation.features.check import Name, build, calls, reference, subject
from emulation.features.check.changes import Changes, Source
from emulation.features.check.subject import Kind, Module

VENO = "net/ipv4/tcp_veno.c"
HAS = "= options\n0 register 0 flags=0 has ssthresh undo_cwnd\n= round 1: lost 0.03\n"
ONE = "1000000000 pkts_acked 0:40000>4100 acked=1 snd_cwnd=10 |aa\n"
TWO = "2000000000 ssthresh 0:40000>4100 before=10/99 returned=8 snd_cwnd=10 |aa\n"
C = """\
#define LEAST 2 /* segments */
static int half(int x)
{
	return x / 2;
}

static u32 my_ssthresh(struct sock *sk)
{
	return max(half(window(sk)), LEAST);
}

static void other(void)
{
	do_this();
}

static struct tcp_congestion_ops ops = {
	.ssthresh	= my_ssthresh,
};
"""


def differ(one: str, other: str, has: str = HAS) -> calls.Difference | None:
    return calls.compare(calls.read(HAS + one), calls.read(has + other))


def test_equal_calls_do_not_differ_and_neither_does_state_alone() -> None:
    assert differ(ONE + TWO, ONE + TWO) is None
    assert differ(ONE + TWO, ONE.replace("|aa", "|bb") + TWO) is None


def test_the_first_difference_is_told_with_both_answers_and_where_the_state_differed_before() -> None:
    found = differ(ONE + TWO, ONE.replace("|aa", "|bb") + TWO.replace("returned=8", "returned=6"))
    assert found and (found.operation, found.equal, found.earlier) == ("ssthresh", 1, "pkts_acked")
    assert found.text() == (
        "at 2.000000 s ssthresh of the flow from port 40000 to 4100 returns 6; that of the reference returns 8 "
        "(before 10/99)"
    )


def test_another_call_and_a_missing_one_are_told() -> None:
    found = differ(TWO, ONE)
    assert found and "pkts_acked of the flow from port 40000 to 4100 is called next, of the ref" in found.text()
    found = differ(ONE + TWO, ONE)
    assert found and "the module is not called any more in this round" in found.text()
    found = differ(ONE, "0 died 0\n")
    assert found and found.text() == "the module ends the kernel, or hangs, in round 1: lost 0.03"
    assert differ("0 died 0\n", ONE) is None


def test_an_operation_that_only_one_of_both_has_does_not_count() -> None:
    assert differ(ONE + TWO, TWO, HAS) is not None
    assert differ(TWO, ONE + TWO, HAS.replace(" undo_cwnd", " undo_cwnd pkts_acked")) is None


@pytest.mark.parametrize(
    "old, new, line, function",
    [
        ("x / 2", "x / 3", 4, "half"),
        ("LEAST 2", "LEAST 1", 1, ""),
        ("do_this", "do_that", 14, "other"),
    ],
)
def test_changes_are_found_with_their_functions(old: str, new: str, line: int, function: str) -> None:
    changes = Changes(Source("m.c", C), Source("m.c", C.replace(old, new)))
    assert changes.lines == [line] and changes.source.function_at(line) == function
    assert changes.source.operations == {"ssthresh": "my_ssthresh"} and 0 < changes.share < 0.1


def test_what_the_operation_calls_comes_before_other_changes() -> None:
    changes = Changes(Source("m.c", C), Source("m.c", C.replace("do_this", "do_that").replace("x / 2", "x / 3")))
    assert changes.nearest(["my_ssthresh"]) == [4]
    assert changes.nearest(["unknown"]) == [4, 14]


def test_comments_and_spaces_are_no_changes() -> None:
    other = C.replace("/* segments */", "// of\n").replace("x / 2", "x  /  2").replace("static void", "\nstatic void")
    assert not Changes(Source("m.c", C), Source("m.c", other)).lines


def test_the_reference_is_the_kernels_own_of_that_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "net/ipv4").mkdir(parents=True)
    (tmp_path / VENO).write_text(C)
    monkeypatch.setattr(reference, "sources", lambda: tmp_path)
    (tmp_path / "mine.c").write_text('static struct tcp_congestion_ops x = {\n\t.name = "veno",\n};\n')
    mine = subject.find(tmp_path / "mine.c")
    module = Module("mine", tmp_path / "mine.ko", Kind.CONGESTION)
    found = reference.find("kernel", module, mine, "6.12.1")
    assert isinstance(found, reference.Reference) and found.automatic
    assert (found.file, found.name) == (tmp_path / VENO, "net/ipv4/tcp_veno.c of Linux 6.12.1")
    assert reference.find("none", module, mine, "") == "--reference none"
    assert reference.find("kernel", replace(module, kind=Kind.OTHER), mine, "") is None
    (tmp_path / "mine.c").write_text('static struct tcp_congestion_ops x = {\n\t.name = "new",\n};\n')
    assert reference.find("kernel", module, mine, "") is None
    named = reference.find(str(tmp_path / VENO), module, mine, "")
    assert isinstance(named, reference.Reference) and not named.automatic


@pytest.mark.parametrize("hangs", [False, True])
def test_a_busy_host_is_no_finding(hangs: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A module that ends at the limit of time gets more; a hang does not end then, either."""
    asked = []

    def behave(_0: object, module: Module, _2: object, _3: int, _4: int,
               limit_s: float = reference.WALL_LIMIT_S) -> tuple[calls.Log, bool]:  # fmt: skip
        late = module.path.name == "mine.ko" and (hangs or limit_s == reference.WALL_LIMIT_S)
        asked.append(limit_s)
        return calls.read(HAS + ONE + ("0 died 0\n" if late else TWO)), late

    (tmp_path / "mine.c").write_text(C)
    mine, module = subject.find(tmp_path / "mine.c"), Module("mine", tmp_path / "mine.ko", Kind.CONGESTION)
    (tmp_path / "other.c").write_text(C.replace("x / 2", "x / 3"))
    monkeypatch.setattr(reference, "behave", behave)
    monkeypatch.setattr(reference, "built", lambda *_: tmp_path / "other.ko")
    monkeypatch.setattr(reference, "examine", lambda path: replace(module, path=path))
    against = reference.Reference(tmp_path / "other.c", "other.c", automatic=True)
    report = reference.check(None, module, mine, against, tmp_path, seed=1)  # type: ignore[arg-type]
    assert [finding.text.partition(" in ")[0] for finding in report.findings] == hangs * [
        "the module ends the kernel, or hangs,"
    ]
    assert asked[-1] == reference.PATIENCE * reference.WALL_LIMIT_S


@pytest.mark.lane
@pytest.mark.parametrize("new", ["max(tcp_snd_cwnd(tp) * 3 / 5, 2U)", "max(2U, tcp_snd_cwnd(tp) * 4 / 5)"])
def test_a_changed_constant_is_named_and_another_way_to_write_it_is_not(new: str, tmp_path: Path) -> None:
    file, old = reference.sources() / VENO, "max(tcp_snd_cwnd(tp) * 4 / 5, 2U)"
    (tmp_path / file.name).write_text(file.read_text().replace(old, new))
    mine, place = subject.find(tmp_path / file.name), reference.place()
    target = replace(build.lane_target(place.kernel), sparse=False)
    built = build.build(mine, [target], tmp_path / "built", style=False).data["modules"][build.LANE]
    module = subject.examine(Path(built["tcp_veno"]), mine.files)
    against = reference.Reference(file, VENO, automatic=True)
    report = reference.check(place, module, mine, against, tmp_path / "run", seed=1, rounds=8)
    if "3 / 5" in new:
        [finding] = report.findings
        assert finding.name is Name.CHANGED_BEHAVIOUR and finding.where == "tcp_veno_ssthresh [tcp_veno]"
        assert "ssthresh of the flow" in finding.text and finding.place == "tcp_veno.c:202"
    else:
        assert not report.findings and report.notes[0].startswith(f"no difference from {VENO} in ")


@pytest.mark.lane
@pytest.mark.parametrize("qdisc", ["etf", "multiq", "teql"])
def test_a_qdisc_that_the_nodes_links_do_not_suit_carries_packets(qdisc: str, tmp_path: Path) -> None:
    """They need sending times, a link with several queues, and a link that the module brings."""
    file, place = reference.sources() / f"net/sched/sch_{qdisc}.c", reference.place()
    built = reference.built(reference.Reference(file, file.name, automatic=True), place)
    module = subject.examine(built, [file])
    log, late = reference.behave(place, module, tmp_path, 1, 4)
    carried = [line for lines in log.sections.values() for line in lines if "returned=packet" in line]
    assert not late and len(carried) > 50
