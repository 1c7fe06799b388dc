# SPDX-License-Identifier: BSD-3-Clause
"""`mn`, Mininet's program: make a network of a known kind, and run a test in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from emulation.features.mininet import topo
from emulation.features.mininet.cli import CLI
from emulation.features.mininet.controllers import Controller, RemoteController, Ryu
from emulation.features.mininet.link import Link, TCLink, WirelessLink, wmediumd
from emulation.features.mininet.log import setLogLevel
from emulation.features.mininet.net import Mininet
from emulation.features.mininet.node import CPULimitedHost, Host
from emulation.features.mininet.roles import AP, LinuxBridge, OVSBridge, OVSBridgeAP, Station, Switch
from emulation.features.mininet.util import buildTopo, custom, splitArgs
from emulation.features.mininet.wifi import Mininet_wifi
from emulation.lane.errors import Misuse

WIRED: dict[str, type[topo.Topo]] = {
    "minimal": topo.MinimalTopo, "single": topo.SingleSwitchTopo, "reversed": topo.SingleSwitchReversedTopo,
    "linear": topo.LinearTopo, "tree": topo.TreeTopo, "torus": topo.TorusTopo,
}  # fmt: skip
WIRELESS: dict[str, type[topo.Topo]] = {
    "minimal": topo.MinimalWirelessTopo, "single": topo.SingleAPTopo, "linear": topo.LinearWirelessTopo,
}  # fmt: skip
# The classes that options name. `user`, a switch that is a program, forwards as Open vSwitch does.
KINDS: dict[str, dict[str, Any]] = {
    "switch": {"default": Switch, "ovs": Switch, "ovsk": Switch, "ovsbr": OVSBridge, "lxbr": LinuxBridge,
               "user": Switch},
    "ap": {"default": AP, "ovs": AP, "ovsk": AP, "ovsbr": OVSBridgeAP, "user": AP},
    "host": {"proc": Host, "cfs": CPULimitedHost, "rt": CPULimitedHost},
    "station": {"proc": Station},
    "link": {"default": Link, "tc": TCLink, "ovs": Link, "wtc": WirelessLink, "wmediumd": wmediumd,
             "wireless": WirelessLink},
    "controller": {"default": Controller, "ref": Controller, "ovsc": Controller, "remote": RemoteController,
                   "ryu": Ryu, "none": None},
}  # fmt: skip
PARAMETERS = {"ap": "accessPoint"}  # options that the classes' keywords call otherwise
TESTS = ("cli", "build", "none", "pingall", "pingpair", "iperf", "iperfudp", "all")


def parts(wifi: bool = False, **said: str | None) -> dict[str, Any]:
    """Return the classes that options such as `--switch ovsk,protocols=OpenFlow13` name, as keywords of a network.
    Raises Misuse."""
    found: dict[str, Any] = {}
    for option, words in said.items():
        if words is None:
            continue
        name, args, params = splitArgs(words)
        kinds = KINDS[option]
        if name not in kinds:
            raise Misuse(f"--{option}: there is no {option} {name!r}; there are: {', '.join(kinds)}")
        if args and option != "controller":
            raise Misuse(f"--{option} {words}: write its settings as NAME=VALUE")
        if option in ("ap", "station") and not wifi:
            raise Misuse(f"--{option}: it needs --wifi")
        cls = kinds[name]
        found[PARAMETERS.get(option, option)] = cls and (_made(cls, args, params) if args else custom(cls, **params))
    return found


def _made(cls: type[Controller], args: Sequence[Any], params: Mapping[str, Any]) -> Callable[[str], Controller]:
    return lambda name: cls(name, *args, **params)


def topology(kind: str, wifi: bool = False, own: Mapping[str, Callable[..., topo.Topo]] | None = None) -> topo.Topo:
    """Return the topology that `linear,3` names, of Mininet's or one's own. Raises Misuse."""
    known = WIRELESS if wifi else WIRED
    topos: dict[str, Callable[..., topo.Topo]] = {**known, **(own or {})}
    name, args, params = splitArgs(kind)
    if name not in topos:
        raise Misuse(f"--topo: there is no topo {name!r}; there are: {', '.join(topos)}")
    if topos[name] is known.get(name):
        sizes = [*args, *params.values()]
        most = known[name].build.__code__.co_argcount - 1
        if len(args) > most or not all(isinstance(each, int) and each > 0 for each in sizes):
            raise Misuse(f"--topo {kind}: its sizes are whole numbers above 0, {most} at most")
    return buildTopo(topos, kind)  # type: ignore[no-any-return]


def network(wifi: bool = False, kind: str = "minimal", mac: bool = False, arp: bool = False, nat: bool = False,
            own: str = "", ipBase: str | None = None, **said: Any) -> Mininet:  # fmt: skip
    """Return the network of a command line; `own` is the text of a user's file with `topos`. Raises Misuse."""
    names: dict[str, Any] = {}
    exec(own, names)
    said["link"] = said.get("link") or ("wireless" if wifi else "default")
    common: dict[str, Any] = {"topo": topology(kind, wifi, names.get("topos")), "autoSetMacs": mac,
                              "autoStaticArp": arp, "build": False, **({"ipBase": ipBase} if ipBase else {}),
                              **parts(wifi, **said)}  # fmt: skip
    net = Mininet_wifi(**common) if wifi else Mininet(**common)
    if nat:
        net.buildFromTopo()
        net.addNAT()
    return net


def TreeNet(depth: int = 1, fanout: int = 2, **params: Any) -> Mininet:
    return Mininet(topo.TreeTopo(depth=depth, fanout=fanout), **params)


def mn(test: str | None = None, verbosity: str = "info", plot: bool = False, pre: str = "", post: str = "",
       **asked: Any) -> None:  # fmt: skip
    """Make the network, run the test between the lines `pre` and `post` for the prompt, and remove the network. Raises
    Misuse."""
    setLogLevel(verbosity)
    net = network(**asked)
    if plot and isinstance(net, Mininet_wifi):
        net.plotGraph()
    net.start()
    if pre:
        CLI(net, iter(pre.splitlines()))
    if test and test != "cli":
        net.waitConnected()
    calls: dict[str, Callable[[], Any]] = {
        "cli": partial(CLI, net), "pingall": net.pingAll, "pingpair": net.pingPair,
        "iperf": net.iperf, "iperfudp": partial(net.iperf, l4Type="UDP"),
    }  # fmt: skip
    for each in ("pingall", "iperf") if test == "all" else (test or "cli",):
        if each in calls:
            calls[each]()
    if post:
        CLI(net, iter(post.splitlines()))
    net.stop()
