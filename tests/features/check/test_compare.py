# SPDX-License-Identifier: BSD-3-Clause
"""A module beside a baseline: which runs there are, and what is made of them. The template of a new congestion control
is Reno, so beside Reno it must come out the same in every run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.result import FlowResult, Run
from analysis.traces.capture import read
from emulation.features.check import Name, Stage, new
from emulation.features.check.build import build, lane_target
from emulation.features.check.compare import (
    LONG,
    LONG_SECONDS,
    SHARED,
    baseline_runs,
    collapsed,
    compare,
    contenders,
    shares,
    slower,
    specification_for,
    stalled,
    tasks,
)  # fmt: skip
from emulation.features.check.inside import tested_module
from emulation.features.check.subject import Kind, Module, examine, find
from emulation.features.check.tables import bottleneck_tables, fairness, phases_table, tables
from emulation.play import processes
from emulation.play.lab import Lab
from emulation.play.run import FINISHED
from emulation.setup import kernel

NEEDED = Module("mine_core", Path("mine_core.ko"), Kind.OTHER)
TCP = Module("tcp_mine", Path("tcp_mine.ko"), Kind.CONGESTION)
SCHED = Module("sch_mine", Path("sch_mine.ko"), Kind.QDISC, qdisc="mine")

# Both do their worst only when there is traffic to do it to.
IDLE = """
static void template_pace(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
	cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
	WRITE_ONCE(sk->sk_pacing_rate, 500);
	tcp_snd_cwnd_set(tcp_sk(sk), 1);
}
"""
WEARY = """\tif (((struct weary_state *)inet_csk_ca(sk))->losses > 12) {
		cmpxchg(&sk->sk_pacing_status, SK_PACING_NONE, SK_PACING_NEEDED);
		WRITE_ONCE(sk->sk_max_pacing_rate, 10000);
	}
"""
FALL = "\tBUG_ON(ca->losses++ == 3);\n"


def run(variant: str, seed: int, kbps: float, case: str = "3", share: float = 1.0) -> Run:
    flow = FlowResult.model_construct(goodput_kbps=kbps, share=share)
    return Run.model_construct(variant=variant, case=case, seed=seed, goodput_kbps=kbps, flows=[flow])


def test_each_run_of_the_module_has_a_twin_and_the_shared_string_has_both() -> None:
    wanted = tasks(contenders(TCP, ["one", "two"]), "reno", [3, 8], [1, 2])
    assert len(wanted) == 3 + 2 * 3 * 2 + 3 * 2
    assert [(t.variant, t.seed, t.specification.measurement.seconds) for t in wanted if t.case == LONG] == [
        (variant, 1, LONG_SECONDS) for variant in ("reno", "one", "two")
    ]
    alone = {(t.case, t.variant, t.seed): t.specification for t in wanted if t.case not in (SHARED, LONG)}
    for (case, _, seed), specification in alone.items():
        twin = alone[case, "reno", seed]
        assert specification.network.parameters["stations"] == int(case) + 1
        assert specification.model_copy(update={"transport": twin.transport}) == twin
    assert alone["8", "two", 1].transport.tcp == ("tcp_mine:two",)
    shared = {t.variant: t.specification.transport.tcp for t in wanted if t.case == SHARED and t.seed == 2}
    assert shared == {"reno": ("reno", "reno"), "one": ("tcp_mine:one", "reno"), "two": ("tcp_mine:two", "reno")}


def test_what_is_no_congestion_control_stands_beside_the_baselines_flows() -> None:
    assert [(one.name, one.options, one.tcp) for one in contenders(SCHED, [])] == [
        ("mine", {"qdisc": "sch_mine:mine"}, None)
    ]
    other = contenders(Module("mine", Path("mine.ko"), Kind.OTHER, ("mine_core",), before=(NEEDED,)), [])
    assert [(one.name, one.options) for one in other] == [("mine", {"load": ("mine_core", "mine")})]


def test_next_to_nothing_is_a_finding_with_the_seed_that_showed_it() -> None:
    runs = [
        *(run("reno", 1, 400), run("reno", 2, 300), run("mine", 1, 41), run("mine", 2, 29)),
        *(run("reno", 1, 0, "8"), run("mine", 1, 0, "8"), run("mine", 1, 1, SHARED), run("reno", 1, 100, SHARED)),
    ]
    (finding,) = stalled(runs, "reno")
    assert (finding.stage, finding.name, finding.seed) == (Stage.COMPARE, Name.STALLED_TRAFFIC, 2)
    assert finding.text == "over 3 hops mine delivered 29.0 kb/s, reno 300.0"


@pytest.mark.parametrize(
    ("first", "whole", "renos_whole", "later"),
    [(360, 300, 360, None), (360, 150, 360, 98), (90, 82, 362, 80), (360, 150, 150, None), (0, 0, 360, None)],
    ids=["a little less", "collapsed", "within a minute", "so did Reno", "never any"],
)
def test_what_delivers_less_and_less_is_a_finding(
    first: float, whole: float, renos_whole: float, later: float | None
) -> None:
    """The long run begins as the short one of the same seed; if Reno's goodput stays, the module's is to stay, too."""
    runs = [run("reno", 1, 360), run("mine", 1, first), run("mine", 2, 1), run("reno", 2, 1)]
    runs += [run("reno", 1, renos_whole, LONG), run("mine", 1, whole, LONG)]
    found = collapsed(runs, "reno", 3)
    assert [(one.name, one.seed) for one in found] == ([] if later is None else [(Name.COLLAPSE, 1)])
    if later is not None:
        assert found[0].text.startswith(f"mine delivered {first} kb/s in the first 60 s and {later} kb/s after that")


def test_what_is_much_slower_is_said() -> None:
    """With how much it is where it is most; not if the seeds do not agree."""
    runs = [run("reno", seed, 100, case) for seed in (1, 2, 3) for case in ("3", "8")]
    runs += [run("mine", seed, 80 + seed, "3") for seed in (1, 2, 3)]
    runs += [run("mine", seed, 65 + 2 * seed, "8") for seed in (1, 2, 3)]
    assert slower(runs, "reno") == {"mine": "31 % less than reno over 8 hops"}
    unsure = [run("reno", seed, 100) for seed in (1, 2)] + [run("mine", 1, 99), run("mine", 2, 60)]
    assert slower(unsure, "reno") == {}


def test_shares_are_of_the_shared_string() -> None:
    runs = [run("mine", seed, 1, SHARED, share) for seed, share in ((1, 0.25), (2, 0.35))] + [run("mine", 1, 9)]
    found = shares(runs)
    assert found["mine"].mean == pytest.approx(0.3)
    assert list(found) == ["mine"]


def test_a_string_of_so_many_hops_has_one_station_more() -> None:
    specification = specification_for(["reno", "cubic"], {}, 4, 7)
    assert specification.network.parameters == {"stations": 5, "spacing": 200.0, "flows": 2}
    measurement = specification.measurement
    assert (measurement.seed, measurement.trace, measurement.tcp_trace) == (7, False, True)


def built(name: str, folder: Path, change: dict[str, str], kind: str = "congestion") -> Module:
    """A new module, changed, and built against the lane's kernel."""
    folder.mkdir(exist_ok=True)
    file = new.make(name, kind, folder)
    text = file.read_text()
    for old, replacement in change.items():
        assert old in text
        text = text.replace(old, replacement)
    file.write_text(text)
    report = build(find(file.parent), [lane_target(kernel.obtain())], folder / "build")
    return examine(Path(report.data["modules"]["uml"][name]))


def test_the_template_is_reno_to_the_last_segment(tmp_path: Path, lab: Lab) -> None:
    module = built("mine", tmp_path, {})
    asked = lab, module, "reno", [1, 3], [1, 2], tmp_path / "runs"
    processes.run_all(baseline_runs(*asked, lambda: True))
    left = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").glob(f"*/{FINISHED}")}
    assert len(left) == 1 + 2 * 2 + 2
    assert list(baseline_runs(*asked, lambda: False)) == []
    report = compare(*asked)
    assert {file: file.stat().st_mtime_ns for file in left} == left
    assert (report.findings, report.notes) == ((), ())
    runs = {(run["case"], run["variant"], run["seed"]): run for run in report.data["runs"]}
    assert len(runs) == 2 + 2 * 2 * 2 + 2 * 2
    for (case, variant, seed), measured in runs.items():
        ours, theirs = (flow["tcp"] for flow in (measured["flows"][0], runs[case, "reno", seed]["flows"][0]))
        assert measured["goodput_segments"] == runs[case, "reno", seed]["goodput_segments"] > 0
        assert ours == pytest.approx(theirs, rel=1e-5), (case, variant)  # loading it takes a moment
    assert report.data["shares"]["mine"] == report.data["shares"]["reno"]
    assert fairness(report.data)[0].startswith("On a string of 4 hops that both share, mine takes ")
    assert [table.row_count for table in (*tables(report.data, ["goodput_kbps"]), phases_table(report.data))] == [2, 2]


@pytest.mark.lane
def test_a_copy_has_another_name_and_registers_the_same(tmp_path: Path) -> None:
    """Even if what it registers has its name."""
    module = built("mine", tmp_path, {})
    copy = tested_module.Module(module.name, str(module.path)).copy(str(tmp_path))
    assert copy.name == examine(Path(copy.path)).name == "minz"
    before, after = module.path.read_bytes(), Path(copy.path).read_bytes()
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 2


def test_a_qdisc_is_at_both_ends_and_loaded_after_what_it_needs(tmp_path: Path, lab: Lab) -> None:
    needed = built("tcp_first", tmp_path / "first", {})
    module = replace(built("sch_mine", tmp_path / "mine", {}, "qdisc"), before=(needed,))
    report = compare(lab, module, "reno", [2], [1], tmp_path / "runs")
    assert (report.findings, report.notes, len(report.data["runs"])) == ((), (), 4)
    waited = {run["kind"]: run for run in report.data["bottleneck"]}
    assert list(waited) == ["pfifo", "fq_codel", "mine"]
    assert waited["mine"]["goodput_kbps"] > 800
    assert waited["pfifo"]["sparse_ms"] == pytest.approx(waited["pfifo"]["sojourn_ms"], rel=0.1)
    assert waited["fq_codel"]["sparse_ms"] < 20 < 100 < waited["mine"]["sparse_ms"]
    assert bottleneck_tables(report.data)[0].row_count == 10
    plan, lane = (json.loads((tmp_path / "runs/2-mine-1" / name).read_text()) for name in ("plan.json", "lane.json"))
    assert plan["modules"] == ["tcp_tap", "tcp_first", "sch_mine"]
    found = [(said["where"], said["value"]) for said in lane["settings"] if said["what"] == "root qdisc"]
    assert found == [("sta1", "mine"), ("sta3", "mine")]


def test_a_module_that_stalls_is_found(tmp_path: Path, lab: Lab) -> None:
    change = {"/* The owner": f"{IDLE}\n/* The owner", "\t.owner": "\t.cong_control = template_pace,\n\t.owner"}
    module = built("tcp_idle", tmp_path, {old: text.replace("template", "idle") for old, text in change.items()})
    report = compare(lab, module, "reno", [2], [5], tmp_path / "runs")
    assert (Name.STALLED_TRAFFIC, 5) in [(finding.name, finding.seed) for finding in report.findings]
    seen = read(Path(report.findings[0].pcapng))
    assert seen.start_ns <= seen.time_ns.min() < seen.start_ns + 10**9 < seen.stop_ns
    assert seen.length.max() > 1000  # a segment


def test_a_module_that_collapses_is_found(tmp_path: Path, lab: Lab) -> None:
    """After twelve losses it sends next to nothing, which takes longer than a minute to be seen."""
    module = built(
        "tcp_weary", tmp_path, {"\tif (!tcp_is_cwnd_limited(sk))\n": WEARY + "\tif (!tcp_is_cwnd_limited(sk))\n"}
    )
    report = compare(lab, module, "reno", [4], [1], tmp_path / "runs")
    assert [finding.name for finding in report.findings] == [Name.COLLAPSE]


def test_a_module_that_crashes_the_kernel_is_found(tmp_path: Path, lab: Lab) -> None:
    module = built("tcp_fall", tmp_path, {"\tca->losses++;\n": FALL})
    report = compare(lab, module, "reno", [3], [4], tmp_path / "runs")
    (finding,) = report.findings
    assert (finding.stage, finding.name, finding.seed) == (Stage.COMPARE, Name.OOPS, 4)
    assert finding.console[-1] == "Kernel panic - not syncing: BUG!"


def test_a_module_is_not_compared_with_itself(tmp_path: Path, lab: Lab) -> None:
    report = compare(lab, built("tcp_mine", tmp_path, {}), "mine", [3], [1], tmp_path / "runs")
    assert report.notes == ("it is mine itself; --against names another",)
    assert report.data == {}
