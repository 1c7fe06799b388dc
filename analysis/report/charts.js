// SPDX-License-Identifier: BSD-3-Clause
// The report's figures: bars of HTML; curves by uPlot, of which all over time keep the same part.
"use strict";

const curves = [];  // uPlot's, over time

const whole = (n) => n.toLocaleString("en", { maximumFractionDigits: Math.abs(n) >= 100 ? 0 : 2 });

function bars(chart) {
  const most = Math.max(...chart.stacks.flatMap((each) => [each.total[0] + (each.total[1] ?? 0), each.published ?? 0]), 1e-9);
  const grid = tag("div", { class: "bars", role: "list" }), share = (n) => `${62 * n / most}%`;
  for (const [at, { name, parts, total, said, published, theirs }] of chart.stacks.entries()) {
    const bar = tag("div", { class: "bar", title: parts.map(([of, n]) => `${of}: ${whole(n)}`).join("\n") });
    parts.forEach(([, n], part) => bar.append(tag("i", { style: `width:${share(n)};background:${shades[parts.length > 1 ? part : at % shades.length]}` })));
    if (total[1] !== null) bar.append(tag("u", { style: `left:${share(Math.max(0, total[0] - total[1]))};width:${share(2 * total[1])}` }));
    bar.append(tag("b", { style: total[1] === null ? null : `padding-left:calc(${share(total[1])} + 8px)` }, said));
    const both = tag("div", { role: "listitem", "aria-label": `${name}: ${said} ${chart.unit}` }, bar);
    if (published !== null && published !== undefined)
      both.append(tag("div", { class: "bar theirs" }, tag("i", { style: `width:${share(published)}` }), tag("b", {}, `published ${theirs}`)));
    grid.append(tag("div", {}, name), both);
  }
  const keys = chart.stacks[0].parts.length > 1 ? chart.stacks[0].parts.map(([name], part) =>
    tag("span", { class: "key" }, tag("i", { style: `background:${shades[part]}` }), name)) : [];
  return tag("div", { class: "chart" }, tag("h3", {}, `${chart.title}, ${chart.unit}`), ...keys, grid);
}

function styled() {
  const of = getComputedStyle(document.documentElement), ink = of.getPropertyValue("--quiet").trim(), faint = of.getPropertyValue("--faint").trim();
  return { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
}

function curve(chart, place, column) {
  const tables = chart.lines.map(({ x, y }) => [column[x], Array.from(column[y], (n) => Number.isNaN(n) ? null : n)]);
  const data = uPlot.join(tables, tables.map(() => [1]));
  const series = chart.lines.map((line) => ({
    label: line.name, stroke: shades[line.of % shades.length] + (line.faint ? "66" : ""), width: line.faint ? 1 : 1.6,
    spanGaps: true, points: { show: false }, show: !line.faint || chart.lines.length <= 4,
    paths: line.steps ? uPlot.paths.stepped({ align: 1 }) : undefined,
    value: (_, n) => n === null || n === undefined ? "–" : whole(n) }));
  const axis = styled();
  return new uPlot({
    width: place.clientWidth, height: 230, cursor: { sync: { key: "time", setSeries: false }, drag: { x: true, y: false, setScale: true } },
    scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.06 || 1] } },
    series: [{ label: "time, s", value: (_, s) => s === null || s === undefined ? "–" : s.toFixed(3) }, ...series],
    axes: [{ ...axis, label: "time, s", labelSize: 20, size: 34 }, { ...axis, label: chart.unit, labelSize: 20, size: 52 }],
    hooks: { setScale: [(from, key) => { if (key === "x") together(from); }] },
  }, data, place);
}

// Where one was zoomed to, all are.
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
  for (const each of curves) each.setScale("x", { min: each.data[0][0], max: each.data[0][each.data[0].length - 1] });
  going = false;
}

// A quantity over cases, which are no numbers: at places from 0 on.
function cases(chart, place) {
  const x = chart.cases.map((_, n) => n), series = [], data = [x], ends = [];
  chart.lines.forEach((line, n) => {
    const colour = shades[n % shades.length];
    data.push(line.values.map(([mean]) => mean));
    ends.push(line.values.map(([, half]) => half));
    series.push({ label: line.name, stroke: colour, width: 1.6, points: { show: true, size: 6 }, value: (_, v, s, at) => v === null ? "–" : whole(v) + (at === null || line.values[at]?.[1] == null ? "" : ` ± ${whole(line.values[at][1])}`) });
    if (line.published.some((n) => n !== null)) {
      data.push(line.published);
      ends.push(null);
      series.push({ label: `${line.name}, published`, stroke: colour, width: 1, dash: [3, 4], points: { show: true, size: 5 }, value: (_, v) => v === null ? "–" : whole(v) });
    }
  });
  const most = Math.max(...data.slice(1).flat().map((v) => v ?? 0), 1e-9);  // of few seeds an interval may be many times the mean
  const axis = styled(), high = Math.min(1.8 * most, Math.max(...data.slice(1).flatMap((of, n) => of.map((v, at) => (v ?? 0) + (ends[n]?.[at] ?? 0))), 1e-9));
  return new uPlot({
    width: place.clientWidth, height: 250, scales: { x: { time: false, range: [-0.3, x.length - 0.7] }, y: { range: [0, high * 1.06] } },
    series: [{ label: chart.x || "case", value: (_, n) => chart.cases[n] ?? "–" }, ...series],
    axes: [{ ...axis, splits: () => x, values: () => chart.cases, label: chart.x, labelSize: 20, size: 34 }, { ...axis, size: 56 }],
    hooks: { draw: [(u) => {
      const { left, top: upper, width, height } = u.bbox;
      u.ctx.save();
      u.ctx.beginPath();
      u.ctx.rect(left, upper, width, height);
      u.ctx.clip();
      ends.forEach((of, n) => of?.forEach((half, at) => {
        if (half === null || data[n + 1][at] === null || !u.series[n + 1].show) return;
        const px = u.valToPos(at, "x", true) + (n - (ends.length - 1) / 2) * 4 * devicePixelRatio, low = u.valToPos(data[n + 1][at] - half, "y", true), top = u.valToPos(data[n + 1][at] + half, "y", true);
        u.ctx.strokeStyle = series[n].stroke instanceof Function ? series[n].stroke() : series[n].stroke;
        u.ctx.beginPath();
        u.ctx.moveTo(px, low);
        u.ctx.lineTo(px, top);
        u.ctx.stroke();
      }));
      u.ctx.restore();
    }] },
  }, data, place);
}
