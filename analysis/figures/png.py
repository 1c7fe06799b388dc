# SPDX-License-Identifier: BSD-3-Clause
"""PNG files of drawings (ISO/IEC 15948), in which most rows are as the one before.

Libraries try five filters on each row, as serves photographs: that takes four times as long, for a drawing that comes
out no smaller. Here all rows have the one.
"""

import struct
import zlib

import numpy as np

from analysis.traces.trace import Array

SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, TRUECOLOUR = 8, 2
UP = 2  # the filter: what differs from the row above
LEVEL = 1  # zlib's: higher ones take longer, for a tenth of the bytes
METRE = 1  # the unit
INCH_M = 0.0254


def of(pixels: Array, dpi: float) -> bytes:
    """The file: `pixels` are rows of columns of red, green and blue, a byte each."""
    height, width, _ = pixels.shape
    rows = np.full((height, 1 + 3 * width), UP, np.uint8)
    rows[:, 1:] = pixels.reshape(height, -1)
    rows[1:, 1:] -= rows[:-1, 1:].copy()
    per_m = round(dpi / INCH_M)
    return SIGNATURE + b"".join(
        [
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, EIGHT_BITS, TRUECOLOUR, 0, 0, 0)),
            _chunk(b"pHYs", struct.pack(">IIB", per_m, per_m, METRE)),
            _chunk(b"IDAT", zlib.compress(rows.data, LEVEL)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
