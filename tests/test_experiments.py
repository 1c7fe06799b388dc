# SPDX-License-Identifier: BSD-3-Clause
"""Every study is valid before it runs: its options can be planned, its names exist, and it can be printed."""

import dataclasses
import functools
import importlib
import io
import itertools
import pkgutil
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import pytest
from rich.console import Console

import experiments
from analysis.results.result import (
    Aggregates,
    Collisions,
    Counts,
    Failures,
    FlowResult,
    Host,
    InFlight,
    Result,
    Run,
    StationResult,
    TcpSummary,
)
from analysis.results.summaries import Datagrams, RouteSummary, Spread
from analysis.tables.claims import judge
from analysis.tables.findings import Findings
from analysis.tables.table import study_tables
from emulation.cli.playing import print_speed
from emulation.cli.study import Names, cost
from emulation.play.lab import Lab
from emulation.play.reporting import findings_of, published_for
from emulation.play.run import Outcome, Task, name_of
from emulation.play.tasks import specification_for, tasks_for, tasks_of
from emulation.specification import flatten
from experiments import Column, Study

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = (ROOT / "docs/studies.md").read_text()


def example() -> experiments.Study:
    """The study in the documentation."""
    namespace: dict[str, Any] = {}
    exec(DOCUMENT.split("```python\n")[1].split("```")[0], namespace)
    study: experiments.Study = namespace["STUDY"]
    return study


STUDIES = [*map(experiments.find, experiments.names()), example()]
MANY = {"testbed-windows"}  # runs
each = pytest.mark.parametrize(
    "study", [pytest.param(one, id=one.name, marks=[pytest.mark.slow] * (one.name in MANY)) for one in STUDIES]
)


@functools.cache
def planned(name: str) -> list[Task]:
    """Return the runs of a study under one seed, not planned, as there may be hundreds."""
    [study] = [study for study in STUDIES if study.name == name]
    return unplanned(study, itertools.product(study.cases, study.variants), {})


def unplanned(study: Study, cells: Iterable[tuple[str, str]], given: dict[str, Any]) -> list[Task]:
    """Return its runs without checking that they can be played."""
    common = {**study.options, **given}
    return [
        Task(
            specification_for(study.topology, {**common, **study.cases[case], **study.variants[variant]}), variant, case
        )
        for case, variant in cells
    ]


def made_up(task: Task) -> Run:
    """Return a possible result of a task."""
    counters = {
        "tx_ns": 2, "busy_ns": 3, "tx": {"tcp_data": 9}, "rx": {}, "addressed": {}, "end": {"tcp_data": {"ACKED": 9}},
        "retries": {"short": 2, "long": 1},
    }  # fmt: skip
    tcp = TcpSummary(
        rtos=1, fast_retransmits=2, slow_start_s=1, congestion_avoidance_s=2, recovery_s=3, rto_s=4, cwnd_mean=5,
        cwnd_max=6, srtt_ms=7, in_flight_mean=8, stall_s=9, stall_at_s=10, dip=0.5,
    )  # fmt: skip
    route = RouteSummary(
        found=1, changed=2, lost=3, without_s=4, length_mean=5, breaks=6, recovered=7, recovery_mean_s=8,
        recovery_max_s=9, packets_by_hops={1: 10}, rto_without_s=11,
    ) if task.specification.network.routing["kind"] not in ("static", "none") else None  # fmt: skip
    network, radio, measured = (
        task.specification.network.standing(),
        task.specification.radio,
        task.specification.measurement,
    )
    flows = network.applications
    aggregates: Aggregates | None = Aggregates(
        ppdus=2, mpdus=4, block_acks=2, requests=0, airtime_s=dict.fromkeys(network.nodes, 1.0)
    )
    if radio.mode == "abg" or not measured.trace:
        aggregates = None
    delays = Spread(mean=1, p50=1, p95=2, p99=3, max=4)
    datagrams = Datagrams(sent=2, arrived=1, lost_percent=50, duplicates=0, reordered=0, hops_mean=1, delay_ms=delays,
                          jitter_ms=1, late=None, r=90, mos=4)  # fmt: skip
    return Run(
        variant=task.variant, case=task.case, seed=task.seed, goodput_segments=100,
        goodput_kbps=10, col=Collisions(rtscts=1, data=2, ack=3, any=Counts(rtscts=4, data=5, ack=6), same_slot=1),
        fail=Failures(rtscts=1, data=2, ack=3), aggregates=aggregates,
        in_flight=InFlight(data=1, ack=1, total=2), queue_drops=0, trace=None,
        trace_sha256=None, air_s=1, wall_s=1, settings=[], lost_records=0, refused_frames=0, late_ns_max=0,
        stations=[StationResult(name=name, counters=counters) for name in network.nodes],
        flows=[
            FlowResult(name=f"flow{n}", source=flow.source, destination=flow.destination, congestion="reno",
                       delivered_bytes=1, goodput_segments=1, goodput_kbps=1, share=1 / len(flows), retransmits=0,
                       finished_s=None, route=route, tcp=tcp if measured.tcp_trace else None,
                       datagrams=datagrams if flow.kind in ("udp", "voice") else None)
            for n, flow in enumerate(flows, 1)
        ],
    )  # fmt: skip


def test_each_study_says_what_it_is() -> None:
    """A study has a unique name. Its title names the paper that it repeats or extends, but no duration, as another
    duration is the same study."""
    for name in experiments.names():
        assert experiments.find(name).name == name
    for study in STUDIES:
        assert "paper" in study.title, study.name
        assert f" {study.options['seconds']:g} s" not in study.title, study.name
        assert not study.names.keys() & study.cases.keys() & study.variants.keys(), (
            f"{study.name}: one name, two things"
        )


def test_each_study_of_each_file_is_known() -> None:
    modules = [
        importlib.import_module(f"experiments.{each.name}") for each in pkgutil.iter_modules(experiments.__path__)
    ]
    there = [each.name for module in modules for each in vars(module).values() if isinstance(each, experiments.Study)]
    assert sorted(there) == experiments.names()


@each
def test_each_case_and_each_variant_can_be_planned(study: experiments.Study) -> None:
    """Not each combination, and as short as possible, because planning motion takes long."""
    short = {} if "seconds" in study.varied else {"seconds": 20}
    cases, variants = list(study.cases), list(study.variants)
    for number in range(max(len(cases), len(variants))):
        case, variant = cases[number % len(cases)], variants[number % len(variants)]
        assert tasks_of(study, [1], short, [case], [variant])


@pytest.mark.slow
@each
def test_no_two_runs_are_the_same(study: experiments.Study) -> None:
    """Each has its own folder."""
    tasks = planned(study.name)
    assert len(tasks) == len(study.cases) * len(study.variants)
    assert len({name_of(task) for task in tasks}) == len(tasks)
    assert len({task.specification.model_dump_json() for task in tasks}) == len(tasks)


@pytest.mark.slow
def test_variants_meet_the_same_movement() -> None:
    """Where stations move, runs under one seed differ in nothing else."""
    compared = set()
    for study in STUDIES:
        tasks = [task for task in planned(study.name) if task.case == next(iter(study.cases))]
        moved = [task.specification.network.made(20, 1).motion for task in tasks if task.specification.network.motion]
        if moved and len(tasks) > 1:
            assert len(moved) == len(tasks) and moved[0] and all(motion == moved[0] for motion in moved), study.name
            compared.add(study.name)
    assert compared >= {"sca-adaptive", "sca-cwl", "sca-mobile", "tcp-mobile", "tcp-mobile-olsr"}


@each
def test_claims_and_tables_name_what_there_is(study: experiments.Study) -> None:
    """All claims can be judged and all tables printed from what the study records."""
    found = [made_up(task) for task in planned(study.name)]
    runs = [*found, *(run.model_copy(update={"seed": 2}) for run in found)]
    for claim in study.claims:
        if all(path in study.reckoned for *_, path in claim.cells):
            continue
        verdict = judge(claim, runs)
        assert verdict.findings
        assert verdict.judged(study.names, study.rows, study.quantities).lines
    tables = study_tables("", runs, published=study.published, names=study.names, rows=study.rows,
                          quantities=study.quantities)  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=300).print(*tables)
    assert "paper" in out.getvalue() or not study.published
    assert not [line for line in out.getvalue().splitlines() if " - " in line], "a quantity that it does not record"


def test_each_claim_of_the_papers_is_tested_or_says_why_not() -> None:
    """Studies name only existing claims. A finding has a page; a cause can be run."""
    claims = experiments.numbered()
    assert list(claims) == [f"C{number}" for number in range(1, 83)]
    tested = {number for study in STUDIES for claim in study.claims for number in claim.numbers}
    assert tested <= claims.keys()
    assert {number for number, said in claims.items() if not said.untested} == tested
    for number, said in claims.items():
        of = [study for study in STUDIES for claim in study.claims if number in claim.numbers]
        there = {name for study in of for name in (*study.cases, *study.variants)}
        assert {name for cause in said.causes for name in (*cause.cases, *cause.variants)} <= there, number
        assert said.about and bool(said.tried) >= bool(said.finding), number
        if said.finding:
            file, _, place = said.finding.partition("#")
            titles = [line.lstrip("#").strip() for line in (ROOT / file).read_text().splitlines() if line[:1] == "#"]
            assert not place or place in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles}


@pytest.mark.slow
@pytest.mark.parametrize("column", [Column.PUBLISHED, Column.TODAY])
def test_each_claim_is_judged_under_both_columns(column: Column) -> None:
    """By studies that can run so."""
    units = [study for name in experiments.names() for study in experiments.find(name).columns()]
    judged = {number for study in units if study.column is column for claim in study.claims for number in claim.numbers}
    assert judged == experiments.numbered().keys()
    for study in units:
        if study.column is column and study.name not in experiments.names():
            cells = {cell[:2] for claim in study.claims if claim.numbers for cell in claim.cells}
            of_variants = {variant: (case, variant) for case, variant in sorted(cells)}
            assert tasks_for(study, [*of_variants.values()], [1], {})


def test_published_numbers_have_their_place() -> None:
    """Each is under a case, a variant and a quantity of the study, so it is shown."""
    published = [study for study in STUDIES if study.published]
    assert len(published) > 10
    for study in published:
        for case, variants in study.published.items():
            assert case in study.cases, study.name
            for variant, numbers in variants.items():
                assert variant in study.variants, study.name
                assert numbers and numbers.keys() <= study.quantities.keys(), f"{study.name}, {case}, {variant}"


def test_what_a_user_gives_goes_before_the_study(tmp_path: Path) -> None:
    """But not before what the study varies; cases and variants can be selected."""
    study = experiments.find("sca-strings")
    given: dict[str, Any] = {"seconds": "7", "rts": "none"}
    tasks = tasks_of(study, [3, 4], given, cases=["4"], variants=["ss", "sca"])
    assert [(task.case, task.variant, task.seed) for task in tasks] == [
        ("4", variant, seed) for seed in (3, 4) for variant in ("ss", "sca")
    ]
    assert {(task.specification.measurement.seconds, task.specification.radio.rts) for task in tasks} == {(7.0, "none")}
    assert study.varied == {"stations", "tcp", "module_parameters"}
    assert tasks[0].specification == specification_for(
        "string",
        {
            "stations": 5,
            "seconds": 7,
            "rts": "none",
            "trace": False,
            "seed": 3,
            "window_limit": 64,
            **study.variants["ss"],
        },
    )


def test_names_are_chosen_by_pattern_too() -> None:
    """A misspelt name gets the most similar ones, from any number."""
    names = Names([f"plain-{flows}x{stations}" for flows in range(1, 7) for stations in range(4, 13)])
    assert names.convert("plain-2x4", None, None) == ["plain-2x4"]
    assert names.convert("plain-?x12", None, None) == [f"plain-{flows}x12" for flows in range(1, 7)]
    with pytest.raises(click.BadParameter, match=r"there is no 'plan-2x4'; there are: plain-2x4, .*, …, "):
        names.convert("plan-2x4", None, None)


def test_a_study_says_what_it_costs() -> None:
    """By default and in its published size; nothing if unmeasured."""
    small = dataclasses.replace(example(), seeds="1..10", core_s=6.0, repetition=(600, 50))
    runs = len(small.cases) * len(small.variants)
    assert cost(small) == (
        f"{runs * 10} runs, about 9 min of one core. "
        f"At the paper's size, --seconds 600 --seeds 1..50: {runs * 50} runs, 7.5 h."
    )
    assert cost(dataclasses.replace(small, core_s=0.0)) == ""


def result_of(study: experiments.Study, tasks: list[Task], seconds: float = 120) -> Result:
    """Return the result of these runs."""
    asked, *others = (flatten(task.specification) for task in tasks)
    changes = [{}, *({name: value for name, value in other.items() if value != asked.get(name)} for other in others)]
    runs = [made_up(task).model_copy(update={"air_s": seconds, "changes": changes[n]}) for n, task in enumerate(tasks)]
    asked = tasks[0].specification.model_dump(mode="json")
    return Result(experiment=study.name, specification=asked, runs=runs, host=Host(lane="virtual"))


SAME = {
    "rts-cts": {"stations": 5, "rate": 2, "mss": 1460, "preamble": "short"},
    "sca-strings": {"rts": "full"},
    "sca-mobile": {"routing": "dsr,preset=cmu"},
    "testbed-windows": {"placement": 2},
}
FREELY = {"seconds": 10.0, "trace": False, "views": "no", "like": "ns2", "eifs": "frame", "reception": "sinr",
          "tcp_like": "ns2", "rto_min_ms": 1000, "plugins": [str(ROOT)]}  # fmt: skip
OTHERWISE = [
    ("rts-cts", {"stations": 6}, "--stations 6", "--stations 5"),
    ("rts-cts", {"spacing": 100, "rate": 11.0}, "--rate 11.0 --spacing 100.0", "--rate 2.0, --spacing 200.0"),
    ("rts-cts", {"recorders": "adaptive_retries"}, "--recorders adaptive_retries", "no --recorders"),
    ("rts-cts", {"window_limit": 8}, "--window-limit 8", "--window-limit 64"),
    ("rts-cts", {"motion": "line,node=sta1"}, "--motion model=line", "no --motion"),
    ("sca-strings", {"rts": "none"}, "--rts none", "--rts full"),
    ("rts-meshes", {"size": "4x4"}, "--size 4x4", "--size 5x5"),
    ("rto", {"routing": "olsr"}, "--routing kind=olsr", "--routing kind=static"),
]


def findings_with(name: str, given: dict[str, Any]) -> tuple[Findings, str]:
    """Return the findings of a study's runs, and all output."""
    study = experiments.find(name)
    cells = [(next(iter(study.cases)), variant) for variant in study.variants]
    tasks = unplanned(study, cells, given)
    found = findings_of(study, result_of(study, tasks), "")
    console = Console(width=300, record=True, file=io.StringIO())
    console.print(found.title, *found.tables)
    return found, console.export_text()


@pytest.mark.parametrize(("name", "given", "now", "own"), OTHERWISE)
def test_another_study_than_it_is_not_compared(name: str, given: dict[str, Any], now: str, own: str) -> None:
    """Runs with other defining options get another title, no published numbers, no claims, and a note."""
    found, shown = findings_with(name, given)
    assert found.title.startswith(f"{name} with ") and now in found.title
    assert "paper" not in shown and list(found.claims) == []
    (said,) = found.troubles
    assert f"are not of the study {name}, which has" in said and own in said
    assert "no published number is shown beside theirs, and no claim is judged" in said


@pytest.mark.slow
@pytest.mark.parametrize("name", SAME)
def test_what_does_not_define_a_study_leaves_it_what_it_is(name: str) -> None:
    """Duration, rules of the air, recording, and options given with their default."""
    study = experiments.find(name)
    for given in (SAME[name], *({option: value} for option, value in FREELY.items())):
        found, shown = findings_with(name, given)
        assert found.title.startswith(study.title.split(":")[0]) and len(found.claims) == len(study.claims)
        assert bool(re.search(r"┃ +paper ┃", shown)) == bool(study.published) and not found.troubles


def test_published_counts_are_of_the_duration() -> None:
    """The study's own duration leaves published numbers unchanged; another scales their counts."""
    study = experiments.find("rts-cts")
    for seconds, factor in ((120, 1), (20, 1 / 6)):
        published, by = published_for(study, result_of(study, tasks_of(study, [1], {"seconds": seconds}), seconds))
        assert by == pytest.approx(factor)
        assert published[""]["full"]["col.data"] == pytest.approx(79 * factor)
        assert published[""]["full"]["in_flight.data"] == 3.278


@pytest.mark.parametrize(
    ("air_s", "wall_s", "said"),
    [(360, 1.8, "360 s of air time in 1.8 s of wall time (200 times real time); report: run/report.html"),
     (2, 5, "2 s of air time in 5.0 s of wall time (0.4 times real time); report: run/report.html"),
     (0, 5, "0 s of air time in 5.0 s of wall time; report: run/report.html")],
)  # fmt: skip
def test_speed_is_never_said_to_be_nothing(
    air_s: float, wall_s: float, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made_up(tasks_of(example(), [1], {})[0]).model_copy(update={"air_s": air_s})
    print_speed([Outcome(run, None)], wall_s, Path("run"))
    assert capsys.readouterr().out.strip() == said


def test_a_kernel_that_does_not_say_its_release(tmp_path: Path) -> None:
    """result.json has no release, rather than an empty one."""
    lab = Lab(tmp_path / "linux", {})
    assert lab.release is None
    (tmp_path / "include/config").mkdir(parents=True)
    (tmp_path / "include/config/kernel.release").write_text("\n")
    assert lab.release is None
