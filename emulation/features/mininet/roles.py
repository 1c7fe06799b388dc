# SPDX-License-Identifier: BSD-3-Clause
"""Roles of nodes other than hosts: stations, cars, access points, switches."""

from __future__ import annotations

import re
import select
from typing import Any

from emulation.features.mininet.access import MASTER, switch_channel
from emulation.features.mininet.controllers import LEARNING
from emulation.features.mininet.interface import WIntf, other_address
from emulation.features.mininet.jumps import hand_over
from emulation.features.mininet.node import Host, Node
from emulation.features.mininet.refusals import note, numeric, refuse
from emulation.features.mininet.retune import become
from emulation.features.mininet.util import ipStr, netParse
from emulation.lane import programs
from emulation.lane.clock import wait_until
from emulation.lane.errors import Misuse
from emulation.lane.links.infrastructure import Client
from emulation.plan.bridges import BRIDGE, FAIL_MODE, OVS, SECURE, STANDALONE, STP, plan_bridge

LO = "127.0.0.1"
ROAM = re.compile(r"\bwpa_cli\b[^;|&]*? -i ?(\S+)[^;|&]*? roam ([0-9a-fA-F:]{17})")
CONNECT = re.compile(r"\biw\b[^;|&]*? dev (\S+) connect(?: -w)? (\S+)")
SCAN_S = 3.0  # in lane time
CONNECTED_S, SETTLED_S = 0.05, 0.01  # in lane time; the daemon looks at its flows again after 5 ms at the earliest
TREE = re.compile(r"\bset bridge (\S+) [^-]*\br?stp[_-]enable=true", re.IGNORECASE)
UNCONTROLLED = (
    "{} has no controller, and forwards by its flows alone: add a controller, flows, or failMode='standalone'"
)


def becoming(role: str) -> Any:
    """Return a method that changes the role of a node's radio."""

    def change(node: Node, intf: Any = None, **params: Any) -> None:
        become(node.wintf(intf), role, params)

    return change


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

    def change_channel(self, intf: WIntf, channel: Any) -> None:
        """Move an access point, or an interface among peers, to another channel of the running network."""
        if intf.role == MASTER:
            switch_channel(intf, channel)
            return
        become(intf, intf.role, {"ssid": intf.ssid, "mode": intf.mode, "channel": channel})

    def setMediumId(self, medium_id: int, intf: Any = None) -> None:
        self.wintf(intf).setMediumId(medium_id)

    def getNameToWintf(self, intf: Any) -> WIntf:
        return self.wintf(intf)

    def setMode(self, mode: str, intf: Any = None) -> None:
        self.wintf(intf).setMode(mode)

    def get_rssi(self, intf: Any = None) -> float:
        return self.wintf(intf).rssi

    def showNode(self) -> None: ...

    def hide(self) -> None:
        """No effect: pictures show all nodes with radios."""

    show = hide


def look_for(intf: WIntf, address: str) -> None:
    """Let wpa_supplicant see an access point: a station scans only the channels of those that it was to join."""
    aps = {str(each.MAC()): each for each in intf.node.net.medium.radios() if each.role == MASTER}
    if not (ap := aps.get(address.lower())) or intf.on_air.plan["wlan"].get("client") != Client.WPA_SUPPLICANT:
        return
    intf.on_air.node.cmd(f"wpa_cli -i {intf} scan TYPE=ONLY freq={round(1000 * ap.freq)}")
    wait_until(lambda: address.lower() in intf.on_air.node.cmd(f"wpa_cli -i {intf} scan_results"), SCAN_S)


class Station(Wireless):
    """A station."""

    kind = "station"

    def newPort(self) -> int:
        """As in Mininet-WiFi, a radio that became an access point has a new number, so its first wire is eth2."""
        masters = sum(intf.role == "master" for intf in self.wintfs.values())
        return max(super().newPort(), len(self.wintfs) + masters)

    def intf(self, intf: Any = None) -> Any:
        return super().intf(intf) or (self.only_wire() if str(intf) == self.newer_name() else None)

    def only_wire(self) -> Any:
        """Return its wire's end, if it has one only."""
        wires = [each for each in self.intfList() if not isinstance(each, WIntf)]
        return wires[0] if len(wires) == 1 else None

    def newer_name(self) -> str | None:
        """Return the name that newer versions of Mininet-WiFi give the one wire of a station that is an access point:
        they do not count its radio twice."""
        masters = any(intf.role == MASTER for intf in self.wintfs.values())
        newer = f"{self.name}-eth{len(self.wintfs)}"
        return newer if masters and self.only_wire() and newer not in self.intfNames() else None

    def open_virtual(self) -> None:
        """Make the further interfaces of its first radio, `nvif` of them: sta1-wlan01 … They are idle."""
        if name := self.newer_name():
            self.must("ip", "link", "property", "add", "dev", str(self.only_wire()), "altname", name)
        radio, many = self.wintf(), numeric(f"{self.name}: nvif", self.params.get("nvif") or 0)
        for number in range(1, int(many) + 1):
            name, address = f"{radio}{number}", other_address(str(radio.MAC()), number)
            self.must("iw", "dev", str(radio), "interface", "add", name, "type", "managed")
            self.must("ip", "link", "set", name, "address", address, "up")
            self.params["wlan"].append(name)

    def before(self, command: str) -> None:
        super().before(command)
        for name, address in ROAM.findall(command):
            if isinstance(intf := self.nameToIntf.get(name), WIntf):
                look_for(intf, address)
        for name, ssid in CONNECT.findall(command) if self.lane else ():
            if isinstance(intf := self.nameToIntf.get(name), WIntf):
                hand_over(intf, ssid.strip("'\""))

    def setAssociation(self, ap: Node | str, intf: Any = None, ap_intf: Any = None) -> None:
        """Connect to this access point."""
        self.net.associate(self.wintf(intf), self.net.node_of(ap).wintf(ap_intf))

    setManagedMode, setAdhocMode, setMeshMode = becoming("managed"), becoming("adhoc"), becoming("mesh")
    setMasterMode, setOCBMode = becoming("master"), becoming("ocb")

    def roam(self, bssid: str) -> None:
        aps = {each.MAC(): each for ap in self.net.aps for each in ap.wintfs.values()}
        if bssid not in aps:
            raise Misuse(f"{self.name}: roam: there is no access point {bssid}; there are: {', '.join(map(str, aps))}")
        self.net.associate(self.wintf(), aps[bssid])


class Car(Station):
    """A station on a road."""


class Bridge(Node):
    """Methods of switches and access points that are the kernel's bridge, with the node's name."""

    port_base, stopped, is_learning, alone = 1, False, True, True
    address: str | None = None

    def IP(self, intf: Any = None) -> str | None:
        """Return the address of the bridge; without one that of lo, as its first interface is in Mininet."""
        return super().IP(intf) or self.address or (None if intf else LO)

    def setIP(self, ip: str, prefixLen: int | None = None, intf: Any = None, **_: Any) -> None:
        """Set the address of the bridge, because interfaces in a bridge do not answer."""
        self.address = ip.partition("/")[0]
        if self.lane:
            self.must("ip", "addr", "replace", ip if "/" in ip else f"{ip}/{prefixLen or 8}", "dev", self.name)
        else:
            self.params["ip"] = ip

    def config(self, **params: Any) -> dict[str, Any]:
        if ip := params.get("ip"):
            self.setIP(ip)
        return super().config(**params)

    configDefault = config

    def bridge(self) -> dict[str, Any]:
        """Return the settings of its bridge in `emulation.net`."""
        return {STP: bool(self.params.get("stp"))}

    def planned(self) -> dict[str, Any]:
        """Return `bridge` of the plan."""
        return {**plan_bridge(self.name, self.bridge()), "name": self.name}

    def stop(self, deleteIntfs: bool = False) -> None:
        """Stop bridging, until `start`."""
        if self.lane:
            self.must("ip", "link", "set", self.name, "down")
            self.stopped = True

    def forget(self) -> None:
        """Forget where addresses are, as ways have changed."""
        self.must("ip", "link", "set", self.name, "type", "bridge", "fdb_flush")

    def attach(self, intf: Any) -> None:
        """Make an interface a port."""
        self.must("ip", "link", "set", str(intf), "master", self.name)

    def detach(self, intf: Any) -> None:
        self.must("ip", "link", "set", str(intf), "nomaster")

    def start(self, controllers: Any = None) -> None:
        if self.stopped:
            self.must("ip", "link", "set", self.name, "up")
            self.stopped = False

    def dpctl(self, *args: str) -> str:
        refuse(f"{self.name}.dpctl", "it is the kernel's bridge, without OpenFlow: write cls=OVSSwitch")

    def connected(self) -> bool:
        return not self.is_learning_ports()

    def is_learning_ports(self) -> bool:
        """Return whether a port listens or learns, before the spanning tree lets it forward or blocks it."""
        if not (self.lane and self.params.get("stp")):
            return False
        if self.apart:
            return not {"1", "2"}.isdisjoint(self.pexec("sh", "-c", "cat /sys/class/net/*/brport/state")[0].split())
        said = self.pexec("ovs-appctl", "stp/show", self.name)[0]
        return "listening" in said or "learning" in said


class LinuxBridge(Bridge):
    """A switch that is the kernel's bridge."""

    kind = "switch"


class OpenFlow(Bridge):
    """Methods of switches and access points that are Open vSwitch, if it is installed, with the node's name."""

    mode, leading = SECURE, "0"  # by default without a controller; the first digit of its datapath ID

    @property
    def apart(self) -> bool:  # type: ignore[override]
        links = [made for made in self.net.links if made.role == "wds"]
        return not self.net.has_openflow or any(self in (made.intf1.node, made.intf2.node) for made in links)

    @property
    def alone(self) -> bool:  # type: ignore[override]
        return self.apart or self.fail_mode == STANDALONE

    @property
    def fail_mode(self) -> str:
        """What it does without a controller: the mode said, or secure for one that Open vSwitch does not have."""
        said = str(self.params.get("failMode") or self.mode)
        if said in (SECURE, STANDALONE):
            return said
        note(f"{self.name}: failMode={said!r}: Open vSwitch has {STANDALONE!r} and {SECURE!r}, which it uses")
        return SECURE

    @property
    def dpid(self) -> str:
        """The datapath ID: the one said, or that of the number in its name."""
        said = str(self.params.get("dpid") or "").replace(":", "")
        found = re.search(r"\d+", self.name)
        number = said or (f"{int(found[0]):x}" if found else "")
        if not re.fullmatch("[0-9a-fA-F]{1,16}", number):
            raise Misuse(f"{self.name}: dpid={said!r}: its name has no number, so give up to 16 hexadecimal digits")
        return number.zfill(16) if said else self.leading + number.zfill(15)

    @property
    def protocols(self) -> str:
        """The versions of OpenFlow, as OpenFlow10,OpenFlow13; empty: Open vSwitch's own choice."""
        said = self.params.get("protocols") or ""
        return said if isinstance(said, str) else ",".join(said)

    def bridge(self) -> dict[str, Any]:
        if self.apart:
            if self.net.has_openflow:
                note(f"{self.name}: with a link of four addresses it is the kernel's bridge, without OpenFlow")
            return super().bridge()
        mode = self.fail_mode
        if any(each.learns for each in self.net.controllers) and not programs.path_of(LEARNING):
            note(f"{programs.missing_message(LEARNING)}; until then switches learn by themselves")
            mode = STANDALONE
        return {**super().bridge(), BRIDGE: OVS, FAIL_MODE: mode}

    def planned(self) -> dict[str, Any]:
        plan = super().planned()
        if not self.apart:
            plan["ports"] = {intf.name: port for port, intf in self.intfs.items()}
            plan["columns"] |= {
                "other_config:datapath-id": self.dpid,
                "other_config:disable-in-band": "false" if self.params.get("inband") else "true",
                **({"protocols": self.protocols} if self.protocols else {}),
            }
            if plan["columns"]["fail_mode"] == SECURE and not self.net.controllers and len(self.intfs) > 1:
                note(UNCONTROLLED.format(self.name))
        return plan

    def start(self, controllers: Any = None) -> None:
        """Make the bridge unless it is there, and connect it to controllers; wait for them."""
        if self.apart or not (self.lane and self.lane.switch):
            return super().start(controllers)
        controllers = self.net.controllers if controllers is None else controllers
        for each in controllers:
            if each.name not in self.net:  # the script's own class of switches has it
                each.net = self.net
        chosen = [] if self.mode == STANDALONE else [each for each in controllers if not each.nobody]
        for each in chosen:
            each.look()
        targets = [each.target for each in chosen]
        if self.params.get("listenPort"):
            targets.append(f"ptcp:{self.params['listenPort']}")
        words = list[str]()
        for number, target in enumerate(targets):
            words += ["--", f"--id=@_c{number}", "create", "controller", f'target="{target}"', "max_backoff=1000"]
        known = ",".join(f"@_c{number}" for number in range(len(targets)))
        self.lane.switch.start(*words, "--", "set", "bridge", self.name, f"controller=[{known}]")
        select.select([], [], [], CONNECTED_S)
        if any(each.learns for each in chosen) and not any(each.answers for each in chosen):
            self.learn()

    def learn(self) -> None:
        """Forward as bridges do what no flow matches. The controller's own flows would not follow a station to another
        port, and setting them up takes a hundred system calls of the daemon for each packet. Flows of priority 0 come
        first, so this flow is in the next table, unless the versions of OpenFlow have no such miss."""
        ofctl, flow = "ovs-ofctl", "priority=0,actions=normal"
        if not self.protocols or re.search("OpenFlow1[12]", self.protocols):
            self.must(ofctl, "-O", "OpenFlow11,OpenFlow12", "mod-table", self.name, "0", "continue")
            self.must(ofctl, "-O", "OpenFlow11,OpenFlow12", "add-flow", self.name, f"table=1,{flow}")
        else:
            self.must(ofctl, "-O", self.protocols, "add-flow", self.name, flow)

    def stop(self, deleteIntfs: bool = False) -> None:
        """Remove the bridge, until `start`."""
        if self.lane and self.lane.switch:
            self.lane.switch.stop()
        else:
            super().stop(deleteIntfs)

    def dpctl(self, *args: str) -> str:
        """Run ovs-ofctl with this switch, and return its output: dpctl("dump-flows")."""
        if self.apart:
            return super().dpctl(*args)
        version = ("-O", self.protocols) if self.protocols else ()
        return self.cmd("ovs-ofctl", *version, args[0], self.name, *args[1:])

    def cmd(self, *args: Any, **kwargs: Any) -> str:
        """Run a command. After one of Open vSwitch's the daemon, which is not done yet, gets time for what it asks."""
        said = super().cmd(*args, **kwargs)
        if "ovs-" in self.lastCmd:
            select.select([], [], [], SETTLED_S)
            for name in TREE.findall(self.lastCmd):
                if name in self.net:
                    self.net[name].params["stp"] = True
            self.net.cut_loops()
        return said

    @classmethod
    def isOldOVS(cls) -> bool:
        return False

    def vsctl(self, *args: str) -> str:
        return self.cmd("ovs-vsctl", *args)

    def connected(self) -> bool:
        """Return whether a controller is connected, as the database knows it some seconds later."""
        if self.apart or any(each.replaced for each in self.net.controllers):
            return True
        return "is_connected: true" in self.pexec("ovs-vsctl", "show")[0]

    def forget(self) -> None:
        if self.apart:
            super().forget()
        elif self.lane and self.lane.switch:
            self.pexec("ovs-appctl", "fdb/flush", self.name)

    def attach(self, intf: Any) -> None:
        if self.apart:
            super().attach(intf)
        else:
            self.must("ovs-vsctl", "--may-exist", "add-port", self.name, str(intf))

    def detach(self, intf: Any) -> None:
        if self.apart:
            super().detach(intf)
        else:
            self.must("ovs-vsctl", "del-port", self.name, str(intf))


class Switch(OpenFlow):
    """A switch between wires."""

    kind = "switch"


class OVSBridge(Switch):
    """A switch that learns addresses by itself, without a controller."""

    mode = STANDALONE


class AP(Wireless, OpenFlow):
    """An access point: hostapd, and a switch between its clients and its wires."""

    kind, leading = "ap", "1"
    setManagedMode = becoming("managed")


class OVSBridgeAP(AP):
    """An access point that learns addresses by itself, without a controller."""

    mode = STANDALONE


class NAT(Host):
    """A router that hides the addresses of a subnet. With one interface, where Mininet's leads outside, it is a host
    that answers for all addresses there."""

    def config(self, **params: Any) -> dict[str, Any]:
        if len(self.intfs) > 1:
            self.hide_subnet(str(params.get("subnet", "10.0/8")), str(params.get("localIntf") or self.defaultIntf()))
            return super().config(**params)
        note(
            f"{self.name}: it answers pings to all addresses outside, but nothing else: no other network can be reached"
        )
        if self.lane:
            self.must("ip", "route", "add", "local", "default", "dev", "lo", "table", "main")
        return super().config(**params)

    def hide_subnet(self, subnet: str, inside: str) -> None:
        """Give packets that leave the subnet its own address, as the rules of Mininet's NAT do. Raises Misuse."""
        if not programs.path_of("nft"):
            raise Misuse(f"{self.name}: {programs.missing_message('nft')}")
        number, length = netParse(subnet)
        subnet = f"{ipStr(number)}/{length}"
        within = f"type filter hook forward priority 0; iifname {inside} ip daddr {subnet} drop;"
        out = f"type nat hook postrouting priority 100; ip saddr {subnet} ip daddr != {subnet} masquerade;"
        self.must("nft", f"table ip nat {{ chain within {{ {within} }}; chain out {{ {out} }}; }}")
        self.must("sysctl", "-qw", "net.ipv4.ip_forward=1")

    configDefault = config
