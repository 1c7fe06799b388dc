# SPDX-License-Identifier: BSD-3-Clause
"""Films of runs, from their folders; the specification gives the stations' ranges."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from analysis.results import result, shapes
from analysis.routes import flow_routes, routes
from analysis.taps import aired
from emulation import files
from emulation.features import film
from emulation.features.film import Film
from emulation.features.film.page import page
from emulation.lane.errors import Misuse
from emulation.plan.air import excess_db, owners_of
from emulation.play.tasks import tasks_again
from emulation.play.traces import FLOW_ROUTES, FLOW_ROUTES_FILE, MANET_TRACE, ROUTING_TRACE, TRACE
from emulation.specification import Specification
from topologies.files import NOBODY, Trust

STILLS = (".svg", ".pdf", ".png")
FARTHEST_M, HALVINGS = 20_000.0, 60


def of_run(where: Path, trust: Trust = NOBODY) -> Film:
    """Return the film of the run in this folder. Ranges are missing if only an untrusted program knows them. Raises
    Misuse without a trace, Damaged if malformed, OSError if unreadable."""
    plan, lane = shapes.read_both(where)
    if not (where / TRACE).is_file():
        raise Misuse(f"{where}: there is no {TRACE}, which a film needs; run it again without --no-trace")
    records = None
    if MANET_TRACE in lane["recorders"]:
        records = routes.read(where / ROUTING_TRACE, lane)
    elif FLOW_ROUTES in lane["recorders"]:
        records = flow_routes.events(flow_routes.read(where / FLOW_ROUTES_FILE), plan)
    air = aired.read(where / TRACE, plan)
    title = f"{plan['name']}, {where.name}" if plan["name"] not in where.name else where.name
    reach = _reach_m(where, trust)
    of_radios = reach and [reach[owner] for owner in owners_of(plan["nodes"])]
    return film.make(title, plan, lane, air, records, of_radios)


def write(made: Film, out: Path) -> None:
    """Write the file that a browser plays, a new one. Raises OSError if that fails."""
    files.write(out, page(made))


def write_still(made: Film, at_s: float, out: Path, ranges: bool | None = None) -> None:
    """Write a picture of one moment. Raises Misuse for a wrong suffix or time, OSError if that fails."""
    from emulation.features.film.still import still  # it imports the drawing library, which a film does not need

    if out.suffix not in STILLS:
        raise Misuse(f"out: {out} is not one of {', '.join('*' + suffix for suffix in STILLS)}")
    if not 0 <= at_s <= made.seconds:
        raise Misuse(f"at: the run is from 0 s to {made.seconds:g} s; {at_s:g} s is not in it")
    still(out, made, at_s, ranges)


def _reach_m(where: Path, trust: Trust) -> list[float] | None:
    """Return each node's range, from the run folder's specification; None if that is missing, or distance alone does
    not decide it."""
    try:
        found = result.read(where.parent / "result.json")
        tasks = zip(found.runs, tasks_again(found, where.parent, trust), strict=True)
        return next((reach_m(task.specification) for run, task in tasks if run.folder == where.name), None)
    except (OSError, ValueError):
        return None


def reach_m(specification: Specification) -> list[float] | None:
    """Return each node's range in metres; None if the propagation model does not depend on distance alone."""
    model = specification.medium.propagation
    if not specification.medium.by_distance:
        return None
    least = specification.medium.effective_thresholds().receive_dbm
    stronger: Sequence[float] = excess_db(specification, specification.network.standing().on_air()).tolist()
    near, far = np.zeros(len(stronger)), np.full(len(stronger), FARTHEST_M)
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        received = model.received_dbm(middle) + stronger >= least - 0.0005  # the air's rounding
        near, far = np.where(received, middle, near), np.where(received, far, middle)
    reach: list[float] = near.tolist()
    return reach
