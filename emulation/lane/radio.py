# SPDX-License-Identifier: BSD-3-Clause
"""A station's radio: mac80211_hwsim makes it, nl80211 tunes it.

hwsim's NEW_RADIO gives a wiphy (the radio, as cfg80211 calls it) with one interface. The radio belongs to the netlink
socket that asked for it (DESTROY_RADIO_ON_CLOSE): when that socket closes, or its program dies, the radio is gone.
Radios hear each other only if they were made in the same network namespace, wherever they move later; so they are made
in the first one and then moved to their station's.
"""

from __future__ import annotations

import errno
import os
import select
import time

from emulation.lane.netlink import DUMP, GENERIC_HEADER, Generic, NetlinkError, parse
from emulation.lane.rtnetlink import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from emulation.lane.netlink import Value

NEW_RADIO = 4  # enum hwsim_commands
DESTROY_ON_CLOSE, RADIO_NAME, PERMANENT_ADDRESS = 16, 17, 22  # enum hwsim_attrs

# include/uapi/linux/nl80211.h
GET_WIPHY, SET_WIPHY, GET_INTERFACE, SET_INTERFACE, GET_STATION = 1, 2, 5, 6, 17
NEW_STATION, SEND_FRAME = 19, 59
JOIN_IBSS, LEAVE_IBSS, SET_WIPHY_NETNS, SET_TX_BITRATE_MASK, JOIN_MESH, LEAVE_MESH = 43, 44, 49, 57, 68, 69
WIPHY, IFINDEX, IFTYPE, MAC, BEACON_INTERVAL, MESH_ID, BASIC_RATES, FREQ, SSID = 1, 3, 5, 6, 12, 24, 36, 38, 52
STATION_INFO, FRAME = 21, 51
PEERING, ESTABLISHED = 6, b"\x04"  # of the station info: enum nl80211_plink_state
FREQ_FIXED, RTS_THRESHOLD, TX_RATES, MCAST_RATE, CHANNEL_WIDTH, CENTER_FREQ1, NETNS_FD = 60, 64, 90, 107, 159, 160, 219
WIDTH_20_NO_HT, BAND_2GHZ, BAND_5GHZ, LEGACY_RATES = 0, 0, 1, 1
IFTYPES = {"ibss": 1, "managed": 2, "ap": 3, "monitor": 6, "mesh": 7}  # enum nl80211_iftype
RTS_OFF = 0xFFFFFFFF


def owner_socket() -> Generic:
    """A socket that may own radios. No other socket has its port: hwsim takes the end of any socket with the owner's
    port for the owner's end, whatever its protocol; and a program's first of each have its process id by default."""
    return Generic(port=0x40000000 | os.getpid())


def hardware_address(text: str) -> bytes:
    """The six bytes of 02:00:00:00:00:01. Raises NetlinkError if it is none."""
    try:
        address = bytes.fromhex(text.replace(":", ""))
    except ValueError:
        address = b""
    if len(address) != 6:
        raise NetlinkError(22, f"not a hardware address: {text}")
    return address


class Radio:
    """One radio and its interface.

    It is made in the namespace of `owner`, an `owner_socket`, and lives until that is closed; then `move` takes it to a
    station's namespace.
    """

    def __init__(self, owner: Generic, address: str, name: str) -> None:
        """Make a radio with this permanent address; its interface is called `name`. Raises NetlinkError."""
        self.owner = self.nl80211 = self.events = owner
        self.name = name
        self.address = mac = hardware_address(address)
        new: list[tuple[int, Value]] = [(DESTROY_ON_CLOSE, b""), (RADIO_NAME, name.encode()), (PERMANENT_ADDRESS, mac)]
        owner.command("MAC80211_HWSIM", NEW_RADIO, new, what=f"radio {name}")
        interface = next(i for i in owner.command("nl80211", GET_INTERFACE, flags=DUMP) if i[MAC] == mac)
        self.wiphy, self.index = number(interface[WIPHY]), number(interface[IFINDEX])
        with Route() as route:
            route.set_link(self.index, name=name)

    def move(self, namespace: int, nl80211: Generic, events: Generic) -> None:
        """Move to the namespace of this open file descriptor, in which both sockets were opened.

        `events` hears nl80211's events, and should be closed when all have joined: unread, they fill it up.
        """
        self.owner.command("nl80211", SET_WIPHY_NETNS, [(WIPHY, self.wiphy), (NETNS_FD, namespace)])
        self.nl80211, self.events = nl80211, events
        events.join("nl80211", "mlme")

    def tune(self, command: int, *values: tuple[int, Value], what: str) -> None:
        """A command of nl80211 about the interface."""
        self.nl80211.command("nl80211", command, [(IFINDEX, self.index), *values], what=f"{self.name}: {what}")

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

    def join_ibss(
        self, ssid: str, freq: int, bssid: str, beacon_tu: int = 100, basic_rates: Sequence[int] = (), mcast: int = 0
    ) -> None:
        """Join an independent BSS on a fixed channel (MHz) and a fixed BSSID, so that no scan precedes it.

        `beacon_tu` is 10..10000 units of 1024 us; rates are in 100 kb/s. Returns when the kernel says that it joined.
        """
        values = [*channel(freq), (SSID, ssid.encode()), (MAC, hardware_address(bssid)), (FREQ_FIXED, b"")]
        values += join_values(beacon_tu, basic_rates, mcast)
        self.tune(JOIN_IBSS, *values, what=f"join IBSS {ssid}")
        self.wait([JOIN_IBSS], f"join IBSS {ssid}")

    def join_mesh(
        self, ssid: str, freq: int, beacon_tu: int = 1000, basic_rates: Sequence[int] = (), mcast: int = 0
    ) -> None:
        """Join an 802.11s mesh, open and with the kernel's own peering; arguments as of `join_ibss`."""
        values = [*channel(freq), (MESH_ID, ssid.encode()), *join_values(beacon_tu, basic_rates, mcast)]
        self.tune(JOIN_MESH, *values, what=f"join mesh {ssid}")

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
        addresses = b"\xff" * 6 + self.address + b"\xff" * 6
        header = b"\x40\0" + b"\0\0" + addresses + b"\0\0"
        elements = bytes([0, len(ssid)]) + ssid.encode() + bytes([1, 4]) + rate_bytes([10, 20, 55, 110])
        self.tune(SEND_FRAME, (FRAME, header + elements), (FREQ, freq), what="probe request")

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
                raise NetlinkError(110, f"{self.name}: no peering with {', '.join(sorted(missing))} in {seconds:g} s")
            select.select([], [], [], 0.01)

    def wait(self, events: Sequence[int], what: str, seconds: float = 60.0) -> None:
        """Wait for one of these events of nl80211 about this interface. Raises NetlinkError (ETIMEDOUT)."""

        def ours(_: int, payload: bytes) -> bool:
            about = parse(payload[GENERIC_HEADER.size :]).get(IFINDEX, b"")
            return payload[0] in events and number(about) == self.index

        self.events.wait(ours, f"{self.name}: {what}", seconds)

    def state(self) -> dict[str, object]:
        """What the kernel says of the interface: type, frequency (MHz, None: not joined), RTS threshold."""
        found = self.nl80211.command("nl80211", GET_INTERFACE, [(IFINDEX, self.index)])[0]
        kind = next((k for k, v in IFTYPES.items() if v == number(found[IFTYPE])), "other")
        freq = number(found[FREQ]) if FREQ in found else None
        return {"type": kind, "freq": freq, "rts_threshold": self.rts_threshold()}


def number(payload: bytes) -> int:
    """An unsigned attribute's value."""
    return int.from_bytes(payload, "little")


def rate_bytes(rates: Sequence[int]) -> bytes:
    """Rates as the standard writes them, in units of 500 kb/s (IEEE 802.11-2016, 9.4.2.3), from 100 kb/s."""
    return bytes(rate // 5 for rate in rates)


def channel(freq: int) -> list[tuple[int, Value]]:
    """A 20 MHz channel without HT: the air's rates are the legacy ones."""
    return [(FREQ, freq), (CHANNEL_WIDTH, WIDTH_20_NO_HT), (CENTER_FREQ1, freq)]


def join_values(beacon_tu: int, basic_rates: Sequence[int], mcast: int) -> list[tuple[int, Value]]:
    values: list[tuple[int, Value]] = [(BEACON_INTERVAL, beacon_tu)]
    if basic_rates:
        values.append((BASIC_RATES, rate_bytes(basic_rates)))
    if mcast:
        values.append((MCAST_RATE, mcast))
    return values
