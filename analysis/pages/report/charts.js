// SPDX-License-Identifier: BSD-3-Clause
// The report's figures, except those over time (`curves.js`): bars of HTML, and quantities over cases by uPlot.
"use strict";

const whole = (n) => n.toLocaleString("en", { maximumFractionDigits: Math.abs(n) >= 100 ? 0 : 2 });

function bars(chart) {
  const most = Math.max(...chart.stacks.flatMap((each) => [each.total[0] + (each.total[1] ?? 0), each.published ?? 0]), 1e-9);
  const grid = tag("div", { class: "bars", role: "list" }), share = (n) => `${62 * n / most}%`;
  for (const [at, { name, parts, total, said, published, theirs }] of chart.stacks.entries()) {
    const bar = tag("div", { class: "bar", title: parts.map(([of, n]) => `${of}: ${whole(n)}`).join("\n") });
    parts.forEach(([, n], part) => bar.append(tag("i", { style: `width:${share(n)};background:${shades[parts.length > 1 ? part : at % shades.length]}` })));
    const low = Math.max(0, total[0] - total[1]);
    if (total[1] !== null) bar.append(tag("u", { style: `left:${share(low)};width:${share(total[0] + total[1] - low)}` }));
    bar.append(tag("b", { style: total[1] === null ? null : `padding-left:calc(${share(total[1])} + 8px)` }, said));
    const both = tag("div", { role: "listitem", "aria-label": `${name}: ${said} ${chart.unit}` }, bar);
    if (published !== null && published !== undefined)
      both.append(tag("div", { class: "bar theirs" }, tag("i", { style: `width:${share(published)}` }), tag("b", {}, `published ${theirs}`)));
    grid.append(tag("div", {}, name), both);
  }
  const keys = chart.stacks[0].parts.length > 1 ? chart.stacks[0].parts.map(([name], part) => colourKey(name, shades[part])) : [];
  return tag("div", { class: "chart" }, tag("h3", {}, `${chart.title}, ${chart.unit}`), ...keys, grid);
}

function styled() {
  const { quiet, faint } = colours;
  return { stroke: quiet, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint, width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" };
}

// A quantity over cases. Numbers are to scale, joined by lines; other cases are places with a dot for each line.
// Intervals are side by side.
function cases(chart, place) {
  const joined = Boolean(chart.numbers), x = chart.numbers ?? chart.cases.map((_, n) => n), data = [x], series = [];
  const add = (label, line, values, ends, hollow) => {
    data.push(values);
    series.push({
      label, line, ends, hollow, stroke: shades[line % shades.length], width: hollow ? 1 : 1.6, dash: hollow ? [3, 4] : undefined,
      paths: joined ? undefined : () => null, points: { show: joined, size: hollow ? 5 : 6, ...(hollow ? {} : { fill: shades[line % shades.length] }) },
      value: (_, v, s, at) => v === null ? "–" : whole(v) + (ends?.[at] == null ? "" : ` ± ${whole(ends[at])}`) });
  };
  chart.lines.forEach((line, n) => {
    add(line.name, n, line.values.map(([mean]) => mean), line.values.map(([, half]) => half), false);
    if (line.published.some((n) => n !== null)) add(`${line.name}, published`, n, line.published, null, true);
  });
  const most = Math.max(...data.slice(1).flat().map((v) => v ?? 0), 1e-9);  // with few seeds, an interval may be many times the mean
  const high = Math.min(1.8 * most, Math.max(...series.flatMap(({ ends }, n) => data[n + 1].map((v, at) => (v ?? 0) + (ends?.[at] ?? 0))), 1e-9));
  const room = joined ? 0.04 * (x[x.length - 1] - x[0]) : 0.5, axis = styled(), letters = chart.cases.join("").length;
  const crowded = letters * 8 > place.clientWidth - 60, longest = Math.max(...chart.cases.map((name) => name.length));
  const named = joined ? { size: 34 } : { splits: () => x, values: () => chart.cases, size: crowded ? 30 + 4 * longest : 34, rotate: crowded ? -35 : 0 };
  return new uPlot({
    width: place.clientWidth, height: 250 + (joined || !crowded ? 0 : 4 * longest), cursor: { points: { show: joined } },
    padding: [null, joined || !crowded ? null : 4.5 * longest, null, null],
    scales: { x: { time: false, range: [x[0] - room, x[x.length - 1] + room] }, y: { range: [0, high * 1.06] } },
    series: [{ label: chart.x || "case", value: (_, v, s, at) => chart.cases[at] ?? "–" }, ...series],
    axes: [{ ...axis, ...named, label: chart.x, labelSize: 20 }, { ...axis, size: 56 }],
    hooks: { draw: [(u) => {
      inside(u);
      u.ctx.lineWidth = 1.4 * devicePixelRatio;
      for (const mark of marks(u, chart)) drawn(u.ctx, mark, !joined);
      u.ctx.restore();
    }] },
  }, data, place);
}

// Returns the positions of values and their intervals, in pixels of the canvas.
function marks(u, chart) {
  const count = chart.lines.length, place = u.valToPos(1, "x", true) - u.valToPos(0, "x", true);
  const step = chart.numbers ? Math.min(4, 16 / count) * devicePixelRatio : Math.min(14 * devicePixelRatio, 0.8 * place / count);
  return u.series.slice(1).flatMap(({ show, line, ends, hollow, stroke }, n) => !show ? [] : u.data[n + 1].flatMap((v, at) => v === null ? [] : [{
    line, hollow, colour: stroke(u, n + 1), x: u.valToPos(u.data[0][at], "x", true) + (line - (count - 1) / 2) * step, y: u.valToPos(v, "y", true),
    ends: ends?.[at] == null ? null : [v - ends[at], v + ends[at]].map((end) => u.valToPos(end, "y", true)) }]));
}

function drawn(ctx, { hollow, colour, x, y, ends }, dots) {
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.beginPath();
  if (ends) { ctx.moveTo(x, ends[0]); ctx.lineTo(x, ends[1]); ctx.stroke(); }
  if (!dots) return;
  ctx.beginPath();
  ctx.arc(x, y, (hollow ? 4.5 : 3.5) * devicePixelRatio, 0, 2 * Math.PI);
  if (hollow) ctx.stroke(); else ctx.fill();
}
