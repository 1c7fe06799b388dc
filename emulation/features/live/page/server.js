// SPDX-License-Identifier: BSD-3-Clause
// Requests to dcflab, and its events. Of repeated requests (a dragged station, the pace) only the last is sent.
"use strict";

const APART_MS = 60;  // of repeated requests

class Server {
  // `on` has callbacks: network, state, frames; `said` with an error for people, or null without one;
  // `lost` with whether the connection is lost.
  constructor(on) {
    this.on = on;
    this.waiting = new Map();  // the next request, by its subject
    this.before = Promise.resolve();
    this.events = new EventSource("events");
    this.events.onmessage = (message) => {
      const content = JSON.parse(message.data);
      on.lost(null);
      on[content.event]?.(content);
    };
    this.events.onerror = () => on.lost(this.events.readyState === EventSource.CLOSED
      ? "The network does not answer: it has ended, or this address is of an earlier one."
      : "The connection is lost. Trying again …");
  }

  // Returns whether it was done. Requests are sent one after the other, in order.
  ask(verb, about = {}) {
    const done = this.before.then(() => this.post(verb, about));
    this.before = done;
    return done;
  }

  async post(verb, about) {
    try {
      const answer = await fetch("do", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ do: verb, ...about }) });
      if (answer.ok) { this.on.said(null); return true; }
      const body = await answer.json().catch(() => ({}));
      this.on.said(body.error ?? `It was refused (${answer.status}).`);
    } catch {
      this.on.said("Not done: dcflab does not answer.");
    }
    return false;
  }

  // The same for frequent requests; returns whether the last was done.
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
