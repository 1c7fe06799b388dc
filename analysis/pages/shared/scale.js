// SPDX-License-Identifier: BSD-3-Clause
// The displayed part of time, and its ticks. Times are in ns.
"use strict";

const LEAST = 1000;   // ns: the shortest displayed time
const MARGIN = 0.02;  // of the whole run, on both sides
const GUTTER = 84;    // px at the left, for names

class Span {
  constructor(from, to) { Object.assign(this, { from, to }); }

  get span() { return this.to - this.from; }
  x(ns, width) { return GUTTER + (ns - this.from) / this.span * (width - GUTTER); }
  at(x, width) { return this.from + (x - GUTTER) / (width - GUTTER) * this.span; }
}

// What a viewer chose of a whole run.
class View extends Span {
  constructor(end) {
    super(0, end);
    this.end = end;
    this.all();
  }

  all() { this.set(-this.end * MARGIN / 2, this.end * (1 + MARGIN / 2)); }

  set(from, to) {
    const span = Math.min(Math.max(to - from, LEAST), this.end * (1 + MARGIN));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, -this.end * MARGIN / 2), this.end * (1 + MARGIN / 2) - span);
    this.to = this.from + span;
  }

  zoom(factor, at) { this.set(at - (at - this.from) * factor, at + (this.to - at) * factor); }
  pan(ns) { const span = this.span; this.set(this.from + ns, this.from + ns + span); }
}

// Returns a step of 1, 2 or 5 times a power of ten, so that at most `count` fit.
function niceStep(span, count) {
  const least = span / Math.max(count, 1), power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least * 0.999999);
}

function ticks(view, width) {
  const step = niceStep(view.span, (width - GUTTER) / 96), found = [];
  for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) found.push(n * step);
  return { step, at: found };
}

// Returns the ticks' labels; if steps are below a millisecond, their common base, too.
function labels(view, width) {
  const { step, at } = ticks(view, width);
  if (step >= 1e6) return { base: "s", at, texts: at.map((ns) => moment(ns, step)) };
  const base = Math.floor(view.from / 1e6) * 1e6, places = Math.max(0, Math.ceil(3 - Math.log10(step) - 1e-9));
  return { base: `${moment(base, 1e6)} s +`, at, texts: at.map((ns) => `${((ns - base) / 1e3).toFixed(places)} µs`) };
}
