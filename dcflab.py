# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks import: `dcflab.load("runs/rts-cts-…").flows` is a pandas.DataFrame (docs/data.md)."""

from analysis.export import Tables
from analysis.export import tables as load

__all__ = ["Tables", "load"]
