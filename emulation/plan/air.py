# SPDX-License-Identifier: BSD-3-Clause
"""The air's part of a plan: the PHY's constants, thresholds, and received powers and delays."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from emulation.lane import links
from emulation.lane.errors import Misuse
from emulation.plan import link_table
from emulation.plan.checks import as_misuse
from emulation.plan.error_rates import error_table
from emulation.plan.fading import plan_fading, strongest_db
from emulation.plan.ht import QUEUE
from emulation.plan.shadowing import shadow_db
from emulation.specification import Specification, propagation
from emulation.specification.medium import Medium
from emulation.specification.radio import CHANNELS_5GHZ, DSSS, HR, OLDER, RATES, Radio
from topologies import Network

SPREADING_DB = 10 * math.log10(11)  # gain of despreading DSSS's eleven chips
FLOOR_DB = 20  # a signal this far below the noise changes no SINR by more than 0.05 dB, so it is omitted
TX_POWER, RECEIVE, SENSE, GAIN = "tx_power_dbm", "receive_dbm", "sense_dbm", "antenna_gain_dbi"  # settings of a node
HIGHEST_GAIN_DBI = 60
LEAST, MOST = propagation.FAINTEST_DBM, propagation.STRONGEST_DBM
SHORT_FRAME = 100  # bytes, about a probe response or a routing protocol's message
MAX_DELAY_NS = 32_000  # the air's limit, 9.6 km

Positions = Sequence[tuple[float, float, float]]


class Phy(NamedTuple):
    """A PHY's constants (IEEE 802.11-2016: 15.3.3 DSSS, 16.3.3 HR/DSSS, 17.4.4 OFDM 20 MHz, 18.5.4 ERP)."""

    slot_ns: int
    sifs_ns: int
    cw_min: int
    signal_extension_ns: int
    basic_rates: tuple[float, ...]


CW_MAX = 1023
LONG_SLOT_NS = 20_000
DSSS_PHY = HR_PHY = Phy(LONG_SLOT_NS, 10_000, 31, 0, (1.0,))
OFDM_PHY = Phy(9_000, 16_000, 15, 0, (6.0, 12.0, 24.0))
ERP_PHY = Phy(9_000, 10_000, 15, 6_000, (6.0, 12.0, 24.0))  # with the short slot


def phy_of(radio: Radio) -> Phy:
    if radio.freq in CHANNELS_5GHZ:
        return OFDM_PHY
    return DSSS_PHY if radio.rate in DSSS else HR_PHY if radio.rate in HR else ERP_PHY


def phy_of_links(radio: Radio, planned: Sequence[Mapping[str, Any]]) -> Phy:
    """Return the PHY of a network with these links, because the air has one. Raises Misuse.

    In two bands it is 802.11a's: after a frame of OFDM, SIFS is 16 µs there, as ERP's signal extension and SIFS are.
    """
    both = {phy_of(radio), *(OFDM_PHY for link in planned if link.get("freq") in CHANNELS_5GHZ)}
    if OFDM_PHY not in both:
        return phy_of(radio)
    if old := next((link["name"] for link in planned if "mixed" in link), None):
        raise Misuse(f"{old}: 802.11b is not possible in a network of two bands: give its stations 802.11g")
    return OFDM_PHY


def units(rate: float) -> int:
    """Convert Mb/s to units of 100 kb/s."""
    return round(rate * 10)


TABULATED = [units(rate) for rate in RATES]


def slot_ns(phy: Phy, planned: Sequence[Mapping[str, Any]]) -> int:
    """Return the slot on these links: the short one if all of them use it, because the air has one slot.

    Links at 5 GHz use it. A mesh of ERP stations uses it, as hwsim's are (net/mac80211/mesh_plink.c); only ERP heeds
    mac80211's `use_short_slot`. An access point uses it if all its stations can; those of 802.11b cannot (18.4.5). An
    independent BSS does not (ibss.c; 18.4.5), nor does any other link.
    """
    return phy.slot_ns if phy is OFDM_PHY or all(_is_short(link) for link in planned) else LONG_SLOT_NS


def _is_short(link: Mapping[str, Any]) -> bool:
    if "mixed" in link:
        return False
    try:
        found = links.find(link["kind"])
    except ValueError:  # a script's own class of link, not derived from a kind that the plan knows
        return False
    return found.interface != "radio" or found.over_ap or found.type == "mesh"


class ReceivedPowers(NamedTuple):
    """Powers and delays between all nodes with radios, as [transmitter][receiver].

    `power_mdbm` is in thousandths of a dBm (SILENT: nothing arrives), `delay_ns` in ns. `same_node_mdbm` is the power
    between the radios of one node.
    """

    power_mdbm: NDArray[np.int64]
    delay_ns: NDArray[np.int64]
    same_node_mdbm: NDArray[np.int64]

    def between_radios(self, owners: Sequence[int]) -> ReceivedPowers:
        """Return the same between all radios in the air's order; `owners` has the index of each radio's node."""
        if len(owners) == len(self.delay_ns):  # each node has one radio
            return self
        whose, at = np.array(owners), np.ix_(owners, owners)
        power, beside = self.power_mdbm[at], (whose[:, None] == whose) & ~np.eye(len(owners), dtype=bool)
        power[beside] = self.same_node_mdbm[whose[np.nonzero(beside)[0]]]
        return ReceivedPowers(power, self.delay_ns[at], self.same_node_mdbm)


def owners_of(nodes: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return for each radio, in the air's order, the index of its node among the nodes with radios."""
    radios = [sum(interface["kind"] == "radio" for interface in node["interfaces"]) for node in nodes]
    return [place for place, count in enumerate(filter(None, radios)) for _ in range(count)]


def received_powers(
    specification: Specification, network: Network, positions: Positions | None = None
) -> ReceivedPowers:
    """Compute powers and delays between the nodes of a network, at their own or at these positions (m). Raises Misuse
    if the model does not fit the network, or if a delay is too long for the air."""
    names = list(network.nodes)
    if positions is None:
        positions = [node.position for node in network.nodes.values()]
    distance = propagation.distances(list(positions))
    try:
        mean = mean_dbm(specification, network, positions)
        power = propagation.power_mdbm(mean, floor_dbm(specification, network))
    except ValueError as error:  # the model does not fit the network
        raise Misuse(f"propagation: {error}") from error
    delay = np.where(power == propagation.SILENT, 0, propagation.delay_ns(distance))
    if delay.max(initial=0) >= MAX_DELAY_NS:
        a, b = (int(place) for place in np.unravel_index(delay.argmax(), delay.shape))
        raise Misuse(
            f"{names[a]} and {names[b]} hear each other over {distance[a, b] / 1000:.1f} km; the air allows less than "
            "9.6 km: bring them closer, or choose a propagation model that falls off faster"
        )
    beside = np.clip(np.nan_to_num(np.diag(mean), nan=LEAST), LEAST, MOST)
    return ReceivedPowers(power, delay, np.rint(beside * 1000).astype(np.int64))


def mean_dbm(specification: Specification, network: Network, positions: Positions) -> propagation.Floats:
    """Return the mean received powers at these positions, in dBm, as [transmitter][receiver], before fading. Raises
    Misuse, or ValueError if the model does not fit."""
    medium, at = specification.medium, np.array(positions, np.float64).reshape(-1, 3)
    shadow = shadow_db(medium.shadowing, specification.measurement.seed, at)
    stronger, gains = excess_db(specification, network)[:, None], gains_db(network)
    received = _received_dbm(specification, list(network.nodes), propagation.distances(at))
    return np.asarray(received + stronger + gains[:, None] + gains + shadow)


def gains_db(network: Network) -> NDArray[np.float64]:
    """Return each node's antenna gain relative to the model's, for sending and receiving. Raises Misuse."""
    gains = {name: node.settings.get(GAIN, 0.0) for name, node in network.nodes.items()}
    for name, gain in gains.items():
        if isinstance(gain, bool) or not isinstance(gain, int | float) or not abs(gain) <= HIGHEST_GAIN_DBI:
            raise Misuse(f"{name}: {GAIN}: must be from -{HIGHEST_GAIN_DBI} to {HIGHEST_GAIN_DBI}, not {gain!r}")
    return np.array(list(gains.values()), np.float64)


def _received_dbm(
    specification: Specification, names: Sequence[str], distance: propagation.Floats
) -> propagation.Floats:
    """Return the model's received powers between these stations at these distances (m). Raises ValueError if the model
    does not fit."""
    medium = specification.medium
    if isinstance(medium.propagation, propagation.Table):
        return link_table.received_dbm(medium.propagation, names, medium.noise_dbm, medium.bit_errors, medium.per)
    return medium.propagation.received_dbm(distance)


def floor_dbm(specification: Specification, network: Network) -> float:
    """Return the mean power in dBm below which a signal has no effect, even with the strongest fading."""
    return min(specification.medium.noise_dbm - FLOOR_DB - margin_db(specification), sensed_dbm(specification, network))


def margin_db(specification: Specification) -> float:
    """Return the most that fading adds to a mean power, in dB."""
    return strongest_db(specification.medium.fading)


def sensed_dbm(specification: Specification, network: Network) -> float:
    """Return the lowest mean power in dBm of which any node may sense or receive a frame."""
    usual = specification.medium.effective_thresholds()  # for a network without radios
    all_ = all_thresholds(specification, network) or [usual]
    return min(min(each.sense_dbm, each.receive_dbm) for each in all_) - margin_db(specification)


def all_thresholds(specification: Specification, network: Network) -> list[propagation.Thresholds]:
    """Return the thresholds of each node. Raises Misuse."""
    usual = specification.medium.effective_thresholds()
    return [node_thresholds(specification, name, node.settings, usual) for name, node in network.nodes.items()]


def node_thresholds(
    specification: Specification, name: str, settings: Mapping[str, Any], usual: propagation.Thresholds | None = None
) -> propagation.Thresholds:
    """Return a node's thresholds: the network's (`usual`), overridden by its own settings. Raises Misuse."""
    found = usual or specification.medium.effective_thresholds()
    own = {what: settings[what] for what in (RECEIVE, SENSE) if what in settings}
    if not own:
        return found
    for what, power in own.items():
        if isinstance(power, bool) or not isinstance(power, int | float):
            raise Misuse(f"{name}: {what}: must be a number of dBm, not {power!r}")
    with as_misuse(name):
        return specification.medium.fitting(replace(found, **own))


def excess_db(specification: Specification, network: Network) -> NDArray[np.float64]:
    """Return by how many dB each node's transmit power exceeds the model's. Raises Misuse."""
    model = specification.medium.propagation
    usual = getattr(model, "tx_power_dbm", None)
    own = {name: node.settings[TX_POWER] for name, node in network.nodes.items() if TX_POWER in node.settings}
    for name, power in own.items():
        if usual is None:
            raise Misuse(f"{name}: {TX_POWER}: propagation {model.name} has no transmit power")
        if isinstance(power, bool) or not isinstance(power, int | float) or not LEAST <= power <= MOST:
            raise Misuse(f"{name}: {TX_POWER}: must be from {LEAST:g} to {MOST:g}, not {power!r}")
    return np.array([own.get(name, usual) - usual if usual is not None else 0.0 for name in network.nodes])


def reached(specification: Specification, network: Network, power_mdbm: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes can exchange frames at mean powers: each receives the other. With bit errors, at least half of
    the short frames at the lowest basic rate arrive."""
    radio, medium = specification.radio, specification.medium
    receive = np.array([propagation.mdbm(each.receive_dbm) for each in all_thresholds(specification, network)])
    if medium.reception == "sinr":
        half = link_table.sinr_of([(0.5, basic_rates(radio)[0] / 10)], SHORT_FRAME, medium.bit_errors, medium.per)
        receive = np.maximum(receive, propagation.mdbm(medium.noise_dbm + half))
    one_way = power_mdbm >= receive
    return np.asarray(one_way & one_way.T)


def basic_rates(radio: Radio, mixed: bool = False) -> list[int]:
    """Return the basic rates in units of 100 kb/s. If 802.11b stations are `mixed` with 802.11g, they are 802.11b's."""
    usual = HR if mixed else phy_of(radio).basic_rates
    return sorted(units(rate) for rate in set(radio.basic_rates or usual))


def errors_of(radio: Radio, medium: Medium) -> dict[str, object]:
    return error_table(TABULATED, medium.bit_errors, medium.per, by_mcs=radio.mode != OLDER)


def plan_air(
    specification: Specification, planned: Sequence[Mapping[str, Any]], powers: ReceivedPowers, routing: ModuleType
) -> dict[str, Any]:
    """Return `air` of docs/interfaces.md, section 1. `powers` are between radios, and `routing` a module."""
    radio, medium = specification.radio, specification.medium
    phy, thresholds = phy_of_links(radio, planned), medium.effective_thresholds()
    assert thresholds.capture_db is not None
    slot = slot_ns(phy, planned)
    return {
        "slot_ns": slot,
        "sifs_ns": phy.sifs_ns,
        "cw_min": phy.cw_min,
        "cw_max": CW_MAX,
        "signal_extension_ns": phy.signal_extension_ns,
        "preamble": radio.preamble,
        "sensing_ns": slot // 4 if medium.sensing_ns is None else medium.sensing_ns,  # docs/dcf.md
        "basic_rates": basic_rates(radio, any("mixed" in link for link in planned)),
        "reception": medium.reception,
        "capture_db": thresholds.capture_db,
        "rx_threshold_mdbm": propagation.mdbm(thresholds.receive_dbm),
        "cs_threshold_mdbm": propagation.mdbm(thresholds.sense_dbm),
        "noise_mdbm": propagation.mdbm(medium.noise_dbm),
        "detection_db": {"ofdm": medium.detection_db, "dsss": medium.detection_db - SPREADING_DB},
        "short_retry": radio.short_retry,
        "long_retry": radio.long_retry,
        "queue": radio.queue if radio.mode == OLDER else QUEUE,
        "edca": radio.edca != "off",
        "retry_by": "limits" if radio.rate_control == "fixed" else "stages",
        "nav_reset": medium.nav_reset,
        "seed": specification.measurement.seed,
        "eifs": medium.eifs or ("energy" if medium.reception == "capture" else "frame"),
        "rules": list(medium.rules),
        "power_mdbm": propagation.listed(powers.power_mdbm),
        "delay_ns": powers.delay_ns.tolist(),
        "error_table": errors_of(radio, medium) if medium.reception == "sinr" else None,
        "host_delay_ns": round(medium.host_delay_us * 1000),
        "punctual": radio.mode != OLDER or bool(getattr(routing, "PUNCTUAL", False)),
        "fading": plan_fading(medium.fading),
        "promiscuous": bool(getattr(routing, "OVERHEARS", False)),
        "trace": specification.measurement.trace and len(powers.delay_ns) > 0,
        "snap": max(specification.measurement.snap, getattr(routing, "SNAP", 0)),
        "ht": radio.mode != OLDER,
    }
