# SPDX-License-Identifier: BSD-3-Clause
"""-p under wmediumd's model: each frame once, when it begins, and the ACK if there is one, as pcapng with radiotap
headers (draft-ietf-opsawg-pcapng; radiotap.org). The model has no separate retries, so neither has the file."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

RADIOTAP = 127
SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
NANOSECONDS = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)  # if_tsresol; end of options
HEADER = struct.Struct("<BBHIBBHH")  # version, padding, length, fields that follow: rate and channel
PRESENT = 1 << 2 | 1 << 3
CHANNEL_2GHZ, CHANNEL_5GHZ = 0x0080, 0x0100


class Capture:
    """A file, until the end of the block. Raises OSError if it cannot be written."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115
        self._block(SECTION, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
        self._block(INTERFACE, struct.pack("<HHI", RADIOTAP, 0, 0) + NANOSECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, at_ns: int, frame: bytes, freq: int, rate: int) -> None:
        """Write a frame; `rate` is in 100 kb/s."""
        band = CHANNEL_2GHZ if freq < 5000 else CHANNEL_5GHZ
        data = HEADER.pack(0, 0, HEADER.size, PRESENT, rate // 5, 0, freq, band) + frame
        head = struct.pack("<IIIII", 0, at_ns >> 32, at_ns & 0xFFFFFFFF, len(data), len(data))
        self._block(PACKET, head + data + bytes(-len(data) % 4))

    def _block(self, kind: int, body: bytes) -> None:
        length = struct.pack("<I", len(body) + 12)
        self.file.write(struct.pack("<I", kind) + length + body + length)
