# SPDX-License-Identifier: BSD-3-Clause
"""Make a network from a wmediumd configuration: stations with its addresses on one ad hoc link, and the options under
which our air plays its links (docs/mediumd.md).

SNRs become a matrix. A loss probability becomes the SINR at which that share of full-size frames is lost, on one curve
for all rates. A path loss model becomes the propagation model of that name, with each station's power. Directions
become motion.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from emulation.features.wmediumd.inside import configuration
from emulation.features.wmediumd.inside.stations import (
    CCA_DBM,
    MOVE_S,
    Loss,
    Mode,
    PathLoss,
    Station,
    Stations,
    name_of,
)
from emulation.lane import per_tables
from emulation.lane.per_tables import RATES as HWSIM_RATES
from emulation.specification import propagation
from emulation.specification.channel import MOST_SIGMA
from emulation.specification.per import FRAME, of_table, one_curve, sinr_of
from emulation.specification.propagation import Floats, Propagation
from topologies import Application, Network, Node, Waypoint

LONGEST_S, FARTHEST_M = 36_000.0, 90_000.0  # limits for a station that keeps its direction
LOWEST_M, HIGHEST_M = 0.01, 1000.0  # height of antennas
REFERENCE_DBM = 20.0  # a model's own power; stations have theirs
# The kernel finds the rates that an SNR allows.
DEFAULT_OPTIONS: Mapping[str, Any] = {"rate": 11.0, "rate_control": "minstrel"}


class Request(NamedTuple):
    """What a configuration asks for: a network, options, and warnings about parts without effect."""

    network: Network
    options: dict[str, Any]
    warnings: list[str]


def read(path: str, per_path: str | None = None, flows: Sequence[tuple[str, str]] | None = None) -> Request:
    """Read a configuration and a table of packet error rates. Raises ValueError, with file and line."""
    try:
        found = configuration.read(path)
        table = per_tables.read(per_path) if per_path else None
    except OSError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from None
    stations = found.stations
    options = {**DEFAULT_OPTIONS, **options_of(stations, table, per_path or "")}
    return Request(network_of(stations, flows), options, [*found.warnings, *differences(stations)])


def network_of(stations: Stations, flows: Sequence[tuple[str, str]] | None = None) -> Network:
    """Return the network: stations sta1, sta2 … in the order of their addresses, and flows, by default one from first
    to last.

    Raises ValueError for flows between unknown stations.
    """
    names = [f"sta{number}" for number, _ in enumerate(stations.all, 1)]
    by_position = stations.mode is Mode.PATH_LOSS
    nodes, motion = {}, {}
    for name, station in zip(names, stations.all, strict=True):
        settings: dict[str, Any] = {"mac": name_of(station.address)}
        if by_position:
            settings["tx_power_dbm"] = sent_dbm(stations.loss, station)
        nodes[name] = Node(position=station.position if by_position else (0.0, 0.0, 0.0), settings=settings)
        if by_position and any(station.direction):
            motion[name] = _motion(station)
    chosen = flows if flows is not None else [(names[0], names[-1])][: len(names) - 1]
    applications = tuple(Application(source=source, destination=to) for source, to in chosen)
    return Network(nodes=nodes, motion=motion, applications=applications)


def _motion(station: Station) -> tuple[Waypoint, ...]:
    """Return motion in a straight line, in place of wmediumd's steps."""
    speed = math.hypot(*station.direction) / MOVE_S
    seconds = min(LONGEST_S, FARTHEST_M / speed)
    x, y, z = (place + step * seconds / MOVE_S for place, step in zip(station.position, station.direction, strict=True))
    return Waypoint(0.0, station.position), Waypoint(seconds, (x, y, z))


def options_of(stations: Stations, table: per_tables.Table | None = None, source: str = "") -> dict[str, Any]:
    """Return the options for such a network, except those of its radios."""
    options = medium_of(stations, table, source)
    if stations.mode is Mode.PATH_LOSS:
        return {**options, "propagation": model_of(stations)}
    over_noise = received(stations, None) - stations.noise_dbm
    matrix = [[None if math.isinf(each) else float(each) for each in row] for row in over_noise]
    return {**options, "propagation": {"model": "snr", "snr_db": matrix, "noise_dbm": stations.noise_dbm}}


def medium_of(stations: Stations, table: per_tables.Table | None = None, source: str = "") -> dict[str, Any]:
    """Return the options that do not concern links."""
    options: dict[str, Any] = {"reception": "sinr", "noise_dbm": stations.noise_dbm}
    options["thresholds"] = {"receive_dbm": CCA_DBM, "sense_dbm": CCA_DBM}
    if stations.mode in (Mode.PROB, Mode.SPECIFIC):
        options["per"] = one_curve()
    elif table:
        options["per"] = of_table(table, source)
    if stations.fading_db:
        options["fading"] = {"model": "lognormal", "sigma": min(stations.fading_db, MOST_SIGMA)}
    return options


def model_of(stations: Stations) -> dict[str, Any]:
    """Return the propagation model of a path loss, without the distance-independent part, which is in `sent_dbm`."""
    loss = stations.loss
    power = {"tx_power_dbm": REFERENCE_DBM}
    match loss.model:
        case Loss.FREE_SPACE:
            return {"model": "free-space", **power}
        case Loss.TWO_RAY_GROUND:
            height = min(max([LOWEST_M, *(one.height for one in stations.all)]), HIGHEST_M)
            return {"model": "two-ray", "frequency_mhz": None, "height_m": height, **power}
        case Loss.ITU:
            own = {"coefficient": loss.power_loss} if loss.power_loss else {}
            return {"model": "itu-indoor", **own, **power}
        case _:
            return {"model": "log-distance", "exponent": loss.exponent, **power}


def sent_dbm(loss: PathLoss, station: Station) -> float:
    """Return a station's transmit power, less the model's distance-independent loss."""
    loss_db = loss.fixed_db + loss.floors * loss.floor_db + 10 * math.log10(loss.system_loss)
    return station.tx_power + station.gain - station.shadow_db - loss_db


def received(stations: Stations, model: Propagation | None) -> Floats:
    """Return the received powers in dBm, [transmitter][receiver], under a path loss's `model`; -inf: nothing
    arrives."""
    members, noise = stations.all, stations.noise_dbm
    if stations.mode is Mode.PATH_LOSS:
        assert model
        distance = propagation.distances([one.position for one in members])
        gain = np.array([one.gain for one in members])
        sent = np.array([sent_dbm(stations.loss, one) for one in members]) - REFERENCE_DBM
        power = np.asarray(model.received_dbm(distance) + sent[:, None] + gain[None, :])
    else:
        power = np.array([[noise + _snr(stations, a, b) for b in members] for a in members], np.float64)
    medium = np.array([one.medium for one in members])
    power = np.where(medium[:, None] == medium[None, :], power, -np.inf)
    return np.asarray(np.minimum(power, propagation.STRONGEST_DBM), np.float64)


def _snr(stations: Stations, a: Station, b: Station) -> float:
    if stations.mode is Mode.SNR:
        return stations.link_snr(a, b)
    found = sinr_of(_loss(stations, a, b))
    return -math.inf if found is None else found


def _loss(stations: Stations, a: Station, b: Station) -> float:
    """Return the loss probability of full-size frames; for a matrix by rates, the mean."""
    if stations.mode is Mode.PROB:
        return stations.link_error(a, b)
    row = [stations.link_specific(a, b, FRAME, rate) for rate in range(HWSIM_RATES)]
    return sum(row) / len(row)


def differences(stations: Stations) -> list[str]:
    """Return sentences about what our air plays differently from a configuration."""
    sentences = []
    if stations.interference is False:
        sentences.append("ifaces.enable_interference = false: interference and collisions are played all the same")
    if stations.fading_db > MOST_SIGMA:
        sentences.append(f"model.fading_coefficient: taken as {MOST_SIGMA:g}, the most that the air plays")
    return sentences
