# SPDX-License-Identifier: BSD-3-Clause
"""Functions for programs in the page: the mouse on the map, and controls."""

HAND = """
  const canvas = element("map");
  const mouse = (what, at) => point(canvas, what, at);
  const place = (n) => onMap(live.stage.map, live.air.positions()[n]);
  const click = (n) => { const at = place(n); mouse("pointerdown", at); mouse("pointerup", at); };
  const drag = async (n, metres) => {
    const from = place(n), to = onMap(live.stage.map, metres);
    mouse("pointerdown", from);
    for (const part of [0.3, 0.6, 1]) {
      mouse("pointermove", [0, 1].map((axis) => from[axis] + (to[axis] - from[axis]) * part));
      await turn();
    }
    mouse("pointerup", to);
  };
  const choose = (id, value) => { element(id).value = value; element(id).dispatchEvent(new Event("change")); };
  await when(() => live.air?.latest && live.counts.drawn);
"""
