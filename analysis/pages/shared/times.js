// SPDX-License-Identifier: BSD-3-Clause
// Formats times: they are in ns inside, and in s, ms and µs for people.
"use strict";

function grouped(digits) { return digits.replace(/(\d{3})(?=\d)/g, "$1\u2009"); }

// Formats a time in seconds, with a resolution of `step` (ns) or finer.
function moment(ns, step) {
  const places = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(step, 1)))));
  const [whole, part] = (ns / 1e9).toFixed(places).split(".");
  return part ? `${whole}.${grouped(part)}` : whole;
}

// Formats a duration.
function lasting(ns) {
  const [value, unit] = Math.abs(ns) >= 1e9 ? [ns / 1e9, "s"] : Math.abs(ns) >= 1e6 ? [ns / 1e6, "ms"] : [ns / 1e3, "µs"];
  return `${Number(value.toFixed(3)).toLocaleString("en", { maximumFractionDigits: 3 })} ${unit}`;
}
