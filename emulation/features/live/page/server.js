// SPDX-License-Identifier: BSD-3-Clause
// What is asked of dcflab, and what it tells. Of the same thing (a station dragged, the pace) only the last is asked.
"use strict";

const APART_MS = 60;  // of what is asked again and again

class Server {
  // `on` has what is called: network, state, frames; `said` with an error for people, or null when there is none;
  // `lost` with whether the connection is lost.
  constructor(on) {
    this.on = on;
    this.waiting = new Map();  // what is asked next, by what it is about
    this.before = Promise.resolve();
    this.events = new EventSource("events");
    this.events.onmessage = (message) => {
      const told = JSON.parse(message.data);
      on.lost(null);
      on[told.event]?.(told);
    };
    this.events.onerror = () => on.lost(this.events.readyState === EventSource.CLOSED
      ? "The network does not answer: it has ended, or this address is of an earlier one."
      : "The connection is lost. Trying again …");
  }

  // Whether it was done. One thing after the other, in the order in which they are asked.
  ask(verb, about = {}) {
    const done = this.before.then(() => this.post(verb, about));
    this.before = done;
    return done;
  }

  async post(verb, about) {
    try {
      const answer = await fetch("do", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ do: verb, ...about }) });
      if (answer.ok) { this.on.said(null); return true; }
      const told = await answer.json().catch(() => ({}));
      this.on.said(told.error ?? `It was refused (${answer.status}).`);
    } catch {
      this.on.said("That was not done: dcflab does not answer.");
    }
    return false;
  }

  // The same of what may be asked many times a second; whether the last was done.
  async askLast(key, verb, about) {
    const busy = this.waiting.has(key);
    let done = false;
    this.waiting.set(key, about);
    if (busy) return undefined;
    for (let next = about; next; ) {
      done = await this.ask(verb, next);
      const after = this.waiting.get(key);
      next = after === next ? null : after;
      if (next) await new Promise((over) => { setTimeout(over, APART_MS); });
    }
    this.waiting.delete(key);
    return done;
  }
}
