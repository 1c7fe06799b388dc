// SPDX-License-Identifier: BSD-3-Clause
// The report's figures over time, by uPlot: lines, with marks above them and intervals of means around them, and the
// states of flows. All show the same part of time.
"use strict";

const curves = [];  // uPlot objects, over time
let extent = [0, 1];  // of time, in all figures
const MARKS = { "|": (ctx, x, y, r) => { ctx.moveTo(x, y - r); ctx.lineTo(x, y + r); ctx.stroke(); },
  v: (ctx, x, y, r) => { ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y - r); ctx.lineTo(x, y + r); ctx.fill(); } };
const MARK_ROW = 10;  // pixels: height of a flow's marks
const STATES = { light: ["#9ecae1", "#dddddd", "#f2c14e", "#c0392b"], dark: ["#3f7fa6", "#3d444b", "#c99a2e", "#ff6b57"] };

// Returns the start and end of the data.
function extentOf(charts, column) {
  const names = charts.flatMap(({ lines = [], rows = [] }) => [...lines.map(({ x }) => x), ...rows.map(({ end }) => end)]).filter(Boolean);
  const last = names.map((name) => column[name].at(-1)).filter((s) => s !== undefined);
  return [0, Math.max(...last, 1e-9)];
}

function curve(chart, place, column) {
  const tables = chart.lines.map(({ x, y }) => [column[x], Array.from(column[y], (n) => Number.isNaN(n) ? null : n)]);
  const data = uPlot.join(tables, tables.map(() => [1]));
  const series = chart.lines.map((line) => ({
    label: line.name, stroke: shades[line.of % shades.length] + (line.faint ? "66" : ""), width: line.faint ? 1 : 1.6,
    spanGaps: true, points: { show: Boolean(line.dots), size: 3 }, show: !line.faint || chart.lines.length <= 4,
    paths: line.dots ? () => null : line.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
    value: (_, n) => n === null || n === undefined ? "–" : whole(n) }));
  const rows = chart.marks?.length ? 1 + Math.max(...chart.marks.map((mark) => mark.of)) : 0;
  return overTime(chart, place, data, series, {
    height: 230 + MARK_ROW * rows, padding: [8 + MARK_ROW * rows, null, null, null],
    y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.06 || 1] },
    draw: (u) => { intervals(u, chart, column); marksAbove(u, chart, column); } });
}

function overTime(chart, place, data, series, { height, padding, y, axis = {}, draw, legend = true }) {
  const style = styled();
  return new uPlot({
    width: place.clientWidth, height, padding, legend: { show: legend },
    cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: true } },
    scales: { x: { time: false, min: extent[0], max: extent[1] }, y },
    series: [{ label: "time, s", value: (_, s) => s === null || s === undefined ? "–" : s.toFixed(3) }, ...series],
    axes: [{ ...style, label: "time, s", labelSize: 20, size: 34 }, { ...style, label: chart.unit, labelSize: 20, size: 52, ...axis }],
    hooks: { setScale: [(from, key) => { if (key === "x") together(from); }], drawClear: [(u) => {
      u.ctx.save();
      draw(u);
      u.ctx.restore();
    }] },
  }, data, place);
}

// Draws the confidence intervals of means, around their lines.
function intervals(u, chart, column) {
  inside(u);
  chart.lines.forEach(({ band, x, of }, n) => {
    if (!band || !u.series[n + 1].show) return;
    const [low, high] = band.map((name) => column[name]), at = Array.from(column[x], (s) => u.valToPos(s, "x", true));
    u.ctx.beginPath();
    at.forEach((s, k) => u.ctx.lineTo(s, u.valToPos(high[k], "y", true)));
    for (let k = at.length - 1; k >= 0; k--) u.ctx.lineTo(at[k], u.valToPos(low[k], "y", true));
    u.ctx.fillStyle = `${shades[of % shades.length]}33`;
    u.ctx.fill();
  });
  u.ctx.restore();
}

function inside(u) {
  const { left, top, width, height } = u.bbox;
  u.ctx.save();
  u.ctx.beginPath();
  u.ctx.rect(left, top, width, height);
  u.ctx.clip();
}

// Draws the losses, in a row for each flow above the lines.
function marksAbove(u, chart, column) {
  const ratio = devicePixelRatio, { left, top, width } = u.bbox;
  for (const { sign, x, of } of chart.marks ?? []) {
    u.ctx.strokeStyle = u.ctx.fillStyle = shades[of % shades.length];
    u.ctx.lineWidth = ratio;
    for (const s of column[x]) {
      const at = u.valToPos(s, "x", true);
      if (at < left || at > left + width) continue;
      u.ctx.beginPath();
      MARKS[sign](u.ctx, at, top - (of + 0.6) * MARK_ROW * ratio, 3.2 * ratio);
    }
  }
}

// Draws a row for each flow: its states by colour; or, if there is only one state, its times in the flow's colour.
function spans(chart, place, column) {
  const { rows } = chart, data = [extent, ...rows.map(() => [null, null])];
  const colour = (state, of) => chart.states.length > 1 ? stateColours()[state] : shades[of % shades.length];
  return overTime(chart, place, data, rows.map(({ name }) => ({ label: name })), {
    height: 70 + 20 * rows.length, legend: false, y: { range: [-rows.length + 0.5, 0.5] },
    axis: { splits: () => rows.map((_, n) => -n), values: () => rows.map(({ name }) => name), label: undefined, grid: { show: false },
      size: Math.min(place.clientWidth / 3, 24 + 7 * Math.max(...rows.map(({ name }) => name.length))) },
    draw: (u) => {
      inside(u);
      for (const [n, { begin, end, state, of }] of rows.entries()) {
        const top = u.valToPos(-n + 0.4, "y", true), height = u.valToPos(-n - 0.4, "y", true) - top;
        column[begin].forEach((from, k) => {
          const left = u.valToPos(from, "x", true);
          u.ctx.fillStyle = colour(column[state][k], of);
          u.ctx.fillRect(left, top, u.valToPos(column[end][k], "x", true) - left, height);
        });
      }
      u.ctx.restore();
    } });
}

const stateColours = () => STATES[document.documentElement.dataset.theme] ?? STATES.light;

// The legend of signs and colours.
function keys(chart) {
  if (chart.kind === "spans") return chart.states.length < 2 ? [] : chart.states.map((name, n) => colourKey(name, stateColours()[n]));
  const said = new Map((chart.marks ?? []).map(({ what, sign }) => [what, sign === "v" ? "▼" : sign]));
  return [...said].map(([what, sign]) => tag("span", { class: "key" }, `${sign} ${what}`));
}

// Zooms all figures to the same part of time.
let going = false;
function together(from) {
  if (going) return;
  going = true;
  const { min, max } = from.scales.x;
  for (const each of curves) if (each !== from) each.setScale("x", { min, max });
  going = false;
}

function all() {
  going = true;
  for (const each of curves) each.setScale("x", { min: extent[0], max: extent[1] });
  going = false;
}
