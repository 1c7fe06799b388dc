# SPDX-License-Identifier: BSD-3-Clause
"""What all pages look like: the report, the timeline, the film, and that of a live network."""

from pathlib import Path

LOOK = Path(__file__).parent
