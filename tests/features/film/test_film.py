# SPDX-License-Identifier: BSD-3-Clause
"""Films: their data is that of the run, they load nothing from elsewhere, and a browser shows the same."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import CHROMIUM, look
from sample import Sample

from analysis.pages.packed import unpack
from analysis.routes import routes
from analysis.routes.routes import Event
from analysis.taps import aired
from analysis.traces.trace import Kind
from emulation.features import film
from emulation.features.film import Film
from emulation.features.film.page import HERE, page
from emulation.features.film.still import still

AT_S = (0.0, 0.7, 1.0, 2.5, 3.999, 6.0)


def plan(sample: Sample, **more: Any) -> dict[str, Any]:
    """The sample's plan with a flow; sta2 goes from 200 m to 600 m within 4 s, and a script sends it back."""
    made = sample.air.plan()
    nodes = [node | {"position": [200.0 * n, 0, 0]} for n, node in enumerate(made["nodes"])]
    waypoints = {f"sta{n + 1}": [[0, 200_000 * n, 0, 0]] for n in range(4)}
    waypoints["sta2"] = [[0, 200_000, 0, 0], [4_000_000, 600_000, 100_000, 0]]
    flow = {"name": "flow1", "source": "sta1", "destination": "sta4", "port": 2}
    motion = {"waypoints": waypoints, "table": None, "steps": []}
    return made | {"nodes": nodes, "motion": motion, "presence": {"sta4": [[1.0, 3.0]]}, "applications": [flow]} | more


def lane(sample: Sample) -> dict[str, Any]:
    trace = sample.trace
    move = {"at_s": 3.0, "node": "sta2", "from": [500, 75, 0], "to": [200, 75, 0], "speed": 100.0}
    return {
        "air_s": 6.0, "started_ns": trace.start_ns, "stopped_ns": trace.stop_ns, "moves": [move],
        "recorders": {"manet_trace": {"lost_records": 0}},
    }  # fmt: skip


def routing(sample: Sample) -> Any:
    """Records of a lost and found link and route, and of events that are not shown."""
    rows = [
        (Event.LINK_LOST, 2, 3),
        (Event.LOST_ROUTE, 1, 4),
        (Event.FOUND, 1, 4),
        (Event.FOUND, 2, 4),
        (Event.DROPPED, 1, 4),
    ]
    records = np.zeros(len(rows), routes.RECORD)
    for number, (event, node, to) in enumerate(rows):
        time = sample.trace.start_ns + (number + 1) * 1_000_000_000
        records[number] = (48, event, 0, 10 << 24 | node, time, 10 << 24 | to, 0, 3, *[0] * 7)
    return records


@pytest.fixture(scope="module")
def made(sample: Sample) -> Film:
    air = aired.read(sample.pcapng, plan(sample))
    return film.make("a <film>", plan(sample), lane(sample), air, routing(sample), [250.0, 250.0, 250.0, 205.0])


def test_positions_and_links(made: Film) -> None:
    """On the way, at the point where a script turned it around, and at the end."""
    where = [tuple(round(v, 6) for v in made.positions(at)[1]) for at in (0, 2, 3, 4, 6, 9)]
    assert where == [(200, 0, 0), (400, 50, 0), (500, 75, 0), (400, 75, 0), (200, 75, 0), (200, 75, 0)]
    assert made.links(0) == [(0, 1), (1, 2)]  # sta4 is not there
    assert made.links(2) == [(1, 2), (2, 3)]  # sta2 and sta4 are 206 m apart, and sta4 reaches 205 m
    assert made.links(2.9) == [(1, 2), (1, 3), (2, 3)]


def test_a_jump_and_a_move_before_the_start(sample: Sample) -> None:
    jumps = lane(sample) | {"moves": [{"at_s": 1.0, "node": "sta1", "from": [0, 0, 0], "to": [9, 8, 7], "speed": None}]}
    [trajectory, *_] = film.trajectories(plan(sample), jumps)
    assert [film.position_at(trajectory, at) for at in (0.99, 1.0, 5.0)] == [(0, 0, 0), (9, 8, 7), (9, 8, 7)]
    before = {"at_s": -5.0, "node": "sta2", "from": [0, 0, 0], "to": [100, 0, 0], "speed": 10.0}
    [_, trajectory, *_] = film.trajectories(plan(sample, motion=None), lane(sample) | {"moves": [before]})
    assert [film.position_at(trajectory, at) for at in (0, 2.5, 9)] == [(50, 0, 0), (75, 0, 0), (100, 0, 0)]


def test_links_that_distance_does_not_say(sample: Sample) -> None:
    """They follow the plan's powers, from step to step."""
    steps = [
        {"at_s": 2.0, "power_mdbm": {"0": [None] * 4}},
        {"at_s": 3.0, "power_mdbm": {"0": [None, -60_000, -60_000, None]}},
    ]
    motion = plan(sample)["motion"] | {"steps": steps}
    made = film.make(
        "", plan(sample, motion=motion, presence={}), lane(sample), aired.read(sample.pcapng, plan(sample))
    )
    string = [(0, 1), (1, 2), (2, 3)]
    assert [made.links(at) for at in (0, 2.5, 3.5)] == [string, string[1:], string]  # sta3 does not hear sta1


def test_the_data_is_what_the_run_says(sample: Sample, made: Film) -> None:
    """Frames, paths, receptions and events, read back from the file."""
    head, columns = unpack(page(made))
    trace = sample.trace
    assert (head["title"], head["seconds"], head["stations"]) == ("a <film>", 6.0, [f"sta{n}" for n in range(1, 5)])
    start = np.cumsum(columns["frame_wait"], dtype=np.int64)
    assert start.tolist() == ((trace.tx["start_ns"] - trace.start_ns) // 1000).tolist()
    assert (columns["frame_kind"] & 15).tolist() == trace.tx["kind"].tolist()
    assert columns["frame_from"].tolist() == trace.tx["station"].tolist()
    [flow] = head["flows"]
    assert (flow["source"], flow["destination"], flow["runs"]) == (0, 3, len(columns["run_length"]))
    assert columns["run_over"].reshape(-1, 4).tolist() == [[0, 1, 2, 3]] * flow["runs"]
    delivered = [left for n, (_, left) in sample.air.journeys.items() if sample.air.journey_kind[n] == Kind.TCP_DATA]
    assert 0 < columns["arrived"].sum() <= len({*delivered}) and columns["arrived"].size == 60
    shown = [
        (head["events"][event], *rest)
        for event, *rest in zip(
            *(columns[f"routing_{what}"].tolist() for what in ("event", "at", "of", "hops")), strict=True
        )
    ]
    assert shown == [("LINK_LOST", 1, 2, 3), ("LOST_ROUTE", 0, 3, 3), ("FOUND", 0, 3, 3)]
    assert np.cumsum(columns["routing_wait"]).tolist() == [1_000_000, 2_000_000, 3_000_000]


def test_a_path_is_shown_while_packets_come(made: Film) -> None:
    [flow] = made.flows
    first, last = flow.runs[0].first_s, flow.runs[-1].last_s
    assert flow.path(first - 0.001) == () and flow.path(first) == (0, 1, 2, 3)
    assert flow.path(last + film.HOLD_S) == (0, 1, 2, 3) and flow.path(last + film.HOLD_S + 0.001) == ()


def test_of_too_many_frames_the_macs_are_left_out(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    air = aired.read(sample.pcapng, plan(sample))
    monkeypatch.setattr(film, "MOST_FRAMES", air.kind.size - 1)
    assert not {Kind.CTS, Kind.ACK} & {*film.frames(air, 0).kind.tolist()} and Kind.RTS in film.frames(air, 0).kind
    monkeypatch.setattr(film, "MOST_FRAMES", 1)
    assert film.frames(air, 0).kind.size == 0


def test_a_film_is_one_file_and_the_same_again(made: Film) -> None:
    text = page(made)
    assert text == page(made) and "<title>a &lt;film&gt;</title>" in text
    text = text.replace('<link rel="icon" href="data:,">', "")  # which asks nobody
    assert not re.search(r"(https?:)?//[\w.-]+\.\w+/|\bsrc=|<link|@import|fetch\(|XMLHttpRequest|{{", text)
    assert "default-src 'none'" in text


def test_many_frames_take_little_room(made: Film) -> None:
    """900 s of 50 stations are a million frames, which must stay below 10 MB; here six seconds are repeated."""
    frames = made.frames
    times = np.concatenate([frames.start_us + n * 6_000_000 for n in range(100)])
    rest = (np.tile(column, 100) for name, column in vars(frames).items() if name != "start_us")
    random = np.random.default_rng(1)
    long = film.Frames(np.sort(times + random.integers(0, 5000, times.size)), *rest)
    size = len(page(Film(**{**vars(made), "frames": long})))
    assert size * 1_000_000 / times.size < 10_000_000


@pytest.mark.parametrize(("form", "magic"), [
    ("svg", b"<?xml"), *(pytest.param(*one, marks=pytest.mark.slow) for one in (("pdf", b"%PDF"), ("png", b"\x89PNG"))),
])  # fmt: skip
def test_a_still(form: str, magic: bytes, made: Film, tmp_path: Path) -> None:
    """A picture of one moment is the same file each time; other moments, or no ranges, give another."""
    drawn = []
    for at_s, ranges in ((2.0, None), (2.0, None), (4.0, None), (2.0, False)):
        (tmp_path / f"film.{form}").unlink(missing_ok=True)
        still(tmp_path / f"film.{form}", made, at_s, ranges)
        drawn.append((tmp_path / f"film.{form}").read_bytes())
    assert drawn[0].startswith(magic) and drawn[0] == drawn[1] and len({*drawn}) == 3
    if form == "svg":
        assert b"sta1 " in drawn[0] and b"3 hops" in drawn[0] and b"sta4</text>" in drawn[0].replace(b"\n", b"")


SHOWS = """
  await when(() => scene);
  said.at = AT_S.map((t) =>
    ({ positions: scene.positions(t), links: scene.links(t), path: scene.path(0, t)?.over ?? [] }));
  said.frames = scene.frame.start.length;
  said.aired = scene.onAir(0, 6, 1e9).length;
  press("End"); said.end = now;
  press("ArrowLeft"); said.left = now;
  press("Home"); press("ArrowRight", true); said.right = now;
  press("Home"); press("."); said.frame = [now, scene.onAir(now, now, 9).length];
  press("ArrowDown"); said.slower = element("speed").selectedOptions[0].text;
  press(" "); said.playing = [playing, element("play").textContent]; press(" ");
  press("d"); said.theme = document.documentElement.dataset.theme;
  scrub.value = 2.5; scrub.dispatchEvent(new Event("input"));
  said.clock = element("clock").textContent;
  said.events = element("events").innerText;
  const metres = (at) => offMap(view, at), held = metres([100, 100]);
  pull(stage, [100, 100], [160, 130]);
  said.moved = [held, metres([160, 130])];
  point(stage, "wheel", [160, 130], { deltaY: -200 });
  said.moved.push(metres([160, 130]));
  const { scale } = view;
  point(stage, "pointerdown", [150, 130]);
  point(stage, "pointerdown", [170, 130], { pointerId: 2 });
  point(stage, "pointermove", [190, 130], { pointerId: 2 });
  said.pinched = view.scale / scale;
  said.drawn = [...stage.getContext("2d").getImageData(0, 0, stage.width, stage.height).data].some((v) => v);
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_a_browser_shows_the_same(made: Film, tmp_path: Path) -> None:
    """Without network: positions, links and paths. Keys and the scrub bar move through time."""
    said = look(page(made), SHOWS.replace("AT_S", str(list(AT_S))), tmp_path, "#theme=light")
    for at_s, seen in zip(AT_S, said["at"], strict=True):
        assert seen["positions"] == [pytest.approx(list(each)) for each in made.positions(at_s)]
        assert [tuple(pair) for pair in seen["links"]] == made.links(at_s)
        assert tuple(seen["path"]) == made.flows[0].path(at_s)
    assert said["frames"] == said["aired"] == made.frames.kind.size
    assert (said["end"], said["left"], said["right"]) == (6, 5, 6)
    assert said["frame"][0] > 0 and said["frame"][1] >= 1
    assert (said["slower"], said["playing"], said["theme"]) == ("1/3", [True, "pause"], "dark")
    assert said["moved"][1:] == [pytest.approx(said["moved"][0], abs=0.5)] * 2 and said["pinched"] == pytest.approx(2)
    assert said["clock"].startswith("2.5") and said["clock"].endswith("of 6 s")
    assert (
        "sta1: route to sta4 lost" in said["events"] and "sta2: link to sta3 lost" in said["events"] and said["drawn"]
    )


def test_the_players_files_say_their_license() -> None:
    for file in HERE.iterdir():
        assert file.is_dir() or "SPDX-License-Identifier: BSD-3-Clause" in file.read_text()[:200], file
