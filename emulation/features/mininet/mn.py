# SPDX-License-Identifier: BSD-3-Clause
"""`mn`, Mininet's program: make a network of a known kind, and run a test in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from emulation.features.mininet import topo
from emulation.features.mininet.cli import CLI
from emulation.features.mininet.controllers import Controller, RemoteController, Ryu
from emulation.features.mininet.link import Link, TCLink, WirelessLink, wmediumd
from emulation.features.mininet.log import setLogLevel
from emulation.features.mininet.net import Mininet
from emulation.features.mininet.util import buildTopo, custom, splitArgs
from emulation.features.mininet.wifi import Mininet_wifi
from emulation.lane.errors import Misuse

WIRED: dict[str, Callable[..., topo.Topo]] = {
    "minimal": topo.MinimalTopo, "single": topo.SingleSwitchTopo, "reversed": topo.SingleSwitchReversedTopo,
    "linear": topo.LinearTopo, "tree": topo.TreeTopo,
}  # fmt: skip
WIRELESS: dict[str, Callable[..., topo.Topo]] = {
    "minimal": topo.MinimalWirelessTopo, "single": topo.SingleAPTopo, "linear": topo.LinearWirelessTopo,
}  # fmt: skip
CONTROLLERS: dict[str, type[Controller] | None] = {
    "default": Controller, "ref": Controller, "ovsc": Controller, "remote": RemoteController, "ryu": Ryu, "none": None,
}  # fmt: skip
LINKS: dict[str, type[Link]] = {
    "default": Link, "tc": TCLink, "ovs": Link, "wtc": WirelessLink, "wmediumd": wmediumd, "wireless": WirelessLink,
}  # fmt: skip
TESTS = ("cli", "build", "none", "pingall", "pingpair", "iperf", "iperfudp", "all")


def network(wifi: bool = False, kind: str = "minimal", link: str | None = None, controller: str | None = None,
            mac: bool = False, arp: bool = False, own: str = "", **said: Any) -> Mininet:  # fmt: skip
    """Return the network of a command line; `own` is the text of a user's file with `topos`. Raises Misuse."""
    names: dict[str, Any] = {}
    exec(own, names)
    topos = {**(WIRELESS if wifi else WIRED), **names.get("topos", {})}
    if (name := splitArgs(kind)[0]) not in topos:
        raise Misuse(f"mn: there is no topo {name!r}; there are: {', '.join(topos)}")
    which, apps, options = splitArgs(controller or "default")
    if which not in CONTROLLERS:
        raise Misuse(f"mn: there is no controller {which!r}; there are: {', '.join(CONTROLLERS)}")
    made = CONTROLLERS[which]

    def controls(name: str) -> Controller:
        assert made
        return made(name, *apps, **options)

    how, args, params = splitArgs(link or ("wireless" if wifi else "default"))
    if how not in LINKS or args:
        raise Misuse(f"mn: there is no link {link!r}; there are: {', '.join(LINKS)}")
    cls = custom(LINKS[how], **params) if params else LINKS[how]
    common: dict[str, Any] = {"topo": buildTopo(topos, kind), "link": cls, "autoSetMacs": mac, "autoStaticArp": arp,
                              "controller": made and controls, "build": False, **said}  # fmt: skip
    return Mininet_wifi(**common) if wifi else Mininet(**common)


def TreeNet(depth: int = 1, fanout: int = 2, **params: Any) -> Mininet:
    return Mininet(topo.TreeTopo(depth=depth, fanout=fanout), **params)


def mn(test: str | None = None, verbosity: str = "info", plot: bool = False, **asked: Any) -> None:
    """Make the network, run the test, and remove the network. Raises Misuse."""
    setLogLevel(verbosity)
    net = network(**asked)
    if plot and isinstance(net, Mininet_wifi):
        net.plotGraph()
    net.start()
    tests = ["pingall", "iperf"] if test == "all" else [test or "cli"]
    for each in tests:
        if each == "cli":
            CLI(net)
        elif each == "pingall":
            net.pingAll()
        elif each == "pingpair":
            net.pingPair()
        elif each in ("iperf", "iperfudp"):
            net.iperf(l4Type="UDP" if each == "iperfudp" else "TCP")
    net.stop()
