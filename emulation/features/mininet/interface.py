# SPDX-License-Identifier: BSD-3-Clause
"""Interfaces of a script: notes before the network is built, then those of the lane."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.hostapd import lines_of, mac_of
from emulation.features.mininet.modes import channel_of, check_freq, freq_of, mode_of, width_of
from emulation.features.mininet.refusals import missing, note, numeric, refuse
from emulation.lane import node as lane
from emulation.lane.errors import Misuse
from emulation.lane.interfaces import radio
from emulation.lane.rtnetlink import hardware_address

if TYPE_CHECKING:
    from emulation.features.mininet.link import Link
    from emulation.features.mininet.node import Node

MEDIUMS = "mediums have no effect: radios that hear each other share the air, and others do not disturb each other"
NOWHERE = ("0", "0.0.0.0")  # addresses of an interface without one


def range_of(call: str, range: Any) -> float | None:
    """Return a range in metres; None: the transmit power determines it. Raises Misuse."""
    if range is None:
        return None
    if (metres := numeric(f"{call}: range", range)) > 0:
        return metres
    raise Misuse(f"{call}: range={range!r}: a range must be above 0 m; leave it out to derive it from the power")


def other_address(address: str, number: int) -> str:
    """Return the address of a radio's further interface."""
    return (int(address.replace(":", ""), 16) ^ number << 16).to_bytes(6, "big").hex(":")


class Intf:
    """An interface of a node; `lane` is its interface in the running network."""

    def __init__(self, name: str, node: Node, mac: str | None = None, **params: Any) -> None:
        self.name, self.node, self.mac, self.params = name, node, mac_of(name, mac), params
        self.ip: str | None = None
        self.prefixLen: int | None = None
        self.link: Link | None = None
        self.own: dict[str, Any] = {}  # settings of a wire that this end alone has
        self.lane: lane.Interface | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __str__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Any:
        missing(self.__dict__.get("name", type(self).__name__), name, {}, dir(type(self)))

    def note_ip(self, ip: str | None, prefix: int | None = None) -> None:
        """Set the address, as 10.0.0.1/8 or with a separate prefix. Raises Misuse."""
        if not ip or str(ip).partition("/")[0] in NOWHERE:
            self.ip = self.prefixLen = None
            return
        text, _, within = str(ip).partition("/")
        try:
            self.ip, self.prefixLen = str(ipaddress.IPv4Address(text)), int(within or prefix or 8)
        except ValueError:
            raise Misuse(f"{self.name}: {ip!r} is not an IPv4 address like 10.0.0.1/8") from None

    def beyond(self) -> str:
        """Return the other end of its link, or the air."""
        link = self.link
        other = (link.intf2 if link.intf1 is self else link.intf1) if link else None
        shared = isinstance(self, WIntf) and self.node.kind == "ap"
        return str(other) if other and not shared else "wifi" if isinstance(self, WIntf) else ""

    def IP(self) -> str | None:
        return self.ip

    updateIP = IP

    def MAC(self) -> str | None:
        return self.lane.MAC() if self.lane else self.mac

    updateMAC = MAC

    def setIP(self, ipstr: str, prefixLen: int | None = None, **_: Any) -> None:
        """Replace the address. The kernel drops what belongs to the old one."""
        before = f"{self.ip}/{self.prefixLen}" if self.ip else ""
        self.note_ip(ipstr, prefixLen)
        now = f"{self.ip}/{self.prefixLen}"
        if self.lane and before != now:
            if before:
                self.lane.node.route.delete_address(self.lane.index, before)
            self.lane.node.route.add_address(self.lane.index, now)
            self.lane.plan["ip"] = now

    def setIP6(self, ipstr: str, prefixLen: int = 64, **_: Any) -> None:
        self.node.setIP6(ipstr, prefixLen, self)

    def setMAC(self, macstr: str) -> None:
        if not (mac := mac_of(self.name, macstr)):
            return
        self.mac = mac
        if self.lane:
            if self.lane.on_air:
                refuse(f"{self.name}.setMAC while the network runs", "give addStation or addAccessPoint mac=")
            self.lane.node.route.set_link(self.lane.index, address=hardware_address(mac))
            self.lane.plan["address"] = mac

    def config(self, mac: str | None = None, ip: str | None = None, up: bool = True, **said: Any) -> None:
        """Set addresses; and change the rate, delay and losses of what this end of a link sends. These keywords are
        those of `addLink`; of them, what is left out is off. Raises Misuse."""
        if mac:
            self.setMAC(mac)
        if ip:
            self.setIP(ip)
        if self.lane and not up:
            self.lane.switch(on=False)
        if (mac or ip or not up) and not said:
            return
        if not self.link or self.link.role not in ("wired", "infrastructure"):
            refuse(f"{self.name}.config", "it sets up an end of a wire, or of the link of a station")
        self.link.change(self, said)

    def ifconfig(self, *args: str) -> str:
        return self.cmd("ifconfig", self.name, *args)

    def cmd(self, *args: Any) -> str:
        return self.node.cmd(*args)

    def isUp(self, setUp: bool = False) -> bool:
        if setUp and self.lane:
            self.lane.switch(on=True)
        return "UP" in self.cmd("ip -o link show", self.name).partition(">")[0].partition("<")[2].split(",")


class WIntf(Intf):
    """A wireless interface: its settings, and its state in the lane."""

    def __init__(self, name: str, node: Node, mac: str | None = None, **params: Any) -> None:
        super().__init__(name, node, mac, **params)
        self.id = int(name.rpartition("wlan")[2].partition("-")[0])
        self.mode = mode_of(name, params.get("mode") or "g")
        self.own_channel = channel_of(name, self.mode, params)
        check_freq(name, self.mode, self.channel, params)
        self.lines = lines_of(name, node.params)
        in_lines = next((line[5:].strip('"') for line in self.lines if line.startswith("ssid=")), "")
        self.own_ssid = params.get("ssid") or in_lines  # that the script gave it
        self.encrypt, self.passwd = params.get("encrypt"), params.get("passwd")
        self.ieee80211w = str(params.get("ieee80211w") or 0)
        if self.ieee80211w not in ("0", "1", "2"):
            raise Misuse(f"{name}: ieee80211w={self.ieee80211w!r}: there are 0 (off), 1 (optional) and 2 (required)")
        self.txpower, self.antennaGain, self.antennaHeight = (
            numeric(f"{name}: {keyword}", params.get(keyword, usual))
            for keyword, usual in (("txpower", 14), ("antennaGain", 5), ("antennaHeight", 1))
        )
        self.wanted_range = range_of(name, params.get("range"))
        self.role = ""  # on its link, set by `link`
        self.wds = False  # whether an access point takes clients with four addresses
        self.more: list[Virtual] = []  # further networks of an access point

    @property
    def ssid(self) -> str:
        """The name of its network; of a client that is connected, its access point's."""
        ap = self.associatedTo
        if isinstance(ap, WIntf):
            return ap.ssid
        return self.own_ssid or (f"{self.node.name}-ssid" if self.role == "master" else "")

    @ssid.setter
    def ssid(self, ssid: str) -> None:
        self.own_ssid = ssid

    @property
    def channel(self) -> Any:
        """Its channel; of a client that is connected, its access point's."""
        ap = self.associatedTo
        return ap.channel if isinstance(ap, WIntf) else self.own_channel

    @channel.setter
    def channel(self, channel: Any) -> None:
        self.own_channel = channel

    @property
    def mesh_name(self) -> str:
        """The other name of an interface in a mesh, as in Mininet-WiFi; empty elsewhere."""
        return f"{self.node.name}-mp{self.name[-1]}" if self.role == "mesh" else ""

    def show_mesh_name(self) -> None:
        """Let programs find it by its other name, too."""
        if self.mesh_name and self.lane:
            self.node.pexec("ip", "link", "property", "add", "dev", self.name, "altname", self.mesh_name)

    @property
    def freq(self) -> float:
        """The frequency in GHz."""
        ap = self.associatedTo
        return ap.freq if isinstance(ap, WIntf) else freq_of(self.name, self.mode, self.channel) / 1000

    @property
    def width(self) -> int:
        """The width of its channel in MHz, where it is one of its own."""
        return width_of(self.name, self.mode, self.channel, self.params)

    band = width

    @property
    def on_air(self) -> radio.Interface:
        """The radio in the lane, of a network that runs."""
        assert isinstance(self.lane, radio.Interface)
        return self.lane

    @property
    def vssid(self) -> list[str]:
        """The names of the further networks of an access point."""
        return [each.ssid for each in self.more]

    def check(self) -> None:
        """Check the channel of an interface that has one of its own. Raises Misuse."""
        freq_of(self.name, self.mode, self.channel)
        _ = self.width

    @property
    def range(self) -> float:
        """The range in metres."""
        return float(self.node.net.medium.range_of(self))

    @property
    def associatedTo(self) -> WIntf | str:
        """The interface of its access point, or '' without one."""
        if not self.lane or self.role not in ("", "managed"):
            return ""
        masters = [each for each in self.node.net.medium.radios() if each.role == "master"]
        there = {one.MAC(): one for each in masters for one in (each, *each.more)}
        peers = self.lane.peers() if self.lane.on_air else ()  # type: ignore[attr-defined]
        return next((there[mac] for mac in peers if mac in there), "")

    @property
    def associatedStations(self) -> list[Node]:
        """The stations of an access point, as it knows them: a station that leaves range stays listed."""
        stations = self.node.net.stations + self.node.net.cars
        return [sta for sta in stations if any(each.associatedTo is self for each in sta.wintfs.values())]

    @property
    def apsInRange(self) -> dict[Node, float]:
        """The access points in range, and their signals (dBm)."""
        masters = dict.fromkeys(each.node for each in self.node.net.medium.radios() if each.role == "master")
        return self._in_range({each: (each, self.node) for each in masters})

    @property
    def stationsInRange(self) -> dict[Node, float]:
        """The stations that an access point reaches, and the signals with which it does (dBm)."""
        stations = self.node.net.stations + self.node.net.cars
        return self._in_range({each: (self.node, each) for each in stations if each is not self.node})

    def _in_range(self, pairs: dict[Node, tuple[Node, Node]]) -> dict[Node, float]:
        medium = self.node.net.medium
        powers = {each: medium.received_dbm(*pair) for each, pair in pairs.items()}
        return {each: round(power, 1) for each, power in powers.items() if power >= medium.receive_dbm()}

    @property
    def bssid(self) -> str | None:
        ap = self.associatedTo
        return ap.MAC() if isinstance(ap, WIntf) else None

    @property
    def rssi(self) -> float:
        """The signal of its access point, or else of the nearest station, in dBm; 0 without one."""
        ap = self.associatedTo
        return float(self.node.net.medium.rssi(self.node, ap.node if isinstance(ap, WIntf) else None))

    def associate(self, ap_intf: WIntf) -> None:
        """Associate with an access point's interface."""
        self.node.net.associate(self, ap_intf)

    associate_infra = associate

    def disconnect(self, ap_intf: WIntf | None = None) -> None:
        """Leave the access point."""
        self.cmd("iw", "dev", self.name, "disconnect")

    def setMediumId(self, medium_id: int) -> None:
        """No effect, as `setInitialMediums`."""
        note(MEDIUMS)

    def setTxPower(self, txpower: float) -> None:
        self.txpower, self.wanted_range = numeric(f"{self.name}: setTxPower", txpower), None
        self.node.net.medium.changed(self)
        self.show_tx_power()

    def show_tx_power(self) -> None:
        """Have `iw` show the transmit power."""
        if isinstance(self.lane, radio.Interface):
            self.lane.show_tx_power(self.txpower)

    def setAntennaGain(self, gain: float) -> None:
        self.antennaGain, self.wanted_range = numeric(f"{self.name}: setAntennaGain", gain), None
        self.node.net.medium.changed(self)

    def setChannel(self, channel: Any) -> None:
        """Set the channel; in a running network of an access point, which announces it to its stations, and of a
        station among peers, which joins its cell there."""
        if self.lane and self.role in ("adhoc", "mesh", "ocb", "master"):
            node: Any = self.node
            node.change_channel(self, channel)
            return
        if self.lane:
            note(f"{self.name}: setChannel({channel}) has no effect: a client follows its access point")
            return
        freq_of(self.name, self.mode, channel)
        self.channel = channel

    def setMode(self, mode: str) -> None:
        """Set the mode; in a running network for its next channel or role."""
        self.mode = mode_of(self.name, mode)
        if self.lane:
            note(f"{self.name}: setMode({mode!r}) changes nothing yet: setChannel, setAdhocMode and setMeshMode use it")

    def before(self, what: str, instead: str) -> None:
        """Raises Misuse if the network has started."""
        if self.lane:
            refuse(f"{self.name}: {what} while the network runs", instead)

    def setRange(self, range: float) -> None:
        self.wanted_range = range_of(self.name, range)
        self.node.net.medium.changed(self)


class Virtual(WIntf):
    """A further network of an access point's radio: hostapd makes its interface."""

    def __init__(self, radio: WIntf, number: int, ssid: str) -> None:
        self.radio, self.number = radio, number
        super().__init__(f"{radio.name}-{number}", radio.node, mode=radio.mode, channel=radio.channel, ssid=ssid)
        self.role = "master"

    def bssid_of(self, address: str) -> str:
        return other_address(address, self.number)

    @property
    def mac(self) -> str | None:
        address = self.radio.MAC()
        return self.bssid_of(address) if address else None

    @mac.setter
    def mac(self, _: str | None) -> None: ...
