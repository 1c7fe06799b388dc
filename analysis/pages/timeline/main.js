// SPDX-License-Identifier: BSD-3-Clause
// The page: display, selection and search, by mouse, touch, keys and address.
"use strict";

const WORDS = ["collision", "retry", "drop", "noise", "rts", "data", "tcpack"];
const state = { run: null, view: null, lanes: null, tcp: null, hits: null, chosen: -1, flow: 0, drawn: 0 };
let pending = false;

function schedule() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => { pending = false; draw(); });
}

function draw() {
  const { run, view, lanes, tcp, hits, chosen } = state;
  drawMini(element("mini"), run, view, hits);
  drawAxis(element("axis"), view);
  lanes.draw(hits, chosen);
  tcp.draw(run.flows[state.flow], chosen);
  showView(element("view"), run, view);
  state.drawn++;
  remember();
}

let remembering = 0;
function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const { view, chosen } = state, words = [`t=${(view.from / 1e9).toFixed(9)},${(view.to / 1e9).toFixed(9)}`];
    if (chosen >= 0) words.push(`frame=${chosen + 1}`);
    if (element("query").value) words.push(`q=${encodeURIComponent(element("query").value)}`);
    if (state.flow) words.push(`flow=${encodeURIComponent(state.run.flows[state.flow].name)}`);
    words.push(`theme=${document.documentElement.dataset.theme}`);
    state.hash = "#" + words.join("&");
    try { history.replaceState(null, "", state.hash); } catch { location.replace(state.hash); }
  }, 150);
}

function recall() {
  if (location.hash === state.hash) return;
  const said = new URLSearchParams(location.hash.slice(1)), { run, view } = state;
  theme(said.get("theme") ?? document.documentElement.dataset.theme);
  if (said.has("flow")) state.flow = Math.max(0, run.flows.findIndex((flow) => flow.name === said.get("flow")));
  element("flow").value = state.flow;
  if (said.has("q")) { element("query").value = said.get("q"); find(); }
  const row = Number(said.get("frame") ?? 0) - 1;
  choose(row >= 0 && row < run.size ? row : -1);
  const [from, to] = (said.get("t") || "x").split(",").map((s) => Number(s) * 1e9);
  if (Number.isFinite(from)) {
    if (Number.isFinite(to) && to > from) view.set(from, to); else view.set(from - 5e6, from + 5e6);
  } else if (row >= 0 && row < run.size) fit(row);
  schedule();
}

function theme(name) {
  setTheme(name);
  showLegend(element("legend"), state.run);
  element("tcplegend").innerHTML = "";
  state.tcp.flow = state.run.flows[state.flow];
  element("tcplegend").innerHTML = state.tcp.legend();
  schedule();
}

// Selects a frame; -1: none.
function choose(row) {
  state.chosen = row;
  showFrame(element("frame"), state.run, row);
  schedule();
}

// Selects a frame and brings it into view, large enough to see.
function go(row) {
  if (row < 0 || row >= state.run.size) return;
  const { run, view } = state, begin = run.start[row], end = run.stop(row);
  if (run.took[row] < view.span / 400) view.set(begin - 20 * run.took[row], end + 20 * run.took[row]);
  else if (begin < view.from || end > view.to) { const half = view.span / 2; view.set((begin + end) / 2 - half, (begin + end) / 2 + half); }
  const lane = run.from[row], scroll = element("scroll"), { lanes } = state;
  if (lane < run.stations.length && lanes.tall) {
    const top = lanes.tops[lane], bottom = lanes.tops[lane + 1];
    if (top < scroll.scrollTop || bottom > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top - scroll.clientHeight / 3;
  }
  choose(row);
}

function fit(row) {
  const { run, view } = state;
  view.set(run.start[row] - run.took[row] * 0.6, run.stop(row) + run.took[row] * 0.6);
  schedule();
}

function find() {
  const text = element("query").value.trim(), { run } = state;
  let said = "";
  try {
    state.hits = text ? search(run, text) : null;
    element("query").removeAttribute("aria-invalid");
    if (state.hits) said = `${state.hits.rows.length.toLocaleString("en")} of ${run.size.toLocaleString("en")}`;
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    element("query").setAttribute("aria-invalid", "true");
    said = error.message;
  }
  element("hits").textContent = said;
  const words = new Set(text.toLowerCase().split(/[\s()]+/));
  for (const button of element("words").children) button.setAttribute("aria-pressed", words.has(button.textContent));
  schedule();
}

// Goes to the next or previous hit, from the selected frame, or else from the view.
function hit(direction) {
  const { run, view, hits, chosen } = state, rows = hits ? hits.rows : null, count = rows ? rows.length : run.size;
  if (!count) return;
  const from = chosen >= 0 ? chosen : upTo(run.start, view.from) - (direction > 0 ? 1 : 0);
  const at = rows ? upTo(rows, from) : from + 1;
  const n = direction > 0 ? at : at - 1 - (rows ? (rows[at - 1] === from ? 1 : 0) : 1);
  const row = rows ? rows[(n + count) % count] : (n + count) % count;
  go(row);
  if (hits) element("hits").textContent = `${(((n + count) % count) + 1).toLocaleString("en")} of ${count.toLocaleString("en")}`;
}

function beside(direction, same) {
  const { run, chosen } = state;
  if (chosen < 0) return hit(direction);
  if (!same) return go(chosen + direction);
  const rows = run.rows[run.from[chosen]] ?? [], n = upTo(rows, chosen) - 1 + direction;
  if (n >= 0 && n < rows.length) go(rows[n]);
}

function copy() {
  if (state.chosen >= 0) copyText(`frame.number == ${state.chosen + 1}`, element("filter"), element("copy"));
}

const KEYS = {
  ArrowLeft: (e) => state.view.pan(-state.view.span * (e.shiftKey ? 1 : 0.2)),
  ArrowRight: (e) => state.view.pan(state.view.span * (e.shiftKey ? 1 : 0.2)),
  ArrowUp: () => zoom(0.5), ArrowDown: () => zoom(2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2),
  0: () => state.view.all(), Home: () => state.view.pan(-state.view.from), End: () => state.view.pan(state.run.took_all - state.view.to),
  n: () => hit(1), p: () => hit(-1), ".": () => beside(1, false), ",": () => beside(-1, false),
  ">": () => beside(1, true), "<": () => beside(-1, true), "/": (e) => { e.preventDefault(); element("query").select(); },
  c: () => state.chosen >= 0 && go(state.run.culpritOf(state.chosen)), f: () => state.chosen >= 0 && fit(state.chosen),
  o: () => state.chosen >= 0 && state.run.from[state.chosen] < state.run.stations.length && state.lanes.toggle(state.run.from[state.chosen]),
  y: copy, d: () => theme(otherTheme()),
  "?": () => element("keys").showModal(),
  Escape: () => { element("query").value = ""; find(); choose(-1); },
};

function zoom(factor) {
  const { run, view, chosen } = state, middle = chosen >= 0 ? run.start[chosen] + run.took[chosen] / 2 : -1;
  view.zoom(factor, middle > view.from && middle < view.to ? middle : (view.from + view.to) / 2);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || element("keys").open) return;
  const typing = event.target.matches?.("input, select");
  if (typing && (event.key === "Escape" || event.key === "Enter")) { event.preventDefault(); event.target.blur(); return; }
  if (typing || (event.target.matches?.("button") && (event.key === "Enter" || event.key === " "))) return;
  const act = KEYS[event.key];
  if (!act) return;
  if (event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End") event.preventDefault();
  act(event);
  schedule();
}

// Pan, zoom, mark with shift, click; the same on the lanes and on TCP's plots.
function onPlot(canvas, clicked) {
  const { view } = state, at = ([x]) => view.at(x, canvas.clientWidth);
  gestures(canvas, (factor, place, was, wheel) => {
    if (wheel?.shiftKey && canvas.id === "lanes") element("scroll").scrollTop += wheel.deltaY || wheel.deltaX;
    else if (Math.abs(wheel?.deltaX) > Math.abs(wheel?.deltaY)) view.pan(wheel.deltaX / (canvas.clientWidth - GUTTER) * view.span);
    else {
      view.zoom(1 / factor, at([Math.max(was[0], GUTTER)]));
      view.pan(at(was) - at(place));
    }
    schedule();
  }, (place, first, { shiftKey: mark }) => {
    const from = at(place);
    let marked = null;
    return {
      move: (to) => { if (mark) marked = [from, at(to)]; else view.pan(from - at(to)); schedule(); },
      end: (moved, up) => {
        if (marked) { view.set(Math.min(...marked), Math.max(...marked)); schedule(); }
        else if (!moved && up) clicked(...place);
      },
    };
  }, (place) => hover(canvas, ...place));
  canvas.addEventListener("pointerleave", () => { element("cursor").hidden = element("tip").hidden = true; });
}

function hover(canvas, x, y) {
  const { run, view, lanes, tcp } = state, cursor = element("cursor"), tip = element("tip");
  canvas.style.cursor = x < GUTTER && canvas.id === "lanes" ? "pointer" : "";
  if (x < GUTTER) { cursor.hidden = tip.hidden = true; return; }
  const at = view.at(x, canvas.clientWidth), width = element("plots").clientWidth;
  cursor.hidden = false;
  cursor.style.left = `${x}px`;
  element("when").textContent = `${moment(at, Math.max(1, view.span / 3000))} s`;
  element("when").style.transform = `translateX(${x < 110 ? "0" : x > width - 80 ? "-100%" : "-50%"})`;
  let said = "";
  if (canvas.id === "lanes") {
    const row = lanes.frameAt(x, y);
    if (row >= 0) {
      const what = OUTCOMES[run.outcomes[run.outcome[row]]], by = run.culpritOf(row);
      said = `#${row + 1}  ${run.name(row)}\n${moment(run.start[row], 1)} s, ${lasting(run.took[row])}\n` +
        (run.outcome[row] !== OK ? what + (by >= 0 && run.outcome[row] === COLLISION ? ` with ${run.name(by)}` : "") : what) +
        (run.attempt[row] > 1 ? `; attempt ${run.attempt[row]}` : "") + (run.given_up[row] ? "; given up" : "");
    } else said = lanes.stripSays(x, y);
  } else said = tcp.says(at);
  tip.hidden = !said;
  if (!said) return;
  tip.textContent = said;
  const top = canvas.getBoundingClientRect().top - element("plots").getBoundingClientRect().top + y;
  tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 6))}px`;
  tip.style.top = `${top + 18 + tip.offsetHeight > element("plots").clientHeight ? top - tip.offsetHeight - 10 : top + 18}px`;
}

function overview(canvas) {
  let from = null;
  const at = (event) => new View(state.run.end).at(Math.max(event.clientX - canvas.getBoundingClientRect().left, GUTTER), canvas.clientWidth);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const ns = at(event), { view } = state, inside = ns > view.from && ns < view.to && view.span < state.run.end * 0.98;
    from = { ns, move: inside, view: view.from };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const ns = at(event), { view } = state;
    if (from.move) { const span = view.span; view.set(from.view + ns - from.ns, from.view + ns - from.ns + span); }
    else if (Math.abs(ns - from.ns) > state.run.end / 500) view.set(Math.min(ns, from.ns), Math.max(ns, from.ns));
    schedule();
  });
  canvas.addEventListener("pointerup", (event) => {
    const ns = at(event), { view } = state;
    if (from && !from.move && Math.abs(ns - from.ns) <= state.run.end / 500) view.pan(ns - (view.from + view.to) / 2);
    from = null;
    schedule();
  });
}

function wire() {
  const { run, lanes } = state;
  onPlot(element("lanes"), (x, y) => {
    if (x >= GUTTER) return choose(lanes.frameAt(x, y));
    if (lanes.stationAt(y) >= 0) lanes.toggle(lanes.stationAt(y));
    schedule();
  });
  element("lanes").addEventListener("dblclick", (event) => {
    const row = lanes.frameAt(event.offsetX, event.offsetY);
    if (row >= 0) fit(row); else { state.view.zoom(0.25, state.view.at(event.offsetX, element("lanes").clientWidth)); schedule(); }
  });
  onPlot(element("tcp"), () => {});
  overview(element("mini"));
  element("scroll").addEventListener("scroll", schedule);
  element("query").addEventListener("input", find);
  element("find").addEventListener("submit", (event) => { event.preventDefault(); hit(1); });
  element("next").onclick = () => hit(1);
  element("previous").onclick = () => hit(-1);
  element("theme").onclick = KEYS.d;
  element("help").onclick = KEYS["?"];
  element("flow").onchange = () => { state.flow = Number(element("flow").value); theme(document.documentElement.dataset.theme); };
  element("frame").addEventListener("click", (event) => {
    if (event.target.dataset.row) go(Number(event.target.dataset.row));
    if (event.target.id === "copy") copy();
  });
  for (const word of WORDS) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: word });
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => {
      const words = element("query").value.trim().split(/\s+/).filter((each) => each && each !== "and");
      const without = words.filter((each) => each !== word);
      element("query").value = (without.length < words.length ? without : [...words, word]).join(" and ");
      find();
    };
    element("words").append(button);
  }
  run.flows.forEach((flow, n) => element("flow").append(new Option(
    `${flow.name}: ${run.stations[flow.source]} → ${run.stations[flow.destination]}`, n)));
  document.addEventListener("keydown", onKey);
  addEventListener("hashchange", recall);
  new ResizeObserver(schedule).observe(element("plots"));
}

async function load() {
  try {
    const run = new Run(...await unpack(element("data").textContent));
    element("data").remove();
    const view = new View(run.end);
    Object.assign(state, { run, view, lanes: new Lanes(element("lanes"), element("scroll"), element("spacer"), run, view),
      tcp: new Tcp(element("tcp"), run, view) });
    if (!run.flows.length) for (const id of ["tcpbar", "tcp"]) element(id).style.display = "none";
    wire();
    recall();
    draw();
    element("loading").hidden = true;
    state.ready_ms = performance.now();
  } catch (error) {
    element("loading").textContent = `this run cannot be shown: ${error.message}`;
    throw error;
  }
}

load();
