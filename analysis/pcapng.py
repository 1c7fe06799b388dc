# SPDX-License-Identifier: BSD-3-Clause
"""The air's trace as two pcapngs, written from `analysis.trace` columns: `air.pcapng`, which shows every transmission
once, and `stations.pcapng`, which shows what each station received, spoilt frames with the bad-FCS flag.

Both have the same interfaces: 0 is `air`, k is station k (docs/interfaces.md, section 5; docs/file-formats.md has the
layout to the byte). They have some hundred thousand packets of few shapes, so all packets of one shape are made at
once, as a table of 32-bit words, and scattered to where they belong. The bytes depend on the trace alone.

Sources: the pcapng specification (draft-ietf-opsawg-pcapng) and radiotap.org.
"""

import hashlib
from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import numpy as np

from analysis.remarks import remarks
from analysis.trace import FLAG_SHORT_PREAMBLE, Array, Outcome, Trace, runs

AIR, STATIONS = "air.pcapng", "stations.pcapng"

LINKTYPE_RADIOTAP = 127
SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
OPT_COMMENT, OPT_FLAGS, OPT_PACKETID = 1, 2, 5
FLAG_INBOUND, FLAG_FCS_LENGTH, FLAG_CRC_ERROR = 1, 4 << 5, 1 << 24  # epb_flags

RADIOTAP_LEN = 28
RT_SHORT_PREAMBLE, RT_FCS, RT_BAD_FCS = 0x02, 0x10, 0x40  # its Flags field
RT_AIR = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 22  # Flags, Rate, Channel, timestamp
RT_STATION = RT_AIR | 1 << 5  # and antenna signal
RT_NS_AT_START = 0x12  # nanoseconds; taken at the start of the PPDU
CHANNEL_CCK, CHANNEL_OFDM, CHANNEL_2GHZ, CHANNEL_5GHZ = 0x20, 0x40, 0x80, 0x100

HEAD_WORDS = 14  # of a packet: block header and radiotap
TAIL_WORDS = 5  # epb_flags and epb_packetid; comment, end of options and block length follow
_CHUNK = 1 << 14


def write(trace: Trace, stations: Sequence[Mapping[str, Any]], folder: Path) -> tuple[str, str]:
    """Write `trace` to `air.pcapng` and `stations.pcapng` in `folder`, and return their SHA-256, in hex.

    `stations` are the plan's, in their order: `name`, `address`, `ip` of each are used. Raises OSError, and
    ValueError if the trace tells of more stations than there are.
    """
    if max((int(part["station"].max()) for part in (trace.tx, trace.rx) if part.size), default=-1) >= len(stations):
        raise ValueError(f"the trace is of more stations than the {len(stations)} of the plan")
    head = _block(SECTION, np.array([0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF], "<u4").tobytes(), [(4, b"dcflab")])
    head += _interface({"name": "air"}) + b"".join(_interface(station) for station in stations)
    tail = b"".join(_statistics(number, trace) for number in range(len(stations) + 1))
    return tuple(  # type: ignore[return-value]
        _save(folder / name, (head, packets.data, tail))
        for name, packets in zip(
            (AIR, STATIONS), _packets(trace, [station["name"] for station in stations]), strict=True
        )
    )


def _save(path: Path, parts: Sequence[bytes | memoryview]) -> str:
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for part in parts:
            file.write(part)
            digest.update(part)
    return digest.hexdigest()


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


def _statistics(number: int, trace: Trace) -> bytes:
    def time(ns: int) -> bytes:
        return (ns >> 32).to_bytes(4, "little") + (ns & 0xFFFFFFFF).to_bytes(4, "little")

    stop = time(trace.stop_ns)
    return _block(STATISTICS, number.to_bytes(4, "little") + stop, [(2, time(trace.start_ns)), (3, stop)])


def _packets(trace: Trace, names: Sequence[str]) -> tuple[Array, Array]:
    """All packet blocks, as words, in order of time and then interface: those on `air`, and those on the stations."""
    tx, rx = trace.tx, trace.rx
    shown = np.flatnonzero(rx["outcome"] != Outcome.BELOW_THRESHOLD)
    station = rx["station"][shown].astype(np.int64)
    shown = shown[np.argsort((rx["start_ns"][shown] - trace.start_ns) * (len(names) + 1) + station, kind="stable")]
    texts, on_air, at_station = remarks(trace, names)
    comments = [_option(OPT_COMMENT, text.encode()) for text in texts]
    comment_words = np.array([len(comment) // 4 for comment in comments], np.int64)

    def both(air: Array | int, stations: Array) -> Array:
        return np.concatenate([np.broadcast_to(air, tx.size), stations])

    of = both(np.arange(tx.size), trace.rx_tx[shown])
    interface = both(0, rx["station"][shown].astype(np.int64) + 1)
    time = both(tx["start_ns"], rx["start_ns"][shown])
    bad = both(0, rx["outcome"][shown] != Outcome.OK) != 0
    signal = both(0, rx["power_mdbm"][shown])
    remark = both(on_air, at_station[shown])

    caplen = tx["caplen"].astype(np.int64)
    whole = caplen + 4 == tx["length"]  # then the FCS is there too
    fixed = HEAD_WORDS + ((caplen + 4 * whole + 3) // 4)[of] + TAIL_WORDS
    words = fixed + np.append(comment_words, 0)[remark] + 2
    start = np.cumsum(words) - words
    out = np.zeros(int(words.sum()), "<u4")

    place = np.empty(tx.size, np.int64)
    shape = caplen * 2 + whole
    for each in np.flatnonzero(np.bincount(shape)).tolist():
        length, fcs = each >> 1, bool(each & 1)
        alike = shape == each
        members = np.flatnonzero(alike)
        place[members] = np.arange(members.size)
        frames = np.tile(_frames(trace, members, length, fcs), (2, 1))
        frames[members.size :].view(np.uint8)[:, length : length + 4 * fcs] ^= 0xFF  # for those that were spoilt
        rows = np.flatnonzero(alike[of])
        for at in range(0, rows.size, _CHUNK):
            r = rows[at : at + _CHUNK]
            t = of[r]
            block = np.empty((r.size, HEAD_WORDS + frames.shape[1] + TAIL_WORDS), "<u4")
            _fill_head(block, tx[t], time[r], interface[r], bad[r], signal[r], fcs)
            block[:, 1] = words[r] * 4
            block[:, 5], block[:, 6] = RADIOTAP_LEN + length + 4 * fcs, RADIOTAP_LEN + tx["length"][t]
            block[:, HEAD_WORDS:-TAIL_WORDS] = frames[place[t] + members.size * bad[r]]
            runs(out, block.shape[1])[start[r]] = block
    out[start + words - 1] = words * 4
    for size in np.unique(comment_words).tolist():
        alike = np.flatnonzero(comment_words == size)
        options = np.frombuffer(b"".join(comments[number] for number in alike.tolist()), "<u4").reshape(-1, size)
        row = np.flatnonzero(np.isin(remark, alike))
        runs(out, size)[(start + fixed)[row]] = options[np.searchsorted(alike, remark[row])]
    split = int(words[: tx.size].sum())
    return out[:split], out[split:]


def _fill_head(
    block: Array, tx: Array, time: Array, interface: Array, bad: Array, signal: Array, has_fcs: bool
) -> None:
    """The words of packets before and after the frame: block header, radiotap, epb_flags, epb_packetid."""
    at_station = interface > 0
    rate = tx["rate"].astype(np.uint32)
    freq = tx["freq"].astype(np.uint32)
    ofdm = ~np.isin(rate, (10, 20, 55, 110))
    flags = np.where(tx["flags"] & FLAG_SHORT_PREAMBLE, RT_SHORT_PREAMBLE, 0) + np.where(bad, RT_BAD_FCS, 0)
    channel = np.where(ofdm, CHANNEL_OFDM, CHANNEL_CCK) + np.where(freq < 3000, CHANNEL_2GHZ, CHANNEL_5GHZ)
    dbm = np.where(at_station, (signal + 500) // 1000, 0).clip(-128, 127) & 0xFF
    block[:, 0] = PACKET
    block[:, 2] = interface
    block[:, 3], block[:, 4] = time >> 32, time & 0xFFFFFFFF
    block[:, 7] = RADIOTAP_LEN << 16
    block[:, 8] = np.where(at_station, RT_STATION, RT_AIR)
    block[:, 9] = flags + (RT_FCS if has_fcs else 0) | rate // 5 << 8 | freq << 16
    block[:, 10] = channel | dbm << 16
    block[:, 11], block[:, 12] = time & 0xFFFFFFFF, time >> 32
    block[:, 13] = RT_NS_AT_START << 16
    block[:, -5] = OPT_FLAGS | 4 << 16
    block[:, -4] = (
        np.where(at_station, FLAG_INBOUND, 0) + np.where(bad, FLAG_CRC_ERROR, 0) + (FLAG_FCS_LENGTH if has_fcs else 0)
    )
    block[:, -3] = OPT_PACKETID | 8 << 16
    block[:, -2], block[:, -1] = tx["id"] & 0xFFFFFFFF, tx["id"] >> 32


def _frames(trace: Trace, members: Array, caplen: int, whole: bool) -> Array:
    """The frames of transmissions with `caplen` captured bytes, padded to words; with FCS if they are whole."""
    words = trace.data[: trace.data.size & ~3].view("<u4")
    frames = np.zeros((members.size, (caplen + 4 * whole + 3) // 4), "<u4")
    have = (caplen + 3) // 4
    frames[:, :have] = runs(words, have)[trace.frame[members] // 4]
    octets = frames.view(np.uint8)
    octets[:, caplen:] = 0
    if whole:
        octets[:, caplen : caplen + 4] = crc32(octets[:, :caplen]).astype("<u4")[:, None].view(np.uint8)
    return frames


def _crc_table() -> Array:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ 0xEDB88320, table >> 1).astype(np.uint32)
    return table


_CRC_TABLE = _crc_table()


def crc32(rows: Array) -> Array:
    """The FCS (IEEE 802.11-2016, 9.2.4.8) of each row of `rows` (uint8, frames x bytes), as uint32."""
    crc = np.full(rows.shape[0], 0xFFFFFFFF, np.uint32)
    for column in np.ascontiguousarray(rows.T):
        crc = _CRC_TABLE[(crc ^ column) & 0xFF] ^ crc >> 8
    return ~crc
