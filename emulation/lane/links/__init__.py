# SPDX-License-Identifier: BSD-3-Clause
"""Links: networks of any number of radios, and wires between two nodes.

Each kind is a file in this package that defines a class `Link`: `adhoc` is an independent BSS, `mesh` an 802.11s mesh,
`infrastructure` access points with their clients, `wired` a cable. A script can pass a class of its own. A link only
joins radios; the air decides which of them hear each other. docs/plugins.md shows how to write a link.
"""

from __future__ import annotations

from abc import abstractmethod

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

TU_US = 1024


class Link:
    """A link of a plan: its `ssid`, `freq` (MHz), `beacon_tu`, `basic_rates` (100 kb/s), and the settings of its kind.

    When a network starts, all interfaces are switched on (`take`), then all `join`, then all `meet`. Each of these
    raises OSError if it fails.
    """

    type: str  # type of its interfaces: a key of `emulation.lane.interfaces.radio.IFTYPES`
    interface = "radio"  # the kind of its interfaces
    over_ap = False  # whether nodes reach each other only through its access points
    needs_ap = False  # whether it must have an access point
    one_channel = False  # whether its access points share a channel, and its stations take their mode from the first
    beacon_tu: int | None = None  # its default, if it differs from that of ad hoc networks
    staggered = True  # whether the kernel sends beacons for its interfaces, which would collide if all began together
    settings: tuple[str, ...] = ()  # settings other than the `ssid`, `freq` and `beacon_tu` of radios

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan

    recorders: tuple[str, ...] = ()  # kinds of recorders for it

    @classmethod
    def check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """Return its own settings for the plan, from those that the user gave. Raises ValueError if one is invalid."""
        return settings

    @classmethod
    def decide(cls, plan: dict[str, Any], kinds: Collection[str], changing: bool, receive_dbm: float) -> None:
        """Complete settings in the plan that the user left open. `kinds` has the kinds of its nodes. `changing` is true
        if nodes come, go or move. `receive_dbm` is the reception threshold."""

    def is_ap(self, interface: Interface) -> bool:
        """Return whether an interface is an access point."""
        return False

    def turn(self, interface: Interface) -> int:
        """Return when this interface joins: lower turns join first."""
        return 0

    def take(self, interface: Interface) -> None:
        """Set up an interface for this link, and switch it on. The interface is down before."""
        interface.set_type(self.kind_of(interface))
        self.switch_on(interface)
        if rates := interface.plan["rates"]:
            interface.node.note("rates (100 kb/s)", rates, "all")

    def kind_of(self, interface: Interface) -> str:
        """Return the type of an interface."""
        return self.type

    def switch_on(self, interface: Interface) -> None:
        """Switch an interface on, and set its rates: it needs them before it joins."""
        interface.switch(on=True)
        if rates := interface.plan["rates"]:
            interface.set_rate_mask(rates, self.plan["freq"])

    @abstractmethod
    def join(self, interface: Interface) -> None:
        """Join the link; return when the interface has joined."""
        raise NotImplementedError

    def stagger(self, interface: Interface, number: int, count: int) -> None:
        """Shift an interface's beacons, after all have joined, to place `number` of `count` in a beacon interval."""
        if self.staggered:
            interface.shift_beacons(number * self.plan["beacon_tu"] * TU_US // count)

    def meet(self, interface: Interface) -> None:
        """Wait until an interface knows its `neighbours` of the plan."""

    def greet(self, interface: Interface) -> None:
        """Ask which neighbours are there, without waiting for the answers."""

    def watch(self, loop: Loop) -> None:
        """Handle the link's events in the loop while a measurement runs, until `unwatch`. Raises OSError if something
        fails; later, the loop raises it."""

    def unwatch(self) -> None:
        """Stop handling events."""

    def stop(self) -> None:
        """Clean up what does not disappear with the nodes, even after a partial start."""

    def leave(self, interface: Interface) -> None:
        """Switch an interface off. It leaves the link without notice."""
        interface.switch(on=False)

    def rejoin(self, interface: Interface, patient: bool = True) -> None:
        """Switch an interface on and join again; if `patient`, wait for its neighbours, as `meet` does. The kernel has
        lost the interface's rates and routes. Restoring the routes is not the link's task."""
        with interface.receiving_events():
            self.switch_on(interface)
            self.join(interface)
            if patient:
                self.meet(interface)


def find(kind: str) -> type[Link]:
    """Return the link class of this kind. Raises ValueError, naming the kinds that exist, if there is none."""
    found: type[Link] = plugins.find(__name__, kind).Link
    return found


def kind_of(cls: type[Link]) -> str:
    """Return the kind that a plan names: the file of the class, or of its nearest base in this package."""
    inside = [base.__module__ for base in cls.__mro__ if base.__module__.startswith(__name__ + ".")]
    return inside[0].rpartition(".")[2] if inside else cls.__name__.lower()
