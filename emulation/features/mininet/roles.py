# SPDX-License-Identifier: BSD-3-Clause
"""Roles of nodes besides hosts: stations, cars, access points, switches, controllers."""

from __future__ import annotations

from typing import Any

from emulation.features.mininet.node import Host, Node
from emulation.features.mininet.refusals import note, refuse
from emulation.features.mininet.retune import become
from emulation.lane.errors import Misuse


class Wireless(Node):
    """Methods of nodes with radios; `intf` selects one of several."""

    def setRange(self, range: float, intf: Any = None) -> None:
        self.wintf(intf).setRange(range)

    def setTxPower(self, txpower: float, intf: Any = None) -> None:
        self.wintf(intf).setTxPower(txpower)

    def setAntennaGain(self, gain: float, intf: Any = None) -> None:
        self.wintf(intf).setAntennaGain(gain)

    def setChannel(self, channel: Any, intf: Any = None) -> None:
        self.wintf(intf).setChannel(channel)

    def setMode(self, mode: str, intf: Any = None) -> None:
        self.wintf(intf).setMode(mode)

    def get_rssi(self, intf: Any = None) -> float:
        return self.wintf(intf).rssi

    def showNode(self) -> None: ...

    def hide(self) -> None:
        """No effect: pictures show all nodes with radios."""

    show = hide


class Station(Wireless):
    """A station."""

    kind = "station"

    def newPort(self) -> int:
        """As in Mininet-WiFi, a radio that became an access point has a new number, so its first wire is eth2."""
        masters = sum(intf.role == "master" for intf in self.wintfs.values())
        return max(super().newPort(), len(self.wintfs) + masters)

    def setAssociation(self, ap: Node | str, intf: Any = None, ap_intf: Any = None) -> None:
        """Connect to this access point."""
        self.net.associate(self.wintf(intf), self.net.node_of(ap).wintf(ap_intf))

    def setManagedMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "managed", params)

    def setAdhocMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "adhoc", params)

    def setMeshMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "mesh", params)

    def setMasterMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "master", params)

    def setOCBMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "ocb", params)

    def roam(self, bssid: str) -> None:
        aps = {each.MAC(): each for ap in self.net.aps for each in ap.wintfs.values()}
        if bssid not in aps:
            raise Misuse(f"{self.name}: roam: there is no access point {bssid}; there are: {', '.join(map(str, aps))}")
        self.net.associate(self.wintf(), aps[bssid])


class Car(Station):
    """A station on a road."""


class Bridge(Node):
    """Methods of switches and access points: a kernel bridge with the node's name."""

    port_base, stopped = 1, False
    dpid: str | None = None

    def setIP(self, ip: str, prefixLen: int | None = None, intf: Any = None, **_: Any) -> None:
        """Set the address of the bridge, because interfaces in a bridge do not answer."""
        self.must("ip", "addr", "replace", ip if "/" in ip else f"{ip}/{prefixLen or 8}", "dev", self.name)

    def stop(self, deleteIntfs: bool = False) -> None:
        """Stop bridging, until `start`."""
        if self.lane:
            self.must("ip", "link", "set", self.name, "down")
            self.stopped = True

    def attach(self, intf: Any) -> None:
        """Make an interface a port."""
        self.must("ip", "link", "set", str(intf), "master", self.name)

    def detach(self, intf: Any) -> None:
        self.must("ip", "link", "set", str(intf), "nomaster")

    def start(self, controllers: Any = None) -> None:
        if self.stopped:
            self.must("ip", "link", "set", self.name, "up")
            self.stopped = False


class Switch(Bridge):
    """A bridge between wires."""

    kind = "switch"

    def dpctl(self, *args: str) -> str:
        refuse(f"{self.name}.dpctl", "switches and access points are bridges here, without OpenFlow")

    def connected(self) -> bool:
        return True


class AP(Wireless, Bridge):
    """An access point: hostapd, and a bridge between its clients and its wires."""

    kind = "ap"
    dpctl, connected = Switch.dpctl, Switch.connected

    def setManagedMode(self, intf: Any = None, **params: Any) -> None:
        become(self.wintf(intf), "managed", params)


class NAT(Host):
    """A host that answers for all addresses outside the network, where Mininet's leads to them."""

    def config(self, **params: Any) -> dict[str, Any]:
        note(f"{self.name}: nothing leads out of a lane: it answers pings to all addresses outside; no server is there")
        if self.lane:
            self.must("ip", "route", "add", "local", "default", "dev", "lo", "table", "main")
        return super().config(**params)

    configDefault = config


class Controller(Node):
    """A controller, which does nothing: there is no OpenFlow, and switches bridge by themselves."""

    kind = "controller"

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **params)
        self.ip, self.port = params.get("ip", "127.0.0.1"), params.get("port", 6653)

    def IP(self, intf: Any = None) -> str | None:
        return str(self.ip)

    def cmd(self, *args: Any, verbose: bool = False, **_: Any) -> str:
        """Run a command outside the nodes' namespaces, as Mininet's controllers do."""
        from emulation.features.mininet.util import quietRun

        return quietRun(" ".join(map(str, args)), shell=True)

    def checkListening(self) -> None: ...

    def isAvailable(self) -> bool:
        return True
