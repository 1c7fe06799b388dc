# SPDX-License-Identifier: BSD-3-Clause
"""The kind of a frame: by hand, against Scapy's dissection, and against the air's own classification in C."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sample import Sample
from tiny_air import data_header, ip, ipv4, mac, tcp, udp

from analysis.taps.sniff import frames
from analysis.traces import dissect
from analysis.traces.trace import Kind

A, B, GROUP = mac(0), mac(1), b"\xff" * 6
IPS = ip(0), ip(1)
ACK, SYN, FIN = 0x10, 0x02, 0x01
SNAP = b"\xaa\xaa\x03\0\0\0"
PURE_ACK = ipv4(*IPS, 6, tcp(1, 2, 3, 4))
MESH = b"\0\x1f" + bytes(4)  # flags, TTL, sequence number


def header(fc0: int = 0x08, fc1: int = 0, extra: bytes = b"") -> bytes:
    return bytes([fc0, fc1]) + data_header(B, A, 1)[2:] + extra


def ipv6(next_header: int, payload: bytes) -> bytes:
    return SNAP + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64) + bytes(32) + payload


def dsr(next_header: int, options: bytes, payload: bytes = b"", flow: int = 0) -> bytes:
    """RFC 4728, 6.1."""
    return struct.pack("!BBH", next_header, flow, len(options)) + options + payload


def batman(kind: int, inner: bytes, header: int = 10, version: int = 15, to: bytes = B) -> bytes:
    """Return a packet of batman-adv that contains an Ethernet frame of IP."""
    return (bytes([kind, version, 50, 1]) + to).ljust(header, b"\0") + B + A + inner.removeprefix(SNAP)


def batadv(packet: bytes) -> bytes:
    return header() + SNAP + b"\x43\x05" + packet


FRAGMENT = (b"\x41\x0f\x32\x10" + B + A).ljust(20, b"\0")
ROUTE = bytes([96, 10, 0, 2]) + bytes([10, 0, 0, 2, 10, 0, 0, 3])  # a source route of two
DATA_SEGMENT, ACK_SEGMENT = tcp(1, 2, 3, 4, ACK, b"x"), tcp(1, 2, 3, 4)

CASES = {
    "RTS": (b"\xb4\0\0\0" + B + A, Kind.RTS),
    "CTS": (b"\xc4\0\0\0" + B, Kind.CTS),
    "ACK of the MAC": (b"\xd4\0\0\0" + B, Kind.ACK),
    "PS-Poll": (b"\xa4\0\0\0" + B + A, Kind.OTHER),
    "beacon": (header(0x80) + bytes(12), Kind.MANAGEMENT),
    "mesh path selection": (header(0xD0) + b"\x0d\x01" + bytes(12), Kind.ROUTING),
    "mesh path selection, protected": (header(0xD0, 0x40) + b"\x0d\x01" + bytes(12), Kind.MANAGEMENT),
    "link metric report of a mesh": (header(0xD0) + b"\x0d\x00" + bytes(12), Kind.MANAGEMENT),
    "another action": (header(0xD0) + b"\x0e\x01" + bytes(12), Kind.MANAGEMENT),
    "an action cut off": (header(0xD0) + b"\x0d", Kind.MANAGEMENT),
    "extension frame": (header(0x0C), Kind.OTHER),
    "TCP with payload": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, ACK, b"x")), Kind.TCP_DATA),
    "TCP with payload and FIN": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, ACK | FIN, b"x")), Kind.TCP_DATA),
    "pure TCP ACK": (header() + PURE_ACK, Kind.TCP_ACK),
    "SYN": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 0, SYN)), Kind.OTHER),
    "FIN": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, ACK | FIN)), Kind.OTHER),
    "RST": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, 0x14)), Kind.OTHER),
    "TCP with no flag at all": (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, 0)), Kind.OTHER),
    "TCP over IPv6": (header() + ipv6(6, tcp(1, 2, 3, 4, ACK, b"x")), Kind.TCP_DATA),
    "pure ACK over IPv6": (header() + ipv6(6, tcp(1, 2, 3, 4)), Kind.TCP_ACK),
    "OLSR": (header() + ipv4(*IPS, 17, udp(698, 698, bytes(20))), Kind.ROUTING),
    "AODV": (header() + ipv4(*IPS, 17, udp(654, 654)), Kind.ROUTING),
    "Babel over IPv6": (header() + ipv6(17, udp(6696, 6696)), Kind.ROUTING),
    "manet protocols": (header() + ipv4(*IPS, 17, udp(5000, 269)), Kind.ROUTING),
    "UDP from a routing port to another": (header() + ipv4(*IPS, 17, udp(698, 5000)), Kind.UDP),
    "DSR request": (header() + ipv4(*IPS, 48, dsr(59, bytes([1, 6]) + bytes(6))), Kind.ROUTING),
    "TCP in DSR": (header() + ipv4(*IPS, 48, dsr(6, ROUTE, DATA_SEGMENT)), Kind.TCP_DATA),
    "pure ACK in DSR": (header() + ipv4(*IPS, 48, dsr(6, ROUTE, ACK_SEGMENT)), Kind.TCP_ACK),
    "pure ACK in a DSR flow": (
        header() + ipv4(*IPS, 48, b"\x06\x80\0\x20" + ACK_SEGMENT), Kind.TCP_ACK),
    "SYN in DSR": (header() + ipv4(*IPS, 48, dsr(6, ROUTE, tcp(1, 2, 3, 0, SYN))), Kind.OTHER),
    "ICMP in DSR": (header() + ipv4(*IPS, 48, dsr(1, ROUTE, bytes(8))), Kind.OTHER),
    "OLSR in DSR": (header() + ipv4(*IPS, 48, dsr(17, ROUTE, udp(698, 698))), Kind.ROUTING),
    "UDP in DSR": (header() + ipv4(*IPS, 48, dsr(17, ROUTE, udp(5000, 5001))), Kind.UDP),
    "DSR in DSR": (header() + ipv4(*IPS, 48, dsr(48, ROUTE, dsr(6, ROUTE, ACK_SEGMENT))), Kind.ROUTING),
    "DSR options longer than the packet": (
        header() + ipv4(*IPS, 48, b"\x06\0\0\x40" + ACK_SEGMENT) + bytes(80), Kind.ROUTING),
    "DSR cut off": ((header() + ipv4(*IPS, 48, dsr(6, ROUTE, ACK_SEGMENT)))[: 24 + 8 + 20 + 12], Kind.ROUTING),
    "DSR header cut off": ((header() + ipv4(*IPS, 48, dsr(6, b"", ACK_SEGMENT)))[: 24 + 8 + 20 + 3], Kind.ROUTING),
    "IP protocol manet": (header() + ipv4(*IPS, 138, bytes(8)), Kind.ROUTING),
    "batman-adv, nothing": (batadv(b""), Kind.ROUTING),
    "batman-adv OGM": (batadv(b"\0\x0f" + bytes(30)), Kind.ROUTING),
    "batman-adv broadcast": (batadv(batman(1, ipv4(*IPS, 6, DATA_SEGMENT), 14)), Kind.ROUTING),
    "TCP in batman-adv": (batadv(batman(0x40, ipv4(*IPS, 6, DATA_SEGMENT))), Kind.TCP_DATA),
    "pure ACK in batman-adv": (batadv(batman(0x40, PURE_ACK)), Kind.TCP_ACK),
    "pure ACK in batman-adv, four addresses": (batadv(batman(0x42, PURE_ACK, 18)), Kind.TCP_ACK),
    "TCP over IPv6 in batman-adv": (batadv(batman(0x40, ipv6(6, DATA_SEGMENT))), Kind.TCP_DATA),
    "ARP in batman-adv": (batadv(batman(0x42, SNAP + b"\x08\x06" + bytes(28), 18)), Kind.OTHER),
    "UDP in batman-adv": (batadv(batman(0x40, ipv4(*IPS, 17, udp(5000, 5001)))), Kind.UDP),
    "batman-adv in batman-adv": (batadv(batman(0x40, SNAP + b"\x43\x05" + batman(0x40, PURE_ACK))), Kind.ROUTING),
    "another batman-adv": (batadv(batman(0x40, PURE_ACK, version=14)), Kind.ROUTING),
    "batman-adv's Ethernet header cut off": (batadv(batman(0x40, PURE_ACK)[:23]), Kind.OTHER),
    "the first fragment of batman-adv": (
        batadv(FRAGMENT + batman(0x40, ipv4(*IPS, 6, tcp(1, 2, 3, 4, ACK, bytes(1460))))[:700]), Kind.TCP_DATA),
    "a later fragment of batman-adv": (batadv(FRAGMENT + bytes(700)), Kind.OTHER),
    "a fragment to elsewhere than what is in it": (batadv(FRAGMENT + batman(0x40, PURE_ACK, to=A)), Kind.OTHER),
    "a fragment of batman-adv cut off": (batadv((FRAGMENT + batman(0x40, PURE_ACK))[:25]), Kind.OTHER),
    "a fragment of what is no unicast": (batadv(FRAGMENT + batman(0x44, PURE_ACK)), Kind.ROUTING),
    "ARP": (header() + SNAP + b"\x08\x06" + bytes(28), Kind.OTHER),
    "ICMP": (header() + ipv4(*IPS, 1, bytes(8)), Kind.OTHER),
    "Null data": (header(0x48), Kind.OTHER),
    "protected": (header(fc1=0x40) + PURE_ACK, Kind.ENCRYPTED),
    "no SNAP": (header() + b"\xe0" + PURE_ACK[1:], Kind.OTHER),
    "QoS": (header(0x88, extra=b"\0\0") + PURE_ACK, Kind.TCP_ACK),
    "QoS with HT Control": (header(0x88, 0x80, b"\0\0" + bytes(4)) + PURE_ACK, Kind.TCP_ACK),
    "four addresses": (header(0x08, 0x03, A) + PURE_ACK, Kind.TCP_ACK),
    "mesh": (header(0x88, 0x03, A + b"\0\1" + MESH) + PURE_ACK, Kind.TCP_ACK),
    "mesh with two more addresses": (header(0x88, 0x03, A + b"\0\1\2" + MESH[1:] + A + B) + PURE_ACK, Kind.TCP_ACK),
    "mesh to a group, one more address": (header(0x88, 0x02, b"\0\1\1" + MESH[1:] + A) + PURE_ACK, Kind.TCP_ACK),
    "a later fragment": (header() + PURE_ACK[:14] + b"\0\x10" + PURE_ACK[16:], Kind.OTHER),
    "UDP": (header() + ipv4(*IPS, 17, udp(5000, 5001, bytes(40))), Kind.UDP),
    "UDP over IPv6": (header() + ipv6(17, udp(5000, 5001)), Kind.UDP),
    "UDP header cut off": ((header() + ipv4(*IPS, 17, udp(5000, 698)))[: 24 + 8 + 20 + 3], Kind.UDP),
    "a later fragment of UDP": (
        header() + (later := ipv4(*IPS, 17, bytes(40)))[:14] + b"\0\x10" + later[16:], Kind.UDP),
    "IP options": (header() + ipv4(*IPS, 6, b"\1" * 4 + tcp(1, 2, 3, 4)).replace(b"\x45", b"\x46", 1), Kind.TCP_ACK),
    "padding after IP is no payload": (header() + PURE_ACK + bytes(6), Kind.TCP_ACK),
    "payload cut off by the snap length": (
        (header() + ipv4(*IPS, 6, tcp(1, 2, 3, 4, ACK, bytes(1460))))[:128], Kind.TCP_DATA),
    "TCP header cut off": ((header() + PURE_ACK)[: 24 + 8 + 20 + 13], Kind.OTHER),
    "TCP header longer than the segment": (header() + PURE_ACK[:-8] + b"\xf0" + PURE_ACK[-7:], Kind.OTHER),
    "IP header cut off": ((header() + PURE_ACK)[: 24 + 8 + 10], Kind.OTHER),
    "a header and no more": (header(), Kind.OTHER),
    "nothing": (b"", Kind.OTHER),
}  # fmt: skip


def classify(octets: list[bytes]) -> list[Kind]:
    sizes = np.array([len(o) for o in octets])
    data = np.frombuffer(b"".join(octets) + b"\0", np.uint8)
    kind, _ = dissect.classify(dissect.Frames(data, np.cumsum(sizes) - sizes, sizes))
    return [Kind(k) for k in kind.tolist()]


def test_kind() -> None:
    """Each sort of frame is what it is."""
    assert {name: classify([octets]) for name, (octets, _) in CASES.items()} == {
        name: [kind] for name, (_, kind) in CASES.items()
    }


def test_many_at_once() -> None:
    """Frames beside each other are not mixed up: no byte beyond a frame's end is read."""
    assert classify([octets for octets, _ in CASES.values()]) == [kind for _, kind in CASES.values()]


def test_acknowledged_or_not() -> None:
    """No answer is due to a group frame, to QoS data with No Ack, or where Duration leaves no time for one."""
    frames = [header(), data_header(GROUP, A, 1), header(0x88, extra=b"\x20\0"), header(0x88, extra=b"\0\0"),
              header(0x88, 3, A + b"\x20\0")]  # fmt: skip
    octets = [*(one[:2] + (314).to_bytes(2, "little") + one[4:] for one in frames), header()]
    sizes = np.array([len(o) for o in octets])
    data = np.frombuffer(b"".join(octets), np.uint8)
    wants = dissect.Frames(data, np.cumsum(sizes) - sizes, sizes).wants_ack()
    assert wants.tolist() == [True, False, False, True, False, False]


@pytest.mark.slow
def test_as_scapy_dissects(sample: Sample) -> None:
    """Packet by packet, the fast classification agrees with Scapy's layers."""
    from scapy.layers.dot11 import Dot11
    from scapy.layers.inet import IP, TCP, UDP

    def by_scapy(packet) -> Kind:  # type: ignore[no-untyped-def]
        dot11 = packet[Dot11]
        if dot11.type == 1:
            return {11: Kind.RTS, 12: Kind.CTS, 13: Kind.ACK}.get(dot11.subtype, Kind.OTHER)
        if dot11.type == 0:
            return Kind.MANAGEMENT
        if TCP in packet:
            if packet[IP].len - 4 * packet[IP].ihl - 4 * packet[TCP].dataofs > 0:
                return Kind.TCP_DATA
            return Kind.OTHER if packet[TCP].flags & "SFR" else Kind.TCP_ACK
        if dot11.FCfield.protected:
            return Kind.ENCRYPTED
        if UDP in packet:
            return Kind.ROUTING if packet[UDP].dport == 698 else Kind.UDP
        return Kind.OTHER

    packets = list(frames(sample.pcapng))
    kinds = sample.trace.tx["kind"].tolist()
    assert len(packets) == len(kinds)
    assert [by_scapy(p) for p in packets[::7]] == kinds[::7]
    assert {Kind(k) for k in kinds[::7]} >= {Kind.RTS, Kind.CTS, Kind.ACK, Kind.TCP_DATA, Kind.TCP_ACK, Kind.ROUTING}


@given(st.data())
@examples(1000)
def test_as_the_air_does(data: st.DataObject) -> None:
    """For any bytes, the taps and the air's core find the same kind."""
    from dcf import library

    octets = bytearray(data.draw(st.sampled_from([o for o, k in CASES.values() if len(o) >= 24])))
    for _ in range(data.draw(st.integers(0, 3))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    frame = bytes(octets[: data.draw(st.integers(24, len(octets)))])
    if frame[0] in (0xB4, 0xC4, 0xD4, 0x94):
        return  # the core makes these itself, and never classifies them
    assert classify([frame])[0] == library().dcf_classify(frame, len(frame))
