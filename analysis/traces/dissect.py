# SPDX-License-Identifier: BSD-3-Clause
"""Parse many 802.11 frames at once: their kind, sender and receiver, and the TCP segments that they carry.

Frames are one byte array, with the offset and captured length of each. A field is read for all frames at once. Where a
frame is too short, the field reads as zero, so no byte outside a frame is used. What DSR and batman-adv carry is
treated as if it came by itself.
IEEE 802.11-2016, 9.2 and 9.3; RFC 1042 (LLC/SNAP), 791, 8200, 9293, 4728; include/uapi/linux/batadv_packet.h.
"""

from dataclasses import dataclass

import numpy as np

from analysis.traces import native
from analysis.traces.columns import one_of
from analysis.traces.trace import Array, Kind

HEADER = 24
TCP, UDP = 6, 17
ROUTING_PORTS = (269, 654, 698, 6696)  # manet protocols, AODV, OLSR, Babel
BATMAN = 0x4305  # its ethertype
BATMAN_VERSION, BATMAN_FRAGMENT, BATMAN_FRAGMENT_HEADER, BATMAN_TO = 15, 0x41, 20, 4
PROTECTED = 0x40  # in the second byte
BLOCK_ACK, REQUEST = 0x94, 0x84  # first bytes (9.3.1.8, 9.3.1.7)
BLOCK_START, BLOCK_BITMAP = 18, 20
BATMAN_UNICAST = {0x40: 10, 0x42: 18}  # packets that carry an Ethernet frame, by type: length of the header
DSR, DSR_FIXED, DSR_FLOW, NOTHING = 48, 4, 0x80, 59  # RFC 4728, 6.1 and 7.1
ROUTING_PROTOCOLS = (DSR, 138)  # and manet
ACTION = 0xD0
PATH_SELECTION = b"\x0d\x01"  # start of HWMP's action frames: category Mesh, HWMP Mesh Path Selection (9.6.17.3)
FIN_SYN_RST, TCP_FLAG_ACK = 0x07, 0x10


class Frames:
    """The bytes of many frames; `field` reads the same place in all of them."""

    def __init__(self, data: Array, at: Array, caplen: Array):
        self.data, self.at, self.caplen = data, at, caplen

    def __len__(self) -> int:
        return int(self.at.size)

    def pick(self, rows: Array) -> "Frames":
        return Frames(self.data, self.at[rows], self.caplen[rows])

    def field(self, offset: Array | int, size: int = 1) -> Array:
        """Return `size` bytes, big-endian, at `offset` of each frame; 0 where the frame is too short."""
        return native.fields(self.data, self.at, self.caplen, offset, size)

    def address(self, number: int) -> Array:
        """Return Address 1, 2 or 3 as a 48-bit integer."""
        return self.field(4 + 6 * (number - 1), 6)

    def duration(self) -> Array:
        duration: Array = self.field(2) | self.field(3) << 8
        return duration

    def sequence(self) -> Array:
        """Return the sequence number of frames that have one."""
        sequence: Array = (self.field(22) | self.field(23) << 8) >> 4
        return sequence

    def tid(self) -> Array:
        """Return the TID of QoS data; -1 of others (9.2.4.5.2)."""
        four = self.field(1) & 3 == 3
        return np.where(self.field(0) & 0x8C == 0x88, self.field(np.where(four, HEADER + 6, HEADER)) & 15, -1)

    def acknowledges(self, sequence: Array) -> Array:
        """Return whether each frame, a compressed block ACK, acknowledges the MPDU with this number (9.3.1.8)."""
        start = self.field(BLOCK_START) | self.field(BLOCK_START + 1) << 8
        size = np.where(start & 15 == 4, 256, 64)  # Fragment Number says how long the bitmap is
        place = (sequence - (start >> 4)) & 0xFFF
        found: Array = (place < size) & (self.field(BLOCK_BITMAP + place // 8) >> place % 8 & 1 != 0)
        return found

    def wants_ack(self) -> Array:
        """Return whether an answer is due: the receiver is not a group, Ack Policy is not No Ack (9.2.4.5.4), and
        Duration leaves time for an answer. An access point expects none to a response that it sends to a broadcast
        probe."""
        fc0, fc1 = self.field(0), self.field(1)
        policy = self.field(np.where(fc1 & 3 == 3, HEADER + 6, HEADER)) >> 5 & 3
        wanted: Array = (self.field(4) & 1 == 0) & ~((fc0 & 0x8C == 0x88) & (policy == 1)) & (self.duration() > 0)
        return wanted


@dataclass(frozen=True)
class Tcp:
    """TCP segments among frames: `row` is the frame, `network` and `transport` are offsets in it."""

    row: Array
    version: Array
    network: Array
    transport: Array
    payload: Array  # bytes of TCP payload


def classify(frames: Frames) -> tuple[Array, Tcp]:
    """Return the `Kind` of each frame, and the TCP segments among them."""
    fc0 = frames.field(0)
    kind = np.full(len(frames), Kind.OTHER, np.uint8)
    for octet, control in ((0xB4, Kind.RTS), (0xC4, Kind.CTS), (0xD4, Kind.ACK), (BLOCK_ACK, Kind.ACK)):
        kind[fc0 == octet] = control
    kind[(fc0 & 0x0C == 0) & (frames.caplen >= HEADER)] = Kind.MANAGEMENT
    hwmp = (fc0 == ACTION) & (frames.field(1) & PROTECTED == 0)
    kind[hwmp & (frames.field(HEADER, 2) == int.from_bytes(PATH_SELECTION, "big"))] = Kind.ROUTING
    hidden = (fc0 & 0x4C == 0x08) & (frames.field(1) & PROTECTED != 0) & (frames.caplen >= HEADER)
    kind[hidden] = Kind.ENCRYPTED
    rows, network, ethertype = _ether_types(frames, fc0)
    network, ethertype = _past_batman(frames.pick(rows), network, ethertype)
    kind[rows[ethertype == BATMAN]] = Kind.ROUTING
    rows, network, ethertype = (column[one_of(ethertype, (0x0800, 0x86DD))] for column in (rows, network, ethertype))
    *packets, later = _packets(frames, rows, network, ethertype == 0x86DD)
    kind[packets[0][later & (packets[3] == UDP)]] = Kind.UDP
    rows, version, network, protocol, transport, segment = (column[~later] for column in packets)
    protocol, transport, segment = _past_dsr(frames.pick(rows), protocol, transport, segment)
    kind[rows[one_of(protocol, ROUTING_PROTOCOLS)]] = Kind.ROUTING
    udp = protocol == UDP
    routing = one_of(frames.pick(rows[udp]).field(transport[udp] + 2, 2), ROUTING_PORTS)
    kind[rows[udp]] = np.where(routing, Kind.ROUTING, Kind.UDP)

    rows, version, network, transport, segment = (
        column[protocol == TCP] for column in (rows, version, network, transport, segment)
    )
    tcp = frames.pick(rows)
    header = (tcp.field(transport + 12) >> 4) * 4
    flags = tcp.field(transport + 13)
    sound = (transport + 14 <= tcp.caplen) & (header >= 20) & (header <= segment)
    data = sound & (segment > header)
    pure = sound & ~data & (flags & (FIN_SYN_RST | TCP_FLAG_ACK) == TCP_FLAG_ACK)
    kind[rows[data]] = Kind.TCP_DATA
    kind[rows[pure]] = Kind.TCP_ACK
    return kind, Tcp(rows[sound], version[sound], network[sound], transport[sound], (segment - header)[sound])


def datagrams(frames: Frames) -> tuple[Array, Array, Array]:
    """Return the UDP datagrams in IPv4: row of the frame, and offsets of the network and UDP headers."""
    rows, network, ethertype = _ether_types(frames, frames.field(0))
    network, ethertype = _past_batman(frames.pick(rows), network, ethertype)
    rows, network = (column[ethertype == 0x0800] for column in (rows, network))
    *packets, later = _packets(frames, rows, network, np.zeros(rows.size, bool))
    rows, _, network, protocol, transport, segment = (column[~later] for column in packets)
    protocol, transport, _ = _past_dsr(frames.pick(rows), protocol, transport, segment)
    udp = (protocol == UDP) & (transport + 8 <= frames.pick(rows).caplen)
    return rows[udp], network[udp], transport[udp]


def _ether_types(frames: Frames, fc0: Array) -> tuple[Array, Array, Array]:
    """Return the data frames with unencrypted LLC/SNAP: row, offset of the payload, ethertype."""
    fc1 = frames.field(1)
    rows = np.flatnonzero((fc0 & 0x4C == 0x08) & (fc1 & PROTECTED == 0))  # data, not Null, not protected
    fc0, fc1, frames = fc0[rows], fc1[rows], frames.pick(rows)
    at = np.where(fc1 & 3 == 3, HEADER + 6, HEADER)  # Address 4
    qos = fc0 & 0x80 != 0
    mesh = qos & (frames.field(at + 1) & 1 != 0)  # Mesh Control Present (9.2.4.5.9)
    at = at + np.where(qos, 2, 0) + np.where(qos & (fc1 & 0x80 != 0), 4, 0)  # QoS Control, HT Control
    at = at + np.where(mesh, 6 + 6 * (frames.field(at) & 3), 0)  # Mesh Address Extension (9.2.4.7.3)
    snap = frames.field(at, 6) == 0xAAAA03000000
    return rows[snap], at[snap] + 8, frames.field(at + 6, 2)[snap]


def _packets(frames: Frames, rows: Array, network: Array, v6: Array) -> tuple[Array, ...]:
    """Return the IP packets: row, version, offset, protocol, offset and length of the payload, and whether it is a
    later fragment, which has no transport header.

    IPv6 extension headers are not followed.
    """
    frames = frames.pick(rows)
    first = frames.field(network)
    header = np.where(v6, 40, (first & 15) * 4)
    length = np.where(v6, 40 + frames.field(network + 4, 2), frames.field(network + 2, 2))
    protocol = np.where(v6, frames.field(network + 6), frames.field(network + 9))
    sound = (first >> 4 == np.where(v6, 6, 4)) & (header >= 20) & (length >= header)
    sound &= network + header <= frames.caplen
    later = ~v6 & (frames.field(network + 6, 2) & 0x1FFF != 0)
    columns = (rows, np.where(v6, 6, 4), network, protocol, network + header, length - header, later)
    return tuple(column[sound] for column in columns)


def _past_batman(frames: Frames, at: Array, ethertype: Array) -> tuple[Array, Array]:
    """Return offset and ethertype of what batman-adv's unicast packets carry. Its own packets keep BATMAN; later
    fragments, which cannot be parsed, get 0. A first fragment has the same destination as the packet in it."""

    def ours(at: Array) -> Array:
        sound: Array = frames.field(at + 1) == BATMAN_VERSION
        return sound

    batman = ethertype == BATMAN
    split = batman & ours(at) & (frames.field(at) == BATMAN_FRAGMENT) & (at + BATMAN_FRAGMENT_HEADER <= frames.caplen)
    inner = at + BATMAN_FRAGMENT_HEADER
    to = inner + BATMAN_TO
    begins = ours(inner) & (frames.field(to, 6) == frames.field(at + BATMAN_TO, 6)) & (to + 6 <= frames.caplen)
    ethertype = np.where(split & ~begins, 0, ethertype)
    at = np.where(split, inner, at)
    batman &= ours(at) & (ethertype == BATMAN)
    for packet, header in BATMAN_UNICAST.items():
        carries = batman & (frames.field(at) == packet)
        ethertype = np.where(carries, frames.field(at + header + 12, 2), ethertype)
        at, batman = np.where(carries, at + header + 14, at), batman & ~carries
    return at, ethertype


def _past_dsr(frames: Frames, protocol: Array, transport: Array, segment: Array) -> tuple[Array, ...]:
    """Return protocol, offset and length of what follows a DSR header; the protocol stays DSR if nothing does."""
    within = frames.field(transport)
    header = DSR_FIXED + np.where(frames.field(transport + 1) & DSR_FLOW, 0, frames.field(transport + 2, 2))
    carries = (protocol == DSR) & (within != NOTHING) & (transport + DSR_FIXED <= frames.caplen)
    carries &= (header <= segment) & (transport + header <= frames.caplen)
    header = np.where(carries, header, 0)
    return np.where(carries, within, protocol), transport + header, segment - header
