# SPDX-License-Identifier: BSD-3-Clause
"""What the stations of a run received, as a pcapng with an interface each, for Wireshark and other programs."""

from pathlib import Path

from analysis.traces import capture, pcapng
from emulation.files.compressed import Compressed

SUFFIX = "-stations.pcapng.gz"


def write(run: Path, file: Path) -> bool:
    """Write it for the run in this folder. Return False, without a file, if it was not kept. Raises Damaged or
    OSError."""
    captured = capture.read_file(run / pcapng.AIR)
    views = capture.views_of(run / pcapng.AIR, captured)
    if views is None:
        return False
    compressed = Compressed(file)
    for piece in capture.of_stations(captured, views):
        compressed.write(piece)
    compressed.finish()
    return True
