# SPDX-License-Identifier: BSD-3-Clause
"""tshark's view of packets: an independent decoding of all that the cores send."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RAW_IP = 101  # LINKTYPE_RAW
WARNING = 0x600000  # an expert's severity; less are notes, as that a TTL is 1


def write_pcap(path: Path, packets: Iterable[bytes]) -> None:
    """Return a capture file of IP packets, one per millisecond."""
    with path.open("wb") as file:
        words = (0xA1B2C3D4, 0x00040002, 0, 0, 65535, RAW_IP)
        file.write(b"".join(word.to_bytes(4, "little") for word in words))
        for number, packet in enumerate(packets):
            head = (number // 1000, number % 1000 * 1000, len(packet), len(packet))
            file.write(b"".join(word.to_bytes(4, "little") for word in head) + packet)


def tshark(packets: Iterable[bytes]) -> list[dict[str, Any]]:
    """Return the layers of each packet, as in tshark's JSON; a repeated field is a list."""
    with tempfile.TemporaryDirectory(prefix="manet-wire-") as folder:
        path = Path(folder) / "packets.pcap"
        write_pcap(path, packets)
        checks = ("ip.check_checksum", "udp.check_checksum")
        options = [word for check in checks for word in ("-o", f"{check}:TRUE")]
        command = ["tshark", "-r", str(path), "-T", "json", "--no-duplicate-keys", *options]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [packet["_source"]["layers"] for packet in json.loads(told)]


def complaints(layers: Any) -> list[str]:
    """Return all problems that tshark reports: malformed layers, and expert messages of warning or worse, at any
    depth."""
    found = []
    if isinstance(layers, dict):
        if int(layers.get("_ws.expert.severity", 0)) >= WARNING:
            found.append(str(layers.get("_ws.expert.message")))
        for name, value in layers.items():
            if name == "_ws.malformed" or (name.endswith("checksum.status") and value != "1"):
                found.append(f"{name}: {value}")
            found += complaints(value)
    elif isinstance(layers, list):
        for value in layers:
            found += complaints(value)
    return found
