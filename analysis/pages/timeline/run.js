// SPDX-License-Identifier: BSD-3-Clause
// A run's air, as analysis/pages/timeline/page.py packed it: columns, indices of them, and sums for views without room
// for single frames. Times are ns since measuring began. Nothing here draws.
"use strict";

const OK = 0, COLLISION = 1, OWN_TX = 2, NOISE = 3, WEAK = 4;
const CELLS = 1 << 19;          // number of the finest sums, over all stations
const CLASSES = 6;              // classes of airtime; the last is lost frames of any kind
const LOST = CLASSES - 1;
const CLASS_OF = { RTS: 0, CTS: 0, DATA: 1, "TCP ACK": 2, ACK: 3 };
const OTHER_CLASS = 4;

function wide(column, name, offset = 0) {
  const low = column[name], high = column[name + "_high"], found = new Float64Array(low.length);
  for (let i = 0; i < low.length; i++) found[i] = high[i] * 4294967296 + low[i] - offset;
  return found;
}

class Run {
  constructor(head, column) {
    Object.assign(this, head, column);
    this.size = column.took.length;
    this.start = wide(column, "start");
    for (let i = 1; i < this.size; i++) this.start[i] += this.start[i - 1];
    this.queued = wide(column, "queued", 1);   // -1: not the first attempt of its frame
    this.waited = wide(column, "waited", 1);   // -1: it did not contend
    this.longest = 0;
    for (let i = 0; i < this.size; i++) if (column.took[i] > this.longest) this.longest = column.took[i];
    this.end = Math.max(head.took_all, this.size ? this.start[this.size - 1] + this.longest : 0);
    const classes = head.kinds.map((kind) => CLASS_OF[kind] ?? OTHER_CLASS);
    this.classOf = Uint8Array.from(classes);
    this.byStation();
    this.sum();
    this.queues();
    this.flows.forEach((flow, number) => this.follow(flow, number));
  }

  // Returns the rows of transmissions that may be on the air between two times.
  between(from, to) {
    return [upTo(this.start, from - this.longest - 1), upTo(this.start, to)];
  }

  stop(row) { return this.start[row] + this.took[row]; }
  // An MPDU's part of its PPDU; of a PPDU of one, all of it.
  partStart(row) { return this.start[row] + this.part[row]; }
  partStop(row) { return this.start[row] + this.part[row] + this.part_took[row]; }
  lead(row) { return row - this.place[row]; }
  isAnswer(row) { const kind = this.kinds[this.kind[row]]; return kind === "CTS" || kind === "ACK"; }
  culpritOf(row) { return this.culprit[row] ? row - this.culprit[row] : -1; }
  beforeOf(row) { return this.before[row] ? row - this.before[row] : -1; }
  heard(masks, row, station) {
    return (this.mask[masks[row] * this.mask_bytes + (station >> 3)] >> (station & 7)) & 1;
  }
  delayTo(row, station) { return this.delay && this.from[row] < this.stations.length ? this.delay[this.from[row]][station] : 0; }
  retried(row) { return (this.control[row] & 0x0800) !== 0 || this.attempt[row] > 1; }

  // Sets `rows`: each station's rows, in order.
  byStation() {
    const counts = new Uint32Array(this.stations.length);
    for (let i = 0; i < this.size; i++) if (this.from[i] < counts.length) counts[this.from[i]]++;
    this.rows = [...counts].map((n) => new Uint32Array(n));
    counts.fill(0);
    for (let i = 0; i < this.size; i++) {
      const s = this.from[i];
      if (s < counts.length) this.rows[s][counts[s]++] = i;
    }
  }

  // Sets `levels`: airtime (ns) by class of each station, in cells of time; then in cells twice as long, and so on.
  sum() {
    const stations = Math.max(this.stations.length, 1);
    let cells = 1;
    while (cells * 2 * stations <= CELLS && cells < this.size) cells *= 2;
    this.cell = this.end / cells || 1;
    const finest = this.rows.map(() => Array.from({ length: CLASSES }, () => new Float32Array(cells)));
    for (let i = 0; i < this.size; i++) {
      const s = this.from[i];
      if (s >= finest.length) continue;
      const of = this.outcome[i] !== OK ? LOST : this.classOf[this.kind[i]];
      finest[s][of][Math.min((this.partStart(i) / this.cell) | 0, cells - 1)] += this.part_took[i];
    }
    this.levels = [finest];
    while (cells > 1) {
      const finer = this.levels[this.levels.length - 1];
      cells /= 2;
      this.levels.push(finer.map((station) => station.map((sums) => {
        const coarser = new Float32Array(cells);
        for (let i = 0; i < cells; i++) coarser[i] = sums[2 * i] + sums[2 * i + 1];
        return coarser;
      })));
    }
  }

  // Returns for each of `count` equal parts of a span the share in which a station's classes were on the air.
  shares(station, from, to, count) {
    const width = (to - from) / count;
    const level = Math.max(0, Math.min(this.levels.length - 1, Math.floor(Math.log2(width / this.cell))));
    const sums = this.levels[level][station], cell = this.cell * 2 ** level, cells = sums[0].length;
    const found = Array.from({ length: CLASSES }, () => new Float32Array(count));
    for (let x = 0; x < count; x++) {
      const first = Math.max(0, Math.floor((from + x * width) / cell));
      const last = Math.min(cells, Math.max(first + 1, Math.floor((from + (x + 1) * width) / cell)));
      if (last <= first || from + (x + 1) * width <= 0) continue;
      for (let c = 0; c < CLASSES; c++) {
        let sum = 0;
        for (let i = first; i < last; i++) sum += sums[c][i];
        found[c][x] = sum / ((last - first) * cell);
      }
    }
    return found;
  }

  // Sets `queue`: how many frames each station holds, from when its kernel hands them over until their last attempt ends.
  queues() {
    this.queue = this.rows.map((rows) => {
      const came = [], went = [], last = [];  // for each category: end of the frame that it serves, if it was queued here
      for (const row of rows) {
        if (this.isAnswer(row)) continue;
        const of = this.category[row];
        if (this.queued[row] >= 0) {
          if (last[of] !== undefined) went.push(last[of]);
          came.push(this.start[row] - this.queued[row]);
          last[of] = this.stop(row);
        } else if (last[of] !== undefined) last[of] = this.stop(row);
      }
      for (const stop of last) if (stop !== undefined) went.push(stop);
      came.sort((a, b) => a - b);
      went.sort((a, b) => a - b);
      const time = new Float64Array(came.length + went.length), count = new Float32Array(time.length);
      for (let n = 0, i = 0, j = 0; n < time.length; n++) {
        if (i < came.length && (j >= went.length || came[i] <= went[j])) time[n] = came[i++]; else time[n] = went[j++];
        count[n] = i - j;
      }
      let most = 0;
      for (const n of count) if (n > most) most = n;
      return { time, count, most };
    });
  }

  // Sets a flow's segments as its ends saw them: sent by the source, arrived, acknowledged; and its sender's state.
  follow(flow, number) {
    const sent = [], arrived = [], acked = [], kinds = this.kinds;
    const data = kinds.indexOf("DATA"), ack = kinds.indexOf("TCP ACK");
    let highest = 0;
    this.resent ??= new Uint8Array(this.size);
    for (let i = 0; i < this.size; i++) {
      if (this.flow[i] !== number) continue;
      if (this.kind[i] === data && !this.back[i]) {
        if (this.from[i] === flow.source && this.attempt[i] === 1) {
          const end = this.seq[i] + this.payload[i];
          if (end <= highest) this.resent[i] = 1; else highest = end;
          sent.push(i);
        }
        if (this.to[i] === flow.destination && this.outcome[i] === OK) arrived.push(i);
      } else if (this.to[i] === flow.source && this.back[i] && (this.kind[i] === ack || this.kind[i] === data) &&
                 this.outcome[i] === OK) acked.push(i);
    }
    const steps = (rows, at, of) => ({
      time: Float64Array.from(rows, at), value: Float64Array.from(rows, of), rows: Uint32Array.from(rows) });
    flow.sent = steps(sent, (i) => this.start[i], (i) => this.seq[i] + this.payload[i]);
    flow.arrived = steps(arrived, (i) => this.stop(i), (i) => this.seq[i] + this.payload[i]);
    flow.acked = steps(acked, (i) => this.stop(i), (i) => this.ack[i]);
    this.taken ??= { steps: 0, rtos: 0, fasts: 0 };
    const take = (list, what, count) => list.subarray(this.taken[what], this.taken[what] + count);
    flow.time = take(this.tcp_time, "steps", flow.steps);
    for (const name of ["cwnd", "ssthresh", "flight", "srtt", "phase"])
      flow[name] = take(this["tcp_" + name], "steps", flow.steps);
    flow.rto = take(this.rto, "rtos", flow.rtos);
    flow.fast = take(this.fast, "fasts", flow.fasts);
    for (const what of ["steps", "rtos", "fasts"]) this.taken[what] += flow[what];
  }

  // Returns a short name of a frame that identifies it.
  name(row) {
    const to = this.to[row] < this.stations.length ? ` → ${this.stations[this.to[row]]}` : " → all";
    return `${this.stations[this.from[row]] ?? "?"} ${this.kinds[this.kind[row]]}${to}`;
  }
}
