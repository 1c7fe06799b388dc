// SPDX-License-Identifier: BSD-3-Clause
// The last moments in slow motion, a lane for each station: its frames, as the timeline of a run has them; below them
// NAV, and when it counted slots, deferred or waited. To the right of the line is the future.
"use strict";

const LEAST_NS = 10e6, MOST_NS = 100e6, LASTS_S = 6;  // shown: this many seconds of the viewer's, within these limits
const STANDS_NS = 20e6;  // at most, while time stands
const AHEAD = 0.18;  // of the width, for the future
const NAMES_PX = 52;
const TICKS_NS = Array.from({ length: 15 }, (_, n) => [1, 2, 5][n % 3] * 10 ** (3 + Math.floor(n / 3)));
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
    const { pen, width, height } = sheet(this.canvas), { air, span } = this, { now } = air;
    const radios = air.network.nodes.map((node, n) => n).filter((n) => air.network.nodes[n].radio !== false);
    const lane = Math.min(30, (height - 16) / radios.length), long = (width - NAMES_PX) / span, edge = width - (width - NAMES_PX) * AHEAD;
    const x = (ns) => Math.max(NAMES_PX, edge + (ns - now) * long), row = new Map(radios.map((n, at) => [n, 16 + at * lane]));
    this.times(pen, x, edge, width, height);
    const below = Math.max(1, Math.min(3, lane / 7)), bar = lane - 2 * below - 1;
    const span_ = (list, y, high, style) => { for (const { from, to, doing } of list) if (x(to) > NAMES_PX && x(from) < width) { pen.fillStyle = style(doing); pen.fillRect(x(from), y, x(to) - x(from), high); } };
    for (const [n, top] of row) {
      pen.fillStyle = colours.only;
      pen.fillRect(NAMES_PX, top + lane - 1, width, 1);
      span_(this.navs[n], top + bar + below, below, () => colours.ROUTING);
      span_(this.did[n].filter(({ doing }) => DOES[doing]), top + bar, below, (doing) => colours[DOES[doing]]);
      if (lane >= 7) { pen.font = lane < 12 ? SMALL : LETTERS; pen.fillStyle = n === this.chosen ? colours.hit : colours.quiet; pen.fillText(air.names[n], 6, top + bar / 2 + (lane < 12 ? 3 : 4), NAMES_PX - 10); }
    }
    for (let i = air.frames.length - 1; i >= 0 && air.frames[i].start > now - span - LONGEST_NS; i--) this.frame(pen, air.frames[i], row, x, width, bar);
    pen.fillStyle = colours.hit;
    pen.fillRect(edge, 12, 1, height);
  }

  frame(pen, frame, row, x, width, high) {
    const top = row.get(frame.from), [from, to] = [x(frame.start), x(frame.end)];
    this.air.looked++;
    if (top === undefined || to <= NAMES_PX || from > width || frame.start > this.air.now) return;
    pen.fillStyle = colourOf(frame);
    pen.fillRect(from, top, Math.max(1, to - from), high);
    const lost = frame.outcome === "collision" ? colours.lost : frame.outcome === "noise" ? colours.noise : null;
    if (lost) { pen.fillStyle = lost; pen.fillRect(from, top + high * 0.6, Math.max(1, to - from), high * 0.4); }
    const said = kindSaid(frame);
    if (high >= 10 && to - from > 8 * said.length + 4) { pen.font = LETTERS; pen.fillStyle = "#101214"; pen.fillText(said, from + 3, top + high / 2 + (lost ? 1 : 4)); }
  }

  // Draws some times, as a scale.
  times(pen, x, edge, width, height) {
    const step = TICKS_NS.find((ns) => x(this.air.now + ns) - edge > 90) ?? MOST_NS, first = Math.ceil((this.air.now - this.span) / step) * step;
    pen.font = SMALL;
    pen.textAlign = "center";
    for (let ns = first; x(ns) < width; ns += step) {
      if (x(ns) <= NAMES_PX) continue;
      pen.fillStyle = colours.only;
      pen.fillRect(Math.round(x(ns)), 14, 1, height);
      pen.fillStyle = colours.quiet;
      pen.fillText(`${moment(ns, Math.min(step, 1e6))} s`, x(ns), 9);
    }
    pen.textAlign = "left";
  }
}
