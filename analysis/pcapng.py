# SPDX-License-Identifier: BSD-3-Clause
"""The air's trace as two pcapngs, written from `analysis.trace` columns: `air.pcapng`, which shows every transmission
once, and `stations.pcapng`, which shows what each station received, spoilt frames with the bad-FCS flag.

Both have the same interfaces: 0 is `air`, k is station k (docs/interfaces.md, section 5; docs/file-formats.md has the
layout to the byte). Which packets there are, and in which order, is worked out here; `native.c` writes them. The bytes
depend on the trace alone.

Sources: the pcapng specification (draft-ietf-opsawg-pcapng) and radiotap.org.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from analysis import native
from analysis.remarks import remarks
from analysis.trace import NEVER, Outcome, Trace
from emulation import files

AIR, STATIONS = "air.pcapng", "stations.pcapng"

LINKTYPE_RADIOTAP = 127
SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
OPT_COMMENT, OPT_FLAGS, OPT_PACKETID = 1, 2, 5

RADIOTAP_LEN = 28
RT_SHORT_PREAMBLE, RT_FCS, RT_BAD_FCS = 0x02, 0x10, 0x40  # its Flags field
HEAD_WORDS = 14  # of a packet: block header and radiotap
TAIL_WORDS = 5  # epb_flags and epb_packetid; comment, end of options and block length follow


def write(trace: Trace, stations: Sequence[Mapping[str, Any]], folder: Path) -> tuple[str, str | None]:
    """Write `trace` to `air.pcapng` and `stations.pcapng` in `folder`, and return their SHA-256, in hex.

    `stations` are the plan's, in their order: `name`, `address`, `ip` of each are used. Raises OSError, and
    ValueError if the trace tells of more stations than there are.
    """
    with Writer(stations, folder) as writer:
        writer.write(trace, 0, NEVER)
        return writer.finish(trace.start_ns, trace.stop_ns)


class Writer:
    """Writes both files, bit by bit; what is not finished at the end of its block is gone again. What stations received
    is left out, all of it, if it comes to more than `most` bytes. Raises OSError."""

    def __init__(self, stations: Sequence[Mapping[str, Any]], folder: Path, most: float = math.inf) -> None:
        self.most = most
        self.names = [str(station["name"]) for station in stations]
        head = _block(SECTION, np.array([0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF], "<u4").tobytes(), [(4, b"dcflab")])
        head += _interface({"name": "air"}) + b"".join(_interface(station) for station in stations)
        self.paths = [folder / name for name in (AIR, STATIONS)]
        self.digests = [hashlib.sha256(), hashlib.sha256()]
        self.files: list[BinaryIO] = []
        self.finished = False
        self._append(head, head)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files:
            file.close()
        if not self.finished:
            for path in self.paths[: len(self.files)]:
                path.unlink(missing_ok=True)

    def write(self, trace: Trace, begin_ns: int, until_ns: int) -> None:
        """Append what began in this span of time: transmissions, and arrivals at stations. What of the trace lies
        before and after serves the remarks. Raises ValueError if it tells of more stations than there are."""
        if max((int(part["station"].max()) for part in (trace.tx, trace.rx) if part.size), default=-1) >= len(
            self.names
        ):
            raise ValueError(f"the trace is of more stations than the {len(self.names)} of the plan")
        said, on_air, at_station, waited = remarks(trace, self.names)
        texts = [text.encode() for text in said]
        tx, rx = trace.tx, trace.rx
        sent = np.flatnonzero((tx["start_ns"] >= begin_ns) & (tx["start_ns"] < until_ns))
        air = np.zeros(sent.size, native.PACKET)
        air["tx"], air["time_ns"] = sent, tx["start_ns"][sent]
        air["text"], air["waited_ns"] = on_air[sent], waited[sent]
        self._append(native.write_packets(air, tx, trace.data, trace.frame, texts).data)
        if len(self.files) == 1:
            return
        shown = (rx["start_ns"] >= begin_ns) & (rx["start_ns"] < until_ns) & (rx["outcome"] != Outcome.BELOW_THRESHOLD)
        came = np.flatnonzero(shown)
        came = came[np.lexsort((rx["station"][came], rx["start_ns"][came]))]
        seen = np.zeros(came.size, native.PACKET)
        seen["tx"], seen["time_ns"] = trace.rx_tx[came], rx["start_ns"][came]
        seen["text"], seen["waited_ns"] = at_station[came], -1
        seen["interface"], seen["signal_mdbm"] = rx["station"][came] + 1, rx["power_mdbm"][came]
        seen["bad"] = rx["outcome"][came] != Outcome.OK
        self._append(None, native.write_packets(seen, tx, trace.data, trace.frame, texts).data)

    def finish(self, start_ns: int, stop_ns: int) -> tuple[str, str | None]:
        """End both files with when the trace began and ended; returns their SHA-256, in hex (None: left out)."""
        tail = b"".join(_statistics(number, start_ns, stop_ns) for number in range(len(self.names) + 1))
        self._append(tail, tail)
        self.finished = True
        air, *stations = (digest.hexdigest() for digest, _ in zip(self.digests, self.files, strict=False))
        return air, stations[0] if stations else None

    def _append(self, *parts: bytes | memoryview | None) -> None:
        self.files = self.files or [files.made(path) for path in self.paths]
        for part, file, path, digest in zip(parts, self.files, self.paths, self.digests, strict=False):
            if part is not None:
                files.put(file, path, part)
                digest.update(part)
        if len(self.files) > 1 and self.files[1].tell() > self.most:
            self.files.pop().close()
            self.paths[1].unlink()


def _block(kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> bytes:
    body += b"".join(_option(code, value) for code, value in options) + bytes(4)  # end of options
    length = (len(body) + 12).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + length + body + length


def _option(code: int, value: bytes) -> bytes:
    return code.to_bytes(2, "little") + len(value).to_bytes(2, "little") + value + bytes(-len(value) % 4)


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


def _statistics(number: int, start_ns: int, stop_ns: int) -> bytes:
    def time(ns: int) -> bytes:
        return (ns >> 32).to_bytes(4, "little") + (ns & 0xFFFFFFFF).to_bytes(4, "little")

    stop = time(stop_ns)
    return _block(STATISTICS, number.to_bytes(4, "little") + stop, [(2, time(start_ns)), (3, stop)])
