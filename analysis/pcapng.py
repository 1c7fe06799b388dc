# SPDX-License-Identifier: BSD-3-Clause
"""The air's trace as pcapng: written from `analysis.trace` columns, and read back fast.

Interface 0, `air`, shows every transmission once; interface k shows what station k received, spoilt frames with the
bad-FCS flag (docs/interfaces.md, section 5; docs/file-formats.md has the layout to the byte). A file has some hundred
thousand packets of few shapes, so all packets of one shape are made at once, as a table of 32-bit words, and
scattered to where they belong. The bytes depend on the trace alone.

Sources: the pcapng specification (draft-ietf-opsawg-pcapng) and radiotap.org.
"""

import hashlib
from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import numpy as np

from analysis.trace import FLAG_SHORT_PREAMBLE, GIVEN_UP, Array, Kind, Outcome, Trace, runs

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

KIND_NAMES = {kind: kind.name for kind in Kind} | {Kind.TCP_DATA: "DATA", Kind.TCP_ACK: "TCP ACK"}


def write(trace: Trace, stations: Sequence[Mapping[str, Any]], path: Path) -> str:
    """Write `trace` to `path` and return the file's SHA-256, in hex.

    `stations` are the plan's, in their order: `name`, `address`, `ip` of each are used. Raises OSError, and
    ValueError if the trace tells of more stations than there are.
    """
    if max((int(part["station"].max()) for part in (trace.tx, trace.rx) if part.size), default=-1) >= len(stations):
        raise ValueError(f"the trace is of more stations than the {len(stations)} of the plan")
    head = _block(SECTION, np.array([0x1A2B3C4D, 1, 0xFFFFFFFF, 0xFFFFFFFF], "<u4").tobytes(), [(4, b"dcflab")])
    head += _interface({"name": "air"}) + b"".join(_interface(station) for station in stations)
    tail = b"".join(_statistics(number, trace) for number in range(len(stations) + 1))
    packets = _packets(trace, [station["name"] for station in stations])
    digest = hashlib.sha256()
    with open(path, "wb") as file:
        for part in (head, packets.data, tail):
            file.write(part)
            digest.update(part)
    return digest.hexdigest()


def _block(kind: int, body: bytes, options: Sequence[tuple[int, bytes]]) -> bytes:
    for code, value in options:
        body += code.to_bytes(2, "little") + len(value).to_bytes(2, "little") + value + bytes(-len(value) % 4)
    body += bytes(4)  # end of options
    length = (len(body) + 12).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + length + body + length


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


def _packets(trace: Trace, names: Sequence[str]) -> Array:
    """All packet blocks, in order of time and then interface, as one array of words."""
    tx, rx = trace.tx, trace.rx
    shown = rx["outcome"] != Outcome.BELOW_THRESHOLD
    of = np.concatenate([np.arange(tx.size), trace.rx_tx[shown]])
    interface = np.concatenate([np.zeros(tx.size, np.int64), rx["station"][shown].astype(np.int64) + 1])
    time = np.concatenate([tx["start_ns"], rx["start_ns"][shown]])
    bad = np.concatenate([np.zeros(tx.size, bool), rx["outcome"][shown] != Outcome.OK])
    signal = np.concatenate([np.zeros(tx.size, np.int32), rx["power_mdbm"][shown]])
    order = np.argsort((time - trace.start_ns) * (len(names) + 1) + interface, kind="stable")
    of, interface, time, bad, signal = (column[order] for column in (of, interface, time, bad, signal))

    caplen = tx["caplen"].astype(np.int64)
    whole = caplen + 4 == tx["length"]  # then the FCS is there too
    frame_words = (caplen + 4 * whole + 3) // 4
    remark_words, remarks = _remarks(trace, names)
    remark_words = np.where(interface == 0, remark_words[of], 0)
    fixed = HEAD_WORDS + frame_words[of] + TAIL_WORDS
    words = fixed + remark_words + 2
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
    on_air = np.flatnonzero(interface == 0)
    row_of_tx = np.empty(tx.size, np.int64)
    row_of_tx[of[on_air]] = on_air
    for size, (members, texts) in remarks.items():
        runs(out, size)[(start + fixed)[row_of_tx[members]]] = texts
    return out


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


def _remarks(trace: Trace, names: Sequence[str]) -> tuple[Array, dict[int, tuple[Array, Array]]]:
    """The comments on `air`: words each transmission's takes, and by number of words the rows of `tx` and the text."""
    tx, rx, end = trace.tx, trace.rx, trace.end
    texts: dict[int, str] = {}

    def add(row: int, text: str) -> None:
        texts[row] = f"{texts[row]}; {text}" if row in texts else text

    lost = np.flatnonzero((rx["addressed"] != 0) & (rx["outcome"] != Outcome.OK))
    columns = (trace.rx_tx[lost], rx["outcome"][lost], rx["other"][lost], rx["other_kind"][lost])
    for row, outcome, other, kind in zip(*(column.tolist() for column in columns), strict=True):
        add(row, _outcome_text(outcome, names[other] if other < len(names) else "", kind))
    given_up = end["id"][np.isin(end["reason"], GIVEN_UP) & (end["id"] > 0)]
    if tx.size:
        rows = np.searchsorted(tx["id"], given_up).clip(max=tx.size - 1)
        for row in rows[tx["id"][rows] == given_up].tolist():
            add(row, "retry limit")
    own = np.flatnonzero(~np.isin(tx["kind"], (Kind.CTS, Kind.ACK)) & (tx["msdu"] > 0))
    frame = tx["station"][own].astype(np.int64) << 32 | tx["msdu"][own]
    first = own[np.unique(frame, return_index=True)[1]]
    first = first[tx["attempt"][first] <= 1]
    waited = tx["start_ns"][first] - tx["queued_ns"][first]
    for row, ns in zip(first.tolist(), waited.tolist(), strict=True):
        add(row, f"queued {ns} ns before")

    words = np.zeros(tx.size, np.int64)
    by_size: dict[int, tuple[list[int], list[bytes]]] = {}
    for row, text in texts.items():
        octets = text.encode()
        size = 1 + (len(octets) + 3) // 4
        words[row] = size
        rows_of, parts = by_size.setdefault(size, ([], []))
        rows_of.append(row)
        head = OPT_COMMENT | len(octets) << 16
        parts.append(head.to_bytes(4, "little") + octets.ljust(4 * size - 4, b"\0"))
    return words, {
        size: (np.array(rows_of), np.frombuffer(b"".join(parts), "<u4").reshape(-1, size))
        for size, (rows_of, parts) in by_size.items()
    }


def _outcome_text(outcome: int, other: str, kind: int) -> str:
    match outcome:
        case Outcome.COLLISION:
            return f"collision with {other} {KIND_NAMES[Kind(kind)]}" if other else "collision"
        case Outcome.OWN_TX:
            return f"receiver was sending {KIND_NAMES[Kind(kind)]}"
        case Outcome.NOISE:
            return "noise"
        case _:
            return "below threshold"
