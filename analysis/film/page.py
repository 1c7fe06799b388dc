# SPDX-License-Identifier: BSD-3-Clause
"""The file that a browser plays: a page, its style and its program, and the film as one block of data. It asks nobody
for anything: it forbids itself to.

The data is an object of JSON, whose `columns` say where in what follows it each column of numbers is; compressed, as
text. Times are differences, as they compress best. `unpack` reads it again.
"""

import base64
import gzip
import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from analysis.film import BIN_S, HOLD_S, NOBODY, Film
from analysis.remarks import NAMES
from analysis.routes import Event
from analysis.trace import Array, Kind

HERE = Path(__file__).parent
DATA = re.compile(r'<script id="data" type="text/plain">([^<]*)</script>')
LENGTH = 4  # bytes before the JSON that say how long it is


def page(film: Film) -> str:
    """The whole file."""
    text = (HERE / "page.html").read_text()
    parts = {
        "title": html.escape(film.title), "style": (HERE / "style.css").read_text(),
        "player": (HERE / "scene.js").read_text() + (HERE / "player.js").read_text(),
        "data": base64.b64encode(pack(film)).decode(),
    }  # fmt: skip
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], text)


def pack(film: Film) -> bytes:
    """The data of a film."""
    frames, told = film.frames, film.told
    runs = [run for flow in film.flows for run in flow.runs]
    stops = [stop for way in film.ways for stop in way]
    columns: dict[str, Array] = {
        "frame_wait": _differences(frames.start_us), "frame_took": frames.took_us.astype("<u4"),
        "frame_kind": (frames.kind | frames.outcome << 4).astype("u1"), "frame_from": frames.station.astype("u1"),
        "frame_to": frames.receiver.astype("u1"), "frame_culprit": frames.culprit.astype("u1"),
        "told_wait": _differences(told.time_us), "told_event": told.event.astype("u1"),
        "told_at": told.station.astype("u1"), "told_of": told.other.astype("u1"), "told_hops": told.hops.astype("u1"),
        "stop": np.array(stops, "<f8").reshape(-1, 4).T.ravel(),
        "run": np.array([(run.first_s, run.last_s) for run in runs], "<f8").reshape(-1, 2).T.ravel(),
        "run_length": np.array([len(run.stations) for run in runs], "u1"),
        "run_over": np.array([station for run in runs for station in run.stations], "u1"),
        "arrived": np.array([flow.arrived for flow in film.flows], "<u2").ravel(),
        "toggle": np.array(film.toggles, "<f8").reshape(-1, 3).T.ravel(),
    }  # fmt: skip
    places, at = {}, 0
    for name, column in columns.items():
        places[name] = [column.dtype.str[1:], at, int(column.size)]
        at += -(-column.nbytes // 8) * 8
    head = {
        "title": film.title, "seconds": film.seconds, "stations": list(film.stations), "reach": film.reach_m,
        "presence": film.presence,
        "stops": [len(way) for way in film.ways], "bin": BIN_S, "hold": HOLD_S, "nobody": NOBODY,
        "flows": [{"name": flow.name, "source": flow.source, "destination": flow.destination, "runs": len(flow.runs)}
                  for flow in film.flows],
        "kinds": NAMES[: len(Kind)], "events": [event.name for event in Event], "columns": places,
    }  # fmt: skip
    text = json.dumps(head).encode()
    text += b" " * (-(LENGTH + len(text)) % 8)
    body = b"".join(column.tobytes().ljust(-(-column.nbytes // 8) * 8, b"\0") for column in columns.values())
    return gzip.compress(len(text).to_bytes(LENGTH, "little") + text + body, 9, mtime=0)


def unpack(page_: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """The data of a page again: what its JSON says, and its columns."""
    found = DATA.search(page_)
    assert found
    data = gzip.decompress(base64.b64decode(found[1]))
    begin = LENGTH + int.from_bytes(data[:LENGTH], "little")
    head = json.loads(data[LENGTH:begin])
    columns = {
        name: np.frombuffer(data, np.dtype(kind), size, begin + at)
        for name, (kind, at, size) in head["columns"].items()
    }
    return head, columns


def _differences(times: Array) -> Array:
    return np.diff(times, prepend=0).astype("<u4")
