# SPDX-License-Identifier: BSD-3-Clause
"""Frames as Scapy packets with their outcome, for taps of a few lines.

    for frame in frames("runs/…/none-1"):               # a finished or current run; or an interface: "mon0"
        if frame.outcome is Outcome.COLLISION:
            print(frame.time, frame.culprit, frame.attempt, frame.queued_s, frame.summary())

Packets from all sources have the same attributes; an attribute is None where it cannot be known. In a run's files the
air's comments give them (analysis.traces.remarks). In monitor mode only addresses, the Retry bit and the FCS do.
"""

import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from analysis.traces import capture, dissect
from analysis.traces.follow import Following, is_going_on
from analysis.traces.pcapng import AIR, STATISTICS
from analysis.traces.trace import Kind, Outcome
from emulation import files
from emulation.files.compressed import Stream, pieces
from emulation.files.foreign import Damaged

if TYPE_CHECKING:
    from scapy.packet import Packet

Where = Callable[["Packet"], bool]
COMMENT = re.compile(
    r"(?P<COLLISION>collision)( with (?P<culprit>[^;]+))?|(?P<OWN_TX>receiver was sending )(?P<own>[^;]+)"
    r"|(?P<NOISE>noise)|(?P<BELOW_THRESHOLD>below threshold|unheard)|given up: (?P<what>[^,;]+), (?P<limit>[^;]+)"
    r"|attempt (?P<attempt>\d+)|queued (?P<ms>[\d.]+) ms before"
)
NULL = 4  # bit of data subtypes without data
CONTROL = {9: Kind.ACK, 11: Kind.RTS, 12: Kind.CTS, 13: Kind.ACK}  # by subtype; 9 is a block ACK


def frames(
    source: Path | str, where: Where | None = None, interface: str = "air", seconds: float | None = None
) -> Iterator["Packet"]:
    """Yield the frames of `source` that satisfy `where`, as Scapy packets (RadioTap and below), in order.

    `source` is a run's folder, a pcapng, or the name of an interface in monitor mode. If a run is going on, the
    function waits for further frames. For a run, `interface` is `air`, with every transmission once, or a station, with
    what it received, or empty for all stations. An interface is captured for `seconds` (None: for ever).

    In addition to Scapy's own attributes (`time` in s, `sniffed_on`, `wirelen`, `comments`), packets have:
    `kind`: a Kind;
    `outcome`: at the addressed receiver, or at the station that shows it (None: unknown);
    `culprit`: the station whose frame collided with it, or the kind of frame that the receiver was sending;
    `attempt`: the number of this RTS or transmission (None for a CTS or an ACK);
    `queued_s`: how long its sender had held it;
    `given_up`: what the MAC gave up after it, and at which limit.

    Raises Damaged if a file is malformed; OSError if it cannot be read, or without the right to capture.
    """
    run, path = Path(source), str(source)
    seen = _of_run(run, interface) if run.exists() or set(path) & set("/.") else _monitored(path, seconds)
    memory: dict[str, _Sender] = {}
    for packet in seen:
        _describe(packet, memory)
        if where is None or where(packet):
            yield packet


def remarked(run: Path) -> Iterator["Packet"]:
    """Yield the packets that stations received and the air remarks on; these include all corrupted ones."""
    memory: dict[str, _Sender] = {}
    for packet in _of_run(run, "", remarked=True):
        _describe(packet, memory)
        yield packet


@dataclass
class _Sender:
    """State of a sender: the frame that it serves, its number of attempts, and since when it has the frame."""

    serves: Any = None
    tried: int = 0
    since: float | None = None


def _describe(packet: "Packet", memory: dict[str, _Sender]) -> None:
    from scapy.layers.dot11 import Dot11

    comment = b"".join(packet.comments or []).decode()
    said = {name: text for part in COMMENT.finditer(comment) for name, text in part.groupdict().items() if text}
    frame: Any = packet.getlayer(Dot11)
    known = frame is not None and not is_bad(packet)
    packet.kind = kind(packet)
    packet.outcome = next((outcome for outcome in Outcome if outcome.name in said), None)
    if packet.outcome is None and known and not int(frame.addr1[:2], 16) & 1:  # a group has no single outcome
        packet.outcome = Outcome.OK
    packet.culprit = said.get("culprit") or said.get("own")
    packet.given_up = (said["what"], said["limit"]) if "what" in said else None
    packet.attempt = packet.queued_s = None
    if not known or packet.kind in (Kind.CTS, Kind.ACK):
        return
    sender = memory.setdefault(frame.addr2, _Sender())
    serves = Kind.RTS if packet.kind == Kind.RTS else (frame.SC or 0) >> 4
    again = sender.serves == serves and (serves == Kind.RTS or frame.FCfield.retry)
    sender.serves, sender.tried = serves, sender.tried + 1 if again else 1 + bool(frame.FCfield.retry)
    packet.attempt = int(said.get("attempt", 1)) if packet.sniffed_on == "air" else sender.tried
    if "ms" in said:
        sender.since = float(packet.time) - float(said["ms"]) / 1000
    if sender.since is not None:
        packet.queued_s = float(packet.time) - sender.since


def is_bad(packet: "Packet") -> bool:
    """Return whether radiotap says that the FCS was bad."""
    flags = getattr(packet, "Flags", None)
    return bool(flags is not None and flags.badFCS)


def uncovered(packet: "Packet") -> "Packet":
    """Expose layers that Scapy takes for something else or for bytes: those behind Mesh Control (9.2.4.7.3), and behind
    the headers of batman-adv and DSR, which become Raw."""
    from scapy.layers.dot11 import Dot11QoS
    from scapy.layers.inet import TCP, UDP
    from scapy.layers.l2 import LLC, SNAP, Ether
    from scapy.packet import Raw

    qos: Any = packet.getlayer(Dot11QoS)
    if qos is not None and qos.TXOP & 1 and (octets := qos.payload.original):  # Mesh Control Present (9.2.4.5.9)
        qos.remove_payload()
        qos.add_payload(LLC(octets[6 + 6 * (octets[0] & 3) :]))
    snap: Any = packet.getlayer(SNAP)
    if snap is not None and snap.code == dissect.BATMAN and (header := _batman(octets := snap.payload.original)):
        snap.remove_payload()
        snap.add_payload(Raw(octets[:header]) / Ether(octets[header:]))
    ip, protocol, whole = _ip(packet)
    if protocol == dissect.DSR:
        protocol, header = _dsr(octets := ip.payload.original, whole)
        if inner := {6: TCP, 17: UDP}.get(protocol):
            ip.remove_payload()
            ip.add_payload(Raw(octets[:header]) / inner(octets[header:]))
    return packet


def _batman(octets: bytes) -> int:
    """Return the bytes before the Ethernet frame in a packet of batman-adv; 0 if it carries none."""
    at = 0
    if octets[:2] == bytes([dissect.BATMAN_FRAGMENT, dissect.BATMAN_VERSION]):
        at, to = dissect.BATMAN_FRAGMENT_HEADER, slice(dissect.BATMAN_TO, dissect.BATMAN_TO + 6)
        if octets[at:][to] != octets[to]:  # a later fragment
            return 0
    header = (
        dissect.BATMAN_UNICAST.get(octets[at], 0) if octets[at + 1 : at + 2] == bytes([dissect.BATMAN_VERSION]) else 0
    )
    return at + header if header and len(octets) >= at + header + 14 else 0


def _dsr(octets: bytes, whole: int) -> tuple[int, int]:
    """Return the protocol after a DSR header, and the header's length. `whole` is the length of header and payload. If
    the next protocol cannot be determined, return DSR and 0."""
    if len(octets) >= dissect.DSR_FIXED and octets[0] != dissect.NOTHING:
        header = dissect.DSR_FIXED + (0 if octets[1] & dissect.DSR_FLOW else int.from_bytes(octets[2:4], "big"))
        if header <= min(whole, len(octets)):
            return octets[0], header
    return dissect.DSR, 0


def _ip(packet: "Packet") -> tuple[Any, int, int]:
    """Return a packet's IP layer, the protocol in it, and the length of its payload, also if the packet was cut; None,
    0, 0 without such a layer."""
    from scapy.layers.inet import IP
    from scapy.layers.inet6 import IPv6

    ip: Any = packet.getlayer(IP) or packet.getlayer(IPv6)
    if ip is None:
        return None, 0, 0
    return (ip, ip.proto, ip.len - 4 * ip.ihl) if isinstance(ip, IP) else (ip, ip.nh, ip.plen)


def kind(packet: "Packet") -> Kind:
    """Return a packet's kind for the counters; it must be uncovered."""
    from scapy.layers.dot11 import Dot11
    from scapy.layers.inet import TCP, UDP
    from scapy.layers.l2 import SNAP

    frame, snap, tcp, udp = (packet.getlayer(layer) for layer in (Dot11, SNAP, TCP, UDP))
    if frame is None or frame.type == 1:
        return Kind.OTHER if frame is None else CONTROL.get(frame.subtype, Kind.OTHER)
    if frame.type == 0:
        clear = frame.subtype == dissect.ACTION >> 4 and not frame.FCfield.protected
        hwmp = clear and (frame.payload.original or b"")[:2] == dissect.PATH_SELECTION
        return Kind.ROUTING if hwmp else Kind.MANAGEMENT
    if frame.FCfield.protected and not frame.subtype & NULL:
        return Kind.ENCRYPTED
    ip, protocol, whole = _ip(packet)
    if protocol == dissect.DSR:
        protocol, header = _dsr(ip.payload.original or bytes(ip.payload), whole)
        whole -= header
    ports = udp is not None and udp.dport in dissect.ROUTING_PORTS
    of_batman = snap is not None and snap.code == dissect.BATMAN and not packet.haslayer("Ethernet")
    if ports or protocol in dissect.ROUTING_PROTOCOLS or of_batman:
        return Kind.ROUTING
    if tcp is None:
        return Kind.UDP if protocol == dissect.UDP else Kind.OTHER
    if whole > 4 * tcp.dataofs:
        return Kind.TCP_DATA
    return Kind.TCP_ACK if tcp.flags.A and not (tcp.flags.S or tcp.flags.F or tcp.flags.R) else Kind.OTHER


def _of_run(run: Path, interface: str, remarked: bool = False) -> Iterator["Packet"]:
    """Yield an interface's packets in a run's file or a file; `remarked` selects those with a comment."""
    from scapy.error import Scapy_Exception
    from scapy.layers.dot11 import RadioTap
    from scapy.utils import RawPcapNgReader

    path = run / AIR if run.is_dir() else run
    names: list[str] = []
    with _opened(path, interface != "air") as file:
        try:
            reader = RawPcapNgReader(file)  # type: ignore[arg-type]
        except Scapy_Exception as error:
            raise Damaged(f"{path}: {error}") from None
        reader.blocktypes[STATISTICS] = _over
        seen: Any
        for octets, seen in reader:
            if not names:
                names = [options["name"].decode() for _, _, options in reader.interfaces]
                if interface and interface not in names:
                    raise Damaged(f"{path}: no interface {interface}: it has {', '.join(names)}")
            name = seen.ifname.decode()
            if interface in (name, "") and (seen.comments or not remarked):
                try:
                    packet = uncovered(RadioTap(octets))
                except Exception as error:  # Scapy raises anything for a damaged packet
                    raise Damaged(f"{path}: a packet that Scapy cannot read: {error}") from None
                packet.time = (seen.tshigh << 32 | seen.tslow) / seen.tsresol
                packet.wirelen, packet.sniffed_on, packet.comments = seen.wirelen, name, seen.comments
                yield packet


def _over(block: bytes, size: int) -> None:
    """End at the statistics of interfaces, which are last in a file."""
    raise EOFError


@contextmanager
def _opened(path: Path, stations: bool) -> Iterator[IO[bytes]]:
    """Open a run's file, or what its stations received, as a pcapng; for a run that is going on, also what is still to
    come. Raises Damaged if malformed, OSError if unreadable."""
    with Following(path) if is_going_on(path.parent) else files.opened(path) as file:
        there: Iterator[bytes | memoryview] = pieces(file, path)
        if stations and path.name == AIR:
            for _ in there:  # read to the end
                pass
            air = capture.read_file(path)
            if (seen := capture.views_of(path, air)) is None:
                raise Damaged(f"{path}: what stations received is left out; --views yes keeps it")
            there = capture.of_stations(air, seen)
        yield io.BufferedReader(Stream(there))


def _monitored(interface: str, seconds: float | None) -> Iterator["Packet"]:
    """Yield the packets of an interface in monitor mode. Raises OSError if it cannot be captured."""
    from scapy.config import conf
    from scapy.layers.dot11 import RadioTap
    from scapy.sendrecv import sniff

    until = None if seconds is None else time.monotonic() + seconds
    try:
        with conf.L2listen(iface=interface) as socket:
            while (left := None if until is None else until - time.monotonic()) is None or left > 0:
                for packet in sniff(opened_socket=socket, count=1, timeout=left):
                    if RadioTap in packet:
                        packet.sniffed_on = interface
                        yield uncovered(packet)
    except (OSError, ValueError) as error:
        raise OSError(f"cannot capture on {interface}: {error}") from error
