# SPDX-License-Identifier: BSD-3-Clause
"""Taps: the counters of docs/records.md, section 4, from captured frames, beside the air module's own.

    python -m analysis.taps.compare RUN_FOLDER_OR_PCAPNG [--json]     compare; exit status 1 if they differ
    python -m analysis.taps.compare --interface mon0 --seconds 10     count live, on an interface in monitor mode

`taps.observe` derives the counters independently of the module's, fast, with numpy. `taps.sniff` counts with Scapy,
from the air's remarks on packets: slower, and written as a student would write a tap.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.results import shapes
from analysis.results.names import LANE, PLAN
from analysis.results.result import APART, ROWS, Collisions, Failures, counted
from analysis.taps import sniff, tally
from analysis.taps.observe import NAMES, observe
from analysis.taps.phy import Medium
from analysis.traces import capture
from analysis.traces.pcapng import AIR
from emulation.files.foreign import Damaged

if TYPE_CHECKING:
    from scapy.packet import Packet

Counters = Mapping[str, Any]


def counters(
    path: Path, plan: Mapping[str, Any] | None = None, changes: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return each station's counters, derived from a pcapng of a run with this plan; `changes` are those of its
    lane.json. Raises Damaged if malformed, OSError if unreadable."""
    seen = capture.read(path)
    return observe(seen, Medium.of_plan(plan, seen.start_ns, changes) if plan else None).counters()


def totals(stations: Sequence[Counters]) -> dict[str, int]:
    """Sum the counters of tables over stations, under the tables' names, with retries and frames sent by kind. COL_ANY
    is omitted if the stations' receptions are not recorded."""
    col, retries = Collisions.of(stations), [_on_air(station) for station in stations]
    tables = {"col": col, "col.any": col.any, "fail": Failures.of(stations)}
    if not all("rx" in station for station in stations):
        del tables["col.any"]
    return {
        **{counted(of, row): getattr(counts, row) for of, counts in tables.items() for row in (*ROWS, "total", *APART)},
        "retries, short": sum(each["short"] for each in retries),
        "retries, long": sum(each["long"] for each in retries),
        **{f"sent, {name}": sum(s["tx"].get(name, 0) for s in stations) for name in NAMES},
    }


def differences(taps: Sequence[Counters], module: Sequence[Counters]) -> list[str]:
    """Return the differences between two tables of counters, station by station, in everything that the taps can
    derive."""
    found = []
    for number, (ours, theirs) in enumerate(zip(taps, module, strict=True), 1):
        mine, other = _flat(ours), _flat({**theirs, "retries": _on_air(theirs)})
        for key in sorted(mine):
            value = other.get(key, 0)
            if key.startswith(("rx.", "addressed.")) and key.endswith(".COLLISION"):
                value += other.get(key.removesuffix("COLLISION") + "OWN_TX", 0)
            if mine[key] != value:
                found.append(f"station {number}: {key}: taps {mine[key]}, module {value}")
    return found


def _on_air(station: Counters) -> dict[str, int]:
    """Return the retries of a station without collisions between its own categories, which are on no air."""
    inside = sum(of["collisions"] for of in station.get("categories", {}).values())
    return {**station["retries"], "short": station["retries"]["short"] - inside}


def _flat(table: Counters, prefix: str = "") -> dict[str, int]:
    flat: dict[str, int] = {}
    for key, value in table.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, Mapping) else {prefix + key: value}
    return flat


def count(seen: Iterable["Packet"]) -> dict[str, dict[str, int]]:
    """Count frames, retries and bad FCSs by kind, in packets from `analysis.taps.sniff`."""
    found = {name: {"frames": 0, "retries": 0, "bad_fcs": 0} for name in NAMES}
    for packet in seen:
        row, bad = found[NAMES[packet.kind]], sniff.is_bad(packet)
        row["frames"] += 1
        row["bad_fcs"] += bad
        row["retries"] += not bad and bool(packet.FCfield.retry)
    return found


def _compare(path: Path, as_json: bool, scapy: bool) -> bool:
    """Print the taps' counters of a capture, beside the module's if there are any. Return whether they agree."""
    run = path.parent
    plan = shapes.read_plan(run) if (run / PLAN).is_file() else None
    lane = shapes.read_lane(run, plan) if (run / LANE).is_file() else None
    taps = counters(path, plan, (lane or {}).get("changes", ()))
    module = [station["counters"] for station in lane["air"]["stations"]] if lane and lane.get("air") else None
    columns = {"taps": totals(taps)}
    if scapy:
        columns["scapy"] = tally.counters(path)
    if module:
        columns["module"] = totals(module)
    wrong = differences(taps, module) if module else []
    known = "module" if module else "taps"  # the taps cannot tell what was given up at the kernel's rate stages
    wrong += [
        f"{name}: {known} {columns[known].get(name)}, scapy {value}"
        for name, value in columns.get("scapy", {}).items() if value != columns[known].get(name)
    ]  # fmt: skip
    if as_json:
        report = {"capture": str(path), "stations": taps, "totals": columns["taps"], "differences": wrong}
        print(json.dumps(report | ({"scapy": columns["scapy"]} if scapy else {})))
    else:
        print(f"{path}" + ("" if plan else "  (no plan.json beside it: all stations are assumed to sense each other)"))
        if "rx" not in taps[0]:
            print("  (no views.gz beside it: outcomes at receivers are those that the air recorded)")
        print("\n".join(_beside(columns)))
        print("\n".join(wrong) if wrong else "they agree" if module else "no lane.json beside it to compare with")
    return not wrong


def _beside(columns: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Yield the lines of a table, without kinds of frames that did not occur."""
    yield f"{'':18}" + "".join(f"{name:>10}" for name in columns)
    for quantity in columns["taps"]:
        if quantity.startswith(("COL", "FAIL", "sent")) and not any(
            column.get(quantity) for column in columns.values()
        ):
            continue
        yield f"{quantity:18}" + "".join(f"{column.get(quantity, ''):>10}" for column in columns.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Return 0 if all agree, 1 if they differ or a file cannot be read, 2 for misuse."""
    try:
        return run(arguments)
    except (Damaged, OSError) as error:
        print(f"taps: {error}", file=sys.stderr)
        return 1


def run(arguments: Sequence[str] | None) -> int:
    """Run the command line. Raises Damaged or OSError if a file cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.taps.compare", description="Counters from captured frames."
    )
    parser.add_argument("path", nargs="?", type=Path, help="a run folder, or a pcapng file that dcflab wrote")
    parser.add_argument("--json", action="store_true", help="print JSON, one line for each capture")
    parser.add_argument("--scapy", action="store_true", help="count with Scapy, too")
    parser.add_argument("--interface", help="count live on this interface, which is in monitor mode")
    parser.add_argument("--seconds", type=float, default=10.0, help="for how long (default 10)")
    options = parser.parse_args(arguments)
    if (options.path is None) == (options.interface is None):
        parser.error("give a run folder or a pcapng file, or else --interface")
    if options.interface:
        seen = sniff.frames(options.interface, seconds=options.seconds)
        print(json.dumps(count(seen), indent=None if options.json else 1))
        return 0
    paths = sorted(options.path.rglob(AIR)) if options.path.is_dir() else [options.path]
    if not paths:
        parser.error(f"there is no {AIR} in {options.path}")
    return 0 if all([_compare(path, options.json, options.scapy) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main())
