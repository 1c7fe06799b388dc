# SPDX-License-Identifier: BSD-3-Clause
"""Read a trace while it grows: the outcome of each frame, and the counters so far.

A frame is reported when its outcome is known. For a frame without an answer that is its end. Counters are those of the
module and of the taps (docs/records.md, section 4), by the names of tables: COL_x are frames that collided at their
addressed receiver.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.results.result import APART, ROWS, counted
from analysis.traces.trace import GIVEN_UP, NOBODY, TX, Kind, Outcome, Reason, Records, joined
from emulation.features.live.paths import CurrentPaths

KINDS: dict[int, str] = {
    Kind.RTS: "rts", Kind.CTS: "cts", Kind.ACK: "ack", Kind.TCP_DATA: "data", Kind.TCP_ACK: "tcpack",
    Kind.ROUTING: "routing", Kind.MANAGEMENT: "beacon", Kind.UDP: "udp", Kind.ENCRYPTED: "encrypted",
}  # fmt: skip
COLLISION = "collision"
OUTCOMES: dict[int, str] = {
    Outcome.OK: "ok", Outcome.COLLISION: COLLISION, Outcome.OWN_TX: COLLISION, Outcome.NOISE: "noise",
    Outcome.BELOW_THRESHOLD: "weak",
}  # fmt: skip
COLLIDED = (Outcome.COLLISION, Outcome.OWN_TX)
IN_TOTAL = [kind for kinds in ROWS.values() for kind in kinds]
COUNTED = {
    counted("col", row): [Kind[kind.upper()] for kind in kinds]
    for row, kinds in {**ROWS, "total": IN_TOTAL, **APART}.items()
}
FARTHEST_NS = 64_000  # no signal takes longer than half of it
OPEN, NONE = 255, 254  # not known yet; a group frame

Row = list[Any]  # start_ns, took_ns, kind, from, to, outcome, culprit, length


class Air:
    """Takes the bytes of the trace. `names` are those of the air's stations; times count from the start mark."""

    def __init__(self, names: Sequence[str], paths: CurrentPaths) -> None:
        self.names, self.paths, self.began_ns, self.rest = [*names], paths, 0, b""
        self.tx, self.announced = np.zeros(0, TX), 0  # without an outcome; the latest that was reported so
        self.sent_ns = np.zeros(len(names), np.int64)  # by station: time on the air, with frames that have not ended
        self.counters = dict.fromkeys(("sent", *COUNTED, "given_up", "queue_drops"), 0)

    def feed(self, data: bytes, now_ns: int, most: int, also_open: bool) -> list[Row]:
        """Return at most `most` new frames, collisions first; with `also_open`, also frames that have only begun.

        Raises Damaged if the trace is malformed.
        """
        array = np.frombuffer(self.rest + data, np.uint8)
        found = Records.of(array, 0)
        self.rest = array[found.end_at :].tobytes()
        self.paths.feed(array, found)
        if found.mark.size and not found.mark["what"][0]:
            self.began_ns = int(found.mark["time_ns"][0])
        tx = joined(self.tx, found.tx)
        rx = found.rx[(found.rx["addressed"] != 0) & (found.rx["id"] >= (tx["id"][0] if tx.size else 0))]
        outcome, culprit = self._decided(tx, rx, now_ns)
        self._count(found, tx, rx)
        decided = outcome != OPEN
        self.tx = tx[~decided]
        rows = _chosen(outcome, np.nonzero(decided)[0], most)
        shown = [self._row(tx[at], int(outcome[at]), int(culprit[at])) for at in rows]
        if also_open:
            new = self.tx[self.tx["id"] > self.announced]
            shown += [self._row(one, OPEN, NOBODY) for one in new[-most:]]
            self.announced = max(self.announced, int(tx["id"][-1]) if tx.size else 0)
        return shown

    def _decided(self, tx: Any, rx: Any, now_ns: int) -> tuple[Any, Any]:
        """Return the outcome of each frame, and the station whose frame corrupted it."""
        outcome, culprit = np.full(tx.size, OPEN, np.uint8), np.full(tx.size, NOBODY, np.uint16)
        over = tx["start_ns"] + tx["duration_ns"] + FARTHEST_NS < self.began_ns + now_ns
        outcome[over] = Outcome.BELOW_THRESHOLD  # it never arrived at all
        if tx.size and rx.size:
            at = np.searchsorted(tx["id"], rx["id"]).clip(max=tx.size - 1)
            here = tx["id"][at] == rx["id"]
            outcome[at[here]], culprit[at[here]] = rx["outcome"][here], rx["other"][here]
        group = tx["receiver"] == NOBODY
        outcome[group & (tx["start_ns"] + tx["duration_ns"] <= self.began_ns + now_ns)] = NONE
        return outcome, culprit

    def _count(self, found: Records, tx: Any, rx: Any) -> None:
        self.counters["sent"] += found.tx.size
        first = found.tx["place"] == 0  # of its PPDU, whose duration it has
        np.add.at(self.sent_ns, found.tx["station"][first], found.tx["duration_ns"][first].astype(np.int64))
        if tx.size and rx.size:
            collided = rx[np.isin(rx["outcome"], COLLIDED)]
            kinds = tx["kind"][np.searchsorted(tx["id"], collided["id"]).clip(max=tx.size - 1)]
            for name, which in COUNTED.items():
                self.counters[name] += int(np.isin(kinds, which).sum())
        self.counters["given_up"] += int(np.isin(found.end["reason"], GIVEN_UP).sum())
        self.counters["queue_drops"] += int((found.end["reason"] == Reason.QUEUE_FULL).sum())

    def _row(self, tx: Any, outcome: int, culprit: int) -> Row:
        to, other = int(tx["receiver"]), None if culprit == NOBODY else self.names[culprit]
        return [
            int(tx["start_ns"]) - self.began_ns, int(tx["duration_ns"]), KINDS.get(int(tx["kind"]), "other"),
            self.names[int(tx["station"])], None if to == NOBODY else self.names[to],
            {OPEN: None, NONE: "none"}.get(outcome, OUTCOMES.get(outcome)), other, int(tx["length"]),
        ]  # fmt: skip


def _chosen(outcome: Any, rows: Any, most: int) -> list[int]:
    """Return at most `most` of these rows, in order: collisions first, then an even choice of the others."""
    if rows.size <= most:
        return [int(row) for row in rows]
    bad = rows[np.isin(outcome[rows], COLLIDED)][:most]
    others = np.setdiff1d(rows, bad)
    some = others[np.linspace(0, others.size - 1, most - bad.size).astype(int)] if most > bad.size else others[:0]
    return [int(row) for row in np.union1d(bad, some)]
