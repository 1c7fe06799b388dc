# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser, with a toy network: what it shows, requests and reports."""

import re
from typing import Any

import pytest
from browser import visit
from hand import HAND
from toy import Toy, served

from emulation.features.live.page import FILES, HERE, START, found

STRING = [(0.0, 0.0), (200.0, 0.0), (400.0, 0.0), (600.0, 0.0)]


@pytest.fixture
def toy() -> Toy:
    return Toy(STRING, [(0, 3)])


def page(toy: Toy, what: str, browser: str) -> dict[str, Any]:
    with served(toy) as address:
        return visit(browser, f"{address}#theme=light", HAND + what, (1280, 720))


@pytest.mark.slow
def test_a_station_dragged_away_takes_its_flow_with_it(toy: Toy, browser: str) -> None:
    """The station stays there; the page shows no path, no links, and no receptions."""
    said = page(toy, """
      await when(() => live.air.latest.flows.flow1.kbps > 0 && element("flows").textContent.includes("75 kb/s"));
      said.links = live.air.links(live.stage.positions()).length;
      await drag(3, [650, 420]);
      said.held = live.stage.positions()[3];
      await when(() => live.air.latest.flows.flow1.kbps === 0);
      await when(() => element("flows").querySelector("b").textContent === "0 kb/s");
      await when(() => live.stage.dragged === -1);
      said.there = live.stage.positions()[3];
      said.after = live.air.links(live.stage.positions()).length;
      said.chosen = element("who").value;
    """, browser)  # fmt: skip
    assert (said["links"], said["after"], said["chosen"]) == (3, 2, "sta4")
    assert toy.at["sta4"][:2] == pytest.approx([650, 420], abs=1)
    assert said["held"][:2] == pytest.approx([650, 420], abs=1) and said["there"] == said["held"]
    moves = [asked for asked in toy.asked if asked["do"] == "move"]
    assert 1 <= len(moves) <= 3 and {asked["node"] for asked in moves} == {"sta4"}


def test_a_station_is_let_go_only_where_it_was_left(toy: Toy, browser: str) -> None:
    """Not on the way there, between two reports, even if near."""
    said = page(toy, """
      const { air, stage } = live, told = (t_ns, x) => {
        const state = Object.assign(structuredClone(air.latest), { t_ns });
        state.nodes.sta4.position = [x, 420, 0];
        return state;
      };
      const held = (now) => {
        Object.assign(stage, { dragged: 3, at: [650.0004, 420], dropped: live.counts.states });
        air.now = now;
        live.draw(0);
        return stage.dragged;
      };
      air.states = [told(0, 600), told(100, 650)];
      said.way = [0, 50, 99.9].map(held);
      air.states = [told(100, 650)];
      said.there = held(100);
    """, browser)  # fmt: skip
    assert said == {"way": [3, 3, 3], "there": -1}


@pytest.mark.slow
def test_settings_of_one_and_of_all(toy: Toy, browser: str) -> None:
    """RTS for all reduces collisions; a rate for one makes the rates differ; a failed setting is reverted."""
    said = page(toy, """
      const lost = () => live.air.latest.rates.COL_DATA;
      said.before = [lost(), element("rts").value];
      choose("rts", "full");
      await when(() => lost() === 0);
      await when(() => element("counters").textContent.includes("collided: DATA"));
      click(1);
      said.one = element("who").value;
      choose("rate", "11");
      await when(() => live.air.latest.nodes.sta2.rate === 11);
      press("Escape");
      await when(() => element("rate").value === "" && element("who").value === "");
      choose("power", "99");
      await when(() => !element("trouble").hidden);
      said.trouble = element("trouble").textContent;
      await when(() => element("power").value === "24.5");
      choose("tcp", "vegas");
      choose("routing", "aodv");
      await when(() => live.air.latest.routing === "aodv" && live.air.latest.flows.flow1.tcp === "vegas");
      said.over = element("trouble").hidden;
    """, browser)  # fmt: skip
    assert said["before"] == [36, "none"] and said["one"] == "sta2" and said["over"]
    assert "30 dBm at most" in said["trouble"]
    asked = [{key: value for key, value in each.items() if key != "do"} for each in toy.asked]
    assert asked == [{"node": None, "rts": "full"}, {"node": "sta2", "rate": 11}, {"node": None, "tx_power_dbm": 99},
                     {"flow": None, "congestion": "vegas"}, {"kind": "aodv"}]  # fmt: skip


@pytest.mark.slow
def test_flows_are_started_by_choosing_two_stations_and_stopped(toy: Toy, browser: str) -> None:
    said = page(toy, """
      press("f");
      said.hints = [element("hint").textContent];
      click(2);
      said.hints.push(element("hint").textContent);
      click(0);
      await when(() => document.querySelectorAll(".flow").length === 2);
      document.querySelector("[aria-label='stop flow1']").click();
      await when(() => document.querySelector(".flow").textContent.includes("stopped"));
      choose("from", "sta1");
      choose("to", "sta1");
      element("start").requestSubmit();
      await when(() => !element("trouble").hidden);
      said.trouble = element("trouble").textContent;
    """, browser)  # fmt: skip
    assert "starts" in said["hints"][0] and "from sta3 ends" in said["hints"][1]
    of = toy.flows["flow2"]
    assert (of["source"], of["destination"], of["running"], of["tcp"]) == ("sta3", "sta1", True, "cubic")
    assert not toy.flows["flow1"]["running"] and "cannot send to itself" in said["trouble"]


@pytest.mark.slow
def test_time_by_keys(toy: Toy, browser: str) -> None:
    """Pause, step, slower, save a moment and go back. The picture follows the state."""
    said = page(toy, """
      press(" ");
      await when(() => !live.air.latest.running && element("run").textContent === "run");
      await when(() => live.air.now === live.air.latest.t_ns);
      const at = live.air.now, steps = [];
      press("s");
      await when(() => element("moments").textContent.includes("back to 1"));
      for (const key of [",", ".", "/"]) {
        const before = live.air.latest.t_ns;
        press(key);
        await when(() => live.air.latest.t_ns > before);
        steps.push(live.air.latest.t_ns - before);
      }
      await when(() => live.air.now === live.air.latest.t_ns);
      said.steps = steps;
      said.clock = element("clock").textContent;
      const after = () => live.air.frames.filter((frame) => frame.start > at).length;
      said.kept = after();
      press("b");
      await when(() => live.air.latest.t_ns === at);
      said.back = [live.air.now - at, after(), live.curves.times.every((ns) => ns <= at)];
      press("ArrowDown");
      press("ArrowDown");
      press("ArrowDown");
      await when(() => live.air.latest.pace === 0.1);
      live.pace.ask(-4);
      await when(() => element("paced").textContent.includes("a slot takes 200 ms"));
      press(" ");
      await when(() => live.air.running && live.air.now > at);
      said.trails = live.air.now <= live.air.latest.t_ns;
    """, browser)  # fmt: skip
    assert said["steps"] == [20_000, 700_000, 4_000_000] and said["kept"] > 0
    assert re.fullmatch(r"\d+(\.| )\d{3} \d{3} \d{3} s", said["clock"].replace("\u2009", " ").replace(".", " ", 1))
    assert said["back"] == [0, 0, True] and said["trails"]
    paces = [asked["pace"] for asked in toy.asked if asked["do"] == "pace"]
    assert paces[-1] == 0.0001 and 0.1 in paces


@pytest.mark.slow
def test_to_the_next_collision(toy: Toy, browser: str) -> None:
    """By key and by button; meanwhile, and when there is none, the page says so."""
    said = page(toy, """
      said.stops = [];
      for (const act of [() => press("c"), () => document.querySelector("[data-step=collision]").click()]) {
        const before = live.air.latest.t_ns;
        act();
        await when(() => !live.air.running && live.air.latest.t_ns > before && live.air.now === live.air.latest.t_ns);
        const last = live.air.frames.filter((frame) => frame.start <= live.air.now).at(-1);
        said.stops.push(last.outcome === "collision" || last.outcome === null);
      }
      said.hints = ["on", "in vain", null].map((search) => {
        live.state({ ...live.air.latest, search });
        return element("hint").textContent;
      });
    """, browser)  # fmt: skip
    assert [asked["to"] for asked in toy.asked if asked["do"] == "step"] == ["collision"] * 2
    assert said["stops"] == [True, True]
    assert said["hints"] == ["Looking for the next collision …", "No frame collided in 10 s.", ""]


@pytest.mark.slow
def test_the_map_fits_again_when_a_station_moves_out(toy: Toy, browser: str) -> None:
    """But not while it is dragged, nor where the viewer has zoomed or moved the map."""
    said = page(toy, """
      const { stage } = live, seen = (n) => {
        const [x, y] = place(n);
        return x >= 0 && y >= 0 && x <= canvas.clientWidth && y <= canvas.clientHeight;
      };
      const moves = async (position) => {
        await live.server.ask("move", { node: "sta4", position });
        await when(() => live.air.positions()[3][0] === position[0]);
        live.draw(0);
      };
      const scale = stage.map.scale;
      await moves([620, 0]);
      said.near = stage.map.scale === scale;
      await moves([2000, 0]);
      said.far = [stage.map.scale < scale, [0, 1, 2, 3].every(seen)];
      const map = stage.map;
      Object.assign(stage, { dragged: 3, at: [9000, 0] });
      live.draw(0);
      said.dragged = stage.map === map;
      live.release();
      live.zoom(3, [0, 0]);
      const chosen = stage.map;
      await moves([5000, 0]);
      said.chosen = [stage.map === chosen, seen(3)];
      press("0");
      said.whole = seen(3);
    """, browser)  # fmt: skip
    assert said == {"near": True, "far": [True, True], "dragged": True, "chosen": [True, False], "whole": True}


def test_a_frame_is_on_the_air_from_its_start_to_its_end(browser: str) -> None:
    """It is reported first without an outcome, then with. Its drawing shows how much was sent, then the outcome."""
    toy = Toy(STRING, [(0, 3)], running=False)
    frame = [1_000_000, 2_000_000, "data", "sta1", "sta2"]
    said = page(toy, f"""
      const {{ air }} = live;
      const at = (ns) => {{
        air.states = [{{ ...air.latest, t_ns: ns }}];
        air.now = ns;
        return air.onAir().length;
      }};
      const row = {frame!r};
      air.hear([[...row, null, null, 1500]]);
      said.seen = [at(999_999), at(1_000_000), at(2_999_999), at(3_000_000 + PAUSED_NS), at(3_000_001 + PAUSED_NS)];
      air.hear([[...row, "collision", "sta3", 1500]]);
      said.frames = [air.frames.length, air.frames[0].outcome, air.frames[0].culprit, air.unsaid.size];
      for (let n = 0; n < 20_000; n++) air.hear([[4e6 + n * 1e5, 5e4, "data", "sta1", "sta2", "ok", null, 1500]]);
      air.looked = 0;
      said.late = [at(4e6 + 19_999 * 1e5), air.frames.length <= MOST_KEPT, air.looked];
    """, browser)  # fmt: skip
    assert said["seen"] == [0, 1, 1, 1, 0] and said["frames"] == [1, "collision", 2, 0]
    assert said["late"][:2] == [1, True] and said["late"][2] < 600


@pytest.mark.slow
def test_below_the_map_are_curves_or_in_slow_motion_the_last_frames(toy: Toy, browser: str) -> None:
    """The pace selects one of them, until the user does. Each lane shows its station's activity and NAV."""
    said = page(toy, """
      const seen = () => ["curves", "strip"].filter((id) => !element(id).hidden).join();
      await when(() => seen() === "curves");
      live.pace.ask(-2);
      await when(() => seen() === "strip");
      const { strip, air } = live;
      await when(() => strip.did.every((each) => each.some(({ doing }) => doing === "backoff")));
      await when(() => strip.navs.some((each) => each.length > 1));
      said.ordered = strip.did.every((each) => each.every((one, n) => n === 0 || one.from >= each[n - 1].to));
      said.changes = strip.did.every((each) => each.every((one, n) => n === 0 || one.doing !== each[n - 1].doing));
      press("t");
      await when(() => seen() === "curves");
      live.pace.ask(0);
      await when(() => !air.slow);
      press("t");
      await when(() => seen() === "strip");
    """, browser)  # fmt: skip
    assert said == {"ordered": True, "changes": True}


@pytest.mark.slow
def test_25_stations_are_drawn_with_each_animation_frame_and_the_work_does_not_grow(browser: str) -> None:
    """Neither frames that are kept, points of curves, nor elements of the page grow with time."""
    grid = [(150.0 * (n % 5), 150.0 * (n // 5)) for n in range(25)]
    toy = Toy(grid, [(0, 24), (4, 20), (2, 22), (10, 14)], pace=10.0)
    said = page(toy, """
      const measure = async (ticks) => {
        const { counts, air } = live, first = { ...counts, looked: air.looked };
        await when(() => counts.ticks >= first.ticks + ticks);
        const drawn = counts.drawn - first.drawn;
        return { share: drawn / (counts.ticks - first.ticks), looked: (air.looked - first.looked) / drawn,
          kept: air.frames.length, states: air.states.length, nodes: document.querySelectorAll("*").length };
      };
      await when(() => live.counts.frames > 1500);
      said.early = await measure(40);
      await when(() => live.counts.frames > 6500);
      said.late = await measure(40);
      said.points = live.curves.times.length;
    """, browser)  # fmt: skip
    print(said)
    for seen in (said["early"], said["late"]):
        assert seen["share"] > 0.9 and seen["looked"] < 2500 and seen["kept"] <= 6000 and seen["states"] <= 60
    assert said["early"]["nodes"] == said["late"]["nodes"] and said["points"] <= 600


@pytest.mark.slow
def test_a_lost_connection_and_an_end_are_reported(toy: Toy, browser: str) -> None:
    said = page(toy, """
      element("end").click();
      said.asks = element("ending").open;
      element("ending").querySelector("[value=end]").click();
      await when(() => live.air.latest.ended && !element("trouble").hidden);
      said.ended = element("trouble").textContent;
      said.enabled = [...document.querySelectorAll("[data-acts]")].filter((each) => !each.disabled).length;
      live.server.events.close();
      live.server.events.onerror();
      said.lost = element("trouble").textContent;
    """, browser)  # fmt: skip
    assert said["asks"] and "has ended: what it left is in runs/toy/" in said["ended"] and said["enabled"] == 0
    assert "does not answer" in said["lost"]


def test_everything_has_a_name_and_fits(toy: Toy, browser: str) -> None:
    """At 1280 x 720: controls have labels, nothing is wider than the page, and both themes are drawn."""
    said = page(toy, """
      const named = (each) => each.tagName === "BUTTON" && each.textContent.trim() || each.getAttribute("aria-label") ||
        each.closest("label, .uplot");
      said.unlabelled = [...document.querySelectorAll("button, input, select, canvas:not([aria-hidden])")]
        .filter((each) => !named(each)).map((each) => each.outerHTML);
      const fits = (each) => each.scrollWidth <= each.clientWidth;
      said.fits = [document.documentElement, document.querySelector("aside")].map(fits);
      said.seen = [];
      press("n");
      for (const name of ["dark", "light"]) {
        live.theme(name);
        const drawn = live.counts.drawn;
        await when(() => live.counts.drawn > drawn);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        said.seen.push(new Set(new Uint32Array(data.buffer)).size);
      }
      await when(() => live.curves.charts.length === 4);
      live.air.network.nodes[3].radio = false;
      const at = live.stage.places([[0, 0], [200, 0], [400, 0], [400, 0]]);
      said.apart = Math.hypot(at[2][0] - at[3][0], at[2][1] - at[3][1]) >= GRAB;
      press("?");
      said.help = element("keys").open;
    """, browser)  # fmt: skip
    assert said["unlabelled"] == [] and said["fits"] == [True, True] and said["help"]
    assert said["apart"]  # who has no radio stands often where another does
    assert min(said["seen"]) > 10


def test_only_the_pages_own_files_are_found() -> None:
    start = found(START)
    assert start and {*FILES} == {*re.findall(r'(?:src|href)="page/([^"]+)"', start[1].decode())}
    own = {file.name for file in HERE.iterdir() if file.suffix in (".css", ".js")}
    assert own == {file.name for file in FILES.values() if file.parent == HERE}
    for name in ("", ".", "../server.py", "__init__.py", "nothing.js", "/etc/passwd"):
        assert found(name) is None
    for file in HERE.iterdir():
        assert file.is_dir() or "SPDX-License-Identifier: BSD-3-Clause" in file.read_text()[:200], file
