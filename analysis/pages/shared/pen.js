// SPDX-License-Identifier: BSD-3-Clause
// Drawing on a canvas, and maps: metres to pixels, y upwards.
"use strict";

const LETTERS = "11px system-ui, sans-serif", BOLD = `600 ${LETTERS}`;

// Clears the canvas and fits it to its displayed size in the screen's pixels. Returns its context and size.
function sheet(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas, ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

function line(pen, from, to, style, width, dash = []) {
  pen.strokeStyle = style;
  pen.lineWidth = width;
  pen.setLineDash(dash);
  pen.beginPath();
  pen.moveTo(...from);
  pen.lineTo(...to);
  pen.stroke();
  pen.setLineDash([]);
}

function disc(pen, at, radius, fill, stroke, dash = []) {
  pen.beginPath();
  pen.arc(...at, Math.max(radius, 0), 0, 2 * Math.PI);
  if (fill) { pen.fillStyle = fill; pen.fill(); }
  if (stroke) { pen.strokeStyle = stroke; pen.lineWidth = 1; pen.setLineDash(dash); pen.stroke(); pen.setLineDash([]); }
}

function head(pen, from, to, style, size) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  pen.fillStyle = style;
  pen.beginPath();
  pen.moveTo(...to);
  for (const turn of [0.45, -0.45]) pen.lineTo(to[0] - size * Math.cos(angle + turn), to[1] - size * Math.sin(angle + turn));
  pen.fill();
}

function arrow(pen, from, to, style, width, size) {
  line(pen, from, to, style, width);
  head(pen, from, to, style, size);
}

// Returns the point at a fraction of the line from a to b.
const partWay = (a, b, part) => [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];

// Returns the line from a to b, shortened at both ends and shifted a little to the right.
function alongside(a, b, aside, cut) {
  const long = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1, [ux, uy] = [(b[0] - a[0]) / long, (b[1] - a[1]) / long];
  const part = Math.min(cut, long / 3), off = [-uy * aside, ux * aside];
  return [[a[0] + ux * part + off[0], a[1] + uy * part + off[1]], [b[0] - ux * part + off[0], b[1] - uy * part + off[1]]];
}

function cross(pen, at, size, style, width) {
  for (const sign of [1, -1]) line(pen, [at[0] - size, at[1] - sign * size], [at[0] + size, at[1] + sign * size], style, width);
}

// Draws links between places; if there are many, each is fainter.
function drawLinks(pen, at, pairs) {
  pen.strokeStyle = colours.well;
  pen.lineWidth = 1;
  pen.globalAlpha = Math.min(Math.max(120 / pairs.length, 0.35), 1);
  pen.beginPath();
  for (const [a, b] of pairs) { pen.moveTo(...at[a]); pen.lineTo(...at[b]); }
  pen.stroke();
  pen.globalAlpha = 1;
}

// Returns the map that shows all of these positions (m).
function wholeMap(places, width, height, pad) {
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)];
  const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = Math.min((width - 2 * pad) / Math.max(x1 - x0, 1), (height - 2 * pad) / Math.max(y1 - y0, 1));
  return { scale, x: width / 2 - (x0 + x1) / 2 * scale, y: height / 2 + (y0 + y1) / 2 * scale };
}

const onMap = (map, [x, y]) => [map.x + x * map.scale, map.y - y * map.scale];
const offMap = (map, [x, y]) => [(x - map.x) / map.scale, (map.y - y) / map.scale];
const zoomed = (map, factor, [x, y]) => ({ scale: map.scale * factor, x: x + (map.x - x) * factor, y: y + (map.y - y) * factor });

// Lengths 1, 2, 5, 10 … m; `roundMetres` returns the longest that fits into `most` pixels.
const METRES = Array.from({ length: 18 }, (_, n) => [1, 2, 5][n % 3] * 10 ** Math.floor(n / 3));
const roundMetres = (map, most) => METRES.findLast((m) => m * map.scale <= most) ?? 1;

function drawScale(pen, map, height, style) {
  const metres = roundMetres(map, 160), y = height - 14;
  line(pen, [14, y], [14 + metres * map.scale, y], style, 1.5);
  pen.fillStyle = style;
  pen.font = LETTERS;
  pen.fillText(`${metres} m`, 14, y - 5);
}
