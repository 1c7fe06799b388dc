# SPDX-License-Identifier: BSD-3-Clause
"""The air's trace as a pcapng, from the columns of `traces.trace`: `air.pcapng.gz` has every transmission once. Beside
it, `traces.views` keeps what each station received; `capture.of_stations` makes a pcapng of that too, where corrupted
frames have the bad-FCS flag.

Both have the same interfaces: 0 is `air`, k is station k. This module decides which packets there are, and their order;
`native.c` writes them. The bytes depend on the trace alone; times are of the lane's CLOCK_MONOTONIC. Sources: the
pcapng specification (draft-ietf-opsawg-pcapng) and radiotap.org.

There is one section (little-endian, length unspecified), then the interfaces, the packets in order of time
and interface, and one Interface Statistics Block for each interface.

| block | contents |
|---|---|
| Section Header | option `shb_userappl` = `dcflab` |
| Interface Description | link type 127 (802.11 with radiotap), no snap length; `if_name`, `if_tsresol` 9 (ns) |
| the same of stations | also `if_IPv4addr` or `if_IPv6addr`, `if_MACaddr` |
| Enhanced Packet | radiotap, the MPDU; `epb_flags`, `epb_packetid`, perhaps one comment, in this order |
| Interface Statistics | `isb_starttime`, `isb_endtime`: start and stop of the measurement |

| field of radiotap | bit | |
|---|---|---|
| header | | version 0, its length, which bits are present |
| Flags | 1 | 0x02 short preamble, 0x10 FCS present, 0x40 bad FCS |
| Rate | 2 | 500 kb/s; legacy rates only |
| Channel | 3 | MHz of the primary channel; CCK or OFDM, 2.4 or 5 GHz |
| Antenna signal | 5 | dBm, on stations |
| MCS | 19 | HT: bandwidth, MCS, guard interval, format, FEC |
| A-MPDU status | 20 | of PPDUs of several MPDUs: reference number, whether it is the last |
| VHT | 21 | VHT: guard interval, bandwidth, MCS, streams, coding |
| timestamp | 22 | the packet's time: 64 bits, ns, at the start of the PPDU |
| HE | 23 | HE SU: MCS, coding, bandwidth, guard interval, HE-LTF, streams |

Fields are aligned to their natural size, so the header of a legacy frame has 28 bytes.
A PPDU of several MPDUs is a packet for each, in their order, and all have its time.
Their `epb_packetid` are successive numbers; the reference number is that of the first, in 32 bits.

Frames are cut at the snap length (`air.snap` of the plan).
A frame that fits is whole and has its FCS, which is inverted if the station received it badly.
A cut frame has no FCS, but its original length includes it.
`epb_flags`: inbound on stations; FCS length 4 if it is present; CRC error if it was received badly.
"""

import math
from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, Self

import numpy as np

from analysis.traces import native, views
from analysis.traces.remarks import remarks
from analysis.traces.trace import NEVER, Trace
from emulation.files.compressed import Compressed

AIR = "air.pcapng.gz"

LINKTYPE_RADIOTAP = 127
SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
BEGINS = SECTION.to_bytes(4, "little")
OPT_COMMENT, OPT_FLAGS, OPT_PACKETID = 1, 2, 5

TAIL_WORDS = 5  # epb_flags and epb_packetid; comment, end of options and block length follow


def write(trace: Trace, stations: Sequence[Mapping[str, Any]], folder: Path) -> tuple[str, str | None]:
    """Write `trace` to AIR and `views.FILE` in `folder`. Return the SHA-256 of both contents, in hex (None: not
    written).

    `stations` are the plan's, in order; `name`, `address` and `ip` of each are used. Raises OSError if a file cannot be
    written, ValueError if the trace has more stations than these.
    """
    with Writer(stations, folder) as writer:
        writer.write(trace, 0, NEVER)
        return writer.finish(trace.start_ns, trace.stop_ns)


class Writer:
    """Writes both files in parts. If `finish` was not called by the end of the block, both are removed. If what
    stations received exceeds `most` bytes, that file is omitted. Raises OSError if a file cannot be written."""

    def __init__(self, stations: Sequence[Mapping[str, Any]], folder: Path, most: float = math.inf) -> None:
        self.names = [str(station["name"]) for station in stations]
        head = _block(SECTION, np.array([0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF], "<u4").tobytes(), [(4, b"dcflab")])
        head += _interface({"name": "air"}) + b"".join(_interface(station) for station in stations)
        self.air, self.views = Compressed(folder / AIR), views.Writer(folder / views.FILE, most)
        self.finished = False
        self.air.write(head)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self.finished:
            self.air.remove()
            self.views.remove()

    def write(self, trace: Trace, begin_ns: int, until_ns: int) -> None:
        """Append the transmissions that began in this span of time, and their outcomes. The trace before and after the
        span serves the remarks. Raises ValueError if the trace has more stations than the plan."""
        if max((int(part["station"].max()) for part in (trace.tx, trace.rx) if part.size), default=-1) >= len(
            self.names
        ):
            raise ValueError(f"the trace is of more stations than the {len(self.names)} of the plan")
        said, on_air, at_station, waited = remarks(trace, self.names)
        texts = [text.encode() for text in said]
        tx = trace.tx
        first, last = np.searchsorted(tx["start_ns"], (begin_ns, until_ns)).tolist()
        packets = np.zeros(last - first, native.PACKET)
        packets["tx"], packets["time_ns"] = np.arange(first, last), tx["start_ns"][first:last]
        packets["text"], packets["waited_ns"] = on_air[first:last], waited[first:last]
        self.air.write(native.write_packets(packets, tx, trace.data, trace.frame, texts).data)
        self.views.write(trace, first, last, texts, at_station)

    def finish(self, start_ns: int, stop_ns: int) -> tuple[str, str | None]:
        """End both files with the times at which the trace began and ended. Return the SHA-256 of both contents, in hex
        (None: omitted)."""
        self.air.write(all_statistics(len(self.names) + 1, start_ns, stop_ns))
        found = self.air.finish(), self.views.finish()
        self.finished = True
        return found


def _block(kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> bytes:
    body += b"".join(_option(code, value) for code, value in options) + bytes(4)  # end of options
    length = (len(body) + 12).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return code.to_bytes(2, "little") + len(value).to_bytes(2, "little") + value + bytes(-len(value) % 4)


def comment(text: bytes) -> bytes:
    """Return the last options of a packet: its comment, if any, and the end of options."""
    return (_option(OPT_COMMENT, text) if text else b"") + bytes(4)  # end of options


def _interface(station: Mapping[str, Any]) -> bytes:
    options = [(2, str(station["name"]).encode())]
    if station.get("ip"):
        ip = ip_interface(station["ip"])
        v6 = ip.version == 6
        options.append((5, ip.packed + bytes([ip.network.prefixlen])) if v6 else (4, ip.packed + ip.netmask.packed))
    if station.get("address"):
        options.append((6, bytes.fromhex(station["address"].replace(":", ""))))
    options.append((9, b"\x09"))  # times in ns
    return _block(INTERFACE, LINKTYPE_RADIOTAP.to_bytes(4, "little") + bytes(4), options)


def all_statistics(interfaces: int, start_ns: int, stop_ns: int) -> bytes:
    start, stop = (
        (ns >> 32).to_bytes(4, "little") + (ns & 0xFFFFFFFF).to_bytes(4, "little") for ns in (start_ns, stop_ns)
    )
    numbers = (number.to_bytes(4, "little") for number in range(interfaces))
    return b"".join(_block(STATISTICS, number + stop, [(2, start), (3, stop)]) for number in numbers)
