// SPDX-License-Identifier: BSD-3-Clause
// Derives from frames, times and who heard them what no file has: when a station sensed the medium busy and because of
// which frame, its NAV, and its backoff. IEEE 802.11-2016: 10.3.2.1 (carrier sense), 10.3.2.4 (NAV), 10.3.4.3 (backoff).
// The air's extra rules, and EDCA's AIFS, are ignored.
"use strict";

const NAV_MOST = 32768e3;

// Returns what a station sensed: { from, to, row, well }, in order; its own transmissions have `own`.
function sensed(run, station, from, to) {
  const found = [], [low, high] = run.between(from, to);
  for (let i = low; i < high; i++) {
    if (run.place[i]) continue;  // its PPDU is there once
    const own = run.from[i] === station;
    if (!own && !run.heard(run.sensed, i, station)) continue;
    const late = own ? 0 : run.delayTo(i, station), begin = run.start[i] + late, end = run.stop(i) + late;
    if (end > from && begin < to)
      found.push({ from: begin, to: end, row: i, own, well: own || run.heard(run.received, i, station) === 1 });
  }
  return found.sort((a, b) => a.from - b.from);
}

// Returns the spans in which its NAV was set, and the frame whose Duration set or prolonged it: { from, to, row }.
function navOf(run, station, from, to) {
  const heard = sensed(run, station, from - NAV_MOST, to), found = [];
  for (let n = 0; n < heard.length; n++) {
    const { to: over, row, own, well } = heard[n];
    if (own || !well || !run.duration[row] || run.to[row] === station) continue;
    let until = over + run.duration[row] * 1000;
    if (run.mac.reset && run.kinds[run.kind[row]] === "RTS") {
      const reset = over + run.mac.reset;
      let follows = false;
      for (let m = n + 1; m < heard.length && heard[m].from < reset; m++) if (heard[m].to > over && !heard[m].own) follows = true;
      if (!follows && reset < until) until = reset;
    }
    const last = found[found.length - 1];
    if (!last || until > last.to) found.push({ from: Math.max(over, last?.to ?? 0), to: until, row });
  }
  return found.filter((each) => each.to > from && each.from < to);
}

// Returns how a station waited for an attempt: { from, to, what }, in order; `what` is "ifs", "count" (with `slots`)
// or "frozen".
function backoffOf(run, station, row) {
  if (run.waited[row] < 0) return [];
  const end = run.start[row], begin = end - run.waited[row], { slot, difs, eifs } = run.mac;
  const busy = sensed(run, station, begin - NAV_MOST, end).filter((each) => each.row !== row)
    .map((each) => ({ from: each.from, to: each.to, ifs: each.well || !eifs ? difs : eifs }));
  for (const nav of navOf(run, station, begin, end)) busy.push({ from: nav.from, to: nav.to, ifs: difs });
  busy.sort((a, b) => a.from - b.from);
  const found = [], add = (from, to, what) => {
    from = Math.max(from, begin);
    to = Math.min(to, end);
    if (to > from) found.push({ from, to, what, slots: what === "count" ? Math.floor((to - from) / slot + 1e-6) : 0 });
  };
  let idle = -Infinity, base = -Infinity;  // since when the medium is idle; since when slots count
  for (const each of [...busy, { from: end, to: end, ifs: 0 }]) {
    if (each.from > idle) {
      add(idle, Math.min(base, each.from), "ifs");
      add(base, each.from, "count");
      if (each.from < end) add(each.from, each.to, "frozen");
    } else if (each.to > idle) add(idle, each.to, "frozen");
    idle = Math.max(idle, each.to);
    base = Math.max(base, each.to + each.ifs);
  }
  return found;
}
