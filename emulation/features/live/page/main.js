// SPDX-License-Identifier: BSD-3-Clause
// The page of a live network: shows what the server reports, and sends it the viewer's requests. All is drawn once per
// animation frame at most, and not at all while nothing changes.
"use strict";

const READ_S = 0.08;  // letters change no faster than they can be read
const SEARCHES = { on: "Looking for the next collision …", "in vain": "No frame collided in 10 s." };
const MOST_HELD = 30;  // reports for which a station stays where it was left

const live = {
  air: null, stage: null, panels: null, curves: null, strip: null, below: null, pace: null, server: null, away: null, busy: null, moving: null, asked: null, picking: false, first: -1,
  counts: { ticks: 0, drawn: 0, states: 0, frames: 0 },  // animation frames; those drawn; reports; frames received
  stale: false, read: 0, last: 0,

  network(network) {
    document.title = `${network.title}, live`;
    element("title").textContent = network.title;
    this.air = new Air(network);
    this.stage = new Stage(element("map"), this.air);
    for (const box of document.querySelectorAll("[data-shows]")) this.stage.shows[box.dataset.shows] = box.checked;
    this.strip = new Strip(element("strip"), this.air);
    this.curves?.end();
    this.curves = new Curves(element("curves"), this.air);
    this.panels = new Panels(this.air, this.stage, this.server);
    this.pace = new Pace(this, network.pace_most ?? 1000);
    element("below").style.height = `${Math.min(Math.max(160, 16 + 8 * network.nodes.length), 240)}px`;
    this.stage.whole();
  },

  state(state) {
    if (!this.air) return;
    const first = !this.air.latest, back = this.air.update(state);
    this.counts.states++;
    if (first) { this.stage.whole(); element("loading").hidden = true; }
    this.curves.update(state, back);
    this.strip.update(state, back);
    this.pace.update(state.pace);
    text(element("run"), PAUSES[!state.running]);
    element("run").setAttribute("aria-pressed", !state.running);
    this.acts(!state.ended && !state.busy);
    element("end").disabled = Boolean(state.ended);
    const busy = state.busy ? `The network goes ${state.busy} …` : SEARCHES[state.search] ?? null;
    if (busy !== this.busy) this.hint(busy ?? "");
    this.busy = busy;
    if (state.ended) {
      this.server.events.close();
      this.hint("");
      element("script").removeAttribute("href");
      this.trouble(null);
    }
    this.touch();
  },

  frames({ frames }) {
    if (!this.air) return;
    this.counts.frames += frames.length;
    this.air.hear(frames);
    this.touch();
  },

  // Shown until the viewer acts, or closes it.
  said(error) { this.trouble(error); },
  lost(why) {
    if (why === this.away) return;
    this.away = why;
    this.trouble(why);
    if (why) this.acts(false);
  },
  trouble(said) {
    const ended = this.air?.latest?.ended, words = said ?? (ended ? `The network has ended: ${ended}` : this.away) ?? "";
    if (!this.air) text(element("loading"), words || "waiting for the network …");
    element("trouble").hidden = !words;
    element("trouble").classList.toggle("calm", Boolean(ended && !said));
    text(element("trouble").firstElementChild, words);
  },

  acts(can) { for (const each of document.querySelectorAll("[data-acts]")) if (each.disabled === can) each.disabled = !can; },
  touch() { this.stale = true; },

  tick(now) {
    const seconds = Math.min((now - this.last) / 1000, 0.25), { air } = this;
    this.last = now;
    this.counts.ticks++;
    if (air?.latest) {
      const before = air.now;
      air.advance(seconds);
      if (air.now !== before || this.stale) this.draw(now);
    }
    requestAnimationFrame((next) => this.tick(next));
  },

  draw(now) {
    this.stale = false;
    this.counts.drawn++;
    const { stage } = this, { dragged, at, dropped } = stage;
    if (dropped !== null && (this.air.rests(dragged, at) || this.counts.states > dropped + MOST_HELD)) this.release();
    stage.draw();
    this.show(this.below ?? (this.air.slow ? "strip" : "curves"));
    if (!element("strip").hidden) this.strip.draw();
    text(element("clock"), `${moment(this.air.now, this.air.slow ? 1 : 1e6)} s`);
    if (now - this.read < READ_S * 1000) { this.stale = true; return; }
    this.read = now;
    this.panels.draw();
    this.curves.draw();
  },

  // Below the map: what the viewer chose, else what suits the pace.
  show(which) {
    for (const button of document.querySelectorAll("[data-below]")) {
      const { below } = button.dataset;
      if (element(below).hidden === (below !== which)) continue;
      element(below).hidden = below !== which;
      button.setAttribute("aria-pressed", below === which);
    }
  },

  choose(n) {
    this.stage.chosen = this.strip.chosen = n;
    this.hint("");
    text(element("said"), n < 0 ? "all stations" : this.air.names[n]);
    this.panels.draw();
    this.touch();
  },
  next(direction) {
    const radios = this.air.network.nodes.map((node, n) => [node, n]).filter(([node]) => node.radio !== false).map(([, n]) => n);
    const at = radios.indexOf(this.stage.chosen);
    this.choose(radios[at < 0 ? (direction > 0 ? 0 : radios.length - 1) : (at + direction + radios.length) % radios.length]);
  },
  escape() { if (this.picking) this.stopPicking(); else this.choose(-1); },

  // While time stands only where it is left counts.
  drag(n, metres) {
    Object.assign(this.stage, { dragged: n, at: metres, dropped: null });
    this.touch();
    if (this.air.running) this.move(n, metres);
  },
  move(n, metres) {
    this.asked = metres;
    const asked = this.server.askLast("move", "move", { node: this.air.names[n], position: metres });
    this.moving ??= asked.then((done) => { this.moving = null; return done; });
  },
  // It stays where it was dropped until reports have it there, or refuse it.
  async drop() {
    const { dragged, at } = this.stage;
    if (this.asked !== at) this.move(dragged, at);
    const done = await this.moving;
    if (done === false) this.release(); else this.stage.dropped = this.counts.states;
    this.touch();
  },
  release() { Object.assign(this.stage, { dragged: -1, at: null, dropped: null }); },
  async nudge(x, y) {
    const { chosen } = this.stage;
    if (chosen < 0) return this.hint("Choose a station first: n, or click it.");
    const [at, up] = this.stage.dragged === chosen ? this.stage.at : this.air.positions()[chosen];
    this.drag(chosen, [at + x, up + y]);
    return this.drop();
  },

  startPicking() {
    Object.assign(this, { picking: true, first: -1 });
    element("pick").setAttribute("aria-pressed", true);
    this.hint("Click the station where the flow starts.");
  },
  stopPicking() {
    this.picking = false;
    this.stage.picked = -1;
    element("pick").setAttribute("aria-pressed", false);
    this.hint("");
    this.touch();
  },
  pick(n) {
    if (this.first < 0) {
      this.first = this.stage.picked = n;
      this.hint(`Now the station where the flow from ${this.air.names[n]} ends.`);
      this.touch();
    } else {
      const source = this.air.names[this.first];
      this.stopPicking();
      this.panels.start(source, this.air.names[n]);
    }
  },
  hint(said) { text(element("hint"), said); },

  async end() {
    if (await this.server.ask("end") && !this.air.latest.ended) this.hint("The network ends; what it leaves is being counted …");
  },
  toggle() { this.server.ask(this.air.latest?.running ? "pause" : "run"); },
  step(to) { this.server.ask("step", { to }); },
  changePace(decades) { this.pace.ask(this.pace.asked + decades); },
  back() {
    const moments = (this.air.latest?.moments ?? []).filter((each) => each.t_ns > 0);
    if (moments.length) this.server.ask("back", { moment: moments[moments.length - 1].name });
    else this.hint("No moment is saved yet: press s to save this one.");
  },
  zoom(factor, place) { this.stage.map = zoomed(this.stage.map, factor, place); this.touch(); },
  wholeMap() { this.stage.whole(); this.touch(); },

  theme(name) {
    setTheme(name);
    this.panels?.legend();
    if (this.curves) this.curves.stale = true;
    this.touch();
  },

  begin() {
    this.theme(new URLSearchParams(location.hash.slice(1)).get("theme"));
    element("theme").onclick = () => this.theme(otherTheme());
    element("help").onclick = () => element("keys").showModal();
    element("run").onclick = () => this.toggle();
    element("end").onclick = () => element("ending").showModal();
    element("ending").onclose = () => { if (element("ending").returnValue === "end") this.end(); element("ending").returnValue = ""; };
    element("pick").onclick = () => this.picking ? this.stopPicking() : this.startPicking();
    element("whole").onclick = () => this.wholeMap();
    element("trouble").lastElementChild.onclick = () => { element("trouble").hidden = true; };
    element("who").onchange = () => this.choose(this.air.number.get(element("who").value) ?? -1);
    for (const each of document.querySelectorAll("[data-below]")) each.onclick = () => { this.below = each.dataset.below; this.touch(); };
    for (const each of document.querySelectorAll("[data-step]")) each.onclick = () => this.step(each.dataset.step);
    for (const box of document.querySelectorAll("[data-shows]")) box.onchange = () => { this.stage.shows[box.dataset.shows] = box.checked; this.touch(); };
    onStage(this);
    keys(this);
    new ResizeObserver(() => this.touch()).observe(element("map"));
    this.server = new Server(this);
    requestAnimationFrame((now) => this.tick(now));
  },
};

live.begin();
