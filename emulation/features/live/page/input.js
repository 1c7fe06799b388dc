// SPDX-License-Identifier: BSD-3-Clause
// The viewer's input: mouse and touch on the map, keys, and the pace.
"use strict";

const SLOWEST = -5;  // decades of pace
const PAUSES = { true: "run", false: "pause" };

// On the map: a station is chosen, dragged, picked as the end of a flow; or the map is moved, or zoomed.
function onStage(live) {
  const canvas = element("map");
  gestures(canvas, (factor, place) => live.zoom(factor, place), (at, first) => {
    const { stage } = live;
    if (!live.air?.latest) return null;
    const n = first ? stage.stationAt(at) : -1, { map } = stage;
    if (live.picking && n >= 0) { live.pick(n); return null; }
    if (n < 0) return {
      move: (_, dx, dy) => { stage.map = { ...map, x: map.x + dx, y: map.y + dy }; live.touch(); },
      end: (moved, up) => { if (!moved && up) live.choose(-1); },
    };
    live.choose(n);
    return {
      move: (to) => live.drag(n, offMap(stage.map, to).map((metres) => Math.round(metres * 10) / 10)),
      end: (moved) => { if (moved) live.drop(); },
    };
  }, (at) => { canvas.style.cursor = live.picking ? "crosshair" : live.stage?.stationAt(at) >= 0 ? "pointer" : ""; });
}

const STEPS = { ",": "slot", ".": "frame", "/": "exchange", c: "collision" };

function keys(live) {
  const toggle = (what) => () => document.querySelector(`[data-shows="${what}"]`).click();
  const zoom = (factor) => () => live.zoom(factor, [live.stage.canvas.clientWidth / 2, live.stage.canvas.clientHeight / 2]);
  const arrow = (x, y, decades) => (event) => event.shiftKey ? live.nudge(x, y) : decades && live.changePace(decades);
  const KEYS = {
    " ": () => live.toggle(), ArrowUp: arrow(0, 10, 1 / 3), ArrowDown: arrow(0, -10, -1 / 3), ArrowLeft: arrow(-10, 0, 0), ArrowRight: arrow(10, 0, 0),
    n: () => live.next(1), p: () => live.next(-1), f: () => live.startPicking(), s: () => element("save").click(), b: () => live.back(),
    0: () => live.wholeMap(), "+": zoom(1.25), "=": zoom(1.25), "-": zoom(0.8), l: toggle("links"), r: toggle("ranges"), a: toggle("names"),
    o: () => element("switch").click(),
    t: () => document.querySelector("[data-below][aria-pressed=false]").click(),
    d: () => element("theme").click(), "?": () => element("keys").showModal(), Escape: () => live.escape(),
  };
  for (const [key, to] of Object.entries(STEPS)) KEYS[key] = () => live.step(to);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("select, input[type=number]"), sliding = event.target.matches?.("input[type=range]") && event.key.startsWith("Arrow");
    const pressing = event.key === " " && event.target.matches?.("button, a, input[type=checkbox]");
    if (event.ctrlKey || event.metaKey || event.altKey || typing || sliding || pressing || element("keys").open) return;
    const act = KEYS[event.key];
    if (!act || !(live.air?.latest || "d?".includes(event.key))) return;
    event.preventDefault();
    act(event);
  });
}

// Marks are close to each other: 10k instead of 10,000.
const short = (n) => n < 1000 ? String(n) : `${n / 1000}k`;

// The pace's slider: its decades, with marks; near a mark it snaps to it.
class Pace {
  constructor(live, most) {
    Object.assign(this, { live, most: Math.log10(most), slider: element("pace") });
    this.slider.min = SLOWEST;
    this.slider.max = this.most;
    this.decades = Array.from({ length: Math.floor(this.most) - SLOWEST + 1 }, (_, n) => SLOWEST + n);
    element("marks").replaceChildren(...this.decades.map((decade) => this.mark(decade, decade < 0 ? `1/${short(10 ** -decade)}` : decade ? `${short(10 ** decade)} ×` : "real time")));
    if (this.most - this.decades[this.decades.length - 1] > 0.6) element("marks").append(this.mark(this.most, "as fast as possible"));
    this.slider.oninput = () => this.ask(Number(this.slider.value));
    this.slider.onchange = () => { this.holds = false; };
  }

  mark(decade, said) {
    const made = tag("span", {}, said);
    made.style.left = `calc(8px + ${(decade - SLOWEST) / (this.most - SLOWEST)} * (100% - 16px))`;
    return made;
  }

  ask(decade) {
    const near = this.decades.find((each) => Math.abs(each - decade) < 0.06), to = Math.min(this.most, Math.max(SLOWEST, near ?? decade));
    this.holds = document.activeElement === this.slider;
    this.slider.value = to;
    this.asked = to;
    this.live.server.askLast("pace", "pace", { pace: to >= this.most - 0.005 ? this.live.air.network.pace_most : Number((10 ** to).toPrecision(3)) });
  }

  // The network's pace, and how long a slot then takes.
  update(pace) {
    if (!this.live.server.waiting.has("pace")) { this.slider.value = Math.log10(pace); this.asked = Math.log10(pace); }
    const { slot_ns: slot = 20_000 } = this.live.air.network, fastest = Math.log10(pace) >= this.most - 0.01;
    const many = pace < 1 ? `1/${whole(Number((1 / pace).toPrecision(3)), 1 / pace < 10 ? 1 : 0)}` : `${whole(pace, pace < 10 ? 1 : 0)} ×`;
    const said = fastest ? "as fast as possible" : pace === 1 ? "real time" : many;
    const rest = pace < SLOW ? `a slot takes ${lasting(slot / pace)}` : this.live.air.running ? `now ${whole(this.live.air.speed, this.live.air.speed < 10 ? 1 : 0)} ×` : "";
    text(element("paced"), rest ? `${said}; ${rest}` : said);
    this.slider.setAttribute("aria-valuetext", said);
  }
}
