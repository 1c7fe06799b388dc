# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser, with a network in a lane: actions on the page reach the network, and are visible."""

from collections.abc import Callable
from typing import Any

from browser import visit
from hand import HAND
from table import Table

from emulation.features.live.server import Server


def look(live: Table, browser: str, what: str) -> dict[str, Any]:
    """Return the output of a program in the page."""
    said: list[dict[str, Any]] = []

    def sit(page: Table) -> None:
        with Server(page.session) as server:
            said.append(visit(browser, f"{server.address}#theme=light", HAND + what, (1280, 720)))

    live.play(sit)
    return said[0]


def test_a_station_is_dragged_out_of_range_and_its_flow_dies(table: Callable[..., Table], browser: str) -> None:
    """The script from the page makes the same trace."""
    live = table(stations=3)
    said = look(live, browser, """
      const flow = () => live.air.latest.flows.flow1, read = () => document.querySelector(".flow b").textContent;
      live.pace.ask(1);
      await when(() => flow().kbps > 100 && live.air.links(live.air.positions()).length === 2);
      await drag(2, [400, 400]);
      const metres = live.stage.positions()[2];
      await when(() => live.air.latest.nodes.sta3.position[1] === metres[1] && live.stage.dragged === -1);
      said.links = live.air.links(live.air.positions());
      await when(() => flow().kbps === 0 && read() === "0 kb/s" && live.air.latest.counters.given_up > 0);
      press(" ");
      await when(() => !live.air.running);
      said.script = await (await fetch(element("script").href)).text();
    """)  # fmt: skip
    assert said["links"] == [[0, 1]]
    assert "net.play()" in said["script"] and "net['sta3'].position = " in said["script"]
    assert len(live.again(said["script"]).trace()) > 20_000


def test_a_station_that_is_switched_off_carries_nothing_until_it_is_on_again(
    table: Callable[..., Table], browser: str
) -> None:
    said = look(table(stations=3), browser, """
      const kbps = () => live.air.latest.flows.flow1.kbps, doing = () => live.air.latest.nodes.sta2.doing;
      live.pace.ask(1);
      await when(() => kbps() > 100);
      said.before = getComputedStyle(element("switch")).visibility;
      click(1);
      said.label = element("switch").textContent;
      press("o");
      await when(() => doing() === "off" && element("switch").textContent === "switch on");
      said.links = live.air.links(live.air.positions()).length;
      await when(() => kbps() === 0);
      element("switch").click();
      await when(() => doing() !== "off" && kbps() > 100);
    """)  # fmt: skip
    assert said == {"before": "hidden", "label": "switch off", "links": 0}


def test_static_routes_are_made_again_where_stations_are_now(table: Callable[..., Table], browser: str) -> None:
    """A station that was moved near is a neighbour only then."""
    said = look(table(stations=3), browser, """
      const way = () => live.air.latest.routes.flow1.join();
      await when(() => way() === "sta1,sta2,sta3");
      press(" ");
      await when(() => !live.air.running);
      await drag(2, [100, 150]);
      await when(() => live.air.latest.nodes.sta3.position[1] > 100);
      said.before = way();
      element("replan").click();
      await when(() => way() === "sta1,sta3");
      said.hidden = [element("replan").hidden, element("routing-kind").hidden, element("routing").parentElement.hidden];
    """)  # fmt: skip
    assert said == {"before": "sta1,sta2,sta3", "hidden": [False, True, False]}


def test_rts_is_switched_on_and_fewer_segments_collide(table: Callable[..., Table], browser: str) -> None:
    """Two hidden stations send to the one between them."""
    ranges = {"transmission_m": 250, "carrier_sense_m": 300}
    said = look(table(stations=3, ranges=ranges), browser, """
      element("congestion").value = "cubic";
      document.querySelector("[aria-label='stop flow1']").click();
      for (const source of [0, 2]) { press("f"); click(source); click(1); }
      await when(() => Object.values(live.air.latest.flows).filter((flow) => flow.running).length === 2);
      live.pace.ask(1.5);
      const seen = async (seconds) => {
        const { t_ns: from, counters: before } = live.air.latest;
        await when(() => live.air.latest.t_ns > from + seconds * 1e9);
        const { t_ns: to, counters: after } = live.air.latest;
        return (after.COL_DATA - before.COL_DATA) / (to - from) * 1e9;
      };
      said.without = await seen(30);
      choose("rts", "full");
      await when(() => Object.values(live.air.latest.nodes).every((node) => node.rts === "full"));
      said.with = await seen(30);
    """)  # fmt: skip
    assert said["without"] > 3 * said["with"]


def test_time_stands_goes_by_frames_and_back(table: Callable[..., Table], browser: str) -> None:
    """Frames are on the air from their start. Going back to a moment restores it."""
    said = look(table(stations=3), browser, """
      const { air } = live, at = () => air.latest.t_ns, there = () => air.now === at();
      await when(() => at() > 5e8);
      press(" ");
      await when(() => !air.running && there());
      press("s");
      await when(() => element("moments").children.length === 2);
      const kept = at();
      const step = async () => { const from = at(); press("."); await when(() => at() > from); };
      const since = () => air.frames.filter(({ start }) => start >= kept)
        .map(({ start, kind, outcome }) => [start, kind, outcome]);
      await step();  // to the end of what began before
      const stops = [];
      for (let n = 0; n < 8; n++) {
        await step();
        stops.push(at());
      }
      said.ends = stops.map((ns) => air.frames.some((frame) => frame.end === ns));
      said.frames = since();
      const before = at();
      press(",");
      await when(() => at() > before);
      said.slot = at() - before;
      press("b");
      await when(() => air.latest.busy === null && at() === kept && there());
      said.forgotten = air.frames.filter((frame) => frame.start > kept).length;
      for (let n = 0; n < 9; n++) await step();
      said.again = since();
      live.pace.ask(-4);
      press(" ");
      await when(() => air.running && air.speed > 0 && air.frames.some((frame) => frame.outcome === null));
      await when(() => !element("strip").hidden && live.strip.did.some((each) => each.length));
      choose("power", "1000000");
      await when(() => !element("trouble").hidden);
      said.trouble = element("trouble").textContent;
    """)  # fmt: skip
    assert all(said["ends"]) and said["slot"] == 20_000 and said["forgotten"] == 0
    assert len(said["frames"]) > 5 and said["frames"] == said["again"]
    assert "must be from" in said["trouble"]


def test_25_stations_are_drawn_with_each_animation_frame(table: Callable[..., Table], browser: str) -> None:
    """The page counts its drawings, all animation frames, and the time of drawing."""
    said = look(table("mesh", size="5x5", flows=6), browser, """
      const { counts, air } = live;
      await when(() => counts.frames > 1000);
      const first = { ...counts, looked: air.looked };
      await when(() => counts.ticks >= first.ticks + 60);
      const drawn = counts.drawn - first.drawn;
      said.share = drawn / (counts.ticks - first.ticks);
      said.looked = (air.looked - first.looked) / drawn;
      said.flows = document.querySelectorAll(".flow").length;
      said.stations = air.names.length;
    """)  # fmt: skip
    print(said)
    assert said["share"] > 0.9 and said["looked"] < 2500 and (said["flows"], said["stations"]) == (6, 25)


def test_another_routing_is_chosen_and_the_network_comes_to_where_it_was(
    table: Callable[..., Table], browser: str
) -> None:
    said = look(table(stations=3), browser, """
      await when(() => live.air.latest.t_ns > 5e8);
      press(" ");
      await when(() => !live.air.running);
      said.there = [...element("routing").options].map((one) => one.value).filter(Boolean);
      const then = live.air.latest.t_ns;
      element("routing").value = "aodv";
      element("routing").onchange();
      await when(() => live.air.latest.routing === "aodv" && live.air.latest.t_ns === then);
      await when(() => !element("replan").offsetParent);
      press(" ");
      await when(() => live.air.latest.routes.flow1.join() === "sta1,sta2,sta3");
    """)  # fmt: skip
    assert said == {"there": ["static", "aodv", "dsr", "olsr", "dsdv"]}
