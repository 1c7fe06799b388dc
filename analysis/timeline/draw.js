// SPDX-License-Identifier: BSD-3-Clause
// Colours, canvases, and the two that show all of the time: the overview and the axis.
"use strict";

const COLOURS = {
  light: { RTS: "#3b8fc4", CTS: "#8cc6e8", DATA: "#e08a2e", "TCP ACK": "#4f9a3d", ACK: "#9db8a5", ROUTING: "#9467bd",
    MANAGEMENT: "#c58fb4", OTHER: "#8a929b", ENCRYPTED: "#7d7340", lost: "#c0392b", noise: "#b8860b", paper: "#ffffff",
    ink: "#1a1d20", quiet: "#626b75", faint: "#d7dce0", lane: "#f6f7f8", well: "#b9c3cc", only: "#dfe4e8",
    nav: "#c9b3e6", count: "#58a4c9", ifs: "#bfe0ee", frozen: "#e3e6e9", hit: "#0b6e99", window: "#0b6e9922" },
  dark: { RTS: "#4da3d9", CTS: "#2f6c93", DATA: "#e79a48", "TCP ACK": "#62b04e", ACK: "#56705e", ROUTING: "#a985d0",
    MANAGEMENT: "#9a6a8b", OTHER: "#7b848d", ENCRYPTED: "#a0954f", lost: "#ff6b57", noise: "#e0b040", paper: "#14171a",
    ink: "#e8eaec", quiet: "#9aa5b0", faint: "#343b42", lane: "#1a1e22", well: "#56616b", only: "#323a41",
    nav: "#5f4a85", count: "#3f93bd", ifs: "#23485a", frozen: "#2a3036", hit: "#5bb7e0", window: "#5bb7e033" },
};
const CLASS_COLOURS = ["RTS", "DATA", "TCP ACK", "ACK", "ROUTING", "lost"];  // of the classes of run.js
const FONT = "11px system-ui, sans-serif";

let colours = COLOURS.light;

// The canvas, as large as it is shown and in the screen's own pixels, empty; and how large that is.
function begin(canvas, fill) {
  const scale = devicePixelRatio || 1, { clientWidth: width, clientHeight: height } = canvas;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  const ink = canvas.getContext("2d");
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.fillStyle = fill;
  ink.fillRect(0, 0, width, height);
  ink.font = FONT;
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

// The text, if it fits.
function fitted(ink, text, x, y, room) {
  if (room > 12 && ink.measureText(text).width <= room) { ink.fillText(text, x, y); return true; }
  return false;
}

// All stations' shares of the whole time, for so many columns of pixels; worked out once.
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
    ink.fillStyle = colours.hit;
    let last = -1;
    for (const row of hits.rows) {
      const x = Math.round(whole.x(run.start[row], width));
      if (x !== last) ink.fillRect(last = x, 0, 1, 5);
    }
  }
  const from = whole.x(view.from, width), to = Math.max(whole.x(view.to, width), from + 2);
  ink.fillStyle = colours.window;
  ink.fillRect(from, 0, to - from, height);
  ink.strokeStyle = colours.hit;
  ink.strokeRect(from + 0.5, 0.5, to - from - 1, height - 1);
  ink.fillStyle = colours.quiet;
  ink.fillText("whole run", 8, height / 2 - 7);
  ink.fillText(lasting(run.took_all), 8, height / 2 + 8);
}

function drawAxis(canvas, view) {
  const { ink, width, height } = begin(canvas, colours.paper), { base, at, texts } = labels(view, width);
  ink.fillStyle = colours.quiet;
  ink.fillText(base === "s" ? "time, s" : base, 8, height / 2);
  ink.textAlign = "center";
  at.forEach((ns, n) => {
    const x = view.x(ns, width), half = ink.measureText(texts[n]).width / 2;
    ink.fillRect(Math.round(x), height - 5, 1, 5);
    const left = base === "s" ? GUTTER : Math.max(GUTTER, ink.measureText(base).width + 16);
    if (x - half > left - (base === "s" ? 12 : 0) && x + half < width) ink.fillText(texts[n], x, height / 2 - 2);
  });
  ink.fillStyle = colours.faint;
  ink.fillRect(0, height - 1, width, 1);
}
