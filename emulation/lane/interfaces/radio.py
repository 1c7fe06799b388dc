# SPDX-License-Identifier: BSD-3-Clause
"""A radio: mac80211_hwsim makes it, nl80211 configures it.

hwsim's NEW_RADIO gives a wiphy (cfg80211's term for a radio) with one interface. The radio belongs to the netlink
socket that requested it (DESTROY_RADIO_ON_CLOSE): it disappears when the socket closes or its program dies. hwsim
delivers frames only between radios that were made in the same network namespace, wherever they move later. So all are
made in the first namespace and then moved to the nodes'.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct

from emulation.lane import node
from emulation.lane.clock import wait_until
from emulation.lane.netlink import DUMP, GENERIC_HEADER, Generic, NetlinkError, messages, number, parse
from emulation.lane.protocol import FAMILY, FORMATS, Command
from emulation.lane.protocol import Attribute as A
from emulation.lane.rtnetlink import Route, hardware_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from emulation.lane.netlink import Attributes, Value
    from emulation.lane.node import Node

NEW_RADIO = 4  # enum hwsim_commands
CUSTOM_REGULATORY, DESTROY_ON_CLOSE, RADIO_NAME, PERMANENT_ADDRESS = 12, 16, 17, 22  # enum hwsim_attrs

# include/uapi/linux/nl80211.h
GET_WIPHY, SET_WIPHY, GET_INTERFACE, SET_INTERFACE, GET_STATION = 1, 2, 5, 6, 17
NEW_INTERFACE, NEW_STATION, SEND_FRAME = 7, 19, 59
JOIN_IBSS, SET_WIPHY_NETNS, SET_TX_BITRATE_MASK, JOIN_MESH, JOIN_OCB = 43, 49, 57, 68, 108
WIPHY, IFINDEX, IFNAME, IFTYPE, MAC, BEACON_INTERVAL, MESH_ID, BASIC_RATES, FREQ, SSID = (
    1, 3, 4, 5, 6, 12, 24, 36, 38, 52,
)  # fmt: skip
STATION_INFO, IE, FRAME, TIMED_OUT, STATUS_CODE = 21, 42, 51, 65, 72
PEERING, ESTABLISHED = 6, b"\x04"  # of the station info: NL80211_STA_INFO_PLINK_STATE, enum nl80211_plink_state
FREQ_FIXED, RTS_THRESHOLD, TX_RATES, CHANNEL_WIDTH, CENTER_FREQ1, NETNS_FD = 60, 64, 90, 159, 160, 219
TX_POWER_SETTING, TX_POWER_LEVEL, TX_POWER_FIXED = 97, 98, 2
WIDTHS = {20: 1, 40: 2, 80: 3, 160: 5}  # enum nl80211_chan_width
WIDTH_20_NO_HT, BAND_2GHZ, BAND_5GHZ, LEGACY_RATES = 0, 0, 1, 1
IFTYPES = {"ibss": 1, "managed": 2, "ap": 3, "monitor": 6, "mesh": 7, "ocb": 11}  # enum nl80211_iftype
RTS_OFF = 0xFFFFFFFF
# minstrel's groups of legacy rates (net/mac80211/rc80211_minstrel_ht.h: they follow HT's groups of four streams, two
# widths and two guard intervals), and the rates of each in minstrel's order, in 100 kb/s.
CCK_GROUP, OFDM_GROUP = 16, 17
VHT_GROUP, MOST_STREAMS = 18, 4
MCS_AUTO = 255  # DRIVER_AUTO
LEGACY = "ofdm"  # the format of a radio of the air's own without MCS
CCK, OFDM = (10, 20, 55, 110), (60, 90, 120, 180, 240, 360, 480, 540)
OWNER_BIT = 0x40000000  # added to a netlink port number

# <linux/ethtool.h>: struct ifreq with a pointer, struct ethtool_sfeatures of two words. The feature is ethtool's
# rx-udp-gro-forwarding (NETIF_F_GRO_UDP_FWD_BIT) of Linux 6.12.
SIOCETHTOOL, SET_FEATURES, COMBINING = 0x8946, 0x3B, 59
REQUEST, FEATURES = struct.Struct("=16sQ16x"), struct.Struct("=II" + 2 * "II")


class Interface(node.Interface):
    """A radio's interface."""

    on_air = True
    nl80211: Generic
    events: Generic  # of nl80211

    def __init__(self, node: Node, plan: dict[str, Any]) -> None:
        super().__init__(node, plan)
        self.cleanup = contextlib.ExitStack()

    @classmethod
    def common(cls) -> Generic:
        """Open a netlink socket that can own radios, with a port number that no other socket has.

        hwsim takes the release of any socket with the owner's port for the owner's, whatever its protocol. And by
        default a process's first socket of each protocol has its process id as port number.
        """
        return Generic(port=OWNER_BIT | os.getpid())

    def open(self, common: Generic) -> None:
        """Make the radio in the namespace of the socket `common`, which owns it, and move it to the node's."""
        with self.node:
            self.nl80211 = self.cleanup.enter_context(Generic())
            self.events = self.cleanup.enter_context(Generic())
        self.current_rates = list(self.plan["rates"])
        self.make(common)
        common.command("nl80211", SET_WIPHY_NETNS, [(WIPHY, self.wiphy), (NETNS_FD, self.node.namespace)])
        self.set_rts_threshold(self.plan["rts_threshold"])
        self.node.note("rts threshold", self.rts_threshold(), None)

    def make(self, owner: Generic) -> None:
        """Make a radio with the interface's permanent address, and name the interface."""
        mac = hardware_address(self.plan["address"])
        if "ht" in self.plan:
            self.make_ht(owner, mac)
        else:
            self.make_legacy(owner, mac)
        made = next(i for i in owner.command("nl80211", GET_INTERFACE, flags=DUMP) if i[MAC] == mac)
        self.wiphy, self.index = number(made[WIPHY]), number(made[IFINDEX])
        with Route() as route:
            route.set_link(self.index, name=self.name)

    def make_legacy(self, owner: Generic, mac: bytes) -> None:
        new: list[tuple[int, Value]] = [(DESTROY_ON_CLOSE, b""), (RADIO_NAME, self.name.encode())]
        if (regulatory := self.plan["regulatory"]) is not None:
            new.append((CUSTOM_REGULATORY, regulatory))
        owner.command("MAC80211_HWSIM", NEW_RADIO, [*new, (PERMANENT_ADDRESS, mac)], what=f"radio {self.name}")

    def make_ht(self, owner: Generic, mac: bytes) -> None:
        """Make a radio of 802.11n or later, which is the air's own."""
        ht = self.plan["ht"]
        small = ("streams", "depth", "tries", "density", "aql", "fairness", "protection", "pacing_shift")
        byte_values = {name: struct.pack("=B", ht[name]) for name in small}
        larger = ("width_mhz", "guard_ns", "window", "mpdus", "fifo")
        word_values = {name: struct.pack("=H", ht[name]) for name in larger}
        owner.command(FAMILY, Command.RADIO, [
            (A.RADIO, mac), (A.NAME, self.name.encode() + b"\0"),
            (A.FORMAT, struct.pack("=B", FORMATS.index(ht["format"]))),
            *((getattr(A, name.upper()), value) for name, value in {**byte_values, **word_values}.items()),
            (A.MCS, struct.pack("=B", MCS_AUTO if ht["mcs"] is None else ht["mcs"])),
            (A.BYTES, ht["bytes"]), (A.PPDU_NS, ht["ppdu_us"] * 1000),
        ], what=f"radio {self.name}")  # fmt: skip
        if ht["held"]:
            self.set_fixed_rate_index(mcs_index(ht))  # the air sends data by it in any case; so the kernel reports it

    def starting(self) -> None:
        """Subscribe to nl80211's events, which joining waits for. It does not subscribe earlier, because the kernel
        offers each event of any radio to all subscribers."""
        self.events.join("nl80211", "mlme")

    def started(self) -> None:
        """Unsubscribe: unread events would fill the socket."""
        self.events.close()

    def close(self) -> None:
        """Close the sockets. The radio itself disappears with its owner."""
        self.cleanup.close()

    @contextlib.contextmanager
    def receiving_events(self) -> Iterator[None]:
        """Subscribe to nl80211's events again, which `join_ibss` and `wait_for_peer` need."""
        before = self.events
        with self.node:
            self.events = Generic()
        try:
            with self.events:
                self.events.join("nl80211", "mlme")
                yield
        finally:
            self.events = before

    def tune(self, command: int, *values: tuple[int, Value], what: str) -> list[Attributes]:
        """Send an nl80211 command about the interface and return the answers."""
        return self.nl80211.command("nl80211", command, [(IFINDEX, self.index), *values], what=f"{self.name}: {what}")

    def set_type(self, kind: str) -> None:
        """Set the interface's type, a key of IFTYPES. The interface must be down."""
        self.tune(SET_INTERFACE, (IFTYPE, IFTYPES[kind]), what=f"type {kind}")

    def set_rts_threshold(self, threshold: int | None) -> None:
        """Use RTS/CTS for MPDUs longer than this (bytes with FCS; IEEE 802.11-2016, 10.3.2.7); None: never."""
        value = RTS_OFF if threshold is None else threshold
        self.nl80211.command(
            "nl80211", SET_WIPHY, [(WIPHY, self.wiphy), (RTS_THRESHOLD, value)], what=f"{self.name}: RTS threshold"
        )

    def rts_threshold(self) -> int | None:
        """Return the threshold in use, in bytes; None: off."""
        answer = self.nl80211.command("nl80211", GET_WIPHY, [(WIPHY, self.wiphy)])
        value = number(answer[0].get(RTS_THRESHOLD, b"\xff" * 4))
        return None if value == RTS_OFF else value

    def combine(self, on: bool) -> None:
        if "ht" not in self.plan:
            return
        import ctypes
        import fcntl
        import socket

        word = 1 << COMBINING % 32
        wanted = ctypes.create_string_buffer(FEATURES.pack(SET_FEATURES, 2, 0, 0, word, word * on))
        request = REQUEST.pack(self.name.encode(), ctypes.addressof(wanted))
        with self.node, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCETHTOOL, request)

    def show_tx_power(self, dbm: float) -> None:
        """Have the kernel show this power, which the air has by itself: whole dBm from 0 to the channel's maximum."""
        level = [(TX_POWER_SETTING, TX_POWER_FIXED), (TX_POWER_LEVEL, 100 * max(round(dbm), 0))]
        self.nl80211.command("nl80211", SET_WIPHY, [(WIPHY, self.wiphy), *level], what=f"{self.name}: power")

    def set_rate_mask(self, rates: Sequence[int], freq: int) -> None:
        """Send at these legacy rates only (100 kb/s), on the band of `freq` (MHz). The interface must be up and must
        not have joined: mac80211 requires a basic rate of a joined one."""
        band = BAND_2GHZ if freq < 3000 else BAND_5GHZ
        self.tune(SET_TX_BITRATE_MASK, (TX_RATES, [(band, [(LEGACY_RATES, rate_bytes(rates))])]), what=f"rates {rates}")

    def supports_fixed_rate(self) -> bool:
        """Return whether this kernel supports `set_fixed_rate`. Debian's kernels do not."""
        return os.path.exists(f"/sys/kernel/debug/ieee80211/{self.name}/rc/fixed_rate_idx")

    def set_fixed_rate(self, rate: int) -> None:
        """Send data at this legacy rate only (100 kb/s), and other frames at the rates of the BSS.

        mac80211 refuses to join a BSS if the mask of `set_rate_mask` lacks all of its basic rates. So this sets the
        rate in debugfs, for the rate control minstrel. Raises OSError if the kernel has no such file."""
        group, rates = (CCK_GROUP, CCK) if rate in CCK else (OFDM_GROUP, OFDM)
        self.set_fixed_rate_index(group << 4 | rates.index(rate))

    def set_fixed_rate_index(self, index: int) -> None:
        """The same by minstrel's index of a rate."""
        with open(f"/sys/kernel/debug/ieee80211/{self.name}/rc/fixed_rate_idx", "w") as file:
            file.write(str(index))
        self.node.note("minstrel's fixed_rate_idx", index, -1)

    def change_rate(self, rate: int, freq: int, basic_rates: Sequence[int]) -> None:
        """Send data at this legacy rate (100 kb/s), after joining.

        minstrel applies it within 50 ms and uses the previous rate until then. Group-addressed frames use a basic rate
        from now on. Raises OSError if this kernel cannot fix a rate, or if the kind of link does not allow it.
        """
        if not self.supports_fixed_rate():
            raise OSError(errno.EOPNOTSUPP, f"{self.name}: this kernel cannot change a rate while the network runs")
        try:
            self.set_rate_mask(sorted({rate, *basic_rates, *self.current_rates}), freq)
        except NetlinkError as error:  # outside a BSS there are no basic rates, and mac80211 requires one
            message = f"{self.name}: on a link of its kind a rate cannot be changed under way"
            raise OSError(error.errno, message) from None
        self.set_fixed_rate(rate)
        self.current_rates = [rate]

    def join_ibss(self, ssid: str, freq: int, bssid: str, beacon_tu: int, basic_rates: Sequence[int]) -> None:
        """Join an independent BSS on a fixed channel (MHz) with a fixed BSSID, so that no scan precedes. `beacon_tu` is
        10 to 10000 units of 1024 µs; rates are in 100 kb/s. Returns when the kernel reports that it joined."""
        cell: list[tuple[int, Value]] = [(SSID, ssid.encode()), (MAC, hardware_address(bssid)), (FREQ_FIXED, b"")]
        values = *channel(freq, self.plan.get("ht")), *cell, *beacons(beacon_tu, basic_rates)
        self.tune(JOIN_IBSS, *values, what=f"join IBSS {ssid}")
        self.wait([JOIN_IBSS], f"join IBSS {ssid}")

    def join_mesh(self, ssid: str, freq: int, beacon_tu: int, basic_rates: Sequence[int]) -> None:
        """Join an open 802.11s mesh, with the kernel's own peering. Arguments are as for `join_ibss`."""
        values = *channel(freq, self.plan.get("ht")), (MESH_ID, ssid.encode()), *beacons(beacon_tu, basic_rates)
        self.tune(JOIN_MESH, *values, what=f"join mesh {ssid}")

    def join_ocb(self, freq: int) -> None:
        """Communicate outside the context of a BSS, on a channel (MHz)."""
        self.tune(JOIN_OCB, *channel(freq), what="join OCB")

    def shift_beacons(self, by_us: int) -> None:
        """Shift the times of this station's beacons. All hwsim radios have the same clock: without a shift, their
        beacons would always collide."""
        path = f"/sys/kernel/debug/ieee80211/{self.name}/netdev:{self.name}/tsf"
        if os.path.exists(path):  # some kernels lack mac80211's debugfs; in real time, the starts differ anyway
            with open(path, "w") as tsf:
                tsf.write(f"+={by_us:012d}")

    def probe(self, ssid: str, freq: int) -> None:
        """Send a probe request (IEEE 802.11-2016, 9.3.3.10). Each station of the BSS that hears it answers and becomes
        a peer.

        A scan has the same result but takes ten times as long, and after a scan hwsim tells the air that the address is
        gone.
        """
        addresses = b"\xff" * 6 + hardware_address(self.MAC()) + b"\xff" * 6
        header = b"\x40\0" + b"\0\0" + addresses + b"\0\0"
        elements = bytes([0, len(ssid)]) + ssid.encode() + bytes([1, 4]) + rate_bytes([10, 20, 55, 110])
        self.tune(SEND_FRAME, (FRAME, header + elements), (FREQ, freq), what="probe request")

    def add_monitor(self, name: str) -> int:
        """Add an interface that receives every frame the radio does, also for other stations. Return its index."""
        new: list[tuple[int, Value]] = [(WIPHY, self.wiphy), (IFNAME, name), (IFTYPE, IFTYPES["monitor"])]
        made = self.nl80211.command("nl80211", NEW_INTERFACE, new, what=f"{self.name}: monitor {name}")
        index = number(made[0][IFINDEX])
        self.node.route.set_link(index, up=True)
        return index

    def wait_for_peer(self, seconds: float) -> bool:
        """Wait up to `seconds` for a new peer. Return whether there was one."""
        try:
            self.wait([NEW_STATION], "new peer", seconds)
        except NetlinkError as error:
            if error.errno != errno.ETIMEDOUT:
                raise
            return False
        return True

    def peers(self) -> set[str]:
        """Return the addresses of the stations it can send to; in a mesh, those with an established peering."""
        found = self.nl80211.command("nl80211", GET_STATION, [(IFINDEX, self.index)], DUMP)
        return {
            peer[MAC].hex(":") for peer in found if parse(peer[STATION_INFO]).get(PEERING, ESTABLISHED) == ESTABLISHED
        }

    def wait_for_peers(self, addresses: set[str], seconds: float) -> None:
        """Wait until all of these are peers. nl80211 reports when it first hears a peer, but not when a peering
        completes. So this looks every 10 ms. Raises NetlinkError (ETIMEDOUT) if any is missing after `seconds`."""
        if not wait_until(lambda: addresses <= self.peers(), seconds):
            names = ", ".join(sorted(addresses - self.peers()))
            raise NetlinkError(errno.ETIMEDOUT, f"{self.name}: no peering with {names} in {seconds:g} s")

    def wait(self, events: Sequence[int], what: str, seconds: float = 60.0) -> int:
        """Wait for one of these nl80211 events about this interface. Return its status code; 0: success, or no code.
        Raises NetlinkError (ETIMEDOUT) after `seconds`."""
        body = self.events.wait(
            lambda _, body: body[0] in events and self.is_about_this(body), f"{self.name}: {what}", seconds
        )
        return _status(body)

    def pending_events(self) -> list[tuple[int, int]]:
        """Return the events about this interface so far (see `receiving_events`), with their status codes."""
        received = messages(self.events.socket.recv(1 << 17))
        return [(body[0], _status(body)) for _, _, _, body in received if self.is_about_this(body)]

    def is_about_this(self, body: bytes) -> bool:
        return number(parse(body[GENERIC_HEADER.size :]).get(IFINDEX, b"")) == self.index

    def state(self) -> dict[str, object]:
        """Return the kernel's view of the interface: type, frequency (MHz; None: not joined), RTS threshold."""
        found = self.nl80211.command("nl80211", GET_INTERFACE, [(IFINDEX, self.index)])[0]
        kind = next((k for k, v in IFTYPES.items() if v == number(found[IFTYPE])), "other")
        freq = number(found[FREQ]) if FREQ in found else None
        return {"type": kind, "freq": freq, "rts_threshold": self.rts_threshold()}


def _status(event: bytes) -> int:
    """Return the status code of an nl80211 event; 0: success, or no code."""
    found = parse(event[GENERIC_HEADER.size :])
    return number(found.get(STATUS_CODE, b"")) or (TIMED_OUT if TIMED_OUT in found else 0)


def rate_bytes(rates: Sequence[int]) -> bytes:
    """Convert rates from 100 kb/s to the standard's units of 500 kb/s (IEEE 802.11-2016, 9.4.2.3)."""
    return bytes(rate // 5 for rate in rates)


def channel(freq: int, ht: dict[str, Any] | None = None) -> list[tuple[int, Value]]:
    """Return the attributes of a channel, as wide as `ht` of a radio says; of 20 MHz for one with legacy rates only."""
    if not ht or ht["format"] == LEGACY:
        return [(FREQ, freq), (CHANNEL_WIDTH, WIDTH_20_NO_HT), (CENTER_FREQ1, freq)]
    return [(FREQ, freq), (CHANNEL_WIDTH, WIDTHS[ht["width_mhz"]]), (CENTER_FREQ1, ht["centre_mhz"])]


def mcs_index(ht: dict[str, Any]) -> int:
    """Return minstrel's index of a radio's MCS, with its streams, width and guard interval."""
    wide, short = (20, 40, 80).index(ht["width_mhz"]), ht["guard_ns"] == 400
    group = MOST_STREAMS * (2 * wide + short) + ht["streams"] - 1
    first = VHT_GROUP if ht["format"] == "vht" else 0
    index: int = first + group << 4 | ht["mcs"]
    return index


def beacons(beacon_tu: int, basic_rates: Sequence[int]) -> list[tuple[int, Value]]:
    """Return the attributes of beacons: the interval, and the basic rates; without any, the kernel's default."""
    values: list[tuple[int, Value]] = [(BEACON_INTERVAL, beacon_tu)]
    return [*values, (BASIC_RATES, rate_bytes(basic_rates))] if basic_rates else values
