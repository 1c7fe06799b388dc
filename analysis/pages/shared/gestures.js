// SPDX-License-Identifier: BSD-3-Clause
// Gestures on a canvas, by mouse and touch: zoom by wheel and pinch, drag, click.
"use strict";

// `zoom(factor, place, was, wheel)`: what was at `was` comes to `place`; `wheel` is the event, if it is one. At a press,
// `press(place, first, event)` returns what it is about, if anything: `move(place, dx, dy)` is called from 4 px on, and
// `end(moved, up)` at last, with `up` if the press was not cut off. `hover(place)` is called for each move.
function gestures(canvas, zoom, press, hover) {
  const pointers = new Map();
  let held = null, from = null, moved = false;
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-Math.max(-240, Math.min(240, event.deltaY)) / 400), place(event), place(event), event);
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    from = place(event);
    held = press(from, !pointers.size, event);
    pointers.set(event.pointerId, from);
    moved = false;
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event), before = [...pointers.values()];
    hover?.(at);
    if (!pointers.has(event.pointerId)) return;
    pointers.set(event.pointerId, at);
    if (pointers.size === 2) {
      const now = [...pointers.values()], wide = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      held = null;
      zoom(wide(now) / wide(before), partWay(...now, 0.5), partWay(...before, 0.5));
      return;
    }
    const [dx, dy] = [at[0] - from[0], at[1] - from[1]];
    moved ||= Math.hypot(dx, dy) > 3;
    if (moved) held?.move(at, dx, dy);
  });
  const up = (event) => {
    pointers.delete(event.pointerId);
    held?.end?.(moved, event.type === "pointerup");
    held = null;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
}
