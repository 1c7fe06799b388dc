# SPDX-License-Identifier: BSD-3-Clause
"""Files that all pages share: the report, the timeline, the film and the live network."""

from pathlib import Path

SHARED = Path(__file__).parent
