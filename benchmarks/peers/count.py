# SPDX-License-Identifier: BSD-3-Clause
"""Count one flow in an ns-2 wireless trace (old format); print the same JSON object as string.cc.

usage: count.py TRACE STATIONS SECONDS

goodput     distinct TCP segments that reached the last station
col         `D … MAC COL`: frames corrupted at their receiver (ns-2 logs no others)
fail        `D … MAC RET`: frames that the MAC gave up; an RTS is followed by the segment that it was for
queue_drops `D … IFQ`: the interface queue was full
in_flight   means over time of segments between the source's agent and the destination's. A segment that the MAC gave
            up stays in flight if the next station received it, and only the MAC's acknowledgement was lost.
"""

import collections.abc
import json
import sys

KINDS = {"RTS": "rtscts", "CTS": "rtscts", "tcp": "data", "ack": "ack"}
FLIGHT = ("data", "ack")


class InFlight:
    """The mean over time of the number of segments on the path."""

    def __init__(self) -> None:
        self.where: dict[str, tuple[str, str]] = {}
        self.now = dict.fromkeys(FLIGHT, 0)
        self.area = dict.fromkeys(FLIGHT, 0.0)
        self.last: float | None = None

    def until(self, time: float) -> None:
        for kind in FLIGHT:
            self.area[kind] += self.now[kind] * (time - (self.last or time))
        self.last = time

    def sent(self, time: float, uid: str, kind: str, station: str) -> None:
        self.until(time)
        self.where[uid] = (kind, station)
        self.now[kind] += 1

    def at(self, uid: str, station: str) -> None:
        if uid in self.where:
            self.where[uid] = (self.where[uid][0], station)

    def gone(self, time: float, uid: str, station: str | None = None) -> None:
        if uid in self.where and station in (None, self.where[uid][1]):
            self.until(time)
            self.now[self.where.pop(uid)[0]] -= 1


def count(lines: collections.abc.Iterable[str], stations: int, seconds: float) -> dict[str, object]:
    """Read a trace line by line; the flow goes from station 0 to the last."""
    last = f"_{stations - 1}_"
    segments: set[str] = set()
    col, fail = (dict.fromkeys(("rtscts", "data", "ack"), 0) for _ in range(2))
    flight, queue_drops, start = InFlight(), 0, None
    for line in lines:
        field = line.split()
        if field[0] not in "srD" or field[6] not in KINDS:
            continue
        time, kind = float(field[1]), KINDS[field[6]]
        station, layer, reason, uid = field[2:6]
        if layer == "AGT":
            start = time if start is None else start
            if field[0] == "s":
                flight.sent(time, uid, kind, station)
            elif field[0] == "r":
                flight.gone(time, uid)
                if station == last and kind == "data":
                    segments.add(line.rsplit("[", 1)[1].split()[0])
        elif field[0] == "r" and layer == "MAC" and kind in FLIGHT:
            flight.at(uid, station)
        elif field[0] == "D" and layer == "IFQ":
            queue_drops += 1
            flight.gone(time, uid, station)
        elif field[0] == "D" and reason == "COL":
            col[kind] += 1
        elif field[0] == "D" and reason == "RET":
            fail[kind] += 1
            flight.gone(time, uid, station)
    if start is not None:
        flight.until(start + seconds)
    mean = {kind: round(flight.area[kind] / seconds, 3) for kind in FLIGHT}
    return {
        "goodput_segments": len(segments),
        "goodput_kbps": round(len(segments) * 1460 * 8 / seconds / 1000, 2),
        "col": col,
        "fail": fail,
        "in_flight": {**mean, "total": round(sum(mean.values()), 3)},
        "queue_drops": queue_drops,
    }


def main() -> None:
    if len(sys.argv) != 4:
        sys.exit("usage: count.py TRACE STATIONS SECONDS")
    with open(sys.argv[1]) as trace:
        print(json.dumps(count(trace, int(sys.argv[2]), float(sys.argv[3]))))


if __name__ == "__main__":
    main()
