// SPDX-License-Identifier: BSD-3-Clause
// The state of a film at a moment: reads the page's data and answers queries. Nothing here draws.

async function readFilm(text) {
  return new Scene(...await unpack(text));
}

// Converts differences in microseconds to times (s).
function times(waits) {
  const found = new Float64Array(waits.length);
  for (let i = 0, at = 0; i < waits.length; i++) found[i] = (at += waits[i]) / 1e6;
  return found;
}

class Scene {
  constructor(head, column) {
    Object.assign(this, head);
    this.frame = {
      start: times(column.frame_wait), took: column.frame_took, kind: column.frame_kind, from: column.frame_from,
      to: column.frame_to, culprit: column.frame_culprit, mpdus: column.frame_mpdus, lost: column.frame_lost,
    };
    this.routing = { time: times(column.routing_wait), event: column.routing_event, at: column.routing_at, of: column.routing_of,
      hops: column.routing_hops };
    const part = (list, rows, row) => list.subarray(row * list.length / rows, (row + 1) * list.length / rows);
    const [time, x, y, z] = [0, 1, 2, 3].map((row) => part(column.stop, 4, row));
    let at = 0;
    this.trajectories = this.stops.map((n) => {
      const own = (list) => list.subarray(at, at + n), trajectory = { time: own(time), x: own(x), y: own(y), z: own(z) };
      at += n;
      return trajectory;
    });
    const first = part(column.run, 2, 0), last = part(column.run, 2, 1);
    let run = 0, over = 0;
    this.flows.forEach((flow, number) => {
      flow.first = first.subarray(run, run + flow.runs);
      flow.last = last.subarray(run, run + flow.runs);
      flow.over = [];
      for (const end = run + flow.runs; run < end; run++) {
        flow.over.push(column.run_over.subarray(over, over + column.run_length[run]));
        over += column.run_length[run];
      }
      flow.arrived = part(column.arrived, this.flows.length, number);
    });
    const rows = [0, 1, 2].map((row) => part(column.toggle, 3, row));
    this.toggle = { time: rows[0], a: rows[1], b: rows[2] };
  }

  position(station, t) {
    const trajectory = this.trajectories[station], after = upTo(trajectory.time, t), last = trajectory.time.length - 1;
    const i = Math.max(after - 1, 0), j = Math.min(after, last), lasts = trajectory.time[j] - trajectory.time[i];
    const part = lasts > 0 ? Math.min(Math.max((t - trajectory.time[i]) / lasts, 0), 1) : 0;
    return [trajectory.x, trajectory.y, trajectory.z].map((list) => list[i] + (list[j] - list[i]) * part);
  }

  positions(t) {
    return this.trajectories.map((_, station) => this.position(station, t));
  }

  isThere(station, t) {
    const spans = this.presence[station];
    return !spans || spans.some(([begin, end]) => begin <= t && t < end);
  }

  // Returns the pairs that can exchange frames, once each.
  links(t, at = this.positions(t)) {
    return this.withinReach(t, at).filter((pair) => pair.every((station) => this.isThere(station, t)));
  }

  withinReach(t, at) {
    const found = [];
    if (this.reach) {
      for (let a = 0; a < at.length; a++)
        for (let b = a + 1; b < at.length; b++) {
          const [x, y, z] = [at[a][0] - at[b][0], at[a][1] - at[b][1], at[a][2] - at[b][2]];
          if (x * x + y * y + z * z <= Math.min(this.reach[a], this.reach[b]) ** 2) found.push([a, b]);
        }
      return found;
    }
    const linked = new Map(), { time, a, b } = this.toggle;
    for (let i = 0, n = upTo(time, t); i < n; i++)
      if (!linked.delete(a[i] * 256 + b[i])) linked.set(a[i] * 256 + b[i], [a[i], b[i]]);
    return [...linked.values()].sort((p, q) => p[0] - q[0] || p[1] - q[1]);
  }

  // Returns the stations on the path of a flow's packets, and the time since the last arrival (s); null: no path.
  path(number, t) {
    const flow = this.flows[number], run = upTo(flow.first, t) - 1;
    if (run < 0 || t > flow.last[run] + this.hold) return null;
    return { over: [...flow.over[run]], quiet: Math.max(t - flow.last[run], 0) };
  }

  // Returns the rate at which a flow's segments arrive, 1/s, over a second.
  rate(number, t) {
    const { arrived } = this.flows[number], end = Math.min(Math.floor(t / this.bin), arrived.length - 1);
    const begin = Math.max(end - Math.round(1 / this.bin) + 1, 0);
    let n = 0;
    for (let bin = begin; bin <= end; bin++) n += arrived[bin];
    return n / ((end - begin + 1) * this.bin);
  }

  // Returns the frames, up to a maximum, that were on the air between two moments.
  onAir(since, t, most) {
    const { start, took } = this.frame, end = upTo(start, t), found = [];
    for (let i = end - 1; i >= 0 && found.length < most && start[i] > since - 0.05; i--)
      if (start[i] + took[i] / 1e6 >= since) found.push(i);
    return found.reverse();
  }

  isCollision(i) {
    const outcome = this.frame.kind[i] >> 4;
    return outcome === 1 || outcome === 2;
  }
}
