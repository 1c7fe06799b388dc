// SPDX-License-Identifier: BSD-3-Clause
// The search: text becomes a function of a row. `and` may be omitted; `or` binds weaker, `not` stronger.
"use strict";

const KIND_WORDS = { rts: "RTS", cts: "CTS", ack: "ACK", data: "DATA", tcpack: "TCP ACK", beacon: "MANAGEMENT",
  management: "MANAGEMENT", routing: "ROUTING", udp: "UDP", other: "OTHER", encrypted: "ENCRYPTED" };
const FLAG_WORDS = { fin: 1, syn: 2, rst: 4 };
const COMPARE = { ">": (a, b) => a > b, "<": (a, b) => a < b, ">=": (a, b) => a >= b, "<=": (a, b) => a <= b,
  "=": (a, b) => a === b, "!=": (a, b) => a !== b };

class QueryError extends Error {}

// Returns the matching rows of a run: as a list, and as a mark for each row. Throws QueryError if the text is wrong.
function search(run, text) {
  const fits = compile(run, text), marked = new Uint8Array(run.size), found = [];
  for (let i = 0; i < run.size; i++) if (fits(i)) { marked[i] = 1; found.push(i); }
  return { rows: Uint32Array.from(found), marked };
}

function compile(run, text) {
  const tokens = text.toLowerCase().match(/\(|\)|[^\s()<>=!]+\s*(?:>=|<=|!=|>|<|=)\s*[\d.]+|[^\s()]+/g) ?? [];
  let at = 0;
  const either = () => {
    let left = both();
    while (tokens[at] === "or" || tokens[at] === "|") { at++; const a = left, b = both(); left = (i) => a(i) || b(i); }
    return left;
  };
  const both = () => {
    let left = one();
    while (at < tokens.length && tokens[at] !== ")" && tokens[at] !== "or" && tokens[at] !== "|") {
      if (tokens[at] === "and" || tokens[at] === "&") at++;
      const a = left, b = one();
      left = (i) => a(i) && b(i);
    }
    return left;
  };
  const one = () => {
    const token = tokens[at++];
    if (token === undefined) throw new QueryError("a word is missing at the end");
    if (token === "not" || token === "!") { const a = one(); return (i) => !a(i); }
    if (token === "(") {
      const a = either();
      if (tokens[at++] !== ")") throw new QueryError("a ) is missing");
      return a;
    }
    if (token === ")" || token === "or" || token === "and") throw new QueryError(`nothing before “${token}”`);
    return word(run, token);
  };
  const found = either();
  if (at < tokens.length) throw new QueryError("a ( is missing");
  return found;
}

function word(run, token) {
  const station = (name) => run.stations.findIndex((each) => each.toLowerCase() === name);
  const numbers = {
    attempt: (i) => run.attempt[i], length: (i) => run.length[i], rate: (i) => run.rate[i] / 10,
    number: (i) => i + 1, time: (i) => run.start[i] / 1e9, took: (i) => run.took[i] / 1e3,
    queued: (i) => run.queued[i] / 1e6, waited: (i) => run.waited[i] / 1e6, seq: (i) => run.seq[i],
    nav: (i) => run.duration[i], payload: (i) => run.payload[i],
  };
  const compared = token.match(/^(\w+)\s*(>=|<=|!=|>|<|=)\s*([\d.]+)$/);
  if (compared) {
    const of = numbers[compared[1]], how = COMPARE[compared[2]], to = Number(compared[3]);
    if (!of) throw new QueryError(`there is no number “${compared[1]}”; there are: ${Object.keys(numbers).join(", ")}`);
    return (i) => how(of(i), to);
  }
  if (/^\d+$/.test(token)) return (i) => i === Number(token) - 1;
  const [what, who] = token.includes(":") ? token.split(":", 2) : ["", token];
  const s = station(who);
  if (what) {
    if (s < 0) throw new QueryError(`there is no station “${who}”`);
    if (what === "from") return (i) => run.from[i] === s;
    if (what === "to") return (i) => run.to[i] === s;
    if (what === "by") return (i) => { const by = run.culpritOf(i); return by >= 0 && run.from[by] === s; };
    throw new QueryError(`“${what}:” is not from:, to: or by:`);
  }
  if (s >= 0) return (i) => run.from[i] === s || run.to[i] === s;
  const flow = run.flows.findIndex((each) => each.name.toLowerCase() === token);
  if (flow >= 0) return (i) => run.flow[i] === flow;
  if (token in KIND_WORDS) { const kind = run.kinds.indexOf(KIND_WORDS[token]); return (i) => run.kind[i] === kind; }
  if (token in FLAG_WORDS) { const flag = FLAG_WORDS[token]; return (i) => (run.flags[i] & flag) !== 0; }
  const category = run.categories.findIndex((each) => `ac_${each.toLowerCase()}` === token);
  if (category >= 0) return (i) => run.category[i] === category + 1;
  const said = {
    retry: (i) => run.retried(i), drop: (i) => run.given_up[i] !== 0, resent: (i) => run.resent?.[i] === 1,
    collision: (i) => run.outcome[i] === COLLISION || run.outcome[i] === OWN_TX, noise: (i) => run.outcome[i] === NOISE,
    weak: (i) => run.outcome[i] === WEAK, lost: (i) => run.outcome[i] !== OK, ok: (i) => run.outcome[i] === OK,
  }[token];
  if (!said) throw new QueryError(`“${token}” is not a word, station or flow; press ? for the words`);
  return said;
}
