# SPDX-License-Identifier: BSD-3-Clause
"""Links: how the radios of nodes find each other, any number of them; or a wire between two.

Each kind is a file here that defines a class `Link`: `adhoc` is an independent BSS, `mesh` an 802.11s mesh,
`infrastructure` access points with their clients, `wired` a cable; a script may have a class of its own. Whether two
radios on a link hear each other is not the link's business but the air's. docs/plugins/link.md shows how to write one.
"""

from __future__ import annotations

from traffic import plugins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

TU_US = 1024


class Link:
    """A link of a plan: its `ssid`, `freq` (MHz), `beacon_tu`, `basic_rates` (100 kb/s), and whatever its kind knows.

    When a network starts, all interfaces are taken up, then all join, then all meet. Each raises OSError.
    """

    type: str  # of its interfaces: a key of `emulation.lane.interfaces.radio.IFTYPES`
    interface = "radio"  # the kind of its interfaces
    over_ap = False  # whether nodes reach each other over its access points only
    needs_ap = False  # whether there must be one
    beacon_tu: int | None = None  # if not as stations have it who find each other by themselves
    settings: tuple[str, ...] = ()  # what it takes besides the `ssid`, `freq` and `beacon_tu` of radios

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan

    recorders: tuple[str, ...] = ()  # kinds that write down what it does

    @classmethod
    def check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """What the plan has of its own settings, of which these were asked for. Raises ValueError."""
        return settings

    @classmethod
    def decide(cls, plan: dict[str, Any], kinds: Collection[str], changing: bool, receive_dbm: float) -> None:
        """Decide in the plan what was left open: `kinds` are those of its nodes, `changing` whether they come, go or
        move, `receive_dbm` what can be received at least."""

    def turn(self, interface: Interface) -> int:
        """Those of a lower turn join first."""
        return 0

    def take(self, interface: Interface) -> None:
        """Make an interface, which is down, one of this link's, and switch it on."""
        interface.set_type(self.kind_of(interface))
        self.switch_on(interface)
        if rates := interface.plan["rates"]:
            interface.node.note("rates (100 kb/s)", rates, "all")

    def kind_of(self, interface: Interface) -> str:
        """The type of an interface."""
        return self.type

    def switch_on(self, interface: Interface) -> None:
        """Switch it on, at its rates, which must be known before it joins."""
        interface.switch(on=True)
        if rates := interface.plan["rates"]:
            interface.fix_rates(rates, self.plan["freq"])

    def join(self, interface: Interface) -> None:
        """Let it join; when this returns it has."""
        raise NotImplementedError

    def stagger(self, interface: Interface, number: int, count: int) -> None:
        """All have joined: give its beacons their place, of `count` places in a beacon interval."""
        interface.shift_beacons(number * self.plan["beacon_tu"] * TU_US // count)

    def meet(self, interface: Interface) -> None:
        """Let it get to know its `neighbours` of the plan; when this returns it does."""

    def greet(self, interface: Interface) -> None:
        """Ask who is around, without waiting for the answers."""

    def watch(self, loop: Loop) -> None:
        """Until `unwatch`, while something is measured: see to whatever must be seen to. Raises OSError, also later,
        out of the loop."""

    def unwatch(self) -> None:
        """That is over."""

    def stop(self) -> None:
        """Leave nothing behind that does not go with the nodes, however far it came."""

    def leave(self, interface: Interface) -> None:
        """Switch it off: it is gone from the link, without a word."""
        interface.switch(on=False)

    def rejoin(self, interface: Interface, patient: bool = True) -> None:
        """Bring it back; not `patient`: whoever is there. The kernel has forgotten its rates and its routes meanwhile;
        the latter are not the link's."""
        with interface.hearing():
            self.switch_on(interface)
            self.join(interface)
            if patient:
                self.meet(interface)


def find(kind: str) -> type[Link]:
    """The link of this kind. Raises ValueError, with the kinds there are, if there is none."""
    found: type[Link] = plugins.find(__name__, kind).Link
    return found


def kind_of(cls: type[Link]) -> str:
    """What a plan calls a class: the file that it, or the nearest of its bases, is in."""
    inside = [base.__module__ for base in cls.__mro__ if base.__module__.startswith(__name__ + ".")]
    return inside[0].rpartition(".")[2] if inside else cls.__name__.lower()
