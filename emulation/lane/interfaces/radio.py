# SPDX-License-Identifier: BSD-3-Clause
"""A radio: mac80211_hwsim makes it, nl80211 tunes it.

hwsim's NEW_RADIO gives a wiphy (the radio, as cfg80211 calls it) with one interface. The radio belongs to the netlink
socket that asked for it (DESTROY_RADIO_ON_CLOSE): when that socket closes, or its program dies, the radio is gone.
Radios hear each other only if they were made in the same network namespace, wherever they move later; so they are made
in the first one and then moved to their node's.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time

from emulation.lane import node
from emulation.lane.netlink import DUMP, GENERIC_HEADER, Generic, NetlinkError, messages, number, parse
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
    1,
    3,
    4,
    5,
    6,
    12,
    24,
    36,
    38,
    52,
)
STATION_INFO, IE, FRAME, TIMED_OUT, STATUS_CODE = 21, 42, 51, 65, 72
PEERING, ESTABLISHED = 6, b"\x04"  # of the station info: enum nl80211_plink_state
FREQ_FIXED, RTS_THRESHOLD, TX_RATES, CHANNEL_WIDTH, CENTER_FREQ1, NETNS_FD = 60, 64, 90, 159, 160, 219
WIDTH_20_NO_HT, BAND_2GHZ, BAND_5GHZ, LEGACY_RATES = 0, 0, 1, 1
IFTYPES = {"ibss": 1, "managed": 2, "ap": 3, "monitor": 6, "mesh": 7, "ocb": 11}  # enum nl80211_iftype
RTS_OFF = 0xFFFFFFFF
# minstrel's groups of legacy rates (net/mac80211/rc80211_minstrel_ht.h: after HT's of four streams, two widths and two
# guard intervals), and the rates in them in their order, in 100 kb/s.
CCK_GROUP, OFDM_GROUP = 16, 17
CCK, OFDM = (10, 20, 55, 110), (60, 90, 120, 180, 240, 360, 480, 540)
OWNER = 0x40000000  # of netlink ports


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
        """A socket that may own radios. No other socket has its port: hwsim takes the end of any socket with the
        owner's port for the owner's end, whatever its protocol; and a program's first of each have its process id."""
        return Generic(port=OWNER | os.getpid())

    def open(self, common: Generic) -> None:
        """Make the radio, in the namespace of this socket, which owns it, and take it to the node's."""
        with self.node:
            self.nl80211 = self.cleanup.enter_context(Generic())
            self.events = self.cleanup.enter_context(Generic())
        self.held = list(self.plan["rates"])
        self.make(common)
        common.command("nl80211", SET_WIPHY_NETNS, [(WIPHY, self.wiphy), (NETNS_FD, self.node.namespace)])
        self.set_rts_threshold(self.plan["rts_threshold"])
        self.node.note("rts threshold", self.rts_threshold(), None)

    def make(self, owner: Generic) -> None:
        """Make a radio with the interface's permanent address, and give the interface its name."""
        mac = hardware_address(self.plan["address"])
        new: list[tuple[int, Value]] = [(DESTROY_ON_CLOSE, b""), (RADIO_NAME, self.name.encode())]
        if (regulatory := self.plan["regulatory"]) is not None:
            new.append((CUSTOM_REGULATORY, regulatory))
        owner.command("MAC80211_HWSIM", NEW_RADIO, [*new, (PERMANENT_ADDRESS, mac)], what=f"radio {self.name}")
        made = next(i for i in owner.command("nl80211", GET_INTERFACE, flags=DUMP) if i[MAC] == mac)
        self.wiphy, self.index = number(made[WIPHY]), number(made[IFINDEX])
        with Route() as route:
            route.set_link(self.index, name=self.name)

    def starting(self) -> None:
        """Hear nl80211's events, for which joining waits; not earlier, as each event of any radio is offered to all who
        hear some."""
        self.events.join("nl80211", "mlme")

    def started(self) -> None:
        """Hear no more events: unread, they would fill the socket up."""
        self.events.close()

    def close(self) -> None:
        """The radio itself goes with its owner."""
        self.cleanup.close()

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """Hear nl80211's events again, for which `join_ibss` and `wait_for_peer` wait."""
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
        """A command of nl80211 about the interface; returns what answers it."""
        return self.nl80211.command("nl80211", command, [(IFINDEX, self.index), *values], what=f"{self.name}: {what}")

    def set_type(self, kind: str) -> None:
        """Make the interface one of IFTYPES; it must be down."""
        self.tune(SET_INTERFACE, (IFTYPE, IFTYPES[kind]), what=f"type {kind}")

    def set_rts_threshold(self, threshold: int | None) -> None:
        """Use RTS/CTS for frames longer than this (bytes, MPDU with FCS; IEEE 802.11-2016, 10.3.2.7); None: never."""
        value = RTS_OFF if threshold is None else threshold
        self.nl80211.command(
            "nl80211", SET_WIPHY, [(WIPHY, self.wiphy), (RTS_THRESHOLD, value)], what=f"{self.name}: RTS threshold"
        )

    def rts_threshold(self) -> int | None:
        """The threshold in use, in bytes; None: off."""
        answer = self.nl80211.command("nl80211", GET_WIPHY, [(WIPHY, self.wiphy)])
        value = number(answer[0].get(RTS_THRESHOLD, b"\xff" * 4))
        return None if value == RTS_OFF else value

    def fix_rates(self, rates: Sequence[int], freq: int) -> None:
        """Send with these legacy rates only (100 kb/s), on the band of `freq` (MHz). The interface must be up, and not
        yet joined: a joined one insists on a basic rate."""
        band = BAND_2GHZ if freq < 3000 else BAND_5GHZ
        self.tune(SET_TX_BITRATE_MASK, (TX_RATES, [(band, [(LEGACY_RATES, rate_bytes(rates))])]), what=f"rates {rates}")

    def holds_rates(self) -> bool:
        """Whether `hold_rate` can be had: Debian's kernels are built without."""
        return os.path.exists(f"/sys/kernel/debug/ieee80211/{self.name}/rc/fixed_rate_idx")

    def hold_rate(self, rate: int) -> None:
        """Send data with this legacy rate only (100 kb/s), and all else as the BSS has it: with the mask of `fix_rates`
        mac80211 lets nobody into a BSS whose basic rates are others. So it is told to its rate control, minstrel, by
        debugfs. Raises OSError where that is not there."""
        group, rates = (CCK_GROUP, CCK) if rate in CCK else (OFDM_GROUP, OFDM)
        path, index = f"/sys/kernel/debug/ieee80211/{self.name}/rc/fixed_rate_idx", group << 4 | rates.index(rate)
        with open(path, "w") as file:
            file.write(str(index))
        self.node.note("minstrel's fixed_rate_idx", index, -1)

    def change_rate(self, rate: int, freq: int, basic_rates: Sequence[int]) -> None:
        """Send data with this legacy rate (100 kb/s), though it has joined: minstrel takes it up within 50 ms, until
        when it is still the one before. What goes to all is at a basic rate from now on. Raises OSError where rates
        cannot be held."""
        if not self.holds_rates():
            raise OSError(errno.EOPNOTSUPP, f"{self.name}: this kernel cannot change a rate under way")
        try:
            self.fix_rates(sorted({rate, *basic_rates, *self.held}), freq)
        except NetlinkError as error:  # outside a BSS there are no basic rates, and mac80211 insists on one
            said = f"{self.name}: on a link of its kind a rate cannot be changed under way"
            raise OSError(error.errno, said) from None
        self.hold_rate(rate)
        self.held = [rate]

    def join_ibss(self, ssid: str, freq: int, bssid: str, beacon_tu: int, basic_rates: Sequence[int]) -> None:
        """Join an independent BSS on a fixed channel (MHz) and a fixed BSSID, so that no scan precedes it.

        `beacon_tu` is 10..10000 units of 1024 us; rates are in 100 kb/s. Returns when the kernel says that it joined.
        """
        cell: list[tuple[int, Value]] = [(SSID, ssid.encode()), (MAC, hardware_address(bssid)), (FREQ_FIXED, b"")]
        values = *channel(freq), *cell, *beacons(beacon_tu, basic_rates)
        self.tune(JOIN_IBSS, *values, what=f"join IBSS {ssid}")
        self.wait([JOIN_IBSS], f"join IBSS {ssid}")

    def join_mesh(self, ssid: str, freq: int, beacon_tu: int, basic_rates: Sequence[int]) -> None:
        """Join an 802.11s mesh, open and with the kernel's own peering; arguments as of `join_ibss`."""
        values = *channel(freq), (MESH_ID, ssid.encode()), *beacons(beacon_tu, basic_rates)
        self.tune(JOIN_MESH, *values, what=f"join mesh {ssid}")

    def join_ocb(self, freq: int) -> None:
        """Talk outside the context of a BSS, on a channel (MHz)."""
        self.tune(JOIN_OCB, *channel(freq), what="join OCB")

    def shift_beacons(self, by_us: int) -> None:
        """Move the times of this station's beacons. All hwsim radios have the same clock, so that without this they
        would all send their beacons at once, and none would ever be heard."""
        path = f"/sys/kernel/debug/ieee80211/{self.name}/netdev:{self.name}/tsf"
        if os.path.exists(path):  # not every distribution's kernel has mac80211's debugfs; real time staggers by itself
            with open(path, "w") as tsf:
                tsf.write(f"+={by_us:012d}")

    def probe(self, ssid: str, freq: int) -> None:
        """Send a probe request (IEEE 802.11-2016, 9.3.3.10): who of this BSS hears it answers, and is a peer then.

        A scan would do the same in ten times the time, and after one hwsim tells the air that the address is gone.
        """
        addresses = b"\xff" * 6 + hardware_address(self.MAC()) + b"\xff" * 6
        header = b"\x40\0" + b"\0\0" + addresses + b"\0\0"
        elements = bytes([0, len(ssid)]) + ssid.encode() + bytes([1, 4]) + rate_bytes([10, 20, 55, 110])
        self.tune(SEND_FRAME, (FRAME, header + elements), (FREQ, freq), what="probe request")

    def add_monitor(self, name: str) -> int:
        """Another interface of this radio, which receives whatever it does, for others too; returns its index."""
        new: list[tuple[int, Value]] = [(WIPHY, self.wiphy), (IFNAME, name), (IFTYPE, IFTYPES["monitor"])]
        made = self.nl80211.command("nl80211", NEW_INTERFACE, new, what=f"{self.name}: monitor {name}")
        index = number(made[0][IFINDEX])
        self.node.route.set_link(index, up=True)
        return index

    def wait_for_peer(self, seconds: float) -> bool:
        """Wait for a new peer, not longer than this; says whether there was one."""
        try:
            self.wait([NEW_STATION], "new peer", seconds)
        except NetlinkError as error:
            if error.errno != errno.ETIMEDOUT:
                raise
            return False
        return True

    def peers(self) -> set[str]:
        """The hardware addresses of the stations that this one can send to; in a mesh, those it has peered with."""
        found = self.nl80211.command("nl80211", GET_STATION, [(IFINDEX, self.index)], DUMP)
        return {
            peer[MAC].hex(":") for peer in found if parse(peer[STATION_INFO]).get(PEERING, ESTABLISHED) == ESTABLISHED
        }

    def wait_for_peers(self, addresses: set[str], seconds: float) -> None:
        """Wait until these are peers. Raises NetlinkError (ETIMEDOUT) if some are not after `seconds`.

        nl80211 says when a peer is heard first but not when its peering completes, so this looks every 10 ms.
        """
        deadline = time.monotonic() + seconds
        while missing := addresses - self.peers():
            if time.monotonic() > deadline:
                who = ", ".join(sorted(missing))
                raise NetlinkError(errno.ETIMEDOUT, f"{self.name}: no peering with {who} in {seconds:g} s")
            select.select([], [], [], 0.01)

    def wait(self, events: Sequence[int], what: str, seconds: float = 60.0) -> int:
        """Wait for one of these events of nl80211 about this interface, and return its status code (0: success, or
        none). Raises NetlinkError (ETIMEDOUT)."""
        body = self.events.wait(
            lambda _, body: body[0] in events and self.is_ours(body), f"{self.name}: {what}", seconds
        )
        return _status(body)

    def heard(self) -> list[tuple[int, int]]:
        """The events about this interface that have come (see `hearing`), and their status codes."""
        came = messages(self.events.socket.recv(1 << 17))
        return [(body[0], _status(body)) for _, _, _, body in came if self.is_ours(body)]

    def is_ours(self, body: bytes) -> bool:
        return number(parse(body[GENERIC_HEADER.size :]).get(IFINDEX, b"")) == self.index

    def state(self) -> dict[str, object]:
        """What the kernel says of the interface: type, frequency (MHz, None: not joined), RTS threshold."""
        found = self.nl80211.command("nl80211", GET_INTERFACE, [(IFINDEX, self.index)])[0]
        kind = next((k for k, v in IFTYPES.items() if v == number(found[IFTYPE])), "other")
        freq = number(found[FREQ]) if FREQ in found else None
        return {"type": kind, "freq": freq, "rts_threshold": self.rts_threshold()}


def _status(event: bytes) -> int:
    """The status code that an event of nl80211 tells; 0: success, or none."""
    found = parse(event[GENERIC_HEADER.size :])
    return number(found.get(STATUS_CODE, b"")) or (TIMED_OUT if TIMED_OUT in found else 0)


def rate_bytes(rates: Sequence[int]) -> bytes:
    """Rates as the standard writes them, in units of 500 kb/s (IEEE 802.11-2016, 9.4.2.3), from 100 kb/s."""
    return bytes(rate // 5 for rate in rates)


def channel(freq: int) -> list[tuple[int, Value]]:
    """A 20 MHz channel without HT: the air's rates are the legacy ones."""
    return [(FREQ, freq), (CHANNEL_WIDTH, WIDTH_20_NO_HT), (CENTER_FREQ1, freq)]


def beacons(beacon_tu: int, basic_rates: Sequence[int]) -> list[tuple[int, Value]]:
    """What beacons say: how often they come, and the rates that all must know; without any, the kernel's."""
    values: list[tuple[int, Value]] = [(BEACON_INTERVAL, beacon_tu)]
    return [*values, (BASIC_RATES, rate_bytes(basic_rates))] if basic_rates else values
