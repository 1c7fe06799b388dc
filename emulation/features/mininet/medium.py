# SPDX-License-Identifier: BSD-3-Clause
"""The medium: convert Mininet-WiFi's keywords to a specification: propagation, powers and ranges, modes and rates.

With any `link=` and `wmediumd_mode=`, the air is dcf80211, with the DCF, collisions and bit errors by SINR. A range is
the distance at which the power is `noise_th`, as in Mininet-WiFi, where this is the end of the circle that authors see.
Frames at the lowest rate must arrive there, so the air's noise is MARGIN_DB lower: nine of ten frames of 1500 bytes
survive at 6 Mb/s. The sensing threshold `cca_th` is as much lower."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from emulation import specification
from emulation.features.mininet.access import MASTER
from emulation.features.mininet.interface import Virtual, WIntf
from emulation.features.mininet.kinds import newer
from emulation.features.mininet.modes import MODES, rate_of, settings_of
from emulation.features.mininet.refusals import PAGE, check, note, numeric
from emulation.lane.errors import Misuse
from emulation.plan.checks import as_misuse
from emulation.plan.ht import hold, plan_ht
from emulation.plan.nodes import mode_of
from emulation.specification import Specification
from emulation.specification.medium import HOST_DELAY_US
from emulation.specification.modes import FORMATS, channel_number
from emulation.specification.propagation import FAINTEST_DBM, STRONGEST_DBM, LogDistance, Propagation, distances
from emulation.specification.radio import CHANNEL, OLDER

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet
    from emulation.features.mininet.node import Node

MARGIN_DB = 4.0
CAPTURE_DB = 10.0  # without effect under SINR
USUAL_GAIN = 5.0
ROUNDED_DB = 0.01  # more than what rounding changes of a power
FAR_M, FAR_IN_CELLS_M = 1349, 2998  # how far light goes there and back in a short and a long slot
SHADOWS = 4.0  # standard deviations of the strongest shadow
# Which keywords each model has.
MODELS: dict[str, tuple[str, ...]] = {
    "friis": ("sL",), "logDistance": ("exp", "sL"), "logNormalShadowing": ("exp", "sL", "variance"),
    "ITU": ("lF", "pL", "nFloors"), "twoRayGround": ("sL",),
}  # fmt: skip


class Medium:
    """The medium of a network."""

    def __init__(self, net: Mininet, noise_th: float, cca_th: float, fading_cof: float = 0.0) -> None:
        self.net, self.fading_db = net, float(fading_cof)
        self.noise_dbm, self.cca_dbm = float(noise_th), float(cca_th)
        self.by_links = False  # links determine what arrives, not positions
        self.model, self.parameters = "logDistance", dict[str, float]()
        self.made: Specification | None = None
        self.spared_db = 0.0  # by how much powers and the loss at 1 m are less in the air than said
        self.spared_for: list[float | None] = []

    def set_model(self, model: str = "logDistance", **parameters: Any) -> None:
        """Raises Misuse."""
        model = model.removesuffix("PropagationLossModel")  # older scripts have it
        if model not in MODELS:
            raise Misuse(f"setPropagationModel: there is no model {model!r} here; there are: {', '.join(MODELS)}")
        noise = (parameters := newer(parameters)).pop("noise_th", None)
        check(f"setPropagationModel(model={model!r})", parameters, MODELS[model])
        self.noise_dbm = self.noise_dbm if noise is None else float(noise)
        self.model, self.made = model, None
        self.parameters = {name: numeric(name, value) for name, value in parameters.items() if value is not None}

    def radios(self) -> list[WIntf]:
        there = [intf for node in self.net.all_nodes() for intf in node.wintfs.values()]
        return [intf for intf in there if not isinstance(intf, Virtual)]

    def leading(self) -> list[WIntf]:
        """Return the interfaces with channels of their own; stations follow access points."""
        return [intf for intf in self.radios() if intf.role not in ("", "managed")]

    def bands(self) -> set[int]:
        """Return the bands of the network, in GHz."""
        return {5 if intf.freq > 3 else 2 for intf in self.leading()}

    def mode(self) -> str:
        """Return the network's mode; of two bands, that at 5 GHz. In mode g, access points and their stations may have
        mode b (`is_old`). Raises Misuse."""
        if self.is_later():
            return self.later_mode()
        modes = list(dict.fromkeys(intf.mode for intf in self.leading())) or ["g"]
        peers = {intf.mode for intf in self.leading() if intf.role != MASTER}
        if set(modes) == {"b", "g"} and "b" not in peers:
            modes = ["g"]
        if set(modes) == {"a", "g"}:
            self.note_slot()
            return "a"
        if len(modes) > 1:
            self.refuse_several(modes)
        for intf in self.radios():
            if intf.mode != modes[0] and intf.params.get("mode") and (intf.mode, modes[0]) != ("b", "g"):
                note(f"{intf.name}: mode={intf.mode!r}: it follows its access point and uses mode {modes[0]}")
        return modes[0]

    def refuse_several(self, modes: list[str]) -> NoReturn:
        """Raises Misuse."""
        who = "; ".join(
            f"{mode}: " + ", ".join(intf.name for intf in self.leading() if intf.mode == mode) for mode in modes
        )
        instead = "write 'g' for 'b', which can be among access points of modes 'g' and 'n2' only, without 5 GHz"
        raise Misuse(f"all radios of a network share one PHY, but there are several ({who}): {instead}")

    def is_later(self) -> bool:
        """Return whether any interface with a channel of its own is of 802.11n or later."""
        return any(MODES[intf.mode].name != OLDER for intf in self.leading())

    def latest(self) -> WIntf:
        """Return the interface with the latest mode and the widest channel, in a network of 802.11n or later."""
        ranks = [OLDER, *FORMATS]
        return max(self.leading(), key=lambda intf: (ranks.index(MODES[intf.mode].name), intf.width))

    def later_mode(self) -> str:
        """Return the latest mode. Raises Misuse for 802.11b in a network of two bands."""
        first = self.latest()
        modes = list(dict.fromkeys(intf.mode for intf in self.leading()))
        if len(self.bands()) > 1:
            if "b" in modes:
                self.refuse_several(modes)
            self.note_slot()
        if self.by_links:
            raise Misuse(f"wmediumd_mode=error_prob: it is for modes a, b and g, not {first.mode!r}")
        for intf in self.radios():
            if intf.params.get("mode") and not self.fits(intf):
                note(f"{intf.name}: mode={intf.mode!r}: it follows its access point and uses mode {first.mode}")
        return first.mode

    def fits(self, intf: WIntf) -> bool:
        """Return whether an interface's mode is of a band of the network."""
        return not self.bands().isdisjoint(MODES[intf.mode].bands)

    def note_slot(self) -> None:
        """Note what a cell at 2.4 GHz has from a network at 5 GHz."""
        if cells := [intf.name for intf in self.leading() if intf.role == "adhoc" and intf.freq < 3]:
            note(f"{', '.join(cells)}: their slot is 9 us instead of 20 us, as the air has one slot for both bands")

    def is_old(self, intf: WIntf) -> bool:
        """Return whether it has mode b among access points of mode g, or the reverse."""
        return intf.mode == "b" and self.mode() == "g" and any(each.role == MASTER for each in self.leading())

    def mode_of(self, node: Node) -> dict[str, Any]:
        """Return a node's settings where its radios do not have the network's mode; with several from 802.11n on, those
        of the oldest and narrowest, which all links can have (`give_modes`). Raises Misuse."""
        if self.is_later():
            ranks = [OLDER, *FORMATS]
            found = (self.later_settings(intf) for intf in node.wintfs.values())
            return min(found, key=lambda each: (ranks.index(each["mode"]), each.get("width", 0)))
        old = {self.is_old(intf) for intf in node.wintfs.values()}
        if len(old) > 1:
            raise Misuse(f"{node.name}: its radios are of modes 'b' and 'g': use one mode for all radios of a node")
        return {"rate": rate_of("b")} if True in old else {}

    def give_modes(self, planned: Sequence[tuple[WIntf, dict[str, Any]]], kinds: Mapping[str, str]) -> None:
        """Give planned radios their own modes and widths, where their node has several from 802.11n on. `kinds` are
        those of links. Raises Misuse."""
        for intf, interface in planned if self.is_later() else ():
            own = self.later_settings(intf)
            if own != self.mode_of(intf.node):
                if leads := intf in self.leading():
                    own[CHANNEL] = channel_number(round(1000 * intf.freq))
                radio = mode_of(self.specification().radio, intf.name, own, leads)
                interface |= plan_ht(radio, kinds[interface["link"]], legacy=False)
        hold([interface["ht"] for _, interface in planned if "ht" in interface])

    def later_settings(self, intf: WIntf) -> dict[str, Any]:
        """Return the settings of a radio in a network of 802.11n or later.

        A station has its own mode, if the script says one, and else the latest: it follows its access point.
        """
        first = self.latest()
        if intf in self.leading():
            return settings_of(intf.mode, intf.width)
        own = intf.params.get("mode") and self.fits(intf)
        return settings_of(intf.mode if own else first.mode, first.width)

    def options(self) -> dict[str, Any]:
        """Return the options of a specification."""
        mode, self.made = self.mode(), None
        on_air = self.leading()
        freq = round(1000 * max(on_air, key=lambda intf: intf.freq > 3).freq) if on_air else 2412
        sense = min(self.cca_dbm - MARGIN_DB, self.noise_dbm)
        limits = {"receive_dbm": self.noise_dbm, "sense_dbm": sense, "capture_db": CAPTURE_DB}
        radio: dict[str, Any] = {"rate": rate_of(mode), "rate_control": "minstrel"}
        if self.is_later():
            first = self.latest()
            freq = freq if len(self.bands()) > 1 else round(1000 * first.freq)
            radio = settings_of(first.mode, first.width)
        fixed = "mcs" in radio  # and too high for most distances
        return {
            **radio, "reception": "capture" if fixed else "sinr", "freq": freq, "beacon_tu": 100,
            **({"fading": {"model": "lognormal", "sigma": self.fading_db}} if self.fading_db else {}),
            "host_delay_us": HOST_DELAY_US, **self.propagation(freq),
            **({"noise_dbm": self.noise_dbm} if self.by_links else
               {"noise_dbm": self.noise_dbm - MARGIN_DB, "thresholds": limits}),
        }  # fmt: skip

    def stepped(self) -> bool:
        """Return whether the air gets motion in steps, because the power depends on more than the distance."""
        of_model = self.model in ("ITU", "logNormalShadowing") or self.by_links
        return of_model or any(self.more_gain(intf) for intf in self.radios())

    def links(self) -> dict[str, Any]:
        """Return the delivery ratios for `error_prob` of links: of frames of 1536 bytes at the highest rate."""
        rows = []
        for made in self.net.links:
            if made.role != "wired" and made.intf2:
                ends = made.intf1.node.name, made.intf2.node.name
                old = any(isinstance(intf, WIntf) and self.is_old(intf) for intf in (made.intf1, made.intf2))
                rate = rate_of("b" if old else self.mode())
                arrive = 1 - float(made.settings.get("error_prob", 0))
                rows += [(*ends, arrive, rate), (*ends[::-1], arrive, rate)]
        if not rows:
            raise Misuse("wmediumd_mode=error_prob: set it for links: addLink(sta1, ap1, error_prob=0.01)")
        return {"propagation": {"model": "table", "file": {"quantity": "delivery", "rows": rows}}}

    def propagation(self, freq: int) -> dict[str, Any]:
        if self.by_links:
            return self.links()
        said, usual = self.parameters, {"tx_power_dbm": 14.0 + 2 * USUAL_GAIN}
        exponent = said.get("exp", 3.0 if self.model == "logDistance" else 2.0)
        if self.model == "friis":
            return {"propagation": {"model": "free-space", **usual}}
        if self.model == "twoRayGround":
            heights = {intf.antennaHeight for intf in self.radios()} or {1.0}
            if len(heights) > 1:
                raise Misuse("antennaHeight: twoRayGround needs one height for all antennas; give the same to all")
            model = {"model": "two-ray", "frequency_mhz": freq, "height_m": heights.pop(), **usual}
            return {"propagation": model}
        if self.model == "ITU":
            indoors = {"coefficient": said["pL"]} if said.get("pL") else {}
            return {"propagation": {"model": "itu-indoor", **indoors, **usual}}
        shadowing = {"shadowing": {"sigma": said.get("variance", 2.0)}} if self.model == "logNormalShadowing" else {}
        loss = self.spare(LogDistance(exponent=exponent).tuned(freq), shadowing)
        less = {"tx_power_dbm": usual["tx_power_dbm"] - self.spared_db, **loss}
        return {"propagation": {"model": "log-distance", "exponent": exponent, **less}, **shadowing}

    def spare(self, model: Propagation, shadowing: Mapping[str, Any]) -> dict[str, float]:
        """Decide how much less power and loss the air has than the model, so that each range takes STRONGEST_DBM at
        most: the same arrives. Return the loss that is left at 1 m, if any is less.

        What arrives at 1 m must not exceed STRONGEST_DBM either, with shadows and more gain."""
        assert isinstance(model, LogDistance)
        far = max((intf.wanted_range or 0.0 for intf in self.radios()), default=0.0)
        takes = self.noise_dbm + model.tx_power_dbm - float(model.received_dbm(np.array([max(far, 1.0)]))[0])
        above = SHADOWS * (shadowing["shadowing"]["sigma"] if shadowing else 0.0)
        above += 2 * max((self.more_gain(intf) for intf in self.radios()), default=0.0)
        most = max(model.loss_db - max(above, 0.0), 0.0)
        self.spared_db = min(max(math.ceil(takes) - STRONGEST_DBM, 0), most)
        return {"reference_loss_db": round(model.loss_db - self.spared_db, 1)} if self.spared_db else {}

    def specification(self) -> Specification:
        """Return the specification, before the network is built. Raises Misuse."""
        if not (self.made and (self.net.lab or self.spared_for == self.wanted())):
            self.spared_for = self.wanted()
            with as_misuse("the medium"):
                self.made = specification.of_options(self.options())
        return self.made

    def wanted(self) -> list[float | None]:
        """Return the ranges that the script gives."""
        return [intf.wanted_range for intf in self.radios()]

    @property
    def propagates(self) -> Propagation:
        return self.specification().medium.propagation

    def receive_dbm(self) -> float:
        return float(self.specification().medium.effective_thresholds().receive_dbm)

    def power_of(self, intf: WIntf) -> float:
        """Return a radio's power for the model (dBm). A client has at least that of access points: Mininet-WiFi goes
        by their range, and wmediumd gives both directions their power. Raises Misuse."""
        if intf.role not in ("", "managed"):
            return self.own_power(intf)
        return max(map(self.own_power, (intf, *(each for each in self.radios() if each.role == MASTER))))

    def own_power(self, intf: WIntf) -> float:
        """Return a radio's own power (dBm): its transmit power with antenna gains of USUAL_GAIN at both ends and system
        losses; or the power that gives its range. Raises Misuse."""
        model, reach = self.propagates, intf.wanted_range
        if reach is not None:
            there = float(model.received_dbm(np.array([max(reach, 0.1)]))[0])
            power = self.receive_dbm() - there + float(getattr(model, "tx_power_dbm", 0.0))
        else:
            loss = 10 * np.log10(max(self.parameters.get("sL", 1.0), 1e-6))
            floors = self.parameters.get("lF", 0.0) * self.parameters.get("nFloors", 0.0)
            power = intf.txpower + 2 * USUAL_GAIN - float(loss) - floors - self.spared_db
        why = f"range {reach} m" if reach is not None else f"txpower {intf.txpower} dBm"
        if reach is not None and round(power, 3) > STRONGEST_DBM:
            there_m, said = self.reach_m(STRONGEST_DBM), self.spared_db
            air = f"it is {there_m:.1f} m with the air's {STRONGEST_DBM + said:.0f} dBm"
            note(f"{intf.name}: {why} takes {power + said:.0f} dBm; {air}")
            power = STRONGEST_DBM
        if reach is not None and reach > FAR_M:
            late = f"from {FAR_M} m on, in cells at 2.4 GHz from {FAR_IN_CELLS_M} m on"
            note(f"{intf.name}: {why}: {late}, acknowledgements come after a slot, so frames are repeated", "far")
        if not FAINTEST_DBM <= power <= STRONGEST_DBM:
            raise Misuse(f"{intf.name}: {why} means {power:.0f} dBm with its gains; the air has -140 to 40 dBm")
        return round(power, 3)

    def more_gain(self, intf: WIntf) -> float:
        """Return its antenna gain above the usual one; 0 with a range, which is independent of the antenna."""
        return 0.0 if intf.wanted_range is not None else intf.antennaGain - USUAL_GAIN

    def settings_of(self, intf: WIntf) -> dict[str, float]:
        """Return a node's settings from its radio."""
        if self.by_links:
            return {}
        gain = self.more_gain(intf)
        return {"tx_power_dbm": self.power_of(intf), **({"antenna_gain_dbi": gain} if gain or intf.node.lane else {})}

    def range_of(self, intf: WIntf) -> float:
        if self.by_links:
            raise Misuse(f"{intf.name}: with wmediumd_mode=error_prob there are no ranges")
        power = self.own_power(intf)
        if intf.wanted_range is not None and power < STRONGEST_DBM:
            return float(intf.wanted_range)
        return self.reach_m(power + self.more_gain(intf))

    def reach_m(self, power: float) -> float:
        """Return how far a radio with this power is received."""
        stronger = power - float(getattr(self.propagates, "tx_power_dbm", 0.0))
        return float(self.propagates.reach_m(self.receive_dbm() - stronger) or 0)

    def changed(self, intf: WIntf) -> None:
        """Apply a radio's new settings. Raises Misuse."""
        if self.by_links:
            raise Misuse(f"{intf.name}: with wmediumd_mode=error_prob its power has no effect")
        for each in self.radios() if intf.role == MASTER else [intf]:
            if (lane := each.node.lane) and (each is intf or each.role in ("", "managed")):
                of = intf if each is intf else each.node.wintf()
                lane.net.update_air(lane, lane.with_settings(**self.settings_of(of)))

    def stronger_db(self, a: Node, b: Node) -> float:
        """Return by how much a's first radio is stronger at b than the model's own power. Raises Misuse."""
        if self.by_links:
            raise Misuse(f"{a.name}: with wmediumd_mode=error_prob there are no powers")
        stronger = self.power_of(a.wintf()) - float(getattr(self.propagates, "tx_power_dbm", 0.0))
        return stronger + (self.more_gain(a.wintf()) + self.more_gain(b.wintf()))

    def received_dbm(self, a: Node, b: Node) -> float:
        """Return the power of a's first radio at b, without shadowing. Raises Misuse."""
        stronger, apart = self.stronger_db(a, b), distances([a.position, b.position])[0, 1]
        return float(self.propagates.received_dbm(np.array([apart]))[0]) + stronger

    def is_too_far(self, a: Node, b: Node) -> bool:
        """Return whether b cannot receive a's first radio, for certain: no shadow changes that."""
        certain = not self.by_links and self.model != "logNormalShadowing"
        return certain and self.received_dbm(a, b) < self.receive_dbm() - ROUNDED_DB

    def distance_of(self, a: Node, b: Node, dbm: float) -> float:
        """Return how far b is from a where it receives a with this power. Raises Misuse."""
        return float(self.propagates.reach_m(dbm - self.stronger_db(a, b)) or 0)

    def rssi(self, node: Node, other: Node | None) -> float:
        """Return the signal of the other node in dBm, by default of the nearest peer; 0 if none is in range."""
        if other is None:
            mine = node.wintf()
            near = [
                each.node for each in self.radios()
                if each.node is not node and each.role == mine.role and each.own_ssid == mine.own_ssid
            ]  # fmt: skip
            other = min(near, key=node.get_distance_to, default=None)
        if other is None:
            return 0.0
        found = self.received_dbm(other, node)
        return round(found, 1) if found >= self.receive_dbm() else 0.0


def say_of(link: str, mode: str | None) -> None:
    """Note what `link=` and `wmediumd_mode=` mean here."""
    if link == "TCLink" or mode not in (None, "interference", "error_prob"):
        given = f"wmediumd_mode={mode}" if mode else f"link={link}"
        note(f"{given}: radios use dcflab's own air (the DCF, by positions), as with interference ({PAGE})")
