# SPDX-License-Identifier: BSD-3-Clause
"""A node of a script. Its settings can change, also while the network runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import topologies
from emulation.lane.errors import Misuse
from emulation.lane.interfaces import radio
from emulation.lane.motion import FASTEST, Position, at_rest
from emulation.lane.node import Node
from emulation.plan.air import RECEIVE, SENSE, TX_POWER, node_thresholds, units
from emulation.plan.checks import as_misuse
from emulation.plan.nodes import RETRIES, RTS_THRESHOLDS, air_settings, node_radio
from topologies.network import WITH_RADIO

if TYPE_CHECKING:
    from emulation.net import Net


FIXED = "fixed"  # a rate control
IW_POWER = re.compile(r"\biw (?:dev )?(\S+) set txpower (?:fixed|limit) (\d+)")  # mBm
IWCONFIG_POWER = re.compile(r"\biwconfig (\S+) txpower (\d+)")  # dBm
SETTABLE = ("position", TX_POWER, "rts", "rate", *RETRIES, RECEIVE, SENSE)


def powers_in(command: Sequence[str] | str) -> Iterator[tuple[str, float]]:
    """Yield the interfaces whose transmit power a command sets, and the powers (dBm)."""
    line = command if isinstance(command, str) else " ".join(map(str, command))
    for pattern, per_dbm in ((IW_POWER, 100), (IWCONFIG_POWER, 1)):
        for name, power in pattern.findall(line):
            yield name, int(power) / per_dbm


class Station(Node):
    """A node of a script. The attributes in SETTABLE can be set at any time; `position` is in metres."""

    def __init__(self, net: Net, name: str, spec: topologies.Node) -> None:
        self.net, self.spec = net, spec
        super().__init__(name, spec.position, spec.kind)

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute. Raises Misuse for one that has no effect."""
        if "cleanup" in self.__dict__ and name not in {*self.__dict__, *dir(type(self)), *Node.__annotations__}:
            raise Misuse(f"{self.name} has no {name}; what can be set is {', '.join(SETTABLE)}")
        super().__setattr__(name, value)

    @property
    def position(self) -> Position:
        """The current position, in metres."""
        return super().position

    @position.setter
    def position(self, position: Any) -> None:
        spec = self.spec_at(position)
        self.net.update_air(self, spec, spec.position)
        self.net.motion.move(self, at_rest(spec.position), None)

    def setPosition(self, position: Any) -> None:
        """Set the position at once; Mininet-WiFi's name for it."""
        self.position = position

    def move(self, to: Any, speed: float) -> None:
        """Start to move in a straight line to a position (m) at `speed` m/s, and return at once.

        Raises Misuse or OSError.
        """
        spec = self.spec_at(to)
        if isinstance(speed, bool) or not isinstance(speed, int | float) or not 0 < speed <= FASTEST:
            raise Misuse(f"{self.name}: move: the speed must be above 0, and at most {FASTEST} m/s, not {speed!r}")
        self.net.start_move(self, spec, float(speed))

    def spec_at(self, position: Any) -> topologies.Node:
        self.check_radio()
        with as_misuse(self.name):
            return topologies.Node(kind=self.spec.kind, position=position, settings=self.spec.settings)

    def check_radio(self) -> None:
        """Raises Misuse if it has no radio, and so nothing to set."""
        if self.kind not in WITH_RADIO:
            raise Misuse(f"{self.name} is a {self.kind}, and has no radio")

    @property
    def tx_power_dbm(self) -> float | None:
        """The transmit power; None: the propagation model's."""
        return self.spec.settings.get(TX_POWER)  # type: ignore[return-value]

    @tx_power_dbm.setter
    def tx_power_dbm(self, power: float) -> None:
        self.net.update_air(self, self.with_settings(tx_power_dbm=power))
        self.show_tx_power()

    def show_tx_power(self) -> None:
        """Have `iw` show the transmit power."""
        if self.net.started and self.tx_power_dbm is not None:
            for interface in self.interfaces:
                if isinstance(interface, radio.Interface):
                    interface.show_tx_power(self.tx_power_dbm)

    def ended(self, command: Sequence[str] | str) -> None:
        """Give the air the transmit power that a program has set, as hwsim does not use it."""
        for name, power in powers_in(command) if self.net.air else ():
            if any(interface.name == name and interface.on_air for interface in self.interfaces):
                self.tx_power_dbm = power

    @property
    def rts(self) -> str:
        """RTS/CTS before all, long or no frames: full, partial, none."""
        return str(self.spec.settings.get("rts", self.net.spec.radio.rts))

    @rts.setter
    def rts(self, rts: str) -> None:
        spec = self.with_settings(rts=rts)
        node_radio(self.net.spec.radio, self.name, spec.settings)
        if self.net.started:
            self.radio.set_rts_threshold(RTS_THRESHOLDS[rts])
        self.spec = spec

    @property
    def rate(self) -> float | None:
        """The data rate in Mb/s; None: the kernel's rate control chooses it."""
        return self.spec.settings.get("rate", self.net.spec.radio.rate)  # type: ignore[return-value]

    @rate.setter
    def rate(self, rate: float) -> None:
        spec = self.with_settings(rate=rate)
        if node_radio(self.net.spec.radio, self.name, spec.settings).rate_control != FIXED:
            raise Misuse(f"{self.name}: rate: the kernel's rate control chooses it")
        if self.net.started:
            link = self.net.link_of(self.radio).plan
            self.radio.change_rate(units(rate), link["freq"], link["basic_rates"])
        self.spec = spec

    @property
    def short_retry(self) -> int:
        """Attempts at an RTS, or a frame sent without one."""
        return int(self.spec.settings.get("short_retry", self.net.spec.radio.short_retry))  # type: ignore[arg-type]

    @short_retry.setter
    def short_retry(self, attempts: int) -> None:
        self.set_air(short_retry=attempts)

    @property
    def long_retry(self) -> int:
        """Attempts at a frame after its RTS."""
        return int(self.spec.settings.get("long_retry", self.net.spec.radio.long_retry))  # type: ignore[arg-type]

    @long_retry.setter
    def long_retry(self, attempts: int) -> None:
        self.set_air(long_retry=attempts)

    @property
    def receive_dbm(self) -> float:
        """The lowest power at which it receives frames."""
        return node_thresholds(self.net.spec, self.name, self.spec.settings).receive_dbm

    @receive_dbm.setter
    def receive_dbm(self, power: float) -> None:
        self.set_air(receive_dbm=power)

    @property
    def sense_dbm(self) -> float:
        """The lowest power at which the medium is busy for it."""
        return node_thresholds(self.net.spec, self.name, self.spec.settings).sense_dbm

    @sense_dbm.setter
    def sense_dbm(self, power: float) -> None:
        self.set_air(sense_dbm=power)

    def set_air(self, **own_ones: float) -> None:
        """Set several settings at once. Raises Misuse or OSError."""
        spec = self.with_settings(**own_ones)
        node_radio(self.net.spec.radio, self.name, spec.settings)
        own = air_settings(self.net.spec, self.name, spec.settings)
        if self.net.started:
            self.net.motion.override_settings(self, own)
        self.net.update_air(self, spec)  # it may now receive signals that were below every node's threshold

    def with_settings(self, **otherwise: Any) -> topologies.Node:
        self.check_radio()
        settings = {**self.spec.settings, **otherwise}
        return topologies.Node(kind=self.spec.kind, position=self.spec.position, settings=settings)
