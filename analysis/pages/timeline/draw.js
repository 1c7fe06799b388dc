// SPDX-License-Identifier: BSD-3-Clause
// The overview of the whole time, and the axis.
"use strict";

const CLASS_COLOURS = ["RTS", "DATA", "TCP ACK", "ACK", "ROUTING", "lost"];  // colours of the classes of run.js

// Fills a triangle with its tip at this point, and its base `tall` px below it.
function triangle(ink, x, y, tall, half = 4) {
  ink.beginPath();
  ink.moveTo(x, y);
  ink.lineTo(x - half, y + tall);
  ink.lineTo(x + half, y + tall);
  ink.fill();
}

// Returns all stations' shares of the whole time, for this many pixel columns; computed once.
let overviewed = { wide: 0 };
function overviewOf(run, whole, wide) {
  if (overviewed.wide === wide) return overviewed;
  const sums = new Float32Array(wide), lost = new Float32Array(wide);
  run.rows.forEach((_, station) => {
    const shares = run.shares(station, whole.from, whole.to, wide);
    shares.forEach((share, of) => share.forEach((part, x) => { sums[x] += part; if (of === LOST) lost[x] += part; }));
  });
  return overviewed = { wide, sums, lost };
}

function drawMini(canvas, run, view, hits) {
  const { ink, width, height } = begin(canvas, colours.paper), whole = new View(run.end);
  const wide = Math.max(1, Math.floor(width - GUTTER)), { sums, lost } = overviewOf(run, whole, wide);
  const most = Math.max(1e-9, ...sums), scale = (height - 12) / most;
  for (let x = 0; x < wide; x++) {
    ink.fillStyle = colours.well;
    ink.fillRect(GUTTER + x, height - 2 - sums[x] * scale, 1, sums[x] * scale);
    ink.fillStyle = colours.lost;
    ink.fillRect(GUTTER + x, height - 2 - lost[x] * scale, 1, lost[x] * scale);
  }
  if (hits) {
    ink.fillStyle = colours.mark;
    let last = -1;
    for (const row of hits.rows) {
      const x = Math.round(whole.x(run.start[row], width));
      if (x !== last) ink.fillRect(last = x, 0, 1, 5);
    }
  }
  const from = whole.x(view.from, width), to = Math.max(whole.x(view.to, width), from + 2);
  ink.fillStyle = colours.window;
  ink.fillRect(from, 0, to - from, height);
  ink.strokeStyle = colours.mark;
  ink.strokeRect(from + 0.5, 0.5, to - from - 1, height - 1);
  ink.fillStyle = colours.quiet;
  ink.fillText("whole run", 8, height / 2 - 7);
  ink.fillText(lasting(run.took_all), 8, height / 2 + 8);
}

function drawAxis(canvas, view) {
  const { ink, width, height } = begin(canvas, colours.paper);
  writeTimes(ink, view, width, height / 2 - 1);
  drawTicks(ink, view, width, height - 5, 5, colours.quiet);
  ink.fillStyle = colours.faint;
  ink.fillRect(0, height - 1, width, 1);
}
