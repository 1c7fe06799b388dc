// SPDX-License-Identifier: BSD-3-Clause
// The map: stations, links, flows, and frames on the air.
"use strict";

// Names of kinds of frames, in the themes and for people.
const KIND_NAMES = { rts: "RTS", cts: "CTS", data: "DATA", tcpack: "TCP ACK", ack: "ACK", beacon: "MANAGEMENT", routing: "ROUTING", udp: "UDP", encrypted: "ENCRYPTED", other: "OTHER" };
const SAYS = { idle: "", defer: "defers", backoff: "backoff", sifs: "will answer", send: "sends", wait_cts: "waits for CTS", wait_ack: "waits for ACK", receive: "receives", off: "off" };
const kindSaid = (frame) => ["rts", "cts", "data", "ack"].includes(frame.kind) ? frame.kind.toUpperCase() : frame.kind === "tcpack" ? "TCP ACK" : frame.kind;
const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const RADIUS = 7, RING = 13, GRAB = 16;  // px
const QUEUE = 50;  // frames, for which its bar is full, if the network does not say
const MOST_SCALE = 12;  // px a metre, when all is in view
const BELOW = 56;  // px
const NEAR = 95;  // px: if stations are nearer to each other, states are not written and ticks not drawn
const CIRCLES = { range: [], sense: [5, 5] };  // dashes

class Stage {
  constructor(canvas, air) {
    Object.assign(this, { canvas, air, chosen: -1, dragged: -1, at: null, dropped: null, picked: -1, shows: { links: true, ranges: true, names: true } });
    this.map = null;
    this.begun = new Map();  // a station's NAV: its end, and when it began, for the clock's arc
  }

  whole() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    this.map = wholeMap(this.air.positions(), width, height, Math.min(64, width / 6));
    const closer = MOST_SCALE / this.map.scale;
    if (closer < 1) this.map = zoomed(this.map, closer, [width / 2, height / 2]);
    this.fitted = this.map;
  }

  // All in view again when a station has moved out of it, unless the viewer has chosen what is in view.
  follow() {
    const { clientWidth: width, clientHeight: height } = this.canvas, out = ([x, y]) => x < 0 || y < 0 || x > width || y > height;
    if (this.map === this.fitted && this.dragged < 0 && this.air.positions().some((at) => out(onMap(this.map, at)))) this.whole();
  }

  // Positions as shown: a dragged station is at the pointer.
  positions() {
    const found = this.air.positions();
    if (this.dragged >= 0 && this.at) found[this.dragged] = [...this.at, found[this.dragged][2] ?? 0];
    return found;
  }

  // Places on the canvas. A node without a radio often has the position of another: it is drawn below that.
  places(metres) {
    const at = metres.map((each) => onMap(this.map, each));
    this.air.network.nodes.forEach((node, n) => {
      const taken = (m) => m !== n && Math.hypot(at[m][0] - at[n][0], at[m][1] - at[n][1]) < GRAB;
      while (node.radio === false && at.some((_, m) => taken(m))) at[n] = [at[n][0], at[n][1] + BELOW];
    });
    return at;
  }

  // Returns the station at a point of the canvas; -1: none.
  stationAt(place) {
    let found = -1, nearest = GRAB;
    this.places(this.positions()).forEach(([x, y], n) => {
      const far = Math.hypot(x - place[0], y - place[1]);
      if (far < nearest) [nearest, found] = [far, n];
    });
    return found;
  }

  draw() {
    this.follow();
    const { pen, width, height } = sheet(this.canvas), metres = this.positions(), at = this.places(metres);
    this.grid(pen, width, height);
    if (this.shows.ranges) this.circles(pen, at);
    if (this.shows.links) drawLinks(pen, at, this.air.links(metres, this.dragged >= 0));
    this.routes(pen, at);
    const frames = this.air.onAir(), sends = new Map(frames.filter((frame) => frame.end > this.air.now).map((frame) => [frame.from, frame]));
    this.near = at.some(([x, y], n) => at.some(([u, v], m) => m > n && Math.abs(x - u) < NEAR && Math.abs(y - v) < NEAR));
    this.drawFrames(pen, at, frames);
    at.forEach((place, n) => this.station(pen, place, n, sends.get(n)));
    this.losses(pen, at, frames);
    drawScale(pen, this.map, height, colours.quiet);
  }

  grid(pen, width, height) {
    const metres = roundMetres(this.map, 130), step = metres * this.map.scale;
    pen.strokeStyle = colours.only;
    pen.lineWidth = 1;
    pen.beginPath();
    for (let x = ((this.map.x % step) + step) % step; x < width; x += step) { pen.moveTo(Math.round(x) + 0.5, 0); pen.lineTo(Math.round(x) + 0.5, height); }
    for (let y = ((this.map.y % step) + step) % step; y < height; y += step) { pen.moveTo(0, Math.round(y) + 0.5); pen.lineTo(width, Math.round(y) + 0.5); }
    pen.stroke();
  }

  // How far the chosen station is received, and sensed.
  circles(pen, at) {
    const of = this.dragged >= 0 ? this.dragged : this.chosen;
    if (of < 0) return;
    const { range_m: range, sense_m: sense } = this.air.node(of);
    for (const [name, metres, high] of [["sense", sense, 15], ["range", range, 29]]) {
      if (!metres) continue;
      const radius = metres * this.map.scale;
      pen.globalAlpha = name === "range" ? 0.1 : 0.05;
      disc(pen, at[of], radius, colours.mark);
      pen.globalAlpha = 0.8;
      disc(pen, at[of], radius, null, colours.mark, CIRCLES[name]);
      pen.globalAlpha = 1;
      pen.font = LETTERS;
      pen.fillStyle = colours.mark;
      pen.textAlign = "center";
      pen.fillText(`${name === "range" ? "received" : "sensed"} to ${Math.round(metres)} m`, at[of][0], Math.max(at[of][1] - radius - 4, high));
      pen.textAlign = "left";
    }
  }

  // Draws each flow's path, hop by hop, right of the line between two stations; several side by side.
  routes(pen, at) {
    const { latest, number } = this.air, taken = new Map();
    Object.entries(latest?.flows ?? {}).forEach(([name, flow], n) => {
      if (!flow.running) return;
      const route = latest.routes?.[name] ?? [], known = route.length > 1, over = (known ? route : [flow.source, flow.destination]).map((each) => number.get(each));
      pen.globalAlpha = known && flow.kbps > 0 ? 0.85 : 0.45;
      for (let leg = 0; leg + 1 < over.length; leg++) {
        const [from, to] = [at[over[leg]], at[over[leg + 1]]], key = `${over[leg]} ${over[leg + 1]}`;
        if (!from || !to) continue;
        const [a, b] = alongside(from, to, 5 + 6 * (taken.get(key) ?? 0), RING + 3), style = flowColour(n);
        taken.set(key, (taken.get(key) ?? 0) + 1);
        line(pen, a, b, style, known ? 4 : 1.5, known ? [] : [2, 6]);
        if (known) head(pen, a, b, style, 12);
      }
      pen.globalAlpha = 1;
    });
  }

  drawFrames(pen, at, frames) {
    const { now, window: fade, slow } = this.air;
    for (const frame of frames) {
      const style = colourOf(frame), from = at[frame.from], to = at[frame.to], sending = now < frame.end;
      if (!from) continue;
      const part = sending ? (now - frame.start) / (frame.end - frame.start) : 1;
      if (slow && sending) this.sending(pen, from, frame, style, part);
      pen.globalAlpha = sending ? 1 : 1 - (now - frame.end) / fade;
      if (to) {
        const [a, b] = alongside(from, to, 0, RING + 2);
        arrow(pen, a, partWay(a, b, part), style, slow ? 3 : 2, slow ? 11 : 8);
      } else disc(pen, from, RING + 16 * (sending ? part : 1), null, style);
      pen.globalAlpha = 1;
    }
  }

  // Draws where frames were lost, and which station caused it.
  losses(pen, at, frames) {
    const { now, window: fade, slow } = this.air;
    for (const frame of frames) {
      const to = at[frame.to], by = at[frame.culprit], age = (now - frame.end) / fade;
      if (age < 0 || !to) continue;
      pen.globalAlpha = 1 - age;
      if (frame.outcome === "collision") {
        if (by && (slow || age < 0.25)) line(pen, by, to, colours.lost, slow ? 2 : 1, [4, 4]);
        cross(pen, to, (slow ? 8 : 6) + 5 * age, colours.lost, slow ? 3 : 2);
      } else if (frame.outcome === "noise") cross(pen, to, 7, colours.noise, 2);
    }
    pen.globalAlpha = 1;
  }

  // Draws a frame on the air: its range, how much of it was sent, and its kind.
  sending(pen, from, frame, style, part) {
    const range = this.air.node(frame.from).range_m;
    if (range) {
      pen.globalAlpha = 0.12;
      disc(pen, from, range * this.map.scale, style);
      pen.globalAlpha = 0.7;
      disc(pen, from, range * this.map.scale, null, style);
    }
    pen.globalAlpha = 1;
    arc(pen, from, RING, part, style, 3);
    this.under(pen, from, kindSaid(frame), colours.ink, BOLD);
  }

  under(pen, [x, y], said, style, font) {
    pen.textAlign = "center";
    label(pen, said, x, y + 30, style, font);
    pen.textAlign = "left";
  }

  station(pen, [x, y], n, sends) {
    const { air } = this, name = air.names[n], of = air.network.nodes[n], state = air.node(n), marked = n === this.chosen || n === this.dragged || n === this.picked;
    pen.globalAlpha = state.doing === "off" ? 0.35 : 1;
    if (marked) { disc(pen, [x, y], RADIUS + 3, colours.paper); disc(pen, [x, y], RADIUS + 3, null, colours.mark); }
    if (of.radio === false) { pen.fillStyle = colours.quiet; pen.fillRect(x - RADIUS, y - RADIUS, 2 * RADIUS, 2 * RADIUS); }
    else disc(pen, [x, y], RADIUS, air.slow && sends ? colourOf(sends) : marked ? colours.mark : colours.ink, colours.paper);
    if (state.queue) this.queue(pen, x - 12, y - 36, state.queue);
    if (air.slow && of.radio !== false && !sends) this.clocks(pen, x, y, n, state);
    if (this.shows.names) label(pen, name, x + 7, y - 12, colours.ink, marked ? BOLD : LETTERS);
    pen.globalAlpha = 1;
  }

  // Draws the queue: a bar, with the number.
  queue(pen, x, y, frames) {
    const high = 24, part = Math.min(1, frames / (this.air.network.queue ?? QUEUE)), level = Math.max(2, high * part);
    pen.fillStyle = colours.only;
    pen.fillRect(x, y, 6, high);
    pen.fillStyle = part > 0.8 ? colours.lost : colours.count;
    pen.fillRect(x, y + high - level, 6, level);
    pen.textAlign = "right";
    label(pen, String(frames), x - 3, y + 10, colours.quiet, LETTERS);
    pen.textAlign = "left";
  }

  // Draws NAV as a shrinking arc, slots of backoff as ticks, and the station's state.
  clocks(pen, x, y, n, state) {
    const { now } = this.air, slots = this.air.slots(n), counts = state.doing === "backoff";
    let says = counts && slots ? many(slots, "slot") : SAYS[state.doing] ?? state.doing ?? "";
    if (state.nav_ns > now) {
      if (this.begun.get(n)?.end !== state.nav_ns) this.begun.set(n, { end: state.nav_ns, from: now });
      arc(pen, [x, y], RING, (state.nav_ns - now) / Math.max(1, state.nav_ns - this.begun.get(n).from), colours.ROUTING, 3);
      says = `NAV ${lasting(Math.round((state.nav_ns - now) / 1000) * 1000)}`;
    }
    if (this.near) says = counts && slots ? String(slots) : "";
    else if (slots) {
      pen.fillStyle = counts ? colours.count : colours.well;
      const shown = Math.min(slots, 32), wide = Math.min(shown, 16) * 4 - 1;
      for (let slot = 0; slot < shown; slot++) pen.fillRect(x - wide / 2 + slot % 16 * 4, y + 36 + Math.floor(slot / 16) * 7, 3, 5);
    }
    if (says) this.under(pen, [x, y], says, colours.quiet, LETTERS);
  }
}

const colourOf = (frame) => colours[KIND_NAMES[frame.kind] ?? "OTHER"];

// A part of a circle, clockwise from its top.
function arc(pen, at, radius, part, style, width) {
  pen.strokeStyle = style;
  pen.lineWidth = width;
  pen.beginPath();
  pen.arc(...at, radius, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, part));
  pen.stroke();
}

// Letters that can be read over lines.
function label(pen, text, x, y, style, font) {
  pen.font = font;
  pen.lineJoin = "round";
  pen.strokeStyle = colours.paper;
  pen.lineWidth = 3;
  pen.strokeText(text, x, y);
  pen.fillStyle = style;
  pen.fillText(text, x, y);
}
