// SPDX-License-Identifier: BSD-3-Clause
// The last minute as curves: goodput, windows, losses, time on the air.
"use strict";

const LOST = [["COL_RTS/CTS", "RTS, CTS", "RTS"], ["COL_DATA", "DATA", "DATA"], ["COL_ACK", "TCP ACK", "TCP ACK"], ["COL_UDP", "UDP", "UDP"], ["COL_OTHER", "other data", "OTHER"],
  ["COL_ENCRYPTED", "encrypted", "ENCRYPTED"], ["COL_ROUTING", "routing", "ROUTING"], ["COL_MANAGEMENT", "management", "MANAGEMENT"], ["COL_MAC_ACK", "ACK (MAC)", "ACK"]];
const MOST_POINTS = 600, APART_NS = 100e6;  // of a curve; between two of them, at the wall clock's pace

class Curves {
  constructor(place, air) {
    Object.assign(this, { place, air, times: [], rows: [], charts: [], key: "" });
    this.watch = new ResizeObserver(() => this.fitted());
    this.watch.observe(place);
  }

  end() {
    this.watch.disconnect();
    for (const chart of this.charts) chart.destroy();
  }

  // Takes a report; keeps parts of it if the network's time has advanced.
  update(state, back) {
    if (back) while (this.times.length && this.times[this.times.length - 1] >= state.t_ns) { this.times.pop(); this.rows.pop(); }
    if (this.times.length && state.t_ns - this.times[this.times.length - 1] < APART_NS * Math.max(1, this.air.speed) && !back) return;
    this.times.push(state.t_ns);
    const { flows, rates = {}, airtime } = state;
    this.rows.push({ flows, rates, airtime });
    if (this.times.length > MOST_POINTS) { this.times.shift(); this.rows.shift(); }
    this.stale = true;
  }

  // Each curve's title, names, colours, and its value in a report.
  asked() {
    const flows = Object.keys(this.air.latest?.flows ?? {}).map((name, n) => [name, flowColour(n)]);
    const lost = LOST.filter(([of]) => this.air.latest?.counters[of]);
    const airtime = this.rows.some((row) => row.airtime !== undefined);
    return [
      { title: "goodput, kb/s", lines: flows.map(([name, style]) => [name, style, (row) => row.flows[name]?.running ? row.flows[name].kbps : null]) },
      { title: "cwnd, segments", lines: flows.map(([name, style]) => [name, style, (row) => row.flows[name]?.running ? row.flows[name].cwnd : null]) },
      { title: "collisions/s", keys: true, lines: lost.map(([of, name, kind]) => [name, colours[kind], (row) => row.rates[of] ?? 0]) },
      airtime ? { title: "time on the air, %", lines: [["", colours.ink, (row) => row.airtime === undefined ? null : 100 * row.airtime]] }
        : { title: "frames sent/s", lines: [["", colours.ink, (row) => row.rates.sent ?? 0]] },
    ];
  }

  // How much of the network's time is shown at most, s: a minute of it; or about one of the viewer's, if it is faster.
  get lasts() { return 60 * 10 ** Math.ceil(Math.log10(Math.max(1, this.air.speed)) - 0.05); }

  // Draws only if there is new data; makes new charts if flows or colours change.
  draw() {
    if (!this.stale || this.place.hidden) return;
    this.stale = false;
    const asked = this.asked(), key = JSON.stringify([asked, document.documentElement.dataset.theme]);
    if (key !== this.key) this.make(asked);
    this.key = key;
    const x = this.times.map((ns) => ns / 1e9);
    asked.forEach(({ lines }, n) => this.charts[n].setData([x, ...lines.map(([, , of]) => this.rows.map(of).map((y) => y ?? null))]));
  }

  make(asked) {
    for (const chart of this.charts) chart.destroy();
    const axis = { stroke: colours.quiet, grid: { stroke: colours.faint, width: 1 }, ticks: { show: false }, font: "10px system-ui, sans-serif" };
    this.place.replaceChildren(...asked.map(({ title, keys, lines }) => tag("figure", {}, tag("figcaption", {}, title,
      ...(keys ? lines.map(([name, style]) => colourKey(name, style)) : [])), tag("div", {}))));
    this.charts = asked.map(({ lines }, n) => new uPlot({
      ...this.size(n), legend: { show: false }, cursor: { show: false }, padding: [6, 8, 0, 0],
      scales: { x: { time: false, range: (_, low, high) => [Math.max(low, high - this.lasts), Math.max(high, low + 1)] }, y: { range: (_, low, high) => [0, high > 0 ? high * 1.08 : 1] } },
      series: [{}, ...lines.map(([label, stroke]) => ({ label, stroke, width: 1.6, points: { show: false } }))],
      axes: [{ ...axis, size: 18, gap: 2, space: 60, values: (_, at) => at.map((s) => `${Number(s.toFixed(2))} s`) }, { ...axis, size: 38, gap: 3, space: 24 }],
    }, [[], ...lines.map(() => [])], this.place.children[n].lastChild));
  }

  size(n) {
    const { clientWidth: width, clientHeight: height } = this.place.children[n].lastChild;
    return { width: Math.max(width, 80), height: Math.max(height, 60) };
  }

  fitted() { this.charts.forEach((chart, n) => chart.setSize(this.size(n))); }
}
