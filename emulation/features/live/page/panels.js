// SPDX-License-Identifier: BSD-3-Clause
// Beside the map: settings, flows, moments, counters. Elements are made once; only their text changes.
"use strict";

const COUNTED = { sent: "frames sent", "COL_RTS/CTS": "collided: RTS, CTS", COL_DATA: "collided: DATA", COL_ACK: "collided: TCP ACK", COL_UDP: "collided: UDP", COL_OTHER: "collided: other data",
  COL_ENCRYPTED: "collided: encrypted", COL_TOTAL: "collided: total", COL_ROUTING: "collided: routing", COL_MANAGEMENT: "collided: management", COL_MAC_ACK: "collided: ACK (MAC)",
  given_up: "given up", queue_drops: "dropped by queues" };
const SHOWN = ["state", "position", "queue", "received to", "backoff", "sensed to", "CW", "hears", "NAV", "on the air"];
const DIFFER = "–";
const whole = (n, digits = 0) => n === null || n === undefined ? DIFFER : n.toLocaleString("en", { maximumFractionDigits: digits });

function text(of, said) { if (of.textContent !== said) of.textContent = said; }

// A control shows the last reported value, unless it is in use; a refused value is reverted.
function shown(control, value) {
  const now = value === null || value === undefined ? "" : String(value);
  if (control.reported === now) return;
  control.reported = now;
  control.value = now;
}

function options(select, choices, words = (choice) => String(choice)) {
  const none = Object.assign(new Option(DIFFER, ""), { hidden: true, disabled: true });
  select.replaceChildren(none, ...choices.map((choice) => new Option(words(choice), choice)));
  select.reported = undefined;
}

class Panels {
  constructor(air, stage, server) {
    Object.assign(this, { air, stage, server, flows: new Map(), counters: new Map(), key: "" });
    const { choices = {}, nodes } = air.network;
    const names = nodes.map((node) => node.name), radios = nodes.filter((node) => node.radio !== false).map((node) => node.name);
    element("who").replaceChildren(new Option("all", ""), ...radios.map((name) => new Option(name, name)));
    options(element("rts"), choices.rts ?? []);
    options(element("rate"), choices.rate ?? [], (rate) => `${rate} Mb/s`);
    options(element("routing"), choices.routing ?? []);
    options(element("tcp"), choices.tcp ?? []);
    element("congestion").replaceChildren(new Option("default TCP", ""), ...(choices.tcp ?? []).map((name) => new Option(name, name)));
    for (const end of ["from", "to"]) element(end).replaceChildren(...names.map((name) => new Option(name, name)));
    element("to").value = names[names.length - 1];
    const [kind, other] = choices.routing ?? [];
    element("routing").parentElement.hidden = !other;
    element("routing-kind").hidden = Boolean(other) || !kind || kind === "static";
    text(element("routing-kind"), kind ?? "");
    for (const id of ["rts", "rate", "tcp"]) element(id).parentElement.hidden = !(choices[id] ?? []).length;
    element("state").replaceChildren(...SHOWN.flatMap((name) => [tag("dt", {}, name), tag("dd", {}, DIFFER)]));
    element("flows").replaceChildren();
    element("moments").replaceChildren();
    element("counters").replaceChildren();
    this.legend();
    this.wire();
  }

  // A control that sends a request when it changes.
  asks(control, verb, about) {
    control.onchange = async () => {
      const value = control.value;
      if (value === "" || !await this.server.ask(verb, about(control.type === "number" || control.id === "rate" ? Number(value) : value))) control.value = control.reported;
    };
  }

  wire() {
    const who = () => this.air.names[this.stage.chosen] ?? null;
    this.asks(element("rts"), "set", (rts) => ({ node: who(), rts }));
    this.asks(element("rate"), "set", (rate) => ({ node: who(), rate }));
    this.asks(element("power"), "set", (tx_power_dbm) => ({ node: who(), tx_power_dbm }));
    this.asks(element("tcp"), "tcp", (congestion) => ({ flow: null, congestion }));
    this.asks(element("routing"), "routing", (kind) => ({ kind }));
    element("start").onsubmit = (event) => { event.preventDefault(); this.start(element("from").value, element("to").value); };
    element("switch").onclick = () => {
      const node = who();
      if (node) this.server.ask("switch", { node, on: this.air.latest.nodes[node].doing === "off" });
    };
    element("replan").onclick = () => this.server.ask("routing", { kind: "static" });
    element("save").onclick = () => this.server.ask("save");
  }

  start(source, destination) {
    element("from").value = source;
    element("to").value = destination;
    return this.server.ask("start", { source, destination, tcp: element("congestion").value || null });
  }

  draw() {
    const { latest } = this.air;
    if (!latest) return;
    this.station(latest);
    this.drawFlows(latest);
    this.drawMoments(latest);
    this.drawCounters(latest);
    shown(element("routing"), latest.routing);
    element("replan").hidden = latest.routing !== "static";
  }

  station(latest) {
    const n = this.stage.chosen, name = this.air.names[n] ?? "", state = latest.nodes[name];
    const of = state ? [state] : Object.values(latest.nodes).filter((each) => each.rts !== undefined || each.tx_power_dbm !== undefined);
    const alike = (what) => { const values = new Set(of.map((each) => each[what])); return values.size === 1 ? [...values][0] : null; };
    if (element("who").reported !== name) shown(element("who"), name);
    for (const [id, what] of [["rts", "rts"], ["rate", "rate"], ["power", "tx_power_dbm"]]) shown(element(id), typeof alike(what) === "number" ? Number(alike(what).toFixed(2)) : alike(what));
    element("switch").style.visibility = state?.doing ? "" : "hidden";
    text(element("switch"), state?.doing === "off" ? "switch on" : "switch off");
    element("state").hidden = !state;
    element("no-state").hidden = Boolean(state);
    if (!state) return;
    const says = this.says(n, this.air.node(n));
    element("state").querySelectorAll("dd").forEach((each, at) => text(each, says[at]));
  }

  says(n, state) {
    const { now } = this.air, slots = this.air.slots(n), [x, y] = state.position ?? [0, 0];
    const metres = (reach) => reach ? `${whole(reach)} m` : DIFFER, hears = this.air.links(this.air.positions()).filter((pair) => pair.includes(n)).length;
    return [{ idle: "nothing", backoff: "counts down" }[state.doing] ?? SAYS[state.doing] ?? DIFFER, `${whole(x)}, ${whole(y)} m`,
      state.queue === undefined ? DIFFER : many(state.queue, "frame"), metres(state.range_m),
      slots === null ? DIFFER : many(slots, "slot"), metres(state.sense_m),
      state.cw === undefined ? DIFFER : `0 … ${state.cw}`, many(hears, "other"),
      state.nav_ns > now ? lasting(Math.round((state.nav_ns - now) / 1000) * 1000) : DIFFER, state.airtime === undefined ? DIFFER : `${whole(100 * state.airtime, 1)} %`];
  }

  drawFlows({ flows }) {
    Object.entries(flows).forEach(([name, flow], n) => {
      if (!this.flows.has(name)) this.flows.set(name, this.flow(name, flow));
      const row = this.flows.get(name);
      row.swatch.style.background = flowColour(n);
      row.all.classList.toggle("over", !flow.running);
      text(row.rate, flow.running ? `${whole(flow.kbps, flow.kbps < 10 ? 1 : 0)} kb/s` : "stopped");
      text(row.more, flow.running && flow.cwnd !== undefined && flow.cwnd !== null ? `cwnd ${whole(flow.cwnd)}${flow.srtt_ms ? `, ${whole(flow.srtt_ms)} ms` : ""}` : "");
      row.tcp.hidden = !flow.tcp || !flow.running;
      shown(row.tcp, flow.tcp);
      row.stop.hidden = !flow.running;
    });
    for (const [name, row] of this.flows) if (!flows[name]) { row.all.remove(); this.flows.delete(name); }
    const tcps = new Set(Object.values(flows).filter((flow) => flow.tcp && flow.running).map((flow) => flow.tcp));
    shown(element("tcp"), tcps.size === 1 ? [...tcps][0] : null);
  }

  flow(name, { source, destination }) {
    const row = { swatch: tag("i"), rate: tag("b"), more: tag("small"), stop: tag("button", { type: "button", "data-acts": true, "aria-label": `stop ${name}` }, "stop"),
      tcp: tag("select", { "aria-label": `TCP of ${name}`, "data-acts": true }) };
    options(row.tcp, this.air.network.choices?.tcp ?? []);
    this.asks(row.tcp, "tcp", (congestion) => ({ flow: name, congestion }));
    row.stop.onclick = () => this.server.ask("stop", { flow: name });
    row.all = tag("div", { class: "flow" }, row.swatch, tag("span", { title: name }, `${source} → ${destination}`), row.rate, row.more, row.tcp, row.stop);
    element("flows").append(row.all);
    return row;
  }

  drawMoments({ moments = [] }) {
    const key = JSON.stringify(moments);
    if (key === this.key) return;
    this.key = key;
    element("moments").replaceChildren(...(moments.length ? [] : [tag("span", { class: "quiet" }, "None is saved yet.")]), ...moments.map(({ name, t_ns }) => {
      const button = tag("button", { type: "button", "data-acts": true }, `back to ${name}: ${moment(t_ns, 1e6)} s`);
      button.onclick = () => this.server.ask("back", { moment: name });
      return button;
    }));
  }

  drawCounters({ counters, rates = {} }) {
    for (const [name, count] of Object.entries(counters)) {
      if (!this.counters.has(name)) {
        if (!this.counters.size) element("counters").append(tag("tr", {}, tag("td"), tag("th", { scope: "col" }, "in all"), tag("th", { scope: "col" }, "a second")));
        const cells = [tag("td"), tag("td")];
        element("counters").append(tag("tr", { title: name }, tag("th", { scope: "row" }, COUNTED[name] ?? name.toLowerCase().replaceAll("_", " ")), ...cells));
        this.counters.set(name, cells);
      }
      const [all, late] = this.counters.get(name);
      all.parentElement.hidden = !count && name.startsWith("COL_") && name !== "COL_TOTAL";
      text(all, whole(count));
      text(late, whole(rates[name], 1));
    }
  }

  legend() {
    const kinds = { RTS: "RTS", CTS: "CTS", DATA: "DATA", "TCP ACK": "TCP ACK", ACK: "ACK (MAC)", UDP: "UDP", ROUTING: "routing", MANAGEMENT: "beacon", OTHER: "other", lost: "collision", noise: "noise" };
    element("legend").replaceChildren(tag("h2", {}, "frames"), tag("div", { class: "keys" }, ...Object.entries(kinds).map(([kind, name]) => colourKey(name, colours[kind]))));
  }
}
