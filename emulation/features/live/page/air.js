// SPDX-License-Identifier: BSD-3-Clause
// The state of the network, and what of it to show at a moment. Nothing here draws or sends requests.
//
// The display trails the reports by about TRAIL_S of the viewer's time: so it moves smoothly from one report to the
// next, also where these are single slots apart, and each frame is on the air from its own start to its own end.
"use strict";

const TRAIL_S = 0.1;       // of the viewer's time
const STEP_S = 0.04;       // the same, of a step while it stands
const FADE_S = 0.3;        // for how long a finished frame stays visible, of the viewer's time
const PAUSED_NS = 20_000;  // the same, of the network's, while it stands
const SLOW = 0.02;         // of the wall clock's pace: below it single frames can be followed
const LONGEST_NS = 50e6;   // of a frame
const MOST_KEPT = 6000, MOST_DRAWN = 400;  // frames
const MOST_STATES = 60;

class Air {
  constructor(network) {
    this.network = network;
    this.names = network.nodes.map((node) => node.name);
    this.number = new Map(this.names.map((name, n) => [name, n]));
    this.states = [];   // the state at the time shown, and those after it
    this.frames = [];   // nearly in the order of their starts
    this.unsaid = new Map();  // those whose outcome is not known, by start and sender
    this.now = 0;       // the moment shown, ns
    this.speed = 0;     // the network's seconds per second of the viewer's, recently
    this.looked = 0;    // frames examined so far: the cost of drawing
  }

  get latest() { return this.states[this.states.length - 1]; }
  get running() { return Boolean(this.latest?.running && !this.latest.ended); }
  get slow() { return !this.running || this.speed < SLOW; }

  // Takes a report of the network. Returns whether it is earlier than what was shown.
  update(state) {
    const last = this.latest, back = Boolean(last && state.t_ns < last.t_ns);
    if (back) {
      this.states = [];
      this.unsaid.clear();
      this.frames = this.frames.filter((frame) => frame.start < state.t_ns);
    }
    if (last && state.t_ns === last.t_ns) this.states.pop();
    this.states.push(state);
    if (!last || back) this.now = state.t_ns;
    if (this.states.length > MOST_STATES) this.states.shift();
    return back;
  }

  hear(rows) {
    for (const [start, took, kind, from, to, outcome, culprit, length] of rows) {
      const key = `${start} ${from}`, known = this.unsaid.get(key);
      const said = { start, end: start + took, kind, from: this.number.get(from) ?? -1, to: to === null ? -1 : this.number.get(to) ?? -1,
        outcome, culprit: culprit === null ? -1 : this.number.get(culprit) ?? -1, length };
      if (known) Object.assign(known, said); else this.frames.push(said);
      if (outcome === null) this.unsaid.set(key, known ?? said); else this.unsaid.delete(key);
    }
    if (this.frames.length <= MOST_KEPT) return;
    this.frames.splice(0, this.frames.length - MOST_KEPT / 2);
    this.unsaid.clear();
  }

  // The viewer's clock advanced by this many seconds.
  advance(seconds) {
    if (!this.latest) return;
    const gap = this.latest.t_ns - this.now, before = this.now, [trail, near] = this.running ? [TRAIL_S, 100] : [STEP_S, 1000];
    this.now = gap < near ? this.latest.t_ns : this.now + gap * (1 - Math.exp(-seconds / trail));
    while (this.states.length > 1 && this.states[1].t_ns <= this.now) this.states.shift();
    if (seconds > 0) this.speed += ((this.now - before) / 1e9 / seconds - this.speed) * (1 - Math.exp(-seconds / 0.3));
  }

  // Stations as shown, by number: their positions and reported states.
  positions() {
    const [here, next] = this.states, lasts = next ? next.t_ns - here.t_ns : 0;
    const part = lasts > 0 ? Math.min(Math.max((this.now - here.t_ns) / lasts, 0), 1) : 0;
    return this.names.map((name, n) => {
      const at = here?.nodes[name]?.position ?? this.network.nodes[n].position, to = next?.nodes[name]?.position ?? at;
      return at.map((from, axis) => from + (to[axis] - from) * part);
    });
  }

  // Whether a station is shown at rest at this place, to the millimetre of reports.
  rests(n, [x, y]) {
    return this.states.every(({ nodes }) => {
      const [east, north] = nodes[this.names[n]]?.position ?? [];
      return Math.hypot(east - x, north - y) < 1e-3;
    });
  }

  node(n) { return this.states[0]?.nodes[this.names[n]] ?? {}; }

  // Slots of backoff left: those of the report, less those that have passed since.
  slots(n) {
    const { backoff = null, doing } = this.node(n), gone = (this.now - this.states[0]?.t_ns) / (this.network.slot_ns || 20_000);
    return backoff === null ? null : doing === "backoff" ? Math.max(0, backoff - Math.floor(gone)) : backoff;
  }

  // For how long a finished frame stays visible, ns of the network's time.
  get window() { return this.running ? FADE_S * Math.max(this.speed, 1e-9) * 1e9 : PAUSED_NS; }

  // The frames to be shown, oldest first.
  onAir() {
    const found = [], since = this.now - this.window;
    for (let i = this.frames.length - 1; i >= 0 && found.length < MOST_DRAWN; i--) {
      const frame = this.frames[i];
      this.looked++;
      if (frame.start <= this.now && frame.end >= since) found.push(frame);
      else if (frame.start < since - LONGEST_NS) break;
    }
    return found.reverse();
  }

  // Who hears whom, each pair once: as reported; or, as it is of stations that are just being dragged `away`, who is
  // within the other's range.
  links(positions, away) {
    const { latest } = this, on = ([a, b]) => [a, b].every((n) => latest?.nodes[this.names[n]]?.doing !== "off");
    if (latest?.links && !away) return latest.links.map((pair) => pair.map((name) => this.number.get(name))).filter(on);
    const found = [], reach = this.names.map((name) => latest?.nodes[name]?.range_m ?? 0);
    for (let a = 0; a < reach.length; a++) for (let b = a + 1; b < reach.length; b++) {
      const least = Math.min(reach[a], reach[b]), [x, y] = [positions[a][0] - positions[b][0], positions[a][1] - positions[b][1]];
      const z = (positions[a][2] ?? 0) - (positions[b][2] ?? 0);
      if (least > 0 && x * x + y * y + z * z <= least * least) found.push([a, b]);
    }
    return found.filter(on);
  }
}
