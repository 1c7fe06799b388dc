# SPDX-License-Identifier: BSD-3-Clause
"""Links, by the classes of `addLink(…, cls=…)`: the kind of `emulation.lane.links` of each, and its keywords."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from emulation.features.mininet import shaping
from emulation.features.mininet.interface import Intf, WIntf, range_of
from emulation.features.mininet.modes import CHANNELS_2GHZ, MODES, WIDTH, check_freq, mode_of, usual_channel
from emulation.features.mininet.refusals import PAGE, Absent, check, note, numeric, refuse
from emulation.lane import programs
from emulation.lane.errors import Misuse
from emulation.lane.links import wired
from emulation.lane.links.infrastructure import CONTROL, READY_S
from emulation.plan.checks import as_misuse
from emulation.specification import modes
from emulation.specification.radio import OLDER

if TYPE_CHECKING:
    from emulation.features.mininet.node import Node

ENDS = ("port1", "port2", "intfName1", "intfName2", "intf1", "intf2", "addr1", "addr2", "params1", "params2", "intf",
        "cls1", "cls2")  # fmt: skip
# Global operating classes with 20 MHz, and their frequencies: IEEE 802.11-2020, table E-4.
CLASSES = {81: range(2412, 2473), 115: range(5180, 5241), 124: range(5745, 5806), 125: range(5825, 5926)}
DIRECT = (
    f"ctrl_interface={CONTROL}\ndevice_name={{name}}\ndevice_type=1-0050F204-1\np2p_no_group_iface=1\n"
    "p2p_oper_reg_class={operating}\np2p_oper_channel={channel}\np2p_pref_chan={operating}:{channel}\n"
)
APART = 0x80 << 16  # what the address of a client of four addresses differs by from that of its radio
USUAL = "use_htb"  # as without it
ITS_CHANNEL = 161  # the default
BY_THE_AIR = "what of a radio arrives, when and how fast, is the air's affair: positions, txpower, range, mode"


class Link:
    """A link: a wire between two nodes, or the link of a radio."""

    role, wanted = "wired", True  # whether the script wants it to be up
    taken: tuple[str, ...] = ("bw", "delay", "jitter", "loss", "max_queue_size")
    noted: ClassVar[dict[str, str]] = dict.fromkeys(
        ("use_hfsc", "use_tbf", "fast", "speedup"), "htb plays the rate"
    ) | dict.fromkeys(("txo", "rxo"), "checksums are right")
    refused: ClassVar[dict[str, str]] = dict.fromkeys(
        ("enable_ecn", "enable_red", "latency_ms"), "write it with tc, by cmd, after net.build()"
    )

    def __init__(self, intf1: Any, intf2: Any = None, settings: dict[str, Any] | None = None, **said: Any) -> None:
        """Make it of interfaces; or, as Mininet's, of nodes, which a script's own class does."""
        net = None
        if settings is None:
            if self.role != "wired" or isinstance(intf1, str):
                refuse(
                    f"{type(self).__name__}({intf1}, {intf2})", f"net = Mininet(), and net.addLink({intf1}, {intf2})"
                )
            net = intf1.net
            intf1, intf2, settings = net.wire(type(self), intf1, intf2, said)
        self.intf1: Intf = intf1
        self.intf2: Intf | None = intf2
        self.settings: dict[str, Any] = settings
        for intf in filter(None, (intf1, intf2)):
            intf.link = self
        if net:
            net.join(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        return f"{self.intf1}<->{self.intf2 or 'wifi'}"

    def status(self) -> str:
        return f"({' '.join('OK' if each.isUp() else 'MISSING' for each in (self.intf1, self.intf2) if each)})"

    def change(self, intf: Intf, said: dict[str, Any]) -> None:
        """Change the settings of one end; before the network is built, of both. Raises Misuse."""
        settings = settings_of(type(self), f"{intf}.config", said)
        if not intf.lane:
            self.settings = settings
            return
        with as_misuse(f"{intf}.config"):
            shaping.shape(intf.lane, shaping.Link.check(settings))

    def open(self) -> None:
        """Give ends what `params1` and `params2` say, beside what both have. Raises Misuse."""
        for intf in filter(None, (self.intf1, self.intf2)):
            if intf.lane and intf.own:
                with as_misuse(f"addLink({self.intf1}, {self.intf2})"):
                    shaping.shape(intf.lane, shaping.Link.check({**self.settings, **intf.own}))

    def switch(self, on: bool) -> None:
        """Switch both ends up or down; a wire that would close a loop stays down."""
        self.wanted = on
        self.set(on)
        self.intf1.node.net.cut_loops()

    def set(self, on: bool) -> None:
        for each in (self.intf1, self.intf2):
            if each and each.lane:
                each.lane.switch(on)


class TCLink(Link):
    """A wire with a rate, a delay and losses, which any wire can have."""


class Wireless(Link):
    """A link of radios."""

    role = "infrastructure"
    taken: tuple[str, ...] = ("error_prob", *Link.taken)
    noted: ClassVar[dict[str, str]] = {}
    refused: ClassVar[dict[str, str]] = {"latency": BY_THE_AIR}

    def associate(self) -> None:
        """Connect the station to the access point, while the network runs. Raises Misuse or OSError."""
        ends: list[Any] = [self.intf1, self.intf2]
        ap, sta = sorted(ends, key=lambda each: each.role != "master")
        sta.associate(ap)

    def open(self) -> None:
        """Let netem delay, limit and lose what the station sends. Raises Misuse."""
        said = {name: value for name, value in self.settings.items() if name in Link.taken}
        ends = [each for each in (self.intf1, self.intf2) if isinstance(each, WIntf) and each.role == "managed"]
        for end in ends if said else ():
            assert end.lane
            note(f"{end}: {', '.join(said)}: netem has this effect on what the station sends, before the air")
            with as_misuse(f"addLink({self.intf1}, {self.intf2})"):
                wired.shape(end.lane, wired.Link.check(said))


class wmediumd(Wireless):
    """A link of a station and an access point; in `Mininet_wifi(link=wmediumd)`, the medium."""


class WirelessLink(Wireless):
    """The same."""


class _Peers(Wireless):
    taken: tuple[str, ...] = ("intf", "ssid", "mode", "channel", "txpower", "proto", "proto_args", "range", "freq",
                              *WIDTH)  # fmt: skip
    noted: ClassVar[dict[str, str]] = {
        "ap_scan": "a cell with a channel needs no scan",
        "ibss": "the cell has a BSSID of its own",
        **dict.fromkeys(Link.taken, BY_THE_AIR),
        "vIface": "a radio has one interface", "beacon_int": "beacons come every 100 TU",
    }  # fmt: skip
    refused: ClassVar[dict[str, str]] = {
        "passwd": "only access points' links are encrypted here", "encrypt": "only access points' links are encrypted",
        "bitrates": "minstrel chooses among the rates of the mode; or use sta1.cmd('iw dev sta1-wlan0 set bitrates …')",
    }  # fmt: skip


class adhoc(_Peers):
    """An independent BSS; those with the same ssid and channel are one."""

    role = "adhoc"


class mesh(_Peers):
    """An 802.11s mesh."""

    role = "mesh"


class ITSLink(_Peers):
    """Communication outside the context of a BSS, for vehicles (IEEE 802.11p)."""

    role = "ocb"
    taken = tuple(keyword for keyword in _Peers.taken if keyword not in WIDTH)
    noted: ClassVar[dict[str, str]] = {**_Peers.noted, **dict.fromkeys(WIDTH, "channels are 20 MHz wide")}


class WifiDirectLink(_Peers):
    """Wi-Fi Direct: a wpa_supplicant, to which the script says by wpa_cli whom to find and to join. Its channel is
    that of a group that it owns. The radio is of 802.11n, as hwsim's does not hear where it only listens."""

    role = "direct"
    taken: tuple[str, ...] = ("intf", "mode", "channel", "txpower", "range", "freq", *WIDTH)

    def open(self) -> None:
        """Start the program. Raises OSError if that fails."""
        intf, freq = self.intf1, round(1000 * self.intf1.freq)
        assert intf.lane
        node, (file, log) = intf.lane.node, (f"/run/p2p-{intf}.{kind}" for kind in ("conf", "log"))
        operating = next(number for number, band in CLASSES.items() if freq in band)
        with open(file, "w") as config:
            config.write(DIRECT.format(name=intf, operating=operating, channel=modes.channel_number(freq)))
        command = ["wpa_supplicant", "-D", "nl80211", "-i", str(intf), "-c", file, "-f", log]
        daemon = node.start_daemon([programs.find(command[0]), *command[1:]], partial(programs.last_line, log))
        daemon.wait_for(f"{CONTROL}/{intf}", READY_S)


class _4address(Wireless):
    """A link between the bridges of two access points over the air, with frames of four addresses: a further interface
    of the second one's radio is a client of the first one."""

    role = "wds"
    taken: tuple[str, ...] = ()

    def open(self) -> None:
        """Make the client, connect it and put it into the bridge. Raises Misuse if it cannot connect."""
        ap, radio = self.intf1, self.intf2
        assert isinstance(ap, WIntf) and isinstance(radio, WIntf) and radio.lane and ap.lane
        if ovs := next((intf.node.name for intf in (ap, radio) if intf.lane.node.switch), None):  # type: ignore[union-attr]
            raise Misuse(f"addLink(cls=_4address): {ovs} is an Open vSwitch; the bridges are the kernel's here")
        name, number = f"{radio.node.name}-wds", int(radio.lane.MAC().replace(":", ""), 16) ^ APART
        said = ""
        for words in (
            f"iw dev {radio.name} interface add {name} type managed 4addr on",
            f"ip link set {name} address {number.to_bytes(6, 'big').hex(':')} master {radio.node.name} up",
            f"iw dev {name} connect -w {shlex.quote(ap.ssid)} {round(1000 * ap.freq)}",
        ):
            said = radio.lane.node.cmd(words)
        if "connected to" not in said:
            raise Misuse(f"addLink({ap.node}, {radio.node}, cls=_4address): {said.strip()}: are they in range?")

    def switch(self, on: bool) -> None:
        if self.intf2 and self.intf2.lane:
            self.intf2.lane.node.cmd(f"ip link set {self.intf2.node.name}-wds {'up' if on else 'down'}")

    def status(self) -> str:
        return ""


def class_of(cls: Any, usual: type[Link], wireless: bool) -> tuple[type[Link], dict[str, Any]]:
    """Return the class that a script means, and the keywords fixed by `partial` or `custom`. Raises Misuse."""
    fixed: dict[str, Any] = {}
    while isinstance(cls, partial):
        fixed, cls = {**cls.keywords, **fixed}, cls.func
    if cls is None:
        cls = usual if issubclass(usual, Wireless) == wireless else Wireless if wireless else TCLink
    if isinstance(cls, Absent):
        cls.refuse()
    if not isinstance(cls, type) or not issubclass(cls, Link):
        raise Misuse(f"addLink: cls={cls!r} is not a kind of link here; {PAGE} lists them")
    if cls.role in ("wired", Wireless.role) and issubclass(cls, Wireless) != wireless:  # the ends determine the class
        cls = WirelessLink if wireless else TCLink
    return cls, fixed


def settings_of(cls: type[Link], call: str, params: dict[str, Any], by_links: bool = False) -> dict[str, Any]:
    """Return a link's settings, checked. `by_links`: links determine what arrives. Raises Misuse."""
    if "error_prob" in params and not by_links:
        note("error_prob: it has an effect only with wmediumd_mode=error_prob")
    check(call, params, (*cls.taken, *ENDS, USUAL), cls.noted, cls.refused, lenient=True)
    return {name: value for name, value in params.items() if name in cls.taken and value is not None}


def tune(intf: WIntf, cls: type[Link], settings: dict[str, Any]) -> None:
    """Set the link of an interface among peers."""
    if mode := settings.get("mode"):
        if cls is ITSLink and mode == "p":
            note("mode='p': 802.11p's 10 MHz channels are not modelled; the channel has 20 MHz and 802.11a's rates")
            mode = "a"
        intf.mode = mode_of(intf.name, mode)
    elif cls is ITSLink:
        low = str(settings.get("channel")) in map(str, CHANNELS_2GHZ)
        intf.mode, intf.channel = "g" if low else "a", ITS_CHANNEL
    if cls is WifiDirectLink and MODES[intf.mode].name == OLDER:
        intf.mode = "n5" if intf.mode == "a" else "n2"
    intf.role = cls.role
    usual = intf.channel if settings.get("mode") in (None, "b", "g", "p") else usual_channel(intf.mode, settings)
    intf.channel = settings.get("channel", usual)
    intf.params |= {keyword: settings[keyword] for keyword in WIDTH if keyword in settings}
    check_freq(intf.name, intf.mode, intf.channel, settings)
    intf.check()
    intf.ssid = settings.get("ssid") or ("" if cls in (ITSLink, WifiDirectLink) else f"{cls.__name__}Net")
    intf.txpower = numeric(f"{intf}: txpower", settings.get("txpower", intf.txpower))
    intf.wanted_range = range_of(intf.name, settings.get("range", intf.wanted_range))


def pair(a: Node, b: Node) -> bool:
    """Return whether these are a station and an access point, so that their link is over the air."""
    masters = [any(intf.role == "master" for intf in node.wintfs.values()) for node in (a, b)]
    return {a.kind, b.kind} <= {"station", "ap"} and masters[0] != masters[1]
