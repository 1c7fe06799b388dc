# SPDX-License-Identifier: BSD-3-Clause
"""A toy that sends the page the same events as a session, to test the page alone. Its air is scripted: one exchange
after another, over the hops of each flow with a path; some collide without RTS/CTS."""

import contextlib
import json
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from emulation.features.live.page import found

SLOT, SIFS, DIFS = 20_000, 10_000, 50_000
TOOK = {"rts": 352_000, "cts": 304_000, "data": 2_600_000, "ack": 304_000}
RANGE, SENSE, FASTEST = 250.0, 550.0, 1000.0
EVERY_S = 0.05
Frame = list[Any]


class Toy:
    def __init__(self, positions: list[tuple[float, float]], flows: list[tuple[int, int]], **first: Any) -> None:
        self.names = [f"sta{n + 1}" for n in range(len(positions))]
        self.at = {name: [*at, 0.0] for name, at in zip(self.names, positions, strict=True)}
        self.settings = {name: {"rts": "none", "rate": 2, "tx_power_dbm": 24.5} for name in self.names}
        self.flows: dict[str, dict[str, Any]] = {}
        self.t, self.pace, self.running, self.ended = 0, 1.0, True, ""
        self.counters = dict.fromkeys(("sent", "COL_RTS/CTS", "COL_DATA", "COL_ACK", "given_up", "queue_drops"), 0)
        self.moments: list[dict[str, Any]] = []
        self.asked: list[dict[str, Any]] = []
        self.routing, self.random, self.turn = "static", random.Random(1), 0
        self.frames: deque[Frame] = deque(maxlen=400)
        self.coming: list[Frame] = []
        self.listeners: list[queue.Queue[Any]] = []
        self.lock = threading.RLock()
        for source, destination in flows:
            self.start(self.names[source], self.names[destination], "cubic")
        vars(self).update(first)

    # Its actions.

    def start(self, source: str, destination: str, tcp: str | None) -> None:
        if source == destination:
            raise ValueError(f"A flow needs two stations: {source} cannot send to itself.")
        name = f"flow{len(self.flows) + 1}"
        ends = {"source": source, "destination": destination}
        self.flows[name] = {**ends, "running": True, "tcp": tcp or "cubic", "bytes": 0}

    def do(self, do: str, **of: Any) -> None:
        if do == "move":
            self.at[of["node"]][:2] = of["position"]
        elif do == "set":
            if of.get("tx_power_dbm", 0) > 30:
                raise ValueError("A station sends with 30 dBm at most.")
            for name in self.names if of["node"] is None else [of["node"]]:
                self.settings[name] |= {key: value for key, value in of.items() if key != "node"}
        elif do == "tcp":
            for name in self.flows if of["flow"] is None else [of["flow"]]:
                self.flows[name]["tcp"] = of["congestion"]
        elif do == "start":
            self.start(**of)
        elif do == "stop":
            self.flows[of["flow"]]["running"] = False
        elif do == "routing":
            self.routing = of["kind"]
        elif do == "pace":
            self.pace = of["pace"]
        elif do in ("pause", "run"):
            self.running = do == "run"
        elif do == "step":
            self.running = False
            while of["to"] == "collision":
                self.frames.extend(frames := self.go(700_000))
                if any(frame[5] == "collision" for frame in frames):
                    return
            self.frames.extend(self.go(SLOT if of["to"] == "slot" else 700_000 if of["to"] == "frame" else 4_000_000))
        elif do == "save":
            self.moments.append({"name": str(len(self.moments) + 1), "t_ns": self.t})
        elif do == "back":
            self.t = next(moment["t_ns"] for moment in self.moments if moment["name"] == of["moment"])
            self.coming, self.running = [], False
        elif do == "end":
            self.ended, self.running = "what it left is in runs/toy/", False
        else:
            raise ValueError(f"There is no verb “{do}”.")

    # Its air.

    def way(self, source: str, destination: str) -> list[str]:
        """Return the path with the fewest hops within range; empty if there is none."""
        ways, seen = deque([[source]]), {source}
        while ways:
            way = ways.popleft()
            if way[-1] == destination:
                return way
            for name in self.names:
                if name not in seen and self.near(way[-1], name):
                    seen.add(name)
                    ways.append([*way, name])
        return []

    def near(self, a: str, b: str) -> bool:
        return sum((p - q) ** 2 for p, q in zip(self.at[a], self.at[b], strict=True)) <= RANGE**2

    def exchange(self, begin: int) -> Iterator[Frame]:
        """Return the next exchange: one hop of a flow, after DIFS and some slots."""
        ways = {name: self.way(f["source"], f["destination"]) for name, f in self.flows.items() if f["running"]}
        hops = [(name, hop) for name, way in ways.items() for hop in pairwise(way)]
        at = begin + DIFS + self.random.randrange(16) * SLOT
        if not hops:
            yield [at, TOOK["ack"], "beacon", self.names[0], None, "none", None, 60]
            return
        self.turn += 1
        name, (sender, receiver) = hops[self.turn % len(hops)]
        protected = self.settings[sender]["rts"] != "none"
        collides = self.random.random() < (0.05 if protected else 0.3)
        for kind in ("rts", "cts", "data", "ack") if protected else ("data", "ack"):
            one, other = (sender, receiver) if kind in ("rts", "data") else (receiver, sender)
            culprit = self.random.choice([each for each in self.names if each != one]) if collides else None
            yield [at, TOOK[kind], kind, one, other, "collision" if collides else "ok", culprit, 1500]
            self.counters["sent"] += 1
            if collides:
                self.counters["COL_RTS/CTS" if kind == "rts" else "COL_DATA"] += 1
                return
            at += TOOK[kind] + SIFS
        if receiver == self.flows[name]["destination"]:
            self.flows[name]["bytes"] += 1460

    def go(self, ns: int) -> list[Frame]:
        """Advance time; return the frames on the air so far, including unfinished ones."""
        self.t, frames = self.t + ns, []
        while not self.coming or self.coming[-1][0] <= self.t:
            begin = max(self.coming[-1][0] + self.coming[-1][1] if self.coming else 0, self.t - 300_000_000)
            self.coming.extend(self.exchange(begin))
        while self.coming[0][0] <= self.t:
            frames.append(self.coming.pop(0))
            if not self.coming:
                break
        self.coming = self.coming or [frames[-1]]
        return frames[-200:]

    def frames_until_now(self, frames: list[Frame]) -> list[Frame]:
        """Return frames with outcomes, if known; those without one are repeated later."""
        open_ = [frame for frame in self.frames if frame[0] + frame[1] > self.t - EVERY_S * self.pace * 1e9 * 2]
        self.frames.extend(frames)
        return [f if f[0] + f[1] <= self.t else [*f[:5], None, None, f[7]] for f in [*open_, *frames]]

    # What it tells.

    def network(self) -> dict[str, Any]:
        nodes = [{"name": name, "kind": "station", "position": at, "radio": True} for name, at in self.at.items()]
        choices = {"rts": ["full", "partial", "none"], "rate": [1, 2, 5.5, 11], "tcp": ["cubic", "reno", "vegas"],
                   "routing": ["static", "aodv"]}  # fmt: skip
        return {"event": "network", "title": "a toy", "nodes": nodes, "slot_ns": SLOT, "sifs_ns": SIFS,
                "choices": choices, "pace_most": FASTEST}  # fmt: skip

    def state(self) -> dict[str, Any]:
        frame = next((f for f in reversed(self.frames) if f[0] <= self.t < f[0] + f[1]), None)
        nodes = {}
        for n, name in enumerate(self.names):
            doing = (
                "backoff"
                if frame is None
                else "send"
                if frame[3] == name
                else "receive"
                if frame[4] == name
                else "defer"
            )
            overhears = frame is not None and doing == "defer" and self.near(frame[3], name)
            nodes[name] = {
                "position": self.at[name], **self.settings[name], "range_m": RANGE, "sense_m": SENSE, "cw": 31,
                "queue": (n * 13 + self.t // 10**9) % 50, "backoff": (self.t // 10**7 + 5 * n) % 31,
                "nav_ns": frame[0] + frame[1] + 600_000 if frame and overhears else 0, "doing": doing,
            }  # fmt: skip
        ways = {name: self.way(flow["source"], flow["destination"]) for name, flow in self.flows.items()}
        flows = {
            name: flow | {"kbps": 300 / len(ways[name]) if ways[name] and flow["running"] else 0.0, "srtt_ms": 80,
                          "cwnd": 10 + self.t // 10**8 % 20}
            for name, flow in self.flows.items()
        }  # fmt: skip
        lossy = sum(of["rts"] == "none" for of in self.settings.values())
        return {"event": "state", "t_ns": self.t, "pace": self.pace, "running": self.running, "busy": None,
                "ended": self.ended or None, "nodes": nodes, "flows": flows, "routes": ways, "moments": self.moments,
                "counters": dict(self.counters), "rates": {"sent": 240, "COL_DATA": 9.0 * lossy, "COL_RTS/CTS": 4.0},
                "routing": self.routing, "airtime": 0.8}  # fmt: skip

    def tell(self, *events: dict[str, Any]) -> None:
        for each in self.listeners:
            for event in events:
                each.put(event)

    def tick(self, seconds: float) -> None:
        with self.lock:
            if self.running:
                frames = self.go(round(seconds * self.pace * 1e9))
                self.tell({"event": "frames", "frames": self.frames_until_now(frames)}, self.state())


def handler(toy: Toy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None: ...

        def answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", "default-src 'self'; img-src 'self' data:")
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            name = self.path.removeprefix("/token/").removeprefix("page/") or "index.html"
            if name == "events":
                return self.events()
            kind, body = (("text/x-python", b"# all\n") if name == "script" else found(name)) or ("text/plain", b"")
            self.answer(200 if body else 404, kind, body)

        def events(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            mine: queue.Queue[Any] = queue.Queue()
            with toy.lock:
                mine.put(toy.network())
                mine.put(toy.state())
                toy.listeners.append(mine)
            with contextlib.suppress(OSError):
                while (event := mine.get()) is not None:
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                    self.wfile.flush()
            toy.listeners.remove(mine)
            self.close_connection = True

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with toy.lock:
                toy.asked.append(asked)
                before = toy.t
                try:
                    toy.do(**asked)
                except ValueError as error:
                    return self.answer(422, "application/json", json.dumps({"error": str(error)}).encode())
                frames = [f for f in toy.frames if before <= f[0] <= toy.t]
                toy.tell({"event": "frames", "frames": frames}, toy.state())
            self.answer(200, "application/json", b"{}")

    return Handler


@contextlib.contextmanager
def served(toy: Toy) -> Iterator[str]:
    """Serve the toy, and return the address of its page."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(toy))
    server.daemon_threads = True
    over = threading.Event()

    def play() -> None:
        last = time.monotonic()
        while not over.wait(EVERY_S):
            now = time.monotonic()
            toy.tick(now - last)
            last = now

    threads = [threading.Thread(target=each) for each in (server.serve_forever, play)]
    for each in threads:
        each.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/token/"
    finally:
        over.set()
        toy.tell(None)  # type: ignore[arg-type]
        server.shutdown()
        server.server_close()
        for each in threads:
            each.join()
