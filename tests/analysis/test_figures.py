# SPDX-License-Identifier: BSD-3-Clause
"""Figures are drawn, are the same for the same result, and change with it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sample_runs import run, strings, study

from analysis.figures import figures
from analysis.figures.places import to_scale
from analysis.results import flow_series
from analysis.results.result import Run
from analysis.routes.paths import Paths
from analysis.routes.routes import Routes
from analysis.tables.table import values
from analysis.tcp.in_flight import Series
from analysis.tcp.senders import NO_SSTHRESH
from analysis.tcp.senders import Flow as TcpFlow

RATE = "goodput_kbps"
CATEGORIES = ["static 4", "DSR 4", "static 8"]
SIZES = ["1400", "100", "200", "400"]  # as they may be given


def flight(seed: int) -> Series:
    r = np.random.default_rng(seed)
    return Series(np.sort(r.uniform(0, 120, 3000)), (6 + np.cumsum(r.integers(-1, 2, 3000))).clip(0, 15), 120.0)


def tcp_flow(seed: int) -> TcpFlow:
    r = np.random.default_rng(seed)
    time_ns = np.cumsum(r.integers(1, 10**9, 101))
    cwnd, ssthresh = r.integers(1, 20, (2, 100))
    ssthresh[:10] = NO_SSTHRESH
    srtt_us, in_flight, phase = r.integers(0, 4, (3, 100))
    return TcpFlow(time_ns, cwnd, ssthresh, srtt_us, in_flight, phase, time_ns[[9]], time_ns[[20, 30]], (0, 1), None)


def samples(seed: int, *more: str) -> flow_series.Series:
    r = np.random.default_rng(seed)
    names = ("time_s", "goodput_kbps", *more)
    empty = {name: np.full(9, np.nan) for name, _ in figures.OVER_TIME}
    return empty | {name: np.cumsum(r.uniform(0, 9, 9)) for name in names}


def route(seed: int) -> Routes:
    hops = np.random.default_rng(seed).integers(-1, 5, 9)
    return Routes(np.arange(10) * 10**10, hops, np.zeros((0, 2), np.int64), 3, 2, 1)


def took(packets: int) -> Paths:
    return Paths(np.arange(packets) * 10**10, np.arange(packets) % 3 + 1, np.zeros((packets, 4), np.int64))


def calm(flow: TcpFlow) -> TcpFlow:
    """Nothing is ever lost."""
    never = flow.time_ns[:0]
    return replace(flow, fast_retransmits_ns=never, rtos_ns=never, ssthresh=np.full(100, NO_SSTHRESH))


def segments(n: int) -> dict[str, list[float]]:
    return values(study(n), "goodput_segments")[""]


def lost(n: int, where: str = "") -> dict[str, dict[str, list[float]]]:
    return {kind: values(study(n), f"col{where}.{kind}")[""] for kind in (*figures.KINDS, "total")}


def sweep(n: int) -> list[Run]:
    return [run(variant=str(at), case=case, segments=900 + n * at) for case in ("3", "4") for at in range(12)]


DRAW: dict[str, Callable[[Path, int], None]] = {
    "in_flight": lambda path, n: figures.in_flight(path, {"full": [flight(n)], "none": [flight(n + 1)]}),
    "in_flight, three seeds": lambda path, n: figures.in_flight(path, {"full": [flight(n), flight(7), flight(8)]}),
    "a note": lambda path, n: figures.goodput(path, segments(1), note=f"seed {n}; 120 s; " + "--stations 5 " * 30),
    "goodput": lambda path, n: figures.goodput(path, segments(n), {"full": 4476}),
    "collisions": lambda path, n: figures.collisions(path, lost(n)),
    "over cases": lambda path, n: figures.over_cases(path, values(strings(n), RATE), "kb/s", "hops", {}),
    "over cases, published": lambda path, n: figures.over_cases(
        path, values(strings(n), RATE), "kb/s", "hops", {}, {"4": {"slow": 200}}
    ),
    "over many variants": lambda path, n: figures.over_cases(path, values(sweep(n), RATE), "kb/s", "hops", {}),
    "tcp flows": lambda path, n: figures.tcp_flows(path, {"one": tcp_flow(n), "two": tcp_flow(n + 1)}),
    "flows": lambda path, n: figures.flows(path, {"voice": samples(n), "bulk": samples(n + 1, "cwnd")}),
    "a calm tcp flow": lambda path, n: figures.tcp_flows(path, {"one": calm(tcp_flow(n))}),
    "routes": lambda path, n: figures.routes(
        path, {"one": (route(n), None), "two": (route(n + 1), took(n))}, {"RREQ": np.arange(50.0) * n % 90}, 90.0
    ),
    "no packet arrived": lambda path, n: figures.routes(path, {"one": (route(n), took(0))}, {}, 90.0),
    "collisions anywhere": lambda path, n: figures.collisions(path, lost(n, ".any"), anywhere=True),
}
FEW = ("in_flight", "goodput", "over cases", "routes")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FEW)) for name in DRAW])
def test_figure(name: str, tmp_path: Path) -> None:
    """A PNG; the same bytes again for the same result, others for another."""
    for at, n in enumerate((1, 1, 3)):
        DRAW[name](tmp_path / f"{at}.png", n)
    first, again, other = ((tmp_path / f"{at}.png").read_bytes() for at in range(3))
    assert first.startswith(b"\x89PNG") and first == again != other


@pytest.mark.slow
@pytest.mark.parametrize(("form", "magic"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_for_print(form: str, magic: bytes, tmp_path: Path) -> None:
    """SVG and PDF, the same bytes again, too."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        DRAW["in_flight"](tmp_path / folder / f"figure.{form}", 1)
        DRAW["tcp flows"](tmp_path / folder / f"tcp.{form}", 1)
    for name in (f"figure.{form}", f"tcp.{form}"):
        drawn = (tmp_path / "one" / name).read_bytes()
        assert drawn.startswith(magic) and drawn == (tmp_path / "two" / name).read_bytes()


def test_of_many_steps_those_remain_that_a_figure_can_show() -> None:
    """Each pixel column begins, ends and reaches as far as before; few steps are unchanged."""
    values = np.random.default_rng(1).normal(size=100 * figures.COLUMNS + 1).cumsum()
    values[5:10] = np.nan  # not known
    time_s = np.arange(values.size)
    shown_s, shown = figures.as_shown(time_s, values)
    assert shown.size <= 4 * (figures.COLUMNS + 1) and (np.diff(shown_s) >= 0).all()
    for low in range(0, values.size - 1, 100):
        before, after = (of[(at >= low) & (at < low + 100)] for at, of in ((time_s, values), (shown_s, shown)))
        first, least, greatest, last = after
        assert (first, last) == (before[0], before[-1])
        assert (least, greatest) == (np.nanmin(before), np.nanmax(before))
    few = time_s[:4000], values[:4000]
    assert figures.as_shown(*few) == few


def test_several_seeds_have_their_interval(tmp_path: Path) -> None:
    """Every figure of counts shows the spread over seeds: in drawings as text, the bars can be found."""
    for draw in (DRAW["goodput"], DRAW["collisions"]):
        for seeds in (1, 3):
            draw(tmp_path / f"{seeds}.svg", seeds)
        one, three = ((tmp_path / f"{seeds}.svg").read_text().count("LineCollection") for seeds in (1, 3))
        assert three > one


def over(monkeypatch: pytest.MonkeyPatch, cases: list[str], variants: list[str]) -> tuple[Axes, dict[str, list[float]]]:
    """Return what `over_cases` draws of three seeds of each, and the positions of its intervals, in pixels, by
    colour."""
    drawn: list[Figure] = []
    monkeypatch.setattr(figures, "save", lambda figure, path: drawn.append(figure))
    values = {case: {each: [9.0 + at, 10.0, 11.0] for each in variants} for at, case in enumerate(cases)}
    theirs = {case: {variants[0]: 12.0} for case in cases}
    figures.over_cases(Path("none.png"), values, "kb/s", "what", {}, theirs)
    [figure] = drawn
    figure.draw_without_rendering()
    [axes] = figure.axes
    bars: dict[str, list[float]] = {}
    for each in axes.collections:
        assert isinstance(each, LineCollection)
        pixels = [each.get_transform().transform(segment)[:, 0] for segment in each.get_segments()]
        assert all(begin == end for begin, end in pixels)
        bars.setdefault(to_hex(each.get_color()[0]), []).extend(float(begin) for begin, _ in pixels)
    return axes, bars


def test_numbers_are_to_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values can be read off where curves cross: lines go from number to number, from the left."""
    axes, _ = over(monkeypatch, SIZES, ["plain", "slow"])
    curves = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert len(curves) == 4  # and of each what was published
    assert all(list(line.get_xdata()) == [100, 200, 400, 1400] for line in curves)
    assert axes.get_xscale() == "linear" and axes.get_xlabel() == "what"


def test_what_is_no_number_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    axes, _ = over(monkeypatch, CATEGORIES, ["plain", "slow"])
    assert [label.get_text() for label in axes.get_xticklabels()] == CATEGORIES
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert len(dots) == 4 and all(line.get_linestyle() == "None" for line in dots)


@pytest.mark.parametrize("cases", [SIZES, CATEGORIES], ids=["numbers", "categories"])
@pytest.mark.parametrize("variants", [list("ab"), list("abcde"), list("abcdefghijkl")], ids=len)
def test_intervals_are_side_by_side(cases: list[str], variants: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No interval overlaps another, and all are inside the figure; with many variants the cases have the colours."""
    axes, bars = over(monkeypatch, cases, variants)
    assert len(bars) == (len(variants) if len(variants) <= len(figures.COLOURS) else len(cases))
    everywhere = sorted(x for of in bars.values() for x in of)
    assert len(everywhere) == len(cases) * len(variants)
    assert min(np.diff(everywhere)) > 2
    top = max(each.get_transform().transform(segment)[:, 1].max() for each in axes.collections
              for segment in each.get_segments())  # fmt: skip
    assert top <= axes.bbox.y1


@pytest.mark.parametrize(
    ("names", "numbers", "what"),
    [
        (["3", "4", "11"], [3, 4, 11], "hops"),
        (["size 100", "size 1400"], [100, 1400], "size"),
        (["5.5 Mb/s", "-2 Mb/s"], [5.5, -2], "Mb/s"),
        (["1 flow, pause 0 s, 2 m/s", "1 flow, pause 0 s, 10 m/s"], [2, 10], "1 flow, pause 0 s, … m/s"),
    ],
)
def test_names_that_are_numbers(names: list[str], numbers: list[float], what: str) -> None:
    assert to_scale(names, "hops") == (numbers, what)


@pytest.mark.parametrize(
    "names", [["3"], ["3", "3.0"], CATEGORIES, ["1 flow, 2 hops", "2 flow, 3 hops"], ["none", "2"], ["22-13", "23-1"],
              ["3x3", "4x4"], ["w1", "w32"], ["placement 1", "placement 2"]], ids=str
)  # fmt: skip
def test_names_that_are_none(names: list[str]) -> None:
    assert to_scale(names, "hops") is None
