# SPDX-License-Identifier: BSD-3-Clause
"""The measurement: its length, its seed, and what is recorded."""

import math
from typing import Literal

from pydantic import Field

from emulation.specification.words import Section, Words

MOST_VIEWS = 256 << 20  # bytes


class Measurement(Section):
    """A run's length, seed and records."""

    seconds: float = Field(120.0, gt=0, le=100_000, allow_inf_nan=False, description="seconds of air time to measure")
    seed: int = Field(1, ge=0, lt=2**63, description="another seed, another run; the same seed, the same run")
    trace: bool = Field(True, description="record every frame")
    tcp_trace: bool = Field(True, description="record each flow's window, phases and timeouts")
    sample_s: float = Field(
        1.0, ge=0.001, le=100_000, allow_inf_nan=False, description="seconds between samples of each flow (flows.csv)"
    )
    snap: int = Field(128, ge=80, le=2400, description="bytes of a frame that the trace keeps")
    views: Literal["auto", "yes", "no"] = Field(
        "auto", description=f"keep what each station received; auto: up to {MOST_VIEWS >> 20} MB"
    )
    recorders: Words = Field(
        (), description="your own recorders from --plugins, and adaptive_retries, which sets retry limits"
    )

    @property
    def most_views(self) -> float:
        """Return the largest size in bytes at which views of stations are kept; larger ones are not kept at all."""
        return {"auto": MOST_VIEWS, "yes": math.inf, "no": 0}[self.views]
