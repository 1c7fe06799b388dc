# SPDX-License-Identifier: BSD-3-Clause
"""The common look of all pages: the report, the timeline, the film and the live network."""

from pathlib import Path

LOOK = Path(__file__).parent
