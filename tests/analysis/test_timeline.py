# SPDX-License-Identifier: BSD-3-Clause
"""The timeline of a run: its columns agree with the air's trace, and a browser shows and finds the same."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, look
from sample import Sample

from analysis.pages import timeline
from analysis.pages.packed import unpack
from analysis.pages.timeline import Frames, Timeline, perfetto
from analysis.pages.timeline.exchange import attempts
from analysis.pages.timeline.page import FILES, HERE, page
from analysis.pages.timeline.segments import NO_FLOW
from analysis.tcp.senders import NO_SSTHRESH, Flow
from analysis.traces.capture import read_file
from analysis.traces.trace import GIVEN_UP, NOBODY, Array, Kind, Outcome, is_response

RETRY = 0x0800  # in Frame Control


def plan(sample: Sample) -> dict[str, Any]:
    flow = {"name": "flow1", "source": "sta1", "destination": "sta4", "port": 2}
    return sample.air.plan() | {"name": "string", "applications": [flow]}


def lane(sample: Sample) -> dict[str, Any]:
    return {"air_s": 6.0, "started_ns": sample.trace.start_ns, "stopped_ns": sample.trace.stop_ns}


def sender() -> Flow:
    """Return a flow that loses its route at 2 s, and waits from 4 s until 5 s."""
    cwnd, phase = np.array([2, 8, 4, 1]), np.array([0, 1, 2, 3])
    return Flow(np.array([0, 1, 2, 4, 6]) * 10**9, cwnd, np.array([NO_SSTHRESH, 8, 4, 2]), np.full(4, 90_000), cwnd - 1,
                phase, np.array([5 * 10**9]), np.array([2 * 10**9]), (0, 0), None)  # fmt: skip


@pytest.fixture(scope="module")
def made(sample: Sample) -> Timeline:
    return timeline.read("a <timeline>", sample.folder, plan(sample), lane(sample), {"flow1": sender()})


def test_rows_are_transmissions_and_wiresharks_numbers(sample: Sample, made: Timeline) -> None:
    tx, of = sample.trace.tx, made.frames
    assert of.start.tolist() == (tx["start_ns"] - sample.trace.start_ns).tolist()
    assert of.took.tolist() == tx["duration_ns"].tolist() and of.kind.tolist() == tx["kind"].tolist()
    assert of.length.tolist() == tx["length"].tolist() and of.attempt.tolist() == tx["attempt"].tolist()
    told = of.station >= 0
    assert of.station[told].tolist() == tx["station"][told].tolist() and told.mean() > 0.99
    assert of.receiver.tolist() == np.where(tx["receiver"] == NOBODY, -1, tx["receiver"].astype(int)).tolist()


def test_what_became_of_each_frame(sample: Sample, made: Timeline) -> None:
    """The last attempt has the limit at which it was given up; each first one has its queueing time."""
    trace, of = sample.trace, made.frames
    ends = trace.end[np.isin(trace.end["reason"], GIVEN_UP) & (trace.end["id"] > 0)]
    limits = dict(zip(ends["id"].tolist(), ends["reason"].tolist(), strict=True))
    assert of.given_up.tolist() == [limits.get(number, 0) for number in trace.tx["id"].tolist()] and limits
    first = of.queued >= 0
    waited = (trace.tx["start_ns"] - trace.tx["queued_ns"])[first]
    assert of.queued[first].tolist() == waited.tolist() and first.any()


def test_attempts_at_one_frame_hang_together(sample: Sample, made: Timeline) -> None:
    tx, before = sample.trace.tx, made.frames.before
    last: dict[tuple[int, int], int] = {}
    columns = (tx[name].tolist() for name in ("kind", "station", "msdu"))
    for row, (kind, station, msdu) in enumerate(zip(*columns, strict=True)):
        if kind not in (Kind.CTS, Kind.ACK):
            assert before[row] == last.get((station, msdu), -1), row
            last[station, msdu] = row
        elif before[row] >= 0:
            assert tx["receiver"][before[row]] == station and not is_response(tx["kind"][before[row]])


def test_with_edca_attempts_of_two_categories_alternate() -> None:
    """Each category is served separately."""
    data, ack = int(Kind.TCP_DATA), int(Kind.ACK)
    air = SimpleNamespace(
        kind=np.array([data, data, data, ack, data]), station=np.array([0, 0, 0, 1, 0]),
        receiver=np.array([1, 1, 1, 0, 1]), start_ns=np.arange(5),
    )  # fmt: skip
    queued, category = np.array([7, 9, -1, -1, -1]), np.array([3, 1, 3, 0, 1])
    legacy = SimpleNamespace(mode=np.zeros(5, int))
    before, first = attempts(air, queued, category, legacy)  # type: ignore[arg-type]
    assert before.tolist() == [-1, -1, 0, 2, 1] and first.tolist() == [0, 1, 0, 0, 1]


def test_the_culprit_of_each_collision(sample: Sample, made: Timeline) -> None:
    """The transmission of the station that the air named, and on the air at the time."""
    trace, of = sample.trace, made.frames
    rx = trace.rx[(trace.rx["addressed"] != 0) & (trace.rx["other"] != NOBODY)]
    row = np.searchsorted(trace.tx["id"], rx["id"])
    for at, outcome, other in zip(row.tolist(), rx["outcome"].tolist(), rx["other"].tolist(), strict=True):
        if outcome in (Outcome.COLLISION, Outcome.OWN_TX):
            by = int(of.culprit[at])
            assert by >= 0 and of.station[by] == other and of.outcome[at] == outcome
            assert of.start[by] < of.start[at] + of.took[at] + 2000 and of.start[by] + of.took[by] > of.start[at] - 2000
    assert (of.culprit >= 0).sum() > 50


def test_who_heard_it(sample: Sample, made: Timeline) -> None:
    """The receivers of a frame are those in the trace; all stations within two hops sensed it."""
    trace, of = sample.trace, made.frames
    bits = np.unpackbits(made.masks, axis=1, bitorder="little")[:, :4]
    well = trace.rx["outcome"] == Outcome.OK
    received = np.zeros((trace.tx.size, 4), int)
    received[trace.rx_tx[well], trace.rx["station"][well]] = 1
    over = trace.tx["start_ns"] + trace.tx["duration_ns"] + 2000 < trace.stop_ns
    assert (bits[of.received] == received)[over].all()
    apart = np.abs(np.arange(4) - trace.tx["station"][:, None].astype(int))
    known = of.station >= 0
    assert (bits[of.sensed] == ((apart > 0) & (apart <= 2)))[known].all()


def test_without_what_stations_received(sample: Sample, made: Timeline) -> None:
    """All within range count as receivers; for the addressed one, the air says whether it received it."""
    bare = timeline.make("", plan(sample), lane(sample), read_file(sample.pcapng), None, {})
    bits = np.unpackbits(bare.masks, axis=1, bitorder="little")[bare.frames.received, :4]
    good = np.flatnonzero((bare.frames.outcome == Outcome.OK) & (bare.frames.receiver >= 0))
    assert not bare.views and made.views and bits[good, bare.frames.receiver[good]].all()


def test_segments_of_flows(sample: Sample, made: Timeline) -> None:
    """TCP's numbers, also of RTSs, CTSs and ACKs for its frames, and of no others."""
    of = made.frames
    data = of.kind == Kind.TCP_DATA
    assert (of.flow[data] == 0).all() and (of.payload[data] == 1460).all() and not of.back[data].any()
    assert of.seq[data].min() == 0 and (of.back[of.kind == Kind.TCP_ACK] == 1).all()
    assert (of.flow[np.isin(of.kind, (Kind.ROUTING, Kind.MANAGEMENT))] == NO_FLOW).all()
    assert (of.flow[of.kind == Kind.RTS] == 0).any() and (of.flow[of.kind == Kind.ACK] == 0).any()


def test_how_long_a_station_contended(made: Timeline) -> None:
    """Since it had the frame and its previous exchange was over; not after a CTS."""
    of = made.frames
    own = ~is_response(of.kind) & (of.station >= 0)
    assert (of.waited[~own] == -1).all()
    for station in range(4):
        rows = np.flatnonzero(own & (of.station == station))
        free = (of.start + of.took)[rows[:-1]]
        waited = of.waited[rows[1:]]
        assert (of.start[rows[1:]] - waited >= free)[waited >= 0].all()
    after_cts = own & (of.waited == -1)
    assert after_cts.any() and (of.kind[after_cts] != Kind.RTS).all()
    first = own & (of.queued >= 0)
    assert (of.waited[first] <= of.queued[first]).all()


def test_the_file(made: Timeline) -> None:
    """One file, the same again, that loads nothing else; its columns are the run's."""
    text = page(made)
    assert text == page(made) and "<title>a &lt;timeline&gt;</title>" in text and "default-src 'none'" in text
    assert not re.search(r"\bsrc=|@import|fetch\(|XMLHttpRequest|{{", text)
    head, columns = unpack(text)
    start = np.cumsum(columns["start"].astype(np.int64) + (columns["start_high"].astype(np.int64) << 32))
    assert start.tolist() == made.frames.start.tolist()
    rows = np.arange(start.size)
    culprit = np.where(columns["culprit"] == 0, -1, rows - columns["culprit"])
    assert culprit.tolist() == made.frames.culprit.tolist()
    assert head["stations"] == ["sta1", "sta2", "sta3", "sta4"] and head["flows"][0]["steps"] == 4


def test_perfetto(made: Timeline, tmp_path: Path) -> None:
    """A process a station, a slice a frame, arrows for collisions, counters; compressed if the name says so."""
    for name in ("a.json", "a.json.gz"):
        perfetto.write(made, tmp_path / name)
    plain = (tmp_path / "a.json").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()) == plain
    events = json.loads(plain)["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    known = made.frames.station >= 0
    assert [event["args"]["frame.number"] for event in slices] == (np.flatnonzero(known) + 1).tolist()
    assert [event["pid"] - 1 for event in slices] == made.frames.station[known].tolist()
    assert [event["dur"] * 1000 for event in slices] == pytest.approx(made.frames.took[known].tolist())
    begun, ended = ([event["id"] for event in events if event["ph"] == what] for what in "sf")
    assert begun == ended == (np.flatnonzero((made.frames.culprit >= 0) & known) + 1).tolist()
    counters = {event["name"] for event in events if event["ph"] == "C"}
    assert counters >= {"flow1, cwnd", "flow1, ssthresh", "flow1, in flight", "queue of sta1"}
    queued = [event["args"][""] for event in events if event["name"] == "queue of sta1"]
    assert min(queued) == 0 and max(queued) <= made.frames.start.size and max(queued) == 6  # tiny air's limit


def _is(of: Frames, **what: int) -> Array:
    found: Array = np.logical_and.reduce([getattr(of, name) == value for name, value in what.items()])
    return found


QUERIES: dict[str, Callable[[Frames], Array]] = {
    "collision": lambda of: np.isin(of.outcome, (Outcome.COLLISION, Outcome.OWN_TX)),
    "retry and not rts": lambda of: ((of.attempt > 1) | (of.control & RETRY != 0)) & (of.kind != Kind.RTS),
    "drop": lambda of: of.given_up > 0,
    "sta3 and (collision or drop)": lambda of: (
        ((of.station == 2) | (of.receiver == 2))
        & (np.isin(of.outcome, (Outcome.COLLISION, Outcome.OWN_TX)) | (of.given_up > 0))
    ),
    "from:sta2 to:sta3": lambda of: _is(of, station=1, receiver=2),
    "flow1 data attempt>=2": lambda of: _is(of, flow=0, kind=Kind.TCP_DATA) & (of.attempt >= 2),
    "by:sta1": lambda of: (of.culprit >= 0) & (of.station[of.culprit] == 0),
    "tcpack or beacon": lambda of: np.isin(of.kind, (Kind.TCP_ACK, Kind.MANAGEMENT)),
    "12": lambda of: np.arange(of.start.size) == 11,
    "lost length > 100": lambda of: (of.outcome != Outcome.OK) & (of.length > 100),
}

SHOWS = """
  await when(() => state.ready_ms);
  const drawn = (id) => { const c = element(id), seen = new Set(new Uint32Array(
    c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)); return seen.size; };
  draw();
  said.colours = ["mini", "lanes", "tcp", "axis"].map(drawn);
  said.queries = QUERIES.map((text) => {
    element("query").value = text;
    find();
    return [...state.hits.rows];
  });
  element("query").value = "colision";
  find();
  said.misspelt = [element("query").getAttribute("aria-invalid"), element("hits").textContent];
  press("Escape");
  said.none = [state.hits, state.chosen];
  element("query").value = "collision and by:sta2";
  find();
  press("n");
  said.first = state.chosen;
  press("n");
  said.second = state.chosen;
  press("p");
  said.back = state.chosen;
  said.pane = element("frame").innerText;
  said.filter = element("filter").textContent;
  draw();
  said.seen = { from: state.view.from, to: state.view.to, detail: state.lanes.detail };
  const { run, view, lanes, chosen } = state, middle = run.start[chosen] + run.took[chosen] / 2;
  said.under = lanes.frameAt(view.x(middle, element("lanes").clientWidth), lanes.barTop(run.from[chosen]) + 5);
  press("c");
  said.culprit = state.chosen;
  said.spoilt = element("frame").innerText.includes("corrupted");
  for (let i = 0; i < 60; i++) press("+");
  said.zoomed = state.view.span;
  said.inside = view.from >= run.start[said.culprit] - 1 && view.to <= run.stop(said.culprit) + 1;
  draw();
  press("0");
  said.whole = state.view.span;
  await when(() => location.hash.includes("frame="));
  said.hash = location.hash;
  location.hash = "#t=2.5,2.75&frame=40&q=rts&theme=dark";
  await when(() => state.chosen === 39);
  said.moved = [state.view.from, state.view.to, element("query").value, document.documentElement.dataset.theme];
  said.nav = state.run.rows.map((_, station) => navOf(state.run, station, 0, 6e9).length);
  said.backoff = backoffOf(state.run, state.run.from[0], 0).map((each) => each.what);
  said.unlabelled = [...document.querySelectorAll("button, input, select, canvas:not([aria-hidden])")].filter((each) =>
    !(each.textContent.trim() || each.getAttribute("aria-label") || each.closest("label"))).length;
  const typed = (key) =>
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  choose(-1);
  typed("/");
  said.typing = document.activeElement.id;
  document.execCommand("insertText", false, "collision");
  typed("Enter");
  typed("n");
  said.handout = [document.activeElement.id, element("query").value, state.run.outcome[state.chosen]];
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_a_browser_shows_the_same(made: Timeline, tmp_path: Path) -> None:
    """Search, hits, culprits, 1 us, addresses of moments; by keys."""
    of = made.frames
    said = look(page(made), SHOWS.replace("QUERIES", json.dumps(list(QUERIES))), tmp_path, "#theme=light")
    assert all(count > 3 for count in said["colours"])
    for (text, fits), found in zip(QUERIES.items(), said["queries"], strict=True):
        assert found == np.flatnonzero(fits(of)).tolist() and found, text
    assert said["misspelt"][0] == "true" and "colision" in said["misspelt"][1] and said["none"] == [None, -1]
    by = np.flatnonzero(np.isin(of.outcome, (Outcome.COLLISION, Outcome.OWN_TX)) & (of.station[of.culprit] == 1))
    assert (said["first"], said["second"], said["back"]) == (by[0], by[1], by[0]) and said["under"] == by[0]
    assert said["filter"] == f"frame.number == {by[0] + 1}"
    assert f"#{of.culprit[by[0]] + 1} sta2" in said["pane"] and said["culprit"] == of.culprit[by[0]] and said["spoilt"]
    assert said["seen"]["from"] < of.start[by[0]] < said["seen"]["to"] and said["seen"]["detail"]
    assert said["zoomed"] == 1000 and said["inside"] and said["whole"] > 6e9
    assert said["typing"] == "query" and said["handout"][:2] == ["", "collision"]
    assert said["handout"][2] in (Outcome.COLLISION, Outcome.OWN_TX)
    assert f"frame={said['culprit'] + 1}" in said["hash"] and "q=collision" in said["hash"]
    assert said["moved"] == [pytest.approx(2.5e9), pytest.approx(2.75e9), "rts", "dark"]
    bits = np.unpackbits(made.masks, axis=1, bitorder="little")[of.received]
    overheard = (bits[:, 0] == 1) & (of.receiver != 0) & (of.duration > 0)
    assert 10 < said["nav"][0] <= overheard.sum() and "count" in said["backoff"] and said["unlabelled"] == 0


def many(size: int, stations: int = 25) -> Timeline:
    """Return this many frames, of no run: each follows the one before, and a tenth collide with the next but one."""
    random, rows = np.random.default_rng(1), np.arange(size)
    took = random.integers(200, 2000, size) * 1000
    start = np.cumsum(took + random.integers(10, 400, size) * 1000)
    kind = random.choice([Kind.RTS, Kind.CTS, Kind.TCP_DATA, Kind.ACK, Kind.TCP_ACK], size)
    station = random.integers(0, stations, size)
    collided = random.random(size) < 0.1
    zero, none = np.zeros(size, int), np.full(size, -1)
    data = kind == Kind.TCP_DATA
    of = Frames(
        start, took, kind, station, (station + 1) % stations, np.where(collided, int(Outcome.COLLISION), 0),
        np.where(collided & (rows > 1), rows - 2, -1), zero + 1, zero, np.where(data, 5_000_000, -1),
        np.where(data, 300_000, -1), none, zero + 1500, zero + 110, zero, zero, zero, zero, took, zero,
        zero + 2412, zero, zero + 8, zero + 300, rows & 4095, zero, np.where(data, 0, 255), zero,
        np.where(data, rows * 100 % 2**32, 0), zero, np.where(data, 1460, 0), zero, zero, zero,
    )  # fmt: skip
    names = [f"sta{n + 1}" for n in range(stations)]
    mac = {"slot": 20_000, "sifs": 10_000, "difs": 50_000, "eifs": 364_000, "reset": 0, "edca": 0}
    masks = np.full((1, -(-stations // 8)), 255, np.uint8)
    return Timeline("many", int(start[-1] + took[-1]), names, [("flow1", 0, 5)], of, [], masks, True, mac, None, {})


PANS = """
  await when(() => state.ready_ms);
  said.size = state.run.size;
  said.ready_ms = state.ready_ms;
  const began = performance.now();
  said.coarse = state.lanes.single;
  for (let i = 0; i < 20; i++) { press(i % 2 ? "ArrowRight" : "+"); draw(); }
  said.fine = state.lanes.single;
  said.frame_ms = (performance.now() - began) / 20;
  element("query").value = "collision";
  find();
  said.hits = state.hits.rows.length;
  press("n");
  draw();
  said.found = state.run.outcome[state.chosen];
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_a_million_frames(tmp_path: Path) -> None:
    made = many(1_000_000)
    said = look(page(made), PANS, tmp_path)
    print(f"a million frames: {said['ready_ms']:.0f} ms until they are shown, {said['frame_ms']:.0f} ms a drawing")
    assert said["size"] == 1_000_000 and (said["coarse"], said["fine"]) == (False, True)
    assert said["hits"] == (made.frames.outcome == Outcome.COLLISION).sum() and said["found"] == Outcome.COLLISION


POINTS = """
  await when(() => state.drawn);
  const lanes = element("lanes"), { view } = state, at = (x) => Math.round(view.at(x, lanes.clientWidth));
  view.set(1e9, 2e9);
  const before = at(300);
  pull(lanes, [300, 20], [420, 40]);
  said.moved = at(420) - before;
  const under = at(500);
  point(lanes, "wheel", [500, 20], { deltaY: -100 });
  said.wheel = [at(500) - under, view.span < 0.9e9];
  const marks = [at(200), at(600)];
  pull(lanes, [200, 20], [600, 20], { shiftKey: true });
  said.marked = [view.from, view.to].map((ns, n) => Math.abs(ns - marks[n]) <= 1);
  const ends = [at(300), at(400)];
  point(lanes, "pointerdown", [300, 20]);
  point(lanes, "pointerdown", [400, 20], { pointerId: 2 });
  point(lanes, "pointermove", [200, 20]);
  point(lanes, "pointermove", [600, 20], { pointerId: 2 });
  said.pinched = [at(200) - ends[0], at(600) - ends[1]].map((ns) => Math.abs(ns) <= 2);
  for (const pointerId of [1, 2]) point(lanes, "pointerup", [400, 20], { pointerId });
  const row = state.run.rows[0].find((each) => !state.run.more[each]);
  fit(row);
  said.row = row;
  said.before = state.chosen;
  const x = view.x(state.run.start[row] + 1000, lanes.clientWidth);
  pull(lanes, [x, 12], [x, 13]);
  said.chosen = state.chosen;
"""


@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_gestures(made: Timeline, tmp_path: Path) -> None:
    """Drag, wheel, mark with shift, pinch, click: what is below the pointers stays there."""
    said = look(page(made), POINTS, tmp_path, "#theme=light")
    assert abs(said["moved"]) <= 1 and abs(said["wheel"][0]) <= 1 and said["wheel"][1]
    assert all(said["marked"]) and all(said["pinched"])
    assert said["before"] == -1 and said["chosen"] == said["row"]


def test_the_pages_files_say_their_license() -> None:
    assert {*FILES} >= {file.name for file in HERE.glob("*.js")}
    for file in HERE.iterdir():
        assert file.is_dir() or "SPDX-License-Identifier: BSD-3-Clause" in file.read_text()[:200], file
