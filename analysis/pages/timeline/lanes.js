// SPDX-License-Identifier: BSD-3-Clause
// The stations' lanes. A small number of frames is drawn one by one, with what is derived from them. For more frames,
// each station's shares of the time on the air are drawn, by class.
"use strict";

const SINGLE = 12000;   // with more frames in view, shares of time are drawn
const DETAIL = 900;     // up to this number, NAV and backoff are derived
const STRIP = 11, STRIPS = ["sensed", "NAV", "backoff", "queue"];
const LEAST_LANE = 30, ROOM_FOR_STRIPS = 76, MOST_LANE = 190;
const LOST_COLOUR = { [COLLISION]: "lost", [OWN_TX]: "lost", [NOISE]: "noise", [WEAK]: "quiet" };

class Lanes {
  constructor(canvas, scroll, spacer, run, view) {
    Object.assign(this, { canvas, scroll, spacer, run, view, open: new Set() });
  }

  layout() {
    const room = this.scroll.clientHeight, count = Math.max(this.run.stations.length, 1);
    const usual = Math.min(MOST_LANE, Math.max(LEAST_LANE, Math.floor(room / count)));
    this.tall = this.run.stations.map((_, s) => this.open.has(s) ? Math.max(usual, ROOM_FOR_STRIPS + 24) : usual);
    this.tops = new Float64Array(this.tall.length + 1);
    this.tall.forEach((tall, s) => { this.tops[s + 1] = this.tops[s] + tall; });
    this.spacer.style.height = `${this.tops[this.tall.length]}px`;
  }

  strips(station) {
    const tall = this.tall[station];
    return tall < 46 ? [] : this.detail && tall >= ROOM_FOR_STRIPS ? STRIPS : ["queue"];
  }
  bars(station) { return this.tall[station] - 8 - this.strips(station).length * STRIP; }
  top(station) { return this.tops[station] - this.scroll.scrollTop; }
  barTop(station) { return this.top(station) + 4; }
  stripTop(station, name) { return this.barTop(station) + this.bars(station) + this.strips(station).indexOf(name) * STRIP; }
  stationAt(y) {
    const station = upTo(this.tops, y + this.scroll.scrollTop) - 1;
    return station >= 0 && station < this.tall.length ? station : -1;
  }
  stripAt(y) {
    const station = this.stationAt(y);
    const n = station < 0 ? -1 : Math.floor((y - this.barTop(station) - this.bars(station)) / STRIP);
    return n >= 0 ? this.strips(station)[n] ?? "" : "";
  }

  // Toggles a lane between its usual height and one with room for what is derived.
  toggle(station) {
    if (!this.open.delete(station)) this.open.add(station);
  }

  draw(hits, chosen) {
    const { run, view } = this, [low, high] = run.between(view.from, view.to);
    this.count = high - low;
    this.single = this.count <= SINGLE;
    this.detail = this.count <= DETAIL;
    this.layout();
    const { ink, width, height } = begin(this.canvas, colours.paper);
    const first = Math.max(0, this.stationAt(0)), last = this.stationAt(height - 1);
    const shown = [first, last < 0 ? run.stations.length - 1 : last];
    for (let s = shown[0]; s <= shown[1]; s++) {
      ink.fillStyle = s % 2 ? colours.paper : colours.lane;
      ink.fillRect(0, this.top(s), width, this.tall[s]);
    }
    inPlot(ink, width, 0, height, () => {
      this.grid(ink, width, height);
      for (let s = shown[0]; s <= shown[1]; s++) {
        if (this.strips(s).includes("queue")) this.queue(ink, s, width);
        if (!this.single) this.shares(ink, s, width);
        else if (this.strips(s).length === STRIPS.length) this.derived(ink, s, width);
      }
      if (this.single) this.bySingle(ink, width, low, high, shown, hits);
      else if (hits) this.ticksOf(ink, width, hits, shown);
      if (this.detail) this.blame(ink, width, low, high, chosen);
      if (chosen >= 0) this.outline(ink, width, chosen);
    });
    this.names(ink, shown);
  }

  grid(ink, width, height) {
    drawTicks(ink, this.view, width, 0, height, colours.faint);
    for (const ns of [0, this.run.took_all]) {
      ink.fillStyle = colours.quiet;
      ink.fillRect(Math.round(this.view.x(ns, width)), 0, 1, height);
    }
  }

  names(ink, shown) {
    for (let s = shown[0]; s <= shown[1]; s++) {
      ink.fillStyle = colours.ink;
      ink.font = "600 12px system-ui, sans-serif";
      const bars = this.bars(s), middle = this.barTop(s) + Math.min(bars / 2, 12);
      ink.fillText(this.run.stations[s], 8, middle, GUTTER - 14);
      ink.font = "10px system-ui, sans-serif";
      ink.fillStyle = colours.quiet;
      ink.textAlign = "right";
      for (const name of this.strips(s)) ink.fillText(name === "queue" ? `queue ≤ ${this.run.queue[s].most}` : name, GUTTER - 5,
        this.stripTop(s, name) + STRIP / 2);
      if (!this.single && bars > 34) ink.fillText(`0–${Math.round(this.most * 100)} %`, GUTTER - 5, this.barTop(s) + 27);
      else if (!this.single && s === shown[0]) ink.fillText(`≤ ${Math.round(this.most * 100)} %`, GUTTER - 5, middle);
      ink.textAlign = "left";
      ink.font = LETTERS;
      ink.fillStyle = colours.faint;
      ink.fillRect(0, this.top(s) + this.tall[s] - 1, this.canvas.clientWidth, 1);
    }
  }

  // Draws shares of time, stacked; all lanes have one scale.
  shares(ink, station, width) {
    const wide = Math.max(1, Math.floor(width - GUTTER)), { from, to } = this.view;
    const key = `${from} ${to} ${wide}`;
    if (this.key !== key) {
      this.key = key;
      this.all = this.run.rows.map((_, s) => this.run.shares(s, from, to, wide));
      this.most = 0;
      for (const shares of this.all) for (let x = 0; x < wide; x++) {
        let sum = 0;
        for (const share of shares) sum += share[x];
        if (sum > this.most) this.most = sum;
      }
      this.most = Math.min(1, Math.max(this.most, 0.01));
    }
    const room = this.bars(station), floor = this.barTop(station) + room, heights = new Float32Array(wide);
    [LOST, 0, 1, 2, 3, 4].forEach((of) => {
      const share = this.all[station][of];
      if (!share.some((part) => part)) return;
      ink.fillStyle = colours[CLASS_COLOURS[of]];
      ink.beginPath();  // one shape: its upper edge, and back along the lower one
      for (let x = 0; x < wide; x++) {
        const y = floor - heights[x] - Math.min(share[x] / this.most, 1) * room;
        ink.lineTo(GUTTER + x, y);
        ink.lineTo(GUTTER + x + 1, y);
      }
      for (let x = wide - 1; x >= 0; x--) {
        ink.lineTo(GUTTER + x + 1, floor - heights[x]);
        ink.lineTo(GUTTER + x, floor - heights[x]);
        heights[x] += Math.min(share[x] / this.most, 1) * room;
      }
      ink.fill();
    });
  }

  ticksOf(ink, width, hits, shown) {
    ink.fillStyle = colours.mark;
    const lasts = new Int32Array(this.run.stations.length).fill(-1);
    for (let n = upTo(hits.rows, this.run.between(this.view.from, this.view.to)[0] - 1); n < hits.rows.length; n++) {
      const row = hits.rows[n], s = this.run.from[row];
      if (this.run.start[row] > this.view.to) break;
      const x = Math.round(this.view.x(this.run.start[row], width));
      if (s >= shown[0] && s <= shown[1] && lasts[s] !== x) ink.fillRect(lasts[s] = x, this.top(s), 1, 4);
    }
  }

  bySingle(ink, width, low, high, shown, hits) {
    const { run, view } = this, lasts = new Float64Array(run.stations.length * 16).fill(-1e9);
    for (let i = low; i < high; i++) {
      const s = run.from[i];
      if (s < shown[0] || s > shown[1] || run.stop(i) < view.from) continue;
      const x = view.x(run.partStart(i), width), wide = Math.max(1, run.part_took[i] / view.span * (width - GUTTER));
      const lost = run.outcome[i] !== OK, place = s * 16 + run.kind[i];
      const faded = hits !== null && !hits.marked[i];
      if (wide < 1.5 && !lost && !hits && x - lasts[place] < 0.7) continue;
      lasts[place] = x;
      ink.globalAlpha = faded ? 0.16 : 1;
      this.bar(ink, i, x, wide, this.barTop(s), this.bars(s), lost);
      if (wide > 3 && run.place[i]) {  // one bar, with a line between its MPDUs
        ink.fillStyle = colours.paper;
        ink.fillRect(x, this.barTop(s), 0.7, this.bars(s));
      }
    }
    ink.globalAlpha = 1;
  }

  bar(ink, row, x, wide, top, tall, lost) {
    const { run } = this, kind = run.kinds[run.kind[row]], left = Math.max(x, GUTTER - 2);
    const shown = Math.min(x + wide, this.canvas.clientWidth + 2) - left;
    drawBar(ink, left, top, shown, tall, kind, lost ? colours[LOST_COLOUR[run.outcome[row]]] : null);
    if (run.retried(row) && wide > 2) {
      ink.fillStyle = colours.ink;
      ink.fillRect(left, top, Math.min(2, shown), tall);
    }
    if (run.given_up[row]) {
      ink.fillStyle = colours.ink;
      ink.fillRect(Math.min(x + wide, this.canvas.clientWidth) - 2, top - 3, 3, tall + 6);
    }
    if (shown > 22) {
      const to = run.to[row] < run.stations.length ? ` → ${run.stations[run.to[row]]}` : "";
      const again = run.attempt[row] > 1 ? ` · attempt ${run.attempt[row]}` : "", what = lost ? "× " : "";
      nameBar(ink, left, shown, top + Math.min(tall / 2, 14), kind, [what + kind + to + again, what + kind + to, what + kind, what.trim()]);
      if (tall > 34) {
        const more = [];
        if (run.payload[row]) more.push(`seq ${run.seq[row].toLocaleString("en")}`);
        else if (kind === "TCP ACK") more.push(`ack ${run.ack[row].toLocaleString("en")}`);
        more.push(`#${row + 1}`);
        fitted(ink, more.join("  "), left + 5, top + 30, shown - 8);
      }
    }
  }

  // Draws carrier sense, NAV and backoff of one station.
  derived(ink, station, width) {
    const { run, view } = this;
    const texts = [], written = {};  // end of the text in each strip
    const box = (from, to, strip, colour, text) => {
      const left = Math.max(view.x(from, width), GUTTER - 1), right = Math.min(view.x(to, width), width + 1);
      if (right <= left) return;
      const top = this.stripTop(station, strip);
      ink.fillStyle = colour;
      ink.fillRect(left, top + 1, Math.max(right - left, 1), STRIP - 2);
      if (right - left > 3) { ink.fillStyle = colours.paper; ink.fillRect(right - 0.5, top + 1, 0.5, STRIP - 2); }
      if (text) texts.push({ text, left, right, strip, y: top + STRIP / 2 + 0.5 });
    };
    for (const each of sensed(run, station, view.from, view.to)) {
      if (each.own) continue;
      box(each.from, each.to, "sensed", each.well ? colours.well : colours.only,
        `${run.stations[run.from[each.row]] ?? "?"}${each.well ? "" : ", not understood"}`);
    }
    for (const each of navOf(run, station, view.from, view.to))
      box(each.from, each.to, "NAV", colours.nav, `${run.stations[run.from[each.row]]} ${run.kinds[run.kind[each.row]]}`);
    const rows = run.rows[station];
    for (let n = upTo(rows, run.between(view.from, view.to)[0] - 1); n < rows.length; n++) {
      const row = rows[n];
      if (run.waited[row] < 0) continue;
      if (run.start[row] - run.waited[row] > view.to) break;
      for (const { from, to, what, slots } of backoffOf(run, station, row))
        box(from, to, "backoff", colours[what], what === "count" ? `${slots} slots` : what === "frozen" ? "frozen" : "IFS");
      this.slots(ink, station, row, width);
    }
    ink.fillStyle = colours.ink;
    ink.font = "9px system-ui, sans-serif";
    for (const { text, left, right, strip, y } of texts)
      if (left >= (written[strip] ?? 0) && fitted(ink, text, left + 3, y, right - left - 5))
        written[strip] = left + 3 + ink.measureText(text).width;
    ink.font = LETTERS;
  }

  // Draws the single slots of a countdown, if there is room.
  slots(ink, station, row, width) {
    const { run, view } = this, wide = run.mac.slot / view.span * (width - GUTTER);
    if (wide < 4) return;
    ink.fillStyle = colours.paper;
    for (const { from, to, what } of backoffOf(run, station, row)) {
      if (what !== "count") continue;
      const first = Math.max(0, Math.floor((view.from - from) / run.mac.slot));
      for (let at = from + first * run.mac.slot; at < Math.min(to, view.to); at += run.mac.slot)
        ink.fillRect(view.x(at, width), this.stripTop(station, "backoff") + STRIP - 4, 1, 3);
    }
  }

  queue(ink, station, width) {
    const { time, count, most } = this.run.queue[station], { view } = this;
    if (!most) return;
    const floor = this.stripTop(station, "queue") + STRIP - 1, scale = (STRIP - 2) / most;
    ink.fillStyle = colours.count;
    let n = Math.max(0, upTo(time, view.from) - 1);
    const end = upTo(time, view.to);
    while (n < end) {
      const x = Math.max(view.x(time[n], width), GUTTER - 1);
      let high = count[n++];
      while (n < end && view.x(time[n], width) < x + 1) high = Math.max(high, count[n++]);
      const right = n < time.length ? Math.min(view.x(time[n], width), width) : width;
      ink.fillRect(x, floor - high * scale, Math.max(right - x, 1), high * scale);
    }
  }

  // Draws a line from each corrupted frame to the frame that caused it.
  blame(ink, width, low, high, chosen) {
    for (let i = low; i < high; i++) if (this.run.culpritOf(i) >= 0 && i !== chosen) this.line(ink, width, i, 1);
    if (chosen < 0) return;
    if (this.run.culpritOf(chosen) >= 0) this.line(ink, width, chosen, 2);
    for (const victim of victimsOf(this.run, chosen)) this.line(ink, width, victim, 2);
  }

  line(ink, width, victim, thick) {
    const { run, view } = this, culprit = run.culpritOf(victim), a = run.from[culprit], b = run.from[victim];
    if (a >= run.stations.length || b >= run.stations.length) return;
    const at = Math.max(run.start[culprit], run.start[victim]), x = view.x(at, width);
    const from = this.barTop(a) + this.bars(a) / 2, to = this.barTop(b) + this.bars(b) / 2;
    ink.strokeStyle = ink.fillStyle = colours.lost;
    ink.lineWidth = thick;
    ink.setLineDash(thick > 1 ? [] : [4, 3]);
    ink.beginPath();
    ink.moveTo(x, from);
    ink.lineTo(x, to);
    ink.stroke();
    ink.setLineDash([]);
    const direction = Math.sign(to - from), tip = to - direction * (this.bars(b) / 2 - 1);
    triangle(ink, x, tip + direction * 6, -direction * 6);
    ink.lineWidth = 1;
  }

  outline(ink, width, row) {
    const s = this.run.from[row];
    if (s >= this.run.stations.length) return;
    const x = this.view.x(this.run.partStart(row), width);
    const wide = this.run.part_took[row] / this.view.span * (width - GUTTER);
    const tall = this.bars(s);
    ink.strokeStyle = colours.ink;
    ink.lineWidth = 2;
    ink.strokeRect(x - 1, this.barTop(s) - 1, Math.max(wide, 2) + 2, tall + 2);
    if (wide < 6) {
      ink.fillStyle = colours.ink;
      triangle(ink, x, this.barTop(s) + tall + 1, 7, 5);
    }
    ink.lineWidth = 1;
  }

  // Returns the frame at a point of the canvas, or -1.
  frameAt(x, y) {
    const { run, view } = this, s = this.stationAt(y), width = this.canvas.clientWidth;
    if (s < 0 || x < GUTTER || y > this.barTop(s) + this.bars(s) + 3) return -1;
    const near = view.span / (width - GUTTER) * 3, at = view.at(x, width), rows = run.rows[s];
    let best = -1, away = near;
    for (let n = upTo(rows, upTo(run.start, at + near) - 1) - 1; n >= 0; n--) {
      const row = rows[n], begin = run.partStart(row), far = at < begin ? begin - at : Math.max(0, at - run.partStop(row));
      if (far <= away) { best = row; away = far; }
      if (!far || run.start[row] < at - run.longest - near) break;
    }
    return best;
  }

  // Returns the text of a strip at that point.
  stripSays(x, y) {
    const { run, view } = this, s = this.stationAt(y), strip = this.stripAt(y), at = view.at(x, this.canvas.clientWidth);
    if (!strip || x < GUTTER) return "";
    if (strip === "queue") {
      const n = upTo(run.queue[s].time, at) - 1;
      return `${run.stations[s]}: ${n < 0 ? 0 : run.queue[s].count[n]} frames queued, the one in service included`;
    }
    if (!this.detail) return "";
    const there = (list) => list.filter((each) => each.from <= at && at < each.to);
    if (strip === "sensed") return there(sensed(run, s, at - 1, at + 1)).filter((each) => !each.own).map((each) =>
      `${run.stations[s]} senses ${run.name(each.row)}${each.well ? "" : ", and does not understand it"}`).join("\n") || "";
    if (strip === "NAV") return there(navOf(run, s, at - 1, at + 1)).map((each) =>
      `${run.stations[s]}: NAV for ${lasting(each.to - at)} more, by ${run.name(each.row)}`).join("\n");
    const rows = run.rows[s];
    for (let n = upTo(rows, upTo(run.start, at) - 1); n < Math.min(rows.length, upTo(rows, upTo(run.start, at) - 1) + 8); n++)
      for (const { from, to, what, slots } of backoffOf(run, s, rows[n])) if (from <= at && at < to)
        return `${run.stations[s]}, before ${run.name(rows[n])}: ` + { ifs: "waits for DIFS or EIFS", frozen:
          "the medium is busy: backoff is frozen", count: `counts down ${slots} slots of ${lasting(run.mac.slot)}` }[what];
    return "";
  }
}

// Returns the frames that a transmission corrupted.
function victimsOf(run, row) {
  const [low, high] = run.between(run.start[row], run.stop(row) + 40000), found = [];
  for (let i = low; i < high; i++) if (run.culpritOf(i) === row) found.push(i);
  return found;
}
