# SPDX-License-Identifier: BSD-3-Clause
"""Make the file that a browser plays (`analysis.pages.packed`). Times are differences, which compress best."""

from pathlib import Path

import numpy as np

from analysis.pages import packed
from analysis.routes.routes import Event
from analysis.traces.remarks import NAMES
from analysis.traces.trace import Array, Kind
from emulation.features.film import BIN_S, HOLD_S, NO_STATION, Film

HERE = Path(__file__).parent


def page(film: Film) -> str:
    files = ("window.css", "style.css", "pen.js", "gestures.js", "scene.js", "player.js")
    return packed.page(HERE, film.title, files, pack(film))


def pack(film: Film) -> bytes:
    frames, routing = film.frames, film.routing_events
    runs = [run for flow in film.flows for run in flow.runs]
    waypoints = [(at_s, *where) for trajectory in film.trajectories for at_s, where in trajectory]
    columns: dict[str, Array] = {
        "frame_wait": _differences(frames.start_us), "frame_took": frames.duration_us.astype("<u4"),
        "frame_kind": (frames.kind | frames.outcome << 4).astype("u1"), "frame_from": frames.station.astype("u1"),
        "frame_to": frames.receiver.astype("u1"), "frame_culprit": frames.culprit.astype("u1"),
        "frame_mpdus": frames.mpdus.astype("<u2"), "frame_lost": frames.lost.astype("<u2"),
        "routing_wait": _differences(routing.time_us), "routing_event": routing.event.astype("u1"),
        "routing_at": routing.station.astype("u1"), "routing_of": routing.other.astype("u1"),
        "routing_hops": routing.hops.astype("u1"),
        "stop": np.array(waypoints, "<f8").reshape(-1, 4).T.ravel(),
        "run": np.array([(run.first_s, run.last_s) for run in runs], "<f8").reshape(-1, 2).T.ravel(),
        "run_length": np.array([len(run.stations) for run in runs], "u1"),
        "run_over": np.array([station for run in runs for station in run.stations], "u1"),
        "arrived": np.array([flow.arrived for flow in film.flows], "<u2").ravel(),
        "toggle": np.array(film.toggles, "<f8").reshape(-1, 3).T.ravel(),
    }  # fmt: skip
    head = {
        "title": film.title, "seconds": film.seconds, "stations": list(film.stations), "reach": film.reach_m,
        "presence": film.presence,
        "stops": [len(trajectory) for trajectory in film.trajectories],
        "bin": BIN_S, "hold": HOLD_S, "nobody": NO_STATION,
        "flows": [{"name": flow.name, "source": flow.source, "destination": flow.destination, "runs": len(flow.runs)}
                  for flow in film.flows],
        "kinds": NAMES[: len(Kind)], "events": [event.name for event in Event],
    }  # fmt: skip
    return packed.pack(head, columns)


def _differences(times: Array) -> Array:
    return np.diff(times, prepend=0).astype("<u4")
