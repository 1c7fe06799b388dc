# SPDX-License-Identifier: BSD-3-Clause
"""The report of runs: it has the numbers of the printed tables, and a browser shows them all."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sample_runs
from browser import CHROMIUM, look
from rich.table import Table

from analysis.figures.figures import OVER_TIME
from analysis.pages import report
from analysis.pages.packed import unpack
from analysis.pages.report import FILES, HERE, Report, page
from analysis.pages.report.curves import OverTime
from analysis.pages.report.pictures import drawings
from analysis.results.result import Host, Result, Run, Setting
from analysis.routes.paths import Paths
from analysis.routes.routes import NO_ROUTE, Routes
from analysis.tables.claims import Claim, judge, order
from analysis.tables.findings import NOT_TESTED, Findings, Judged
from analysis.tables.quantities import OF_ROUTING, OF_RUNS, QUANTITIES, meaning
from analysis.tables.table import number, shown, study_tables, value
from analysis.tcp.in_flight import Series
from analysis.tcp.senders import NO_SSTHRESH, Flow
from emulation.files.foreign import Damaged

NAMES = {"full": "Full", "partial": "Partial", "none": "No", "plain": "Plain", "slow": "Slow"}
PUBLISHED = {"": {"full": {"goodput_segments": 4476.0, "col.total": 15193.0}, "none": {"goodput_segments": 5365.0}}}
PAGES = {"timeline.html": "view", "film.html": "film"}
CLAIM = Claim("C1", "goodput: <No> > Partial", order("goodput_segments", "none", "partial"))
FAILED = Claim("C2", "the other way", order("goodput_segments", "full", "none"))


def flow() -> Flow:
    cwnd, phase = np.array([2, 8, 4, 1]), np.array([0, 1, 2, 3])
    return Flow(np.array([0, 1, 2, 4, 120]) * 10**9, cwnd, np.array([NO_SSTHRESH, 8, 4, 2]), np.full(4, 90_000),
                cwnd - 1, phase, np.array([5 * 10**9]), np.array([2 * 10**9]), (0, 0), None)  # fmt: skip


def made_of(runs: list[Run], **more: Any) -> Report:
    tables = study_tables("", runs, published=PUBLISHED, names=NAMES, rows="hops")
    claims = [judge(each, runs).judged(NAMES) for each in (CLAIM, FAILED)] if "full" in runs[0].variant else []
    claims += [Judged("C9", NOT_TESTED, "of more hops", ["there is no run of it"])]
    findings = Findings("a <study>", "seeds 1..3; 120 s", tables, troubles=["flow1 died"], claims=claims)
    result = Result(
        experiment="study", specification={"radio": {"rate": 2.0, "rts": None}}, runs=runs, host=Host(lane="virtual")
    )
    return Report(
        findings, result, QUANTITIES, NAMES, rows="hops", published=PUBLISHED, command="./dcflab run study",
        folder="runs/a study", **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def made() -> Report:
    flights = {
        name: [Series(np.arange(1200) / 10, np.arange(1200) % n, 120.0)] for name, n in (("full", 7), ("none", 9))
    }
    return made_of(sample_runs.study(), seen=OverTime(flights, {"Full": flow(), "No": flow()}))


def test_the_file(made: Report) -> None:
    """One file, the same again, that loads nothing else; with the licences of its parts."""
    text = page(made)
    assert text == page(made) and "<title>a &lt;study&gt;</title>" in text and "default-src 'none'" in text
    assert not re.search(r"\bsrc=|@import|fetch\(|XMLHttpRequest|{{", text)
    assert "Leon Sorokin" in text and "WITHOUT WARRANTY OF ANY KIND" in text
    assert {*FILES} >= {file.name for file in HERE.glob("*.js")}


def test_it_links_to_what_is_made_later(made: Report, tmp_path: Path) -> None:
    """Of the runs that have it; all else stays."""
    file, first = tmp_path / "report.html", made.result.runs[0].folder
    before = page(replace(made, folder=str(tmp_path), pages=PAGES))
    file.write_text(before)
    (tmp_path / first).mkdir()
    (tmp_path / first / "film.html").write_text("a film")
    report.link(file, PAGES)
    (head, columns), (other, others) = unpack(file.read_text()), unpack(before)
    assert [run.pop("left") for run in head["runs"]] == [["film.html", "."], *[[]] * (len(head["runs"]) - 1)]
    assert all(run.pop("left") == [] for run in other["runs"]) and head == other
    assert {name: of.tobytes() for name, of in columns.items()} == {name: of.tobytes() for name, of in others.items()}
    linked, inode = file.read_text(), file.stat().st_ino
    report.link(file, PAGES)
    assert (file.read_text(), file.stat().st_ino) == (linked, inode), "it is written once"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("text", ["", "<html>", '<script id="data" type="text/plain">!</script>',
                                  '<script id="data" type="text/plain">AAAA</script>'])  # fmt: skip
def test_a_file_that_is_no_report_stays(text: str, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(text)
    with pytest.raises(Damaged, match=r"report\.html: "):
        report.link(tmp_path / "report.html", PAGES)
    assert (tmp_path / "report.html").read_text() == text


def goodput_first(table: Table) -> list[list[str]]:
    """Return the rows of a printed table, as in the report."""
    rows = [[str(cell) for cell in row] for row in zip(*(column.cells for column in table.columns), strict=True)]
    return sorted(rows, key=lambda row: not row[0].startswith("goodput"))


def test_every_quantity_of_a_run_has_a_meaning() -> None:
    """And no other word has one."""
    assert [label for label in (QUANTITIES | OF_RUNS | OF_ROUTING).values() if not meaning(label)] == []
    assert meaning("COL_ANY_ACK") != meaning("COL_ACK") and meaning("COL_NOTHING") == meaning("flow1") == ""


def test_its_tables_are_those_that_are_printed(made: Report) -> None:
    head, _ = unpack(page(made))
    [table] = head["tables"]
    [printed] = made.findings.tables
    assert [column["name"] for column in table["columns"]] == [str(column.header) for column in printed.columns]
    assert table["rows"] == goodput_first(printed)
    assert all(table["means"]), "each row is explained"
    row = next(row for row in table["rows"] if row[0] == "goodput, segments")
    means = [
        np.mean([run.goodput_segments for run in made.result.runs if run.variant == name]) for name in ("full", "none")
    ]
    assert (
        row[1].startswith(number(means[0]))
        and "±" in row[1]
        and row[2] == "4,476"
        and row[4].startswith(number(means[1]))
    )
    assert table["columns"][2]["dim"] and table["rules"]


def test_its_bars_and_claims(made: Report) -> None:
    head, _ = unpack(page(made))
    goodput, lost = (chart for chart in head["charts"] if chart["kind"] == "bars")
    runs = [run for run in made.result.runs if run.variant == "full"]
    assert goodput["stacks"][0]["total"][0] == pytest.approx(np.mean([value(run, "goodput_segments") for run in runs]))
    [printed] = made.findings.tables
    assert goodput["stacks"][0]["said"] == next(
        cells[1]
        for cells in zip(*(column.cells for column in printed.columns), strict=True)
        if cells[0] == "goodput, segments"
    )
    assert goodput["stacks"][0]["published"] == 4476 and goodput["stacks"][1]["published"] is None
    for stack in lost["stacks"]:
        assert sum(part for _, part in stack["parts"]) == pytest.approx(stack["total"][0])
    assert [claim["verdict"] for claim in head["claims"]] == [claim.verdict for claim in made.findings.claims]
    assert head["claims"][0]["verdict"].startswith("holds") and head["claims"][1]["verdict"].startswith("does not hold")
    lines = [line for claim in made.findings.claims for line in claim.lines]
    assert lines[0].startswith("C1  ") and lines[1].startswith("    ")


def test_one_seed_has_no_interval() -> None:
    head, _ = unpack(page(made_of(sample_runs.study(1))))
    totals = [stack["total"] for chart in head["charts"] for stack in chart["stacks"]]
    assert totals and all(total[1] is None for total in totals)


def test_several_cases_are_curves() -> None:
    head, _ = unpack(page(made_of(sample_runs.strings(2))))
    charts = {chart["title"]: chart for chart in head["charts"]}
    assert set(charts) == set(shown(QUANTITIES, sample_runs.strings(2)).values()) < set(QUANTITIES.values())
    slow = charts["goodput, segments"]["lines"][1]
    runs = [run for run in sample_runs.strings(2) if (run.case, run.variant) == ("4", "slow")]
    assert slow["values"][1][0] == pytest.approx(np.mean([run.goodput_segments for run in runs]))
    assert charts["goodput, segments"]["cases"] == ["3", "4"]
    assert charts["goodput, segments"]["numbers"] == [3, 4]


OVER_CASES = """
  await when(() => run && run.ready_ms);
  said.at = plots.map((u) => u.data[0].map((x) => u.valToPos(x, "x")));
  said.lines = plots.map((u) => u.series.slice(1).map(({ _paths }) => Boolean(_paths?.stroke)));
  said.marks = plots.map((u, n) => marks(u, run.charts[n]).filter(({ ends }) => ends).map(({ x }) => x));
  said.labels = run.charts.map((chart) => [chart.x, chart.cases]);
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
@pytest.mark.parametrize(
    ("cases", "joined"), [(["1400", "100", "200", "400"], True), (["static 4", "DSR 4", "static 8"], False)]
)
def test_where_cases_are(cases: list[str], joined: bool, tmp_path: Path) -> None:
    """Numbers are to scale, and joined; other cases are not; intervals are side by side."""
    runs = [sample_runs.run(variant=variant, case=case, seed=seed, segments=900 + 9 * seed)
            for case in cases for variant in ("plain", "slow", "fast") for seed in (1, 2, 3)]  # fmt: skip
    said = look(page(made_of(runs)), OVER_CASES, tmp_path)
    for at, lines, bars, (what, places) in zip(said["at"], said["lines"], said["marks"], said["labels"], strict=True):
        assert lines == [joined] * 3 and what == "hops" and places == (sorted(cases, key=int) if joined else cases)
        steps = np.diff(at)
        assert steps / steps[0] == pytest.approx([1, 2, 10] if joined else [1, 1], rel=0.01)
        assert len(bars) == 3 * len(cases) and min(np.diff(sorted(bars))) > 2


def test_settings_are_reported_once() -> None:
    """Where all stations have it: so; where not all runs do: which."""

    def each(*of: tuple[str, str, int]) -> list[Setting]:
        return [Setting(where=where, what=what, value=value, default=0) for where, what, value in of]

    a = sample_runs.run("full").model_copy(
        update={"settings": each(("sta1", "x", 1), ("sta2", "x", 1), ("sta1", "y", 2))}
    )
    b = sample_runs.run("none").model_copy(
        update={"settings": each(("sta1", "x", 1), ("sta2", "x", 1), ("sta2", "z", 3))}
    )
    rows = {row["what"]: (row["value"], row["default"], row["where"], row["runs"]) for row in report.settings([a, b])}
    assert rows == {"x": ("1", "0", "all", ""), "y": ("2", "0", "sta1", a.folder), "z": ("3", "0", "sta2", b.folder)}


SHOWS = """
  await when(() => run && run.ready_ms);
  said.text = document.body.innerText;
  said.cells = [...document.querySelectorAll("#results td")].map((each) => each.textContent);
  said.curves = curves.length;
  said.bars = document.querySelectorAll(".bars").length;
  said.wide = [document.documentElement.scrollWidth, innerWidth];
  curves[0].setScale("x", { min: 10, max: 20 });
  await turn();
  said.zoomed = curves.map((each) => [each.scales.x.min, each.scales.x.max]);
  press("0");
  await turn();
  said.all = curves.map((each) => each.scales.x.max - each.scales.x.min > 50);
  said.drawn = [...document.querySelectorAll("canvas")].every((c) =>
    c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v));
  const theme = document.documentElement.dataset.theme;
  press("d");
  said.themes = [theme, document.documentElement.dataset.theme];
  said.again = curves.length;
  said.links = [...document.querySelectorAll("#runs a")].map((each) => each.getAttribute("href"));
"""


@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
@pytest.mark.parametrize("size", [(1200, 900), pytest.param((390, 800), marks=pytest.mark.slow)], ids=["desk", "phone"])
def test_a_browser_shows_it(made: Report, size: tuple[int, int], tmp_path: Path) -> None:
    """All numbers; curves that zoom together; also on a narrow screen without moving sideways."""
    for file in ("full-1/air.pcapng.gz", "none-1/air.pcapng.gz", "none-1/film.html"):
        (tmp_path / "runs" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "runs" / file).touch()
    said = look(page(replace(made, folder=str(tmp_path / "runs"), pages=PAGES)), SHOWS, tmp_path, "#theme=light", size)
    [table] = made.findings.tables
    assert said["cells"] == [cell for row in goodput_first(table) for cell in row[1:]]
    assert "a <study>" in said["text"] and "flow1 died" in said["text"] and "goodput: <No> > Partial" in said["text"]
    assert "./dcflab run study" in said["text"] and "net.ipv4.tcp_sack" in said["text"]
    assert said["curves"] == said["again"] == 6 and said["bars"] == 2 and said["drawn"]
    assert said["zoomed"] == [[10, 20]] * 6 and all(said["all"])
    assert said["themes"] == ["light", "dark"] and said["wide"][0] <= said["wide"][1]
    assert said["links"] == ["full-1/air.pcapng.gz", "full-1/", "none-1/film.html", "none-1/air.pcapng.gz", "none-1/"]
    for command in ("view", "film"):  # of what is not there
        assert f"./dcflab {command} {tmp_path}/runs/full-1" in said["text"]


def routed() -> OverTime:
    """Two seeds in flight, a voice flow, and one with a route now and then."""
    known = Routes(np.array([0, 10, 30, 120]) * 10**9, np.array([2, NO_ROUTE, 3]), np.zeros((0, 2), np.int64), 1, 1, 1)
    took = Paths(np.arange(5) * 10**9, np.full(5, 2), np.zeros((5, 3), np.int64))
    sampled = {name: np.full(3, np.nan) for name, _ in OVER_TIME} | {"time_s": np.arange(3.0), "delay_ms": np.ones(3)}
    both = [Series(np.arange(1200) / 10, np.arange(1200) % n, 120.0) for n in (7, 9)]
    return OverTime({"full": both}, {"one": flow()}, {"voice": sampled}, {"one": (known, took)},
                    {"RREQ": np.arange(9.0)}, 120.0)  # fmt: skip


def test_what_there_is_over_time() -> None:
    """The page has all that is drawn as files: intervals, losses, phases, samples, routes and their cost."""
    made = made_of(sample_runs.study(), seen=routed())
    head, column = unpack(page(made))
    charts = {chart["title"]: chart for chart in head["charts"]}
    [line] = charts["Segments in flight, DATA and ACK"]["lines"]
    low, high = (column[name] for name in line["band"])
    assert (low <= column[line["y"]] + 1e-3).all() and (low < high).any()
    marks = {mark["what"]: column[mark["x"]].tolist() for mark in charts["TCP: cwnd"]["marks"]}
    assert marks == {"fast retransmit": [2], "retransmission timeout": [5]}
    [row] = charts["TCP: phases"]["rows"]
    spans = zip(*(column[row[name]].tolist() for name in ("begin", "end", "state")), strict=True)
    assert [*spans] == [(0, 1, 0), (1, 2, 1), (2, 4, 2), (4, 120, 3)]
    [route] = charts["Routes: without one"]["rows"]
    assert [column[route[name]].tolist() for name in ("begin", "end")] == [[10], [30]]
    assert charts["Flows: delay"]["unit"] == "ms" and "Flows: SRTT" not in charts
    length, dots = charts["Routes: length"]["lines"]
    assert np.nanmax(column[length["y"]]) == 3 and dots["dots"] and column[dots["y"]].size == 5
    assert charts["Routing: control packets"]["lines"][0]["name"] == "RREQ"
    drawn = [name for _, name, _ in drawings(made)]
    assert drawn == ["in-flight", "tcp", "flows", "routes", "goodput", "collisions"]


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_a_browser_shows_what_there_is_over_time(tmp_path: Path) -> None:
    """All to one scale, in both themes: bands, marks, rows of spans and dots are at their times."""
    said = look(page(made_of(sample_runs.study(), seen=routed())), """
      await when(() => run && run.ready_ms);
      said.extents = curves.map((u) => [u.scales.x.min, u.scales.x.max]);
      const u = curves[run.charts.filter((c) => c.kind !== "bars").findIndex((c) => c.title === "TCP: phases")];
      const [x, y] = [u.valToPos(61, "x", true), u.valToPos(0, "y", true) + 4].map(Math.round);
      said.waits = [...u.ctx.getImageData(x, y, 1, 1).data];
      press("d");
      await turn();
      said.keys = [...document.querySelectorAll("#figures .key")].map((each) => each.innerText);
    """, tmp_path, "#theme=light")  # fmt: skip
    assert said["extents"] == [[0, 120]] * 10 and said["waits"] == [0xC0, 0x39, 0x2B, 255]
    assert {"waiting for the RTO", "▼ retransmission timeout"} <= {*said["keys"]}


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_a_browser_shows_cases(tmp_path: Path) -> None:
    """Cells as printed: a mean and its change apart, names above their columns."""
    done = """await when(() => run && run.ready_ms);
        said.cells = [...document.querySelectorAll("#results td")].map((each) => each.innerText);
        const firsts = [...document.querySelectorAll("#results tr > :first-child")];
        said.left = firsts.map((each) => getComputedStyle(each).paddingLeft);
        said.plots = plots.map((each) => each.data.length);
        said.within = plots.every((each) => each.width <= each.root.parentElement.clientWidth);"""
    of = made_of(sample_runs.strings(2))
    said = look(page(of), done, tmp_path)
    rows = [row[1:] for table in of.findings.tables for row in zip(*(c.cells for c in table.columns), strict=True)]
    assert said["cells"] == [cell for row in rows for cell in row]
    assert any(re.search(r"±.*  .*%", cell) for cell in said["cells"]) and len(set(said["left"])) == 1
    assert said["plots"] == [3] * len(shown(QUANTITIES, of.result.runs)) and said["within"]
