// SPDX-License-Identifier: BSD-3-Clause
// The player: draws the scene at a moment, and handles moving through time and space.
"use strict";

const SPEEDS = [1 / 10000, 1 / 3000, 1 / 1000, 1 / 300, 1 / 100, 1 / 30, 1 / 10, 1 / 3, 1, 3, 10, 30, 100];
const FADE_S = 0.25, FLASH_S = 0.4, LINK_FLASH_S = 0.8; // of the viewer's time
const MOST_DRAWN = 500; // frames
const SLOW = 0.02; // below it, single frames can be followed
const stage = element("stage"), strip = element("strip"), scrub = element("scrub");
let scene, view, bounds, painted, now = 0, speed = 1, playing = false, lastTick = 0, lastSide = 0;

const kindColour = (number) => colours[scene.kinds[number]];
const shown = (id) => element(id).checked;

function wholeView() {
  const [x0, x1, y0, y1] = bounds;
  return wholeMap([[x0, y0], [x1, y1]], stage.clientWidth, stage.clientHeight, 46);
}
const place = (metres) => onMap(view, metres);

function drawPaths(pen, at) {
  scene.flows.forEach((flow, number) => {
    const path = scene.path(number, now);
    if (!path) return;
    pen.globalAlpha = 1 - 0.75 * path.quiet / scene.hold;
    const aside = (number - (scene.flows.length - 1) / 2) * 4;
    for (let leg = 0; leg + 1 < path.over.length; leg++) {
      const [from, to] = alongside(at[path.over[leg]], at[path.over[leg + 1]], aside, 9);
      arrow(pen, from, to, flowColour(number), 3.5, 11);
    }
    pen.globalAlpha = 1;
  });
}

function drawFrames(pen, at) {
  const { start, took, kind, from, to, culprit, mpdus, lost } = scene.frame, fade = FADE_S * speed;
  for (const i of scene.onAir(now - Math.max(fade, FLASH_S * speed), now, MOST_DRAWN)) {
    const end = start[i] + took[i] / 1e6, age = now - end, style = kindColour(kind[i] & 15);
    const [sender, receiver] = [at[from[i]], at[to[i]]];
    if (sender && age < fade) {
      pen.globalAlpha = age <= 0 ? 1 : 1 - age / fade;
      if (age <= 0 && speed < SLOW) {
        pen.globalAlpha = 0.1;
        disc(pen, sender, scene.reach ? scene.reach[from[i]] * view.scale : 40, style);
        pen.globalAlpha = 1;
        pen.fillStyle = style;
        pen.font = "600 12px system-ui, sans-serif";
        pen.fillText(scene.kinds[kind[i] & 15] + (mpdus[i] > 1 ? ` × ${mpdus[i]}` : ""), sender[0] + 8, sender[1] + 18);
      }
      if (receiver) {
        const [a, b] = alongside(sender, receiver, 5, 8);
        arrow(pen, a, partWay(a, b, age <= 0 ? (now - start[i]) / (end - start[i]) : 1), style, 1.6, 7);
      } else {
        disc(pen, sender, 8 + 14 * Math.min(Math.max((now - start[i]) / (end - start[i] + fade), 0), 1), null, style);
      }
    }
    if (receiver && scene.isCollision(i) && age >= 0 && age < FLASH_S * speed) {
      const part = age / (FLASH_S * speed), size = 5 + 7 * part;
      pen.globalAlpha = 1 - part;
      if (at[culprit[i]] && speed < SLOW) line(pen, at[culprit[i]], receiver, colours.lost, 1, [4, 4]);
      cross(pen, receiver, size, colours.lost, 2.5);
      if (mpdus[i] > 1 && speed < SLOW) {
        pen.fillStyle = colours.lost;
        pen.fillText(`${lost[i]} of ${mpdus[i]}`, receiver[0] + 8, receiver[1] + 32);
      }
    }
  }
  pen.globalAlpha = 1;
}

function drawLostLinks(pen, at) {
  const { time, event, at: node, of } = scene.routing, lasts = LINK_FLASH_S * Math.max(speed, 0.1);
  for (let i = upTo(time, now) - 1; i >= 0 && time[i] > now - lasts; i--) {
    if (scene.events[event[i]] !== "LINK_LOST" || !at[node[i]] || !at[of[i]]) continue;
    pen.globalAlpha = 1 - (now - time[i]) / lasts;
    line(pen, at[node[i]], at[of[i]], colours.lost, 2, [6, 5]);
  }
  pen.globalAlpha = 1;
}

function drawStage() {
  const { pen, height } = sheet(stage);
  const metres = scene.positions(now), at = metres.map(place);
  const ink = colours.ink, ends = new Map();
  scene.flows.forEach((flow, number) => [flow.source, flow.destination].forEach((end) => ends.set(end, flowColour(number))));
  if (shown("ranges") && scene.reach)
    at.forEach((p, station) => disc(pen, p, scene.reach[station] * view.scale, null, colours.faint, [3, 4]));
  if (shown("links")) drawLinks(pen, at, scene.links(now, metres));
  drawPaths(pen, at);
  if (shown("frames")) drawFrames(pen, at);
  drawLostLinks(pen, at);
  at.forEach((p, station) => {
    pen.globalAlpha = scene.isThere(station, now) ? 1 : 0.25;
    disc(pen, p, ends.has(station) ? 6 : 4.5, ends.get(station) || ink, colours.paper);
    if (!shown("names")) return;
    pen.fillStyle = ink;
    pen.font = ends.has(station) ? BOLD : LETTERS;
    pen.fillText(scene.stations[station], p[0] + 7, p[1] - 7);
  });
  pen.globalAlpha = 1;
  drawScale(pen, view, height, colours.quiet);
}

// Draws above the scrub bar a lane for each flow: its height is the arriving rate, ticks mark losses of the route.
function paintStrip(pen, width, height) {
  const lane = height / Math.max(scene.flows.length, 1);
  scene.flows.forEach((flow, number) => {
    const most = flow.arrived.reduce((a, b) => Math.max(a, b), 1), bins = flow.arrived.length;
    pen.fillStyle = flowColour(number);
    for (let x = 0; x < width; x++) {
      const begin = Math.floor(x / width * bins), end = Math.max(Math.floor((x + 1) / width * bins), begin + 1);
      let n = 0;
      for (let bin = begin; bin < end; bin++) n += flow.arrived[bin];
      const high = Math.min(n / (end - begin) / most * 1.5, 1) * (lane - 2);
      pen.fillRect(x, (number + 1) * lane - high, 1, high);
    }
    const { time, event, at, of } = scene.routing;
    for (let i = 0; i < time.length; i++)
      if (at[i] === flow.source && of[i] === flow.destination && scene.events[event[i]] === "LOST_ROUTE") {
        pen.fillStyle = colours.lost;
        pen.fillRect(time[i] / scene.seconds * width, number * lane, 1, lane);
      }
  });
}

function drawStrip() {
  const { pen, width, height } = sheet(strip);
  if (painted?.width !== strip.width || painted?.height !== strip.height) {
    painted = Object.assign(document.createElement("canvas"), { width: strip.width, height: strip.height });
    const brush = painted.getContext("2d");
    brush.scale(strip.width / width, strip.height / height);
    paintStrip(brush, width, height);
  }
  pen.drawImage(painted, 0, 0, width, height);
  pen.fillStyle = colours.ink;
  pen.fillRect(now / scene.seconds * width - 0.5, 0, 1.5, height);
}

const name = (station) => scene.stations[station] ?? "?";
const SAID = {
  FOUND: (i) => `route to ${name(scene.routing.of[i])} found, ${hops(scene.routing.hops[i])}`,
  CHANGED: (i) => `route to ${name(scene.routing.of[i])} changed, ${hops(scene.routing.hops[i])}`,
  LOST_ROUTE: (i) => `route to ${name(scene.routing.of[i])} lost`,
  REPAIRED: (i) => `route to ${name(scene.routing.of[i])} repaired`,
  SEARCH: (i) => `looks for ${name(scene.routing.of[i])}`,
  SEARCH_FAILED: (i) => `gave up looking for ${name(scene.routing.of[i])}`,
  LINK_LOST: (i) => `link to ${name(scene.routing.of[i])} lost`,
};
const hops = (n) => (n === 0 ? "which does not arrive" : n === 1 ? "1 hop" : `${n} hops`);

function row(text, small, style) {
  const mark = tag("i");
  mark.style.background = style;
  return tag("div", { class: "row" }, mark, tag("span", {}, text, " ", tag("small", {}, small)));
}

function drawSide() {
  const rows = scene.flows.map((flow, number) => {
    const path = scene.path(number, now), over = path ? path.over.map(name).join(" → ") : "nothing arrives";
    const route = path ? `${over} (${hops(path.over.length - 1)}), ${scene.rate(number, now).toFixed(0)} segments/s` : over;
    return row(`${flow.name}: ${name(flow.source)} → ${name(flow.destination)}`, route, flowColour(number));
  });
  element("flows").replaceChildren(...rows);
  const latest = upTo(scene.routing.time, now);
  const lines = [];
  for (let i = latest - 1; i >= 0 && i > latest - 9; i--) {
    const said = SAID[scene.events[scene.routing.event[i]]](i);
    lines.push(tag("li", {}, `${scene.routing.time[i].toFixed(3)} s  ${name(scene.routing.at[i])}: ${said}`));
  }
  element("events").replaceChildren(...lines);
  const digits = speed < 0.001 ? 6 : speed < 0.1 ? 4 : speed < 1 ? 3 : 2;
  element("clock").textContent = `${now.toFixed(digits)} s of ${scene.seconds.toFixed(0)} s`;
}

function draw() {
  drawStage();
  drawStrip();
  scrub.value = now;
  if (playing && performance.now() - lastSide < 80) return; // text must not change faster than it can be read
  lastSide = performance.now();
  drawSide();
}

function seek(t) {
  now = Math.min(Math.max(t, 0), scene.seconds);
  draw();
}

function setPlaying(on) {
  playing = on;
  element("play").textContent = on ? "pause" : "play";
  if (on && now >= scene.seconds) now = 0;
  if (on) requestAnimationFrame((tick) => { lastTick = tick; step(tick); });
}

function step(tick) {
  if (!playing) return;
  seek(now + Math.min(tick - lastTick, 100) / 1000 * speed);
  lastTick = tick;
  if (now >= scene.seconds) setPlaying(false); else requestAnimationFrame(step);
}

function setSpeed(index) {
  speed = SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)];
  element("speed").value = speed;
  draw();
}

function theme(name) {
  setTheme(name);
  painted = null;
  element("kinds").replaceChildren(...scene.kinds.map((kind, i) => row(kind, "", kindColour(i))), row("collision", "", colours.lost));
  draw();
}

// Goes to the middle of the next or previous frame.
function toFrame(forward) {
  const { start, took } = scene.frame, here = upTo(start, now);
  const i = forward ? here : here - 2;
  if (i >= 0 && i < start.length) seek(start[i] + took[i] / 2e6);
}

const KEYS = {
  " ": () => setPlaying(!playing),
  ArrowLeft: (shift) => seek(now - (shift ? 10 : 1)),
  ArrowRight: (shift) => seek(now + (shift ? 10 : 1)),
  ArrowUp: () => setSpeed(SPEEDS.indexOf(speed) + 1),
  ArrowDown: () => setSpeed(SPEEDS.indexOf(speed) - 1),
  Home: () => seek(0),
  End: () => seek(scene.seconds),
  ",": () => toFrame(false),
  ".": () => toFrame(true),
  0: () => { view = wholeView(); draw(); },
  l: () => element("links").click(),
  r: () => element("ranges").click(),
  n: () => element("names").click(),
  f: () => element("frames").click(),
  d: () => element("theme").click(),
};

function listen() {
  document.addEventListener("keydown", (key) => {
    if (key.ctrlKey || key.altKey || key.metaKey || key.target.tagName === "SELECT") return;
    const act = KEYS[key.key.length === 1 ? key.key.toLowerCase() : key.key];
    if (!act) return;
    key.preventDefault();
    act(key.shiftKey);
  });
  element("play").onclick = () => setPlaying(!playing);
  scrub.oninput = () => seek(Number(scrub.value));
  element("speed").onchange = (event) => setSpeed(SPEEDS.indexOf(Number(event.target.value)));
  for (const id of ["links", "ranges", "names", "frames"]) element(id).onchange = draw;
  element("theme").onclick = () => theme(otherTheme());
  strip.onpointerdown = (event) => seek(event.offsetX / strip.clientWidth * scene.seconds);
  const show = (map) => { view = map; draw(); };
  gestures(stage, (factor, at) => show(zoomed(view, factor, at)), () => {
    const map = view;
    return { move: (_, dx, dy) => show({ ...map, x: map.x + dx, y: map.y + dy }) };
  });
  window.addEventListener("resize", () => { view = wholeView(); draw(); });
}

// #t=12.5&speed=0.01&play: how to begin.
function begin() {
  const asked = new URLSearchParams(location.hash.slice(1));
  now = Math.min(Math.max(Number(asked.get("t")) || 0, 0), scene.seconds);
  const nearest = (wanted) => SPEEDS.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
  setSpeed(SPEEDS.indexOf(nearest(Number(asked.get("speed")) || 1)));
  theme(asked.get("theme"));
  if (asked.has("play")) setPlaying(true);
}

async function main() {
  if (!window.DecompressionStream) {
    element("clock").textContent = "this browser is too old to play the film: it cannot decompress";
    return;
  }
  scene = await readFilm(element("data").textContent);
  scrub.max = scene.seconds;
  const all = scene.trajectories.flatMap((each) => [...each.x].map((x, i) => [x, each.y[i]]));
  bounds = [0, 1].flatMap((axis) => all.reduce(([low, high], p) => [Math.min(low, p[axis]), Math.max(high, p[axis])], [Infinity, -Infinity]));
  view = wholeView();
  for (const each of SPEEDS) element("speed").append(new Option(each < 1 ? `1/${Math.round(1 / each).toLocaleString("en")}` : `${each} ×`, each));
  element("log").hidden = !scene.routing.time.length;
  element("ranges").disabled = !scene.reach;
  listen();
  begin();
}
main();
