// SPDX-License-Identifier: BSD-3-Clause
// A flow over the same time as the lanes: sequence numbers above, its sender's window below.
"use strict";

const LINES = { cwnd: "DATA", ssthresh: "MANAGEMENT", flight: "RTS" };
const LABELS = { cwnd: "cwnd", ssthresh: "ssthresh", flight: "in flight" };
const PHASE_COLOURS = { SLOW_START: "count", CONGESTION_AVOIDANCE: "only", RECOVERY: "noise", RTO: "lost" };
const TALL = 26;  // px at least between labels of an axis

class Tcp {
  constructor(canvas, run, view) { Object.assign(this, { canvas, run, view }); }

  draw(flow, chosen) {
    const { ink, width, height } = begin(this.canvas, colours.paper);
    this.flow = flow;
    if (!flow) return;
    if (!flow.sent.time.length && !flow.steps) {
      ink.fillStyle = colours.quiet;
      ink.fillText(`no TCP segment of ${flow.name} was on the air`, GUTTER + 10, height / 2);
      return;
    }
    const split = flow.steps ? Math.round(height * 0.56) : height;
    this.numbers(ink, width, 4, split - 8, chosen);
    if (flow.steps) this.windows(ink, width, split + 4, height - 10);
  }

  within(series) { return [Math.max(0, upTo(series.time, this.view.from) - 1), Math.min(series.time.length, upTo(series.time, this.view.to) + 1)]; }

  range(all) {
    let least = Infinity, most = -Infinity;
    for (const series of all) {
      const [low, high] = this.within(series);
      for (let i = low; i < high; i++) {
        if (series.value[i] < least) least = series.value[i];
        if (series.value[i] > most) most = series.value[i];
      }
    }
    return most < least ? [0, 1] : [least, Math.max(most, least + 1)];
  }

  axis(ink, width, top, bottom, least, most, name, unit, by) {
    const step = niceStep((most - least) / by, (bottom - top - 13) / TALL) * by;
    const floor = top + 13;  // below its name
    const y = (value) => bottom - (value - least) / (most - least) * (bottom - floor);
    ink.font = "10px system-ui, sans-serif";
    for (let n = Math.ceil(least / step); n * step <= most; n++) {
      ink.fillStyle = colours.faint;
      ink.fillRect(GUTTER, Math.round(y(n * step)), width - GUTTER, 1);
      ink.fillStyle = colours.quiet;
      ink.textAlign = "right";
      const at = Math.min(y(n * step), bottom - 3);
      if (at > top + 11) ink.fillText((n * step / by).toLocaleString("en", { maximumFractionDigits: 3 }), GUTTER - 5, at);
    }
    ink.textAlign = "left";
    ink.fillStyle = colours.ink;
    ink.fillText(`${name}, ${unit}`, 8, top + 5);
    ink.font = LETTERS;
    return y;
  }

  numbers(ink, width, top, bottom, chosen) {
    const { flow, run, view } = this;
    let [least, most] = this.range([flow.sent, flow.arrived, flow.acked]);
    const more = (most - least) * 0.05;
    least = Math.max(0, least - more);
    most += more;
    const y = this.axis(ink, width, top, bottom, least, most, "sequence", "kB", 1000);
    ink.fillStyle = colours.faint;
    ink.fillRect(0, bottom + 4, width, 1);
    inPlot(ink, width, 0, bottom + 4, () => {
      this.steps(ink, flow.acked, y, width, colours["TCP ACK"]);
      this.dots(ink, flow.arrived, y, width, 2, () => colours.well);
      const [low, high] = this.within(flow.sent), tall = Math.max(2, Math.min(6, (bottom - top) / Math.max(1, (most - least) / 1460)));
      this.dots(ink, flow.sent, y, width, tall, (row) => run.resent[row] ? colours.lost : colours.DATA, high - low < 400 ? 4 : 2);
      if (chosen >= 0 && run.payload[chosen]) {
        ink.strokeStyle = colours.ink;
        ink.strokeRect(view.x(run.start[chosen], width) - 4, y(run.seq[chosen] + run.payload[chosen]) - 4, 8, 8);
      }
    });
  }

  dots(ink, series, y, width, tall, colour, wide = 2) {
    const [low, high] = this.within(series), seen = new Set();  // drawn in this pixel column
    let column = NaN;
    for (let i = low; i < high; i++) {
      const x = Math.round(this.view.x(series.time[i], width)), at = Math.round(y(series.value[i]));
      const fill = colour(series.rows[i]);
      if (x !== column) { seen.clear(); column = x; }
      if (fill !== colours.lost) { if (seen.has(at)) continue; seen.add(at); }
      ink.fillStyle = fill;
      const more = fill === colours.lost ? 1 : 0;
      ink.fillRect(x - more, at - more, wide + 2 * more, tall + 2 * more);
    }
  }

  // Draws steps; of many in one pixel column, only the least and the greatest.
  steps(ink, series, y, width, colour) {
    const [low, high] = this.within(series), { time, value } = series;
    ink.strokeStyle = colour;
    ink.lineWidth = 1.3;
    ink.beginPath();
    for (let i = low, last = null; i < high;) {
      const x = Math.max(this.view.x(time[i], width), GUTTER - 2);
      let least = value[i], most = value[i], end = value[i++];
      while (i < high && this.view.x(time[i], width) < x + 1) {
        end = value[i++];
        if (end < least) least = end;
        if (end > most) most = end;
      }
      if (last === null) ink.moveTo(x, y(least)); else ink.lineTo(x, y(last));
      if (most !== least) { ink.lineTo(x, y(least)); ink.lineTo(x, y(most)); }
      ink.lineTo(x, y(end));
      last = end;
      if (i >= high) ink.lineTo(Math.min(this.view.x(Math.max(series.until ?? time[high - 1], time[high - 1]), width), width), y(end));
    }
    ink.stroke();
    ink.lineWidth = 1;
  }

  windows(ink, width, top, bottom) {
    const { flow, run, view } = this;
    const series = (name) => ({ time: flow.time, value: flow[name], until: flow.end });
    const [low, high] = this.within(series("cwnd"));
    let most = 1;
    for (const name of ["cwnd", "flight"]) for (let i = low; i < high; i++) most = Math.max(most, flow[name][i]);
    for (let i = low; i < high; i++) if (flow.ssthresh[i] !== run.no_ssthresh) most = Math.max(most, Math.min(flow.ssthresh[i], 2 * most));
    const y = this.axis(ink, width, top, bottom, 0, most * 1.1, "window", "seg.", 1);
    inPlot(ink, width, top - 2, bottom + 10, () => {
      for (let i = low; i < high; i++) {
        const from = view.x(flow.time[i], width), to = view.x(flow.time[i + 1] ?? flow.end, width);
        ink.fillStyle = colours[PHASE_COLOURS[run.phases[flow.phase[i]]]];
        if (to - from > 0.2) ink.fillRect(from, bottom + 3, to - from, 5);
      }
      const threshold = { ...series("ssthresh"), value: Float64Array.from(flow.ssthresh, (n) => Math.min(n, most * 2)) };
      ink.setLineDash([4, 3]);
      this.steps(ink, threshold, y, width, colours[LINES.ssthresh]);
      ink.setLineDash([]);
      this.steps(ink, series("flight"), y, width, colours[LINES.flight]);
      this.steps(ink, series("cwnd"), y, width, colours[LINES.cwnd]);
      for (const [times, colour] of [[flow.fast, "noise"], [flow.rto, "lost"]]) for (const ns of times) {
        ink.fillStyle = colours[colour];
        triangle(ink, view.x(ns, width), top + 8, -8);
      }
    });
  }

  legend() {
    const key = (colour, text) => `<span class="key"><i style="background:${colours[colour]}"></i>${text}</span>`;
    const numbers = key("DATA", "sent") + key("lost", "sent again by TCP") + key("well", "arrived") + key("TCP ACK", "acknowledged");
    const windows = Object.entries(LINES).map(([name, colour]) => key(colour, LABELS[name])).join("") +
      key("noise", "▼ fast retransmit") + key("lost", "▼ timeout") +
      key("count", "slow start") + key("only", "congestion avoidance") + key("noise", "recovery") + key("lost", "waits for the RTO");
    return numbers + (this.flow?.steps ? windows : "");
  }

  // Returns the sender's state at a time.
  says(ns) {
    const { flow, run } = this;
    if (!flow?.steps) return "";
    const i = upTo(flow.time, ns) - 1;
    if (i < 0 || ns > flow.end) return "";
    const threshold = flow.ssthresh[i] === run.no_ssthresh ? "none" : flow.ssthresh[i];
    return `${flow.name}: cwnd ${flow.cwnd[i]}, ssthresh ${threshold}, in flight ${flow.flight[i]}, ` +
      `SRTT ${(flow.srtt[i] / 1000).toFixed(1)} ms\n${run.phases[flow.phase[i]].toLowerCase().replace("_", " ")}`;
  }
}
