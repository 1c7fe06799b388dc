// SPDX-License-Identifier: BSD-3-Clause
// The last moments in slow motion, a lane for each station: its frames, as the timeline of a run has them; below them
// NAV, and when it counted slots, deferred or waited. To the right of the line is the future.
"use strict";

const LEAST_NS = 10e6, MOST_NS = 100e6, LASTS_S = 6;  // shown: this many seconds of the viewer's, within these limits
const STANDS_NS = 20e6;  // at most, while time stands
const AHEAD = 0.18;  // of the width, for the future
const TOP = 16;  // px, for times
const SMALL = "9px system-ui, sans-serif";
const DOES = { backoff: "count", defer: "frozen", wait_cts: "ifs", wait_ack: "ifs" };

class Strip {
  constructor(canvas, air) {
    Object.assign(this, { canvas, air, factor: 1 });
    this.forget();
    canvas.onwheel = (event) => { event.preventDefault(); this.zoom(Math.exp(event.deltaY / 400)); };
  }

  forget() {
    this.did = this.air.names.map(() => []);   // what each did, with start and end
    this.navs = this.air.names.map(() => []);
  }

  zoom(factor) { this.factor = Math.min(Math.max(this.factor * factor, 0.02), 4); }

  get span() {
    const { pace, running } = this.air.latest, most = running ? MOST_NS : STANDS_NS;
    return Math.min(Math.max(pace * LASTS_S * 1e9, LEAST_NS), most) * this.factor;
  }

  update(state, back) {
    if (back) this.forget();
    if (state.running && state.pace > SLOW) return;
    this.air.names.forEach((name, n) => {
      const { doing, nav_ns: nav } = state.nodes[name] ?? {}, did = this.did[n], navs = this.navs[n], last = did[did.length - 1];
      const goes = last && state.t_ns - last.to < MOST_NS;
      if (goes) last.to = state.t_ns;
      if (!goes || last.doing !== doing) did.push({ doing, from: state.t_ns, to: state.t_ns });
      if (nav > state.t_ns && navs[navs.length - 1]?.to !== nav) navs.push({ from: state.t_ns, to: nav });
      for (const list of [did, navs]) while (list.length && list[0].to < state.t_ns - 4 * MOST_NS) list.shift();
    });
  }

  draw() {
    const { ink, width, height } = begin(this.canvas, colours.paper), { air, span } = this, { now } = air;
    const radios = air.network.nodes.map((node, n) => n).filter((n) => air.network.nodes[n].radio !== false);
    const view = new Span(now - span * (1 - AHEAD), now + span * AHEAD), lane = Math.min(30, (height - TOP) / radios.length);
    const row = new Map(radios.map((n, at) => [n, TOP + at * lane])), below = Math.max(1, Math.min(3, lane / 7)), bar = lane - 2 * below - 1;
    ink.font = SMALL;
    writeTimes(ink, view, width, 7);
    drawTicks(ink, view, width, TOP - 2, height, colours.only);
    for (const [n, top] of row) {
      ink.fillStyle = colours.only;
      ink.fillRect(GUTTER, top + lane - 1, width, 1);
      ink.font = lane < 12 ? SMALL : LETTERS;
      ink.fillStyle = n === this.chosen ? colours.mark : colours.quiet;
      if (lane >= 7) ink.fillText(air.names[n], 8, top + bar / 2, GUTTER - 14);
    }
    inPlot(ink, width, 0, height, () => {
      const box = ({ from, to }, y, style) => { ink.fillStyle = style; ink.fillRect(view.x(from, width), y, view.x(to, width) - view.x(from, width), below); };
      for (const [n, top] of row) {
        for (const nav of this.navs[n]) box(nav, top + bar + below, colours.ROUTING);
        for (const did of this.did[n]) if (DOES[did.doing]) box(did, top + bar, colours[DOES[did.doing]]);
      }
      for (let i = air.frames.length - 1; i >= 0 && air.frames[i].start > view.from - LONGEST_NS; i--) this.frame(ink, air.frames[i], row, view, width, bar);
      ink.fillStyle = colours.mark;
      ink.fillRect(view.x(now, width), TOP - 4, 1, height);
    });
  }

  frame(ink, frame, row, view, width, high) {
    const top = row.get(frame.from), from = view.x(frame.start, width), wide = Math.max(1, view.x(frame.end, width) - from);
    this.air.looked++;
    if (top === undefined || frame.end < view.from || frame.start > this.air.now) return;
    const kind = KIND_NAMES[frame.kind] ?? "OTHER", lost = { collision: colours.lost, noise: colours.noise }[frame.outcome];
    drawBar(ink, from, top, wide, high, kind, lost);
    if (high >= 10) nameBar(ink, Math.max(from, GUTTER), from + wide - Math.max(from, GUTTER), top + high / 2, kind, [kindSaid(frame)]);
  }
}
