# SPDX-License-Identifier: BSD-3-Clause
"""docs/claims.json: how results add up, which results no longer count, and that the code makes this file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import experiments
from analysis.results.result import Run
from analysis.tables import verdicts
from analysis.tables.claims import Check, Claim, Of, order
from analysis.tables.table import value
from emulation.features.claims import causes, page, record
from emulation.features.claims.bench import Bench, tasks
from emulation.features.claims.commands import claims as cli
from emulation.features.claims.junit import suites
from emulation.features.claims.looks import LOOKS
from emulation.features.claims.record import Claims, Look, Record
from emulation.features.claims.schedule import Rank, Schedule, guess_s, key
from emulation.features.sweeps.sweep import LocalProcesses
from emulation.play.junit import Outcome
from emulation.play.run import Task
from experiments import Cause, Column, Study

GOODPUT, DROPS = "goodput_segments", "queue_drops"
STUDY = Study(
    "rts-cts", "made up (paper 000)", "string", {"stations": 3, "seconds": 10}, {"full": {"rts": "full"}, "none": {}},
    [Claim("C1", "more without", order(GOODPUT, "none", "full")),
     Claim("C4", "no drops", [Check(Of("none", DROPS), "=", 0)]),
     Claim("mine", "of nobody", [Check(Of("full", "air_s"), ">", 0)])],
    published={"": {"full": {GOODPUT: 4476}}}, names={"full": "Full", "none": "No"},
)  # fmt: skip
RUN = json.loads((Path(__file__).parent / "run.json").read_text())


NUMBERED = experiments.numbered()
TODAY = Column.TODAY.value


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few of these synthetic runs suffice for a verdict."""
    monkeypatch.setattr(verdicts, "FEWEST", 1)


@pytest.fixture(autouse=True)
def no_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the causes that claims.toml names."""
    found = {number: replace(said, causes=[]) for number, said in NUMBERED.items()}
    monkeypatch.setattr(experiments, "numbered", lambda: found)


def run(variant: str, seed: int, segments: int, **more: Any) -> Run:
    return Run.model_validate({**RUN, "variant": variant, "seed": seed, GOODPUT: segments, **more})


def claims(study: Study = STUDY, of: Record | None = None) -> Claims:
    found = Claims(of or Record())
    found.studies = [study]
    return found


def filled(seeds: range, made: str = "now", into: Claims | None = None, **more: Any) -> Claims:
    found = into or claims()
    for seed in seeds:
        found.add(STUDY, run("full", seed, 1000 + seed, **more), made)
        found.add(STUDY, run("none", seed, 1200 + 2 * seed, **more), made)
    return found


def test_seeds_of_one_version_add_up() -> None:
    """Seeds are in order, each once. Only what a numbered claim compares is stored."""
    found = filled(range(4, 6), into=filled(range(1, 4)))
    found.add(STUDY, run("full", 2, 7), "now")
    cell = found.record.cells["rts-cts"][""]["full"]
    assert (cell.seeds, cell.values) == ([1, 2, 3, 4, 5], {GOODPUT: [1001, 1002, 1003, 1004, 1005]})
    assert found.record.cells["rts-cts"][""]["none"].values.keys() == {GOODPUT, DROPS}
    assert found.seeds(STUDY, "", "full", "now") == {1, 2, 3, 4, 5}
    assert found.seeds(STUDY, "", "full", "then") == set()


def test_another_version_stands_instead() -> None:
    found = filled(range(9, 11), "now", filled(range(1, 4), "then"))
    assert found.record.cells["rts-cts"][""]["full"].seeds == [9, 10]


def test_two_records_add_up() -> None:
    """If they have the same version and options; else the existing results stay."""
    found = filled(range(1, 4))
    found.merge(filled(range(3, 6)).record)
    found.merge(filled(range(7, 9), "then").record)
    assert found.record.cells["rts-cts"][""]["full"].seeds == [1, 2, 3, 4, 5]
    assert found.record.cells["rts-cts"][""]["full"].values == {GOODPUT: [1001, 1002, 1003, 1004, 1005]}
    new = filled(range(7, 9), "then").record
    new.made["then"] = record.Made(kernel="6.12.1", behaviour=record.behaviour())
    stale = filled(range(1, 4))
    for cell in stale.record.cells["rts-cts"][""].values():
        cell.of = "others"
    for old in (stale, filled(range(1, 4))):  # of other options, and of another version
        old.merge(new.model_copy(deep=True))
        assert old.record.cells["rts-cts"][""]["full"].seeds == [7, 8]
    empty = claims()
    empty.merge(found.record)
    assert empty.record.cells == found.record.cells


def test_seeds_stay_where_fewer_numbers_are_compared() -> None:
    """And of two records of the same version the one with more seeds is kept where they differ in these."""
    found, other = filled(range(1, 4)), filled(range(1, 7))
    for cell in found.record.cells["rts-cts"][""].values():
        cell.values["air_s"] = [1.0, 1.0, 1.0]
    again = Claims(found.record.model_copy(deep=True))
    again.studies = [STUDY]
    filled(range(4, 5), into=again)
    assert again.record.cells["rts-cts"][""]["full"].values == {GOODPUT: [1001, 1002, 1003, 1004]}
    found.merge(other.record)
    assert found.record.cells["rts-cts"][""]["full"].seeds == [1, 2, 3, 4, 5, 6]


def test_a_run_that_several_studies_need_counts_in_all() -> None:
    """If their options are the same without defaults of the topology, and they compare no other number."""
    five = replace(STUDY, options={"stations": 5, "seconds": 10})
    usual, longer = (replace(STUDY, name=name, options={"seconds": of}) for name, of in (("usual", 10), ("longer", 11)))
    more = replace(usual, name="more", claims=[Claim("C2", "air", [Check(Of("full", "air_s"), ">", 0)])])
    found = claims(five)
    found.studies = [five, usual, longer, more]
    for seed in range(1, 4):
        found.add(five, run("full", seed, 1000 + seed), "now")
        found.add(five, run("none", seed, 1200), "now")
    found.add(usual, run("full", 3, 9999), "now")
    found.add(usual, run("full", 4, 1004), "now")
    assert [found.seeds(of, "", "full", "now") for of in found.studies] == [{1, 2, 3, 4}] * 2 + [set()] * 2
    assert found.seeds(usual, "", "none", "now") == {1, 2, 3}
    outcome = found.tested(usual, STUDY.claims[0]).outcome
    assert outcome and outcome.seeds == 3 and outcome.values[0].ours == 1002  # a seed's first number counts
    assert found.record.cells["rts-cts"][""]["full"].seeds == [1, 2, 3]
    found.add(usual, run("full", 5, 1005), "then")
    assert [found.seeds(usual, "", "full", made) for made in ("now", "then")] == [{1, 2, 3}, {5}]


def test_a_comment_makes_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But code of routing and of congestion controls does, and so do golden traces."""
    for name, file in (("GOLDEN", tmp_path / "golden.json"), ("NOT_GOLDEN", (tmp_path,))):
        monkeypatch.setattr(record, name, file)

    def version(golden: str, code: str) -> str:
        (tmp_path / "golden.json").write_text(golden)
        (tmp_path / "one.c").write_text(code)
        record.behaviour.cache_clear()
        return record.behaviour()

    try:
        first = version("{}", "int one = 1;\n")
        assert version("{}", "/* Why. */\nint one =\n\t1;\n") == first
        assert first not in (version("{}", "int one = 2;\n"), version('{"run": 1}', "int one = 1;\n"))
    finally:
        record.behaviour.cache_clear()


def test_what_is_compared_is_of_one_version() -> None:
    found = filled(range(1, 4), "then")
    found.add(STUDY, run("full", 1, 9), "now")
    assert found.tested(*found.of("C1")[0]).why == "its runs are of more than one version"
    assert found.tested(*found.of("C4")[0]).outcome


def test_what_is_known_of_a_claim() -> None:
    found = filled(range(1, 4))
    [known] = page.standing_of(found, "C1").columns.values()
    assert (known.verdict, known.seeds, known.studies) == ("reproduced in kind", 3, ["rts-cts"])
    ours, values = map(str, known.ours)
    assert ours.startswith("rts-cts, C1: No > Full, goodput, segments: 1.202 (1.1")
    assert ours.endswith("): yes")
    assert values == (
        "rts-cts, C1: 1 published values, ours over theirs: median (range): 0.22 (0.22 to 0.22): number no"
    )
    assert page.standing_of(claims(), "C1").columns[TODAY].why == "rts-cts: not run yet"
    assert not page.standing_of(found, "C2").columns


def test_what_does_not_come_out_is_open_until_a_cause_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with one changed option show the cause."""
    found = filled(range(1, 4), queue_drops=2)
    known = page.standing_of(found, "C4").columns[TODAY]
    assert (known.verdict, known.cause) == ("open", "")
    assert known.why == "it does not hold, and no experiment shows why"
    cause = Cause(Column.TODAY, {"queue": 1000}, "a longer queue")
    monkeypatch.setattr(experiments, "numbered", lambda: {"C4": replace(NUMBERED["C4"], causes=[cause])})
    assert page.standing_of(found, "C4").columns[TODAY].verdict == "open", "it has not been run"
    [change] = causes.changes(found, "C4", Column.TODAY)
    [(other, _)] = change.units
    assert other.options == {**STUDY.options, "queue": 1000}
    of_case = replace(STUDY, cases={"": {"queue": 50}})
    [(other_case, _)] = causes.changes(claims(of_case), "C4", Column.TODAY)[0].units
    assert (other_case.cases, other_case.options["queue"]) == ({"": {}}, 1000), "also where a case sets it"
    thinner = Cause(Column.TODAY, {}, "thinner ACKs", {"none": {"ackthin": "daa"}})
    monkeypatch.setattr(experiments, "numbered", lambda: {"C4": replace(NUMBERED["C4"], causes=[thinner])})
    [of_variant] = causes.changes(found, "C4", Column.TODAY)
    thinned = of_variant.units[0][0]
    longer = Cause(
        Column.TODAY, {}, "a longer queue", {"none": {"queue": 9}}, {"": {"queue": 9}, "other": {"queue": 9}}
    )
    monkeypatch.setattr(experiments, "numbered", lambda: {"C4": replace(NUMBERED["C4"], causes=[longer])})
    [of_both] = causes.changes(found, "C4", Column.TODAY)
    assert of_both.text == "a longer queue (none, , other with `--queue 9`)"
    both = of_both.units[0][0]
    assert (both.variants["none"]["queue"], both.cases) == (9, {"": {"queue": 9}}), "the study has no other case"
    assert thinned.variants == {**STUDY.variants, "none": {**STUDY.variants["none"], "ackthin": "daa"}}
    assert (thinned.options, of_variant.text) == (STUDY.options, "thinner ACKs (none with `--ackthin daa`)")
    monkeypatch.setattr(experiments, "numbered", lambda: {"C4": replace(NUMBERED["C4"], causes=[cause])})
    assert Schedule(found, "now", lambda study, cells, seeds: []).units(["C4"])[1][0].name == other.name
    for seed in range(1, 4):
        found.add(other, run("none", seed, 7, queue_drops=0), "now")
    known = page.standing_of(found, "C4").columns[TODAY]
    assert (known.verdict, known.cause) == ("not reproduced", "reproduced")
    assert known.change == "a longer queue (`--queue 1000`)"
    [case] = suites(found, ["C4"])[0].cases
    assert case.outcome is Outcome.PASSED


def test_each_column_has_its_runs() -> None:
    """A study counts for one column, with other options for another, and as a control for none."""
    study = STUDY.but(also={Column.PUBLISHED: {"like": "ns2"}})
    found = claims(study)
    found.studies = study.columns()
    for seed in range(1, 4):
        found.add(study, run("none", seed, 1200 + seed), "now")
        found.add(study, run("full", seed, 1000), "now")
    known = page.standing_of(found, "C1").columns
    assert known[TODAY].verdict == "reproduced in kind"
    published = known[Column.PUBLISHED.value]
    assert (published.verdict, published.why) == ("open", "rts-cts, as published: not run yet")
    found.studies = [study.but(column=Column.CONTROL)]
    known_too = page.standing_of(found, "C1")
    assert not known_too.columns and str(known_too.controls[0]).endswith(": yes")


def columns(**as_published: Any) -> Claims:
    """A study of both columns. Its claim, that there are no drops, holds as published only."""
    study = STUDY.but(also={Column.PUBLISHED: as_published})
    found = claims(study)
    found.studies = study.columns()
    for seed in range(1, 4):
        for one, drops in zip(found.studies, (2, 0), strict=True):
            found.add(one, run("none", seed, 1200, queue_drops=drops), "now")
    return found


def test_one_option_between_the_columns_is_the_cause_and_is_not_run_again() -> None:
    found = columns(like="ns2")
    known = page.standing_of(found, "C4").columns[TODAY]
    assert (known.verdict, known.cause) == ("not reproduced", "reproduced")
    assert page.short_verdict(known, NUMBERED["C4"]) == "not reproduced; holds with ns-2's MAC rules (`--like ns2`)"
    units = Schedule(found, "now", lambda study, cells, seeds: []).units(["C4"])
    assert [study.name for study, _ in units] == ["rts-cts", "rts-cts, as published"]


@pytest.mark.parametrize(
    ("drops", "played", "cause"),
    [({"like ns2": 0}, ["like ns2"], "ns-2's MAC rules (`--like ns2`)"),
     ({"like ns2": 2, "tcp_like ns2": 0}, ["like ns2", "tcp_like ns2"], "a transport like ns-2's (`--tcp-like ns2`)"),
     ({"like ns2": 2, "tcp_like ns2": 2}, ["like ns2", "tcp_like ns2"], "all options of the column 'as published'")],
)  # fmt: skip
def test_options_between_the_columns_are_tried_one_by_one(drops: dict[str, int], played: list[str], cause: str) -> None:
    """In a fixed order, up to the first that makes the claim hold; then all together."""
    found = columns(tcp_like="ns2", like="ns2")
    schedule = Schedule(found, "now", lambda study, cells, seeds: [])
    for name in played:
        assert page.standing_of(found, "C4").columns[TODAY].change == "all options of the column 'as published'"
        *_, (study, _) = schedule.units(["C4"])
        assert study.name == f"rts-cts, {name}"
        for seed in range(1, 4):
            found.add(study, run("none", seed, 1200, queue_drops=drops[name]), "now")
    known = page.standing_of(found, "C4").columns[TODAY]
    assert known.change == cause
    assert [line.rpartition("): ")[2] for line in known.tried] == [
        "No = 0, queue drops: 2: no" for name in played if drops[name]
    ]  # fmt: skip
    assert {study.name for study, _ in schedule.units(["C4"]) if "ns2" in study.name} == {
        f"rts-cts, {name}" for name in played
    }


def test_the_way_back_takes_options_away() -> None:
    """A claim that holds today, and not as published."""
    study = STUDY.but(also={Column.PUBLISHED: {"rto_min_ms": 1000, "like": "ns2"}})
    found = claims(study)
    found.studies = study.columns()
    for seed in range(1, 4):
        for one, drops in zip(found.studies, (0, 2), strict=True):
            found.add(one, run("none", seed, 1200, queue_drops=drops), "now")
    towards = causes.changes(found, "C4", Column.TODAY)
    assert [change.text for change in towards] == [
        "ns-2's MAC rules (`--like ns2`)",
        "rto_min_ms (`--rto-min-ms 1000`)",
    ]
    tried = causes.changes(found, "C4", Column.PUBLISHED)
    assert [change.text for change in tried] == [
        "the standard's MAC rules (`--like standard`)", "rto_min_ms (`no --rto-min-ms`)",
        "all options of the column 'today'",
    ]  # fmt: skip
    [(standard, _)], [(usual, _)], [(today, _)] = (change.units for change in tried)
    assert standard.options == {**STUDY.options, "rto_min_ms": 1000, "like": "standard"}
    assert usual.options == {**STUDY.options, "like": "ns2"}
    assert today is study


def test_what_is_missing_is_reported() -> None:
    """One study of the claim ran, and another did not."""
    found = filled(range(1, 4))
    found.studies = [
        STUDY,
        replace(
            STUDY, name="other", options={"stations": 4}, claims=[STUDY.claims[0], replace(STUDY.claims[0], name="C1b")]
        ),
    ]
    known = page.standing_of(found, "C1").columns[TODAY]
    assert (known.verdict, known.studies, known.why) == (
        "open",
        ["rts-cts", "other"],
        "other: not run yet (2 claims)",
    )


def test_how_many_seeds_may_decide_is_reported() -> None:
    """Of what is open, rounded up."""
    found = claims()
    for seed, segments in enumerate((1000, 1100, 1060, 1010, 1020, 950), 1):
        found.add(STUDY, run("none", seed, segments), "now")
        found.add(STUDY, run("full", seed, 1000), "now")
    known = page.standing_of(found, "C1").columns[TODAY]
    assert page.short_verdict(known, NUMBERED["C1"]) == f"open: undecided, needs some {known.needs} seeds"
    [unit] = found.of("C1")
    outcome = found.tested(*unit).outcome
    assert outcome and outcome.found[0].needs > 6 and known.needs == page.rounded_up(outcome.found[0].needs)
    assert [page.rounded_up(of) for of in (0.0, 12.3, 99.0, 101.0, 2145.2)] == [0, 13, 99, 110, 2200]


@pytest.mark.parametrize(
    ("segments", "said"),
    [(1001, "not reproduced: the effect is below 1 %"), (900, "open: does not hold, cause not shown")],
)
def test_an_effect_that_is_not_there_needs_no_cause(segments: int, said: str) -> None:
    """The opposite of what the paper says does."""
    found = claims()
    for seed in range(1, 7):
        found.add(STUDY, run("none", seed, segments + seed % 2), "now")
        found.add(STUDY, run("full", seed, 1000), "now")
    known = page.standing_of(found, "C1").columns[TODAY]
    assert page.short_verdict(known, NUMBERED["C1"]) == said


@pytest.mark.parametrize(
    ("column", "noisy", "runs", "seconds", "said"),
    [
        (Column.PUBLISHED, True, 4, 10, "within the paper's noise: ±3"),
        (Column.PUBLISHED, True, 400, 10, "open"),
        (Column.PUBLISHED, True, 4, 60, "open"),  # the paper's runs take another time
        (Column.TODAY, True, 4, 10, "within the paper's noise: ±3"),
        (Column.TODAY, False, 4, 10, "open"),  # as published it does not vary
    ],
)
def test_what_the_papers_own_runs_cannot_show(column: Column, noisy: bool, runs: int, seconds: int, said: str) -> None:
    """The paper's gain is 20 %. Ours varies by two times that."""
    one = Claim("C1", "so it is", [Check(Of("none", GOODPUT), "in", Of("full", GOODPUT), 1.19, 1.21)])
    published = replace(STUDY, column=Column.PUBLISHED, claims=[one], published={}, repetition=(seconds, runs),
                        also={Column.TODAY: {}})  # fmt: skip
    found = claims(published)
    found.studies = published.columns()
    for study in found.studies:
        wide = 0.4 if noisy or study.column is Column.TODAY else 0.01
        for seed in range(1, 13):
            found.add(study, run("none", seed, round(1000 * (1 + wide * (-1) ** seed))), "now")
            found.add(study, run("full", seed, 1000), "now")
    known = page.standing_of(found, "C1").columns[column.value]
    assert page.short_verdict(known, NUMBERED["C1"]).startswith(said)
    rank = Schedule(found, "now", lambda study, cells, seeds: []).wanted("C1", column)[0]
    assert (rank is Rank.NUMBER) == (known.verdict != "open")
    if known.verdict != "open":
        found.studies = [replace(study, published={"": {"full": {GOODPUT: 2100.0}}}) for study in found.studies]
        assert page.standing_of(found, "C1").columns[column.value].verdict == "open", "the paper carries twice as much"


def test_the_plan_is_the_order_of_play(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Claims without a verdict, the cheapest first, with the CPU time until they are decided."""
    same = replace(STUDY.claims[0], name="C4")
    found = claims(replace(STUDY, claims=[STUDY.claims[0]], options={**STUDY.options, "seconds": 500}))
    found.studies.append(replace(STUDY, name="cheap", claims=[same]))
    monkeypatch.setattr(experiments, "numbered", lambda: {name: NUMBERED[name] for name in ("C1", "C4")})
    schedule = Schedule(found, "now", lambda study, cells, seeds: [])
    assert [(number, column) for _, _, number, column in schedule.plan()] == [
        ("C4", Column.TODAY),
        ("C1", Column.TODAY),
    ]
    first = schedule.first(())
    assert first and first[0].name == "cheap"
    cli.print_plan(schedule)
    said = capsys.readouterr().out
    assert 0 < said.index("C4 ") < said.index("C1 ")
    for seed in range(1, 7):
        found.add(found.studies[1], run("none", seed, 1020 + 40 * (-1) ** seed), "now")
        found.add(found.studies[1], run("full", seed, 1000), "now")
    [unit] = found.of("C4")
    assert schedule.decided_at(unit) == 24 and schedule.decision_s(unit) == 18 * 2 * guess_s(unit[0], [("", "none")])


def test_with_some_of_the_seeds() -> None:
    found = filled(range(1, 6))
    [unit] = found.of("C1")
    found.look = Look([2, 3, 77], 0.95)
    outcome = found.tested(*unit).outcome
    assert outcome and outcome.seeds == 2


def test_all_that_is_told_of_a_look_is_of_that_look(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verdict and seeds in text, JSON and JUnit are those of the look; files have all seeds."""
    found = filled(range(1, 13))
    found.look = Look([2, 3, 77], 0.95)
    known = page.standing_of(found, "C1").columns[TODAY]
    [told] = cli.as_data(found, ["C1"])
    assert {one["seeds"] for one in told["contrasts"]} == {known.seeds} == {2}
    assert told["columns"][TODAY]["verdict"] == known.verdict
    cli.show(found, ["C1"])
    said = capsys.readouterr().out
    assert "intervals of 95 %" in said and f"{TODAY}: {known.verdict}, 2 seeds" in said
    assert "12 seeds" not in said + str(suites(found, ["C1"]))
    for name in ("FILE", "PAGE", "DETAILS"):
        monkeypatch.setattr(page, name, tmp_path / name)
    page.file(found)
    assert (
        found.look.seeds
        and json.loads((tmp_path / "FILE").read_text())["claims"]["C1"]["columns"][TODAY]["seeds"] == 12
    )


@pytest.mark.parametrize(
    "other",
    [replace(STUDY, options={**STUDY.options, "seconds": 20}), replace(STUDY, topology="mesh"),
     replace(STUDY, variants={"full": {"rts": "full"}, "none": {"rts": "none"}})],
)  # fmt: skip
def test_other_options_count_no_more(other: Study) -> None:
    """But other checks do not invalidate runs."""
    changed = claims(other, filled(range(1, 4)).record)
    known = page.standing_of(changed, "C4").columns[TODAY]
    assert (known.verdict, known.why) == ("open", f"{other.name}: its study has changed since it was run")
    stricter = replace(
        STUDY, claims=[Claim("C1", "much more", [Check(Of("none", GOODPUT), ">>", Of("full", GOODPUT))])]
    )
    known = page.standing_of(claims(stricter, filled(range(1, 4)).record), "C1").columns[TODAY]
    assert known.why == "it does not hold, and no experiment shows why"


def test_the_file_says_all(tmp_path: Path) -> None:
    """A written record reads back, and is written the same."""
    found = filled(range(1, 4))
    found.record.made["now"] = record.Made(kernel="6.12.1", behaviour="abc")
    found.record.made["then"] = record.Made(kernel="6.12.0", behaviour="abc")
    found.record.claims = {"C1": page.standing_of(found, "C1")}
    (tmp_path / "claims.json").write_text(record.text(found.record))
    again = record.read(tmp_path / "claims.json")
    assert record.text(again) == record.text(found.record)
    assert again.made.keys() == {"now"}, "of the other version nothing is left"
    assert again.cells == found.record.cells
    assert record.read(tmp_path / "none.json") == Record()
    assert record.text(Record()) == record.text(Record.model_validate_json(record.text(Record())))


def test_numbers_are_rounded_and_what_is_unknown_is_null() -> None:
    assert [record.rounded(of) for of in (1.0, 123456789.0, 1 / 3, float("nan"))] == [1, 123456800, 0.3333333, None]
    assert value(run("full", 1, 5), GOODPUT) == 5


def test_what_is_missing_for_a_claim() -> None:
    """A claim needs its own variants, and of these the missing seeds; a decided one needs nothing."""
    asked: list[tuple[list[tuple[str, str]], list[int]]] = []

    def tasks_for(study: Study, cells: Any, seeds: Any) -> list[Task]:
        asked.append((sorted(cells), list(seeds)))
        return []

    found = filled(range(1, 3))
    found.add(STUDY, run("full", 3, 900), "now")
    schedule = Schedule(found, "now", tasks_for)
    [unit] = schedule.units(["C1", "C1"])
    seeds = schedule.next(unit)
    assert seeds == [1, 2, 3]
    schedule.tasks(unit, seeds)
    assert asked == [([("", "none")], [3])]
    found.add(STUDY, run("none", 3, 1300), "now")
    found.add(STUDY, run("none", 3, 1300), "now")
    decided = Schedule(filled(range(1, 4)), "now", tasks_for)
    assert decided.next(unit) is None
    assert Schedule(filled(range(1, 4)), "another", tasks_for).next(unit) == list(range(1, LOOKS[0] + 1))


def test_what_costs_least_comes_first() -> None:
    """Of a claim that can be confirmed before one of which a part stays open, and of which nothing is decided yet."""
    dear = replace(STUDY, name="dear", options={**STUDY.options, "seconds": 500}, claims=[STUDY.claims[0]])
    cheap = replace(
        dear, name="cheap", options={**STUDY.options, "seconds": 1}, claims=[replace(STUDY.claims[0], name="C5")]
    )
    found = filled(range(1, 4))
    found.studies = [STUDY, dear, cheap]
    schedule = Schedule(found, "now", lambda study, cells, seeds: [])
    order: list[tuple[str, str]] = []
    while unit := schedule.first(order):
        order.append(key(unit))
    assert order == [("cheap", "C5"), ("dear", "C1")]
    assert schedule.wanted("C1", Column.TODAY)[0] is Rank.VERDICT
    hopeless = claims()
    for seed in range(1, 25):
        hopeless.add(STUDY, run("none", seed, 1000 + 300 * (seed % 2)), "now")
        hopeless.add(STUDY, run("full", seed, 1140), "now")
    hopeless.studies.append(dear)
    rank, units = Schedule(hopeless, "now", lambda study, cells, seeds: []).wanted("C1", Column.TODAY)
    assert (rank, [study.name for study, _ in units]) == (Rank.UNLIKELY, ["dear"])


def test_a_cause_is_sought_first_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim that holds under the other column has one; a simpler one is sought last."""
    found = columns(like="ns2", tcp_like="ns2")
    rank, units = Schedule(found, "now", lambda study, cells, seeds: []).wanted("C4", Column.TODAY)
    assert (rank, [study.name for study, _ in units]) == (Rank.NUMBER, ["rts-cts, like ns2"])
    both = claims(found.studies[0])
    both.studies = found.studies
    for seed in range(1, 4):
        for one in both.studies:
            both.add(one, run("none", seed, 1200, queue_drops=2), "now")
    assert Schedule(both, "now", lambda study, cells, seeds: []).wanted("C4", Column.TODAY)[0] is Rank.UNLIKELY
    cause = Cause(Column.TODAY, {"queue": 1000}, "a longer queue")
    monkeypatch.setattr(experiments, "numbered", lambda: {"C4": replace(NUMBERED["C4"], causes=[cause])})
    assert Schedule(both, "now", lambda study, cells, seeds: []).wanted("C4", Column.TODAY)[0] is Rank.VERDICT


def test_means_of_many_count_for_what_the_paper_took() -> None:
    """The first look at what the paper ran fifty times is probably one of several."""
    first = Schedule(claims(), "now", lambda study, cells, seeds: [])
    again = Schedule(claims(replace(STUDY, repetition=(900, 50))), "now", lambda study, cells, seeds: [])
    [one], [other] = first.claims.of("C1"), again.claims.of("C1")
    assert again.decision_s(other) == pytest.approx(8 * first.decision_s(one))


def test_what_follows_from_tasks_is_not_played() -> None:
    """Such as distances of stations; in a look as everywhere."""
    claim = Claim("C68", "close", [Check(Of("none", "their number"), "<", Of("full", "their number"))])
    study = STUDY.but(
        variants={"full": {"stations": 5}, "none": {}}, claims=[claim],
        reckoned={"their number": lambda task: len(task.plan["nodes"]) + task.seed},
    )  # fmt: skip
    bench = Bench.__new__(Bench)
    bench.claims = claims(study)
    bench.schedule, bench.place = Schedule(bench.claims, "now", tasks), LocalProcesses(1)
    bench.failed, bench.until, bench.write = {}, None, False
    bench.named(["C68"], None)
    assert bench.claims.record.cells["rts-cts"][""]["none"].values == {"their number": [4, 5, 6, 7, 8, 9]}
    assert list(map(str, page.standing_of(bench.claims, "C68").columns[TODAY].ours)) == [
        "rts-cts, C68: No < Full, their number: 0.753 (0.654 to 0.867): yes"
    ]


def test_looks_continue_until_none_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cheaper study's first, as long as one of them may decide its claim."""
    same = replace(STUDY.claims[0], name="C4")
    found = claims(replace(STUDY, claims=[STUDY.claims[0]]))
    found.studies.append(replace(STUDY, name="dear", options={**STUDY.options, "seconds": 500}, claims=[same]))
    bench = Bench.__new__(Bench)
    bench.schedule, bench.place = Schedule(found, "now", lambda study, cells, seeds: [], most=6), LocalProcesses(1)
    order: list[tuple[str, int]] = []

    def play(wanted: list[tuple[tuple[Study, Claim], list[int]]]) -> bool:
        """Goodput is the same for all variants."""
        [((study, _), seeds)] = wanted
        order.append((study.name, len(seeds)))
        for seed in seeds:
            for variant in ("full", "none"):
                found.add(study, run(variant, seed, 1000 + 40 * (seed % 3) * (1 if variant == "none" else -1)), "now")
        return True

    monkeypatch.setattr(bench, "run", play)
    bench.all()
    assert order == [("rts-cts", 3), ("rts-cts", 6), ("dear", 3), ("dear", 6)]


def test_of_a_claim_that_does_not_hold_only_causes_are_played() -> None:
    """Its other contrasts stay open: more seeds of them would change nothing."""
    drops, goodput = STUDY.claims[1], replace(STUDY.claims[0], name="C4, too")
    study = replace(STUDY, claims=[drops, goodput]).but(also={Column.PUBLISHED: {"like": "ns2"}})
    found = claims(study)
    found.studies = study.columns()
    schedule = Schedule(found, "now", lambda study, cells, seeds: [])
    assert [unit[1].name for unit in schedule.ahead(["C4"])] == ["C4", "C4, too"] * 2
    for seed in range(1, 4):
        for variant in ("full", "none"):
            found.add(found.studies[0], run(variant, seed, 1000, queue_drops=2), "now")
    assert {unit[0].name for unit in schedule.ahead(["C4"])} == {"rts-cts, as published"}


def test_how_many_runs_a_look_takes_is_reported_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Of all its studies, and what they may take; of one, its sweep says it."""

    class Planned:
        def __init__(self, missing: int, seconds: float, guessed: int) -> None:
            self.missing, self.seconds, self.guessed = [None] * missing, seconds, guessed

        def estimate(self, jobs: int) -> tuple[float, int]:
            return self.seconds, self.guessed

    bench = Bench.__new__(Bench)
    bench.place, bench.schedule = LocalProcesses(2), Schedule(claims(), "now", tasks)
    bench.announce([Planned(800, 1000.0, 700), Planned(16, 80.0, 0)], 0)  # type: ignore[list-item]
    first = (
        "dcflab: 816 runs of 2 studies to do: about 18 min, by estimate: nothing like 700 of them was run here before"
    )
    assert capsys.readouterr().err == f"{first}\n"
    bench.announce([Planned(102, 120.0, 0)], 816)  # type: ignore[list-item]
    assert capsys.readouterr().err == (
        "dcflab: 102 runs to do: about 2 min. What they leave open is looked at again, with up to 24 seeds: "
        "816 runs in all, about 16 min, at most\n"
    )
    bench.announce([Planned(800, 1000.0, 700)], 0)  # type: ignore[list-item]
    bench.announce([Planned(0, 0.0, 0), Planned(0, 0.0, 0)], 0)  # type: ignore[list-item]
    assert capsys.readouterr().err == ""


def test_how_many_runs_are_left_at_most() -> None:
    """To the last look, of each variant that a claim names; those that are there are not run again."""
    empty, some = (Schedule(of, "now", tasks) for of in (claims(), filled(range(1, 6))))
    assert empty.left(empty.units(["C1"])) == 2 * 24
    assert some.left(some.units(["C1"])) == 2 * 19
