// SPDX-License-Identifier: BSD-3-Clause
// Lanes along a scale of time: their canvas, the scale, and bars of frames.
"use strict";

// Fills the canvas with one colour. Returns its context and size.
function begin(canvas, fill) {
  const { pen: ink, width, height } = sheet(canvas);
  ink.fillStyle = fill;
  ink.fillRect(0, 0, width, height);
  ink.font = LETTERS;
  ink.textBaseline = "middle";
  ink.textAlign = "left";
  return { ink, width, height };
}

function inPlot(ink, width, top, bottom, draw) {
  ink.save();
  ink.beginPath();
  ink.rect(GUTTER, top, width - GUTTER, bottom - top);
  ink.clip();
  draw();
  ink.restore();
}

// Draws the text if it fits.
function fitted(ink, text, x, y, room) {
  if (room > 12 && ink.measureText(text).width <= room) { ink.fillText(text, x, y); return true; }
  return false;
}

// Draws lines at the ticks.
function drawTicks(ink, view, width, top, tall, style) {
  ink.fillStyle = style;
  for (const ns of ticks(view, width).at) ink.fillRect(Math.round(view.x(ns, width)), top, 1, tall);
}

// Writes the ticks' times in a row, with their unit or common base at the left.
function writeTimes(ink, view, width, y) {
  const { base, at, texts } = labels(view, width), seconds = base === "s";
  ink.fillStyle = colours.quiet;
  ink.fillText(seconds ? "time, s" : base, 8, y);
  const left = seconds ? GUTTER - 12 : Math.max(GUTTER, ink.measureText(base).width + 16);
  ink.textAlign = "center";
  at.forEach((ns, n) => {
    const x = view.x(ns, width), half = ink.measureText(texts[n]).width / 2;
    if (x - half > left && x + half < width) ink.fillText(texts[n], x, y);
  });
  ink.textAlign = "left";
}

// Draws a frame's bar; if it was lost, with marks in this colour.
function drawBar(ink, left, top, wide, tall, kind, lost) {
  ink.fillStyle = colours[kind] ?? colours.OTHER;
  ink.fillRect(left, top, wide, tall);
  if (!lost) return;
  const mark = Math.min(5, tall * 0.4);
  ink.fillStyle = ink.strokeStyle = lost;
  ink.fillRect(left, top + tall - mark, wide, mark);
  ink.fillRect(left, top, wide, mark * 0.4);
  ink.lineWidth = 1;
  if (wide > 8) ink.strokeRect(left + 0.5, top + 0.5, wide - 1, tall - 1);
}

// Writes the first of the texts that fits into a bar.
function nameBar(ink, left, wide, y, kind, texts) {
  ink.fillStyle = colours === COLOURS.light || ["DATA", "TCP ACK", "RTS", "ROUTING"].includes(kind) ? "#101214" : "#f2f3f4";
  return texts.some((text) => fitted(ink, text, left + 4, y, wide - 6));
}
