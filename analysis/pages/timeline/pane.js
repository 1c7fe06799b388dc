// SPDX-License-Identifier: BSD-3-Clause
// The text beside the lanes: on the displayed part of time, on the selected frame, and the legend.
"use strict";

const OUTCOMES = { OK: "received", COLLISION: "collision", OWN_TX: "its receiver was sending", NOISE: "noise",
  BELOW_THRESHOLD: "too weak, or not heard at all" };
const MOST_NAMES = 12;
const FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"];

function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

function frameLink(run, row) {
  return `<button type="button" class="link" data-row="${row}">#${row + 1} ${escaped(run.name(row))}</button>`;
}

// Returns the attempts at a frame, in order, from one of them or from an answer.
function attemptsOf(run, row) {
  if (run.isAnswer(row)) row = run.beforeOf(row);
  if (row < 0) return [];
  const found = [row];
  while (run.beforeOf(found[0]) >= 0) found.unshift(run.beforeOf(found[0]));
  const rows = run.rows[run.from[row]] ?? [];
  for (let n = upTo(rows, row); n < rows.length; n++) {
    const next = rows[n];
    if (run.isAnswer(next) || run.category[next] !== run.category[row]) continue;
    if (run.beforeOf(next) !== found[found.length - 1]) break;
    found.push(next);
  }
  return found;
}

function answerOf(run, row) {
  const [, high] = run.between(run.stop(row), run.stop(row) + 2 * run.mac.sifs + 20000);
  for (let i = row + 1; i < high; i++) if (run.isAnswer(i) && run.beforeOf(i) >= 0 && run.lead(run.beforeOf(i)) === run.lead(row)) return i;
  return -1;
}

function frameFields(run, row) {
  const fields = [], add = (name, value) => { if (value !== "" && value !== undefined) fields.push([name, value]); };
  const station = (n) => escaped(run.stations[n] ?? (n === run.nobody ? "all, or not known" : n)), kind = run.kinds[run.kind[row]];
  const names = (masks) => {
    const found = run.stations.filter((_, s) => s !== run.from[row] && run.heard(masks, row, s)).map(escaped);
    return found.length > MOST_NAMES ? `${found.length} stations: ${found.slice(0, MOST_NAMES).join(", ")} …` : found.join(", ") || "nobody";
  };
  add("starts", `${moment(run.start[row], 1)} s`);
  add("ends", `${moment(run.stop(row), 1)} s`);
  add("on the air", lasting(run.took[row]));
  if (run.place[row] || run.more[row]) {
    add("aggregate", `MPDU ${run.place[row] + 1} of ${run.place[row] + run.more[row] + 1}${run.place[row] ? `, after ${frameLink(run, run.lead(row))}` : ""}`);
    add("its part", `${lasting(run.part_took[row])}, ${lasting(run.part[row])} after the start`);
  }
  add("from, to", `${station(run.from[row])} → ${station(run.to[row])}`);
  const lost = run.outcome[row] !== OK;
  const outcome = OUTCOMES[run.outcomes[run.outcome[row]]];
  add("outcome", lost ? `<span class="lost">${outcome}</span>` : run.to[row] < run.stations.length ? outcome : "sent to a group");
  if (run.culpritOf(row) >= 0) add("by", frameLink(run, run.culpritOf(row)));
  const victims = victimsOf(run, row);
  if (victims.length) add("corrupted", victims.slice(0, 8).map((each) => frameLink(run, each)).join("<br>"));
  if (run.isAnswer(row)) {
    const asked = run.beforeOf(row) < 0 ? -1 : run.lead(run.beforeOf(row));
    if (asked >= 0) add("answers", frameLink(run, asked));
    if (asked >= 0 && run.more[asked]) add("block ACK", `acknowledges ${run.acked[row]} of ${run.more[asked] + 1} MPDUs`);
  }
  else {
    if (run.attempt[row] > 1 || !run.isAnswer(row)) add("attempt", run.attempt[row] + (kind === "RTS" ? " (RTS)" : ""));
    const answer = answerOf(run, row);
    if (answer >= 0) add("answered by", frameLink(run, answer));
    if (run.given_up[row]) add("then", `<span class="lost">given up</span>: ${run.limits[run.given_up[row]]}`);
    if (run.queued[row] >= 0) add("queued before", lasting(run.queued[row]));
    if (run.waited[row] >= 0) {
      add("contended for", lasting(run.waited[row]));
      const parts = backoffOf(run, run.from[row], row), of = (what) => parts.filter((each) => each.what === what);
      const frozen = of("frozen").reduce((sum, each) => sum + each.to - each.from, 0);
      add("backoff (derived)", `${of("count").reduce((sum, each) => sum + each.slots, 0)} slots, frozen for ${lasting(frozen)}`);
    }
    const attempts = attemptsOf(run, row);
    if (attempts.length > 1) add("attempts", attempts.slice(0, 14).map((each) => each === row ? `<b>#${each + 1} ${kind}</b>` : frameLink(run, each)).join("<br>"));
  }
  add("Duration (NAV)", run.duration[row] ? `${run.duration[row].toLocaleString("en")} µs` : "0");
  add("sensed by", names(run.sensed));
  add(run.views ? "received by" : "within range of", names(run.received));
  add("length", `${run.length[row].toLocaleString("en")} bytes, with FCS`);
  add("rate", `${run.rate[row] / 10} Mb/s${run.short[row] ? ", short preamble" : ""}; ${run.freq[row]} MHz`);
  if (run.mode[row]) add("mode", run.modes[run.mode[row] - 1]);
  if (run.sequence[row] || !["RTS", "CTS", "ACK"].includes(kind)) add("MAC's number", run.sequence[row]);
  add("Retry bit", run.control[row] & 0x0800 ? "set" : "not set");
  if (run.category[row]) add("category", `AC_${run.categories[run.category[row] - 1]}`);
  if (run.flow[row] !== run.no_flow) {
    add("flow", escaped(run.flows[run.flow[row]].name) + (run.resent?.[row] ? ' <span class="lost">sent again by TCP</span>' : ""));
    if (run.flags[row]) {
      add("TCP", FLAGS.filter((_, bit) => run.flags[row] >> bit & 1).join(" "));
      add("seq, ack", `${run.seq[row].toLocaleString("en")}, ${run.ack[row].toLocaleString("en")}`);
    }
    if (run.payload[row]) add("payload", `${run.payload[row].toLocaleString("en")} bytes`);
  }
  return fields;
}

function showFrame(element, run, row) {
  if (row < 0) {
    element.innerHTML = '<p class="quiet">Click a bar, or press n, to see the details of a frame.</p>';
    return;
  }
  const fields = frameFields(run, row).map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("");
  element.innerHTML = `<h2>frame ${(row + 1).toLocaleString("en")} of ${run.size.toLocaleString("en")}: ` +
    `${escaped(run.kinds[run.kind[row]])}</h2><div class="filter"><code id="filter">frame.number == ${row + 1}</code>` +
    `<button type="button" id="copy" title="copy, for Wireshark and air.pcapng.gz (y)">copy</button></div><dl>${fields}</dl>`;
}

function showView(element, run, view) {
  const [low, high] = run.between(view.from, view.to), step = Math.max(view.span / 1000, 1);
  let count = high - low;
  for (let i = low; i < high && run.start[i] < view.from; i++) if (run.stop(i) < view.from) count--;
  element.textContent = `${moment(view.from, step)} … ${moment(view.to, step)} s\n${lasting(view.span)}, ${count.toLocaleString("en")} frames`;
  element.style.whiteSpace = "pre-line";
}

function showLegend(element, run) {
  const key = (colour, text, extra = "") => `<span class="key"><i style="background:${colours[colour]};${extra}"></i>${text}</span>`;
  const kinds = { "TCP ACK": "TCP ACK", ACK: "ACK (MAC)", MANAGEMENT: "beacon, mgmt", ROUTING: "routing", OTHER: "other", ENCRYPTED: "encrypted" };
  const there = new Set(run.kind), edge = `border-left:2px solid ${colours.ink}`;
  element.innerHTML = `<h2>frames</h2><div class="keys">${run.kinds.filter((_, n) => there.has(n)).map((kind) => key(kind, kinds[kind] ?? kind)).join("")}
    ${key("lost", "collision")}${key("noise", "noise")}${key("quiet", "too weak")}${key("paper", "sent again", edge)}${key("paper", "then given up", `border-right:3px solid ${colours.ink}`)}</div>
    <h2>below them, when zoomed in</h2><div class="keys">${key("well", "sensed, received")}${key("only", "sensed only")}${key("nav", "NAV")}
    ${key("ifs", "DIFS, EIFS")}${key("count", "backoff counts, queue")}${key("frozen", "backoff frozen")}</div>
    <small>The air recorded frames, outcomes, interferers, attempts and queues. ${run.views ? "" : "Without views.gz, all stations within range count as receivers. "}The plan's powers show which stations sensed a frame. NAV and backoff are derived from these by the rules of the standard${run.mac.edca ? ", with DIFS for all categories" : ""}.${run.delay ? "" : " Stations move, so propagation delays are left out."}</small>`;
}
