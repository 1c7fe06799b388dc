# SPDX-License-Identifier: BSD-3-Clause
"""Taps: the counters of docs/interfaces.md, section 4, from the captured frames, beside the air module's own.

    python -m analysis.taps RUN_FOLDER_OR_PCAPNG [--json]     compare; exit status 1 if they differ
    python -m analysis.taps --interface mon0 --seconds 10     count live, on an interface in monitor mode

`analysis.observe` derives them independently of what the module wrote, fast, with numpy. Scapy dissects whole
packets where that is what is wanted: `frames()` yields them one by one, and `live()` sniffs them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import capture, dissect
from analysis.attempts import RETRY
from analysis.medium import Medium
from analysis.observe import NAMES, observe
from analysis.pcapng import AIR, RADIOTAP_LEN, RT_BAD_FCS, RT_FCS
from analysis.result import Collisions, Failures

if TYPE_CHECKING:
    from scapy.packet import Packet

Counters = Mapping[str, Any]


def counters(path: Path, plan: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """The counters of each station, derived from the pcapng at `path`. Raises CaptureError, OSError."""
    return observe(capture.read(path), Medium.of_plan(plan) if plan else None).counters()


def totals(stations: Sequence[Counters]) -> dict[str, int]:
    """The counters that studies speak of, summed over stations, by the names of the seeds' tables."""
    col, fail = Collisions.of(stations), Failures.of(stations)
    return {
        "COL_RTS/CTS": col.rtscts,
        "COL_DATA": col.data,
        "COL_ACK": col.ack,
        "COL_ANY_RTS/CTS": col.any.rtscts,
        "COL_ANY_DATA": col.any.data,
        "COL_ANY_ACK": col.any.ack,
        "FAIL_RTS/CTS": fail.rtscts,
        "FAIL_DATA": fail.data,
        "FAIL_ACK": fail.ack,
        "retries, short": sum(s["retries"]["short"] for s in stations),
        "retries, long": sum(s["retries"]["long"] for s in stations),
        **{f"sent, {name}": sum(s["tx"].get(name, 0) for s in stations) for name in NAMES},
    }


def differences(taps: Sequence[Counters], module: Sequence[Counters]) -> list[str]:
    """Where the two tables of counters differ, station by station, in everything that the taps can derive."""
    found = []
    for number, (ours, theirs) in enumerate(zip(taps, module, strict=True), 1):
        mine, other = _flat(ours), _flat(theirs)
        for key in sorted(mine):
            value = other.get(key, 0)
            if key.startswith(("rx.", "addressed.")) and key.endswith(".COLLISION"):
                value += other.get(key.removesuffix("COLLISION") + "OWN_TX", 0)
            if mine[key] != value:
                found.append(f"station {number}: {key}: taps {mine[key]}, module {value}")
    return found


def _flat(table: Counters, prefix: str = "") -> dict[str, int]:
    flat: dict[str, int] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def frames(path: Path, where: Callable[["Packet"], bool] | None = None, interface: str = "air") -> Iterator["Packet"]:
    """Scapy packets (RadioTap and below) of one interface of the pcapng, in order, that `where` says yes to.

    `time` is in seconds, `wirelen` the full length, `sniffed_on` the interface, `comments` what the air remarked."""
    from scapy.layers.dot11 import RadioTap

    file = capture.read(path)
    names = [i.name for i in file.interfaces]
    if interface not in names:
        raise capture.CaptureError(f"{path}: no interface {interface}: it has {', '.join(names)}")
    for row in np.flatnonzero(file.interface == names.index(interface)).tolist():
        at = int(file.frame[row])
        packet = RadioTap(file.data[at - RADIOTAP_LEN : at + int(file.caplen[row])].tobytes())
        packet.time = int(file.time_ns[row]) / 1e9
        packet.wirelen = int(file.length[row]) + RADIOTAP_LEN
        packet.sniffed_on = interface
        comment = file.comment(row)
        packet.comments = [comment.encode()] if comment else None
        if where is None or where(packet):
            yield packet


def live(interface: str, seconds: float) -> dict[str, dict[str, int]]:
    """Count what a monitor interface shows for `seconds`: frames, those with the Retry bit, those with a bad FCS.

    Needs the rights to capture. Raises OSError if the interface cannot be opened."""
    from scapy.layers.dot11 import RadioTap
    from scapy.sendrecv import sniff

    found: list[tuple[bytes, bool]] = []
    try:
        sniff(
            iface=interface, store=False, timeout=seconds,
            prn=lambda packet: found.append(unwrap(packet)) if RadioTap in packet else None,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise OSError(f"cannot capture on {interface}: {error}") from error
    return count(found)


def unwrap(packet: "Packet") -> tuple[bytes, bool]:
    """The 802.11 frame under radiotap, without FCS, and whether the FCS was bad."""
    flags = int(getattr(packet, "Flags", None) or 0)
    octets = bytes(packet.original)[packet.len :]
    return octets[:-4] if flags & RT_FCS else octets, bool(flags & RT_BAD_FCS)


def count(found: Sequence[tuple[bytes, bool]]) -> dict[str, dict[str, int]]:
    """Frames, retries and bad FCSs by kind, of 802.11 frames without FCS and whether it was bad."""
    sizes = np.array([len(octets) for octets, _ in found], np.int64)
    data = np.frombuffer(b"".join(octets for octets, _ in found) + b"\0", np.uint8)
    all_frames = dissect.Frames(data, np.cumsum(sizes) - sizes, sizes)
    kind, _ = dissect.classify(all_frames)
    bad = np.array([b for _, b in found], bool)
    retry = all_frames.field(1) & RETRY != 0
    columns = {"frames": np.ones(kind.size, bool), "retries": retry & ~bad, "bad_fcs": bad}
    return {
        name: {what: int((column & (kind == number)).sum()) for what, column in columns.items()}
        for number, name in enumerate(NAMES)
    }


def _compare(path: Path, as_json: bool) -> bool:
    """Print the taps' counters of one capture, beside the module's if they are there. False: they differ."""
    plan, lane = (_json(path.with_name(name)) for name in ("plan.json", "lane.json"))
    taps = counters(path, plan)
    module = [station["counters"] for station in lane["air"]["stations"]] if lane else None
    wrong = differences(taps, module) if module else []
    if as_json:
        print(json.dumps({"capture": str(path), "stations": taps, "totals": totals(taps), "differences": wrong}))
    else:
        print(f"{path}" + ("" if plan else "  (no plan.json beside it: taking all stations to sense each other)"))
        print("\n".join(_beside(taps, module)))
        print("\n".join(wrong) if wrong else "they agree" if module else "no lane.json beside it to compare with")
    return not wrong


def _beside(taps: Sequence[Counters], module: Sequence[Counters] | None) -> Iterator[str]:
    """The lines of a table: totals of the taps, and beside them the module's if they are there."""
    columns = {"taps": totals(taps)} | ({"module": totals(module)} if module else {})
    yield f"{'':18}" + "".join(f"{name:>10}" for name in columns)
    for quantity in columns["taps"]:
        yield f"{quantity:18}" + "".join(f"{column[quantity]:>10}" for column in columns.values())


def _json(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0: all agree; 1: they differ, or a file cannot be read; 2: misuse."""
    parser = argparse.ArgumentParser(prog="python -m analysis.taps", description="Counters from captured frames.")
    parser.add_argument("path", nargs="?", type=Path, help="a run folder, or a pcapng file that dcflab wrote")
    parser.add_argument("--json", action="store_true", help="print JSON, one line for each capture")
    parser.add_argument("--interface", help="count live on this interface, which is in monitor mode")
    parser.add_argument("--seconds", type=float, default=10.0, help="for how long (default 10)")
    options = parser.parse_args(arguments)
    if (options.path is None) == (options.interface is None):
        parser.error("give a run folder or a pcapng file, or else --interface")
    try:
        if options.interface:
            print(json.dumps(live(options.interface, options.seconds), indent=None if options.json else 1))
            return 0
        paths = sorted(options.path.rglob(AIR)) if options.path.is_dir() else [options.path]
        if not paths:
            parser.error(f"there is no {AIR} in {options.path}")
        return 0 if all([_compare(path, options.json) for path in paths]) else 1
    except (capture.CaptureError, OSError) as error:
        print(f"taps: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
