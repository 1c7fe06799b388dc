# SPDX-License-Identifier: BSD-3-Clause
"""The netlink interface of ackthin: its parameters by name, and its statistics.

The table has the same content as tc_modules/pkt_ackthin.h; docs/ack-thinning.md explains each parameter. The kernel
checks all values again.
"""

from __future__ import annotations

import struct
from collections import namedtuple

from emulation.lane.netlink import build, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Options = Mapping[str, int | str]

POLICIES = ("plain", "delayed", "skip", "daa", "dynamic")
# attribute: its number; kind: "word" (one of POLICIES), "number", "microseconds" or "thousandths"; default: None if the
# device determines it
Parameter = namedtuple("Parameter", "attribute kind default minimum maximum")
PARAMETERS = {
    "policy": Parameter(1, "word", "delayed", 0, len(POLICIES) - 1),
    "limit": Parameter(2, "number", None, 1, 0xFFFFFFFF),
    "count": Parameter(3, "number", 2, 1, 255),
    "skip": Parameter(4, "number", 1, 0, 255),
    "start": Parameter(5, "number", 50, 0, 0xFFFFFFFF),
    "timeout_us": Parameter(6, "microseconds", 100_000, 0, 10_000_000),
    "granularity_us": Parameter(7, "microseconds", 0, 0, 10_000_000),
    "dwin_min": Parameter(8, "number", 2, 1, 255),
    "dwin_max": Parameter(9, "number", 4, 1, 255),
    "alpha": Parameter(10, "thousandths", 750, 0, 999),
    "kappa": Parameter(11, "thousandths", 200, 0, 10_000),
    "mu": Parameter(12, "thousandths", 300, 1, 1000),
    "interval_us": Parameter(13, "microseconds", 100_000, 1000, 60_000_000),
    "step": Parameter(14, "thousandths", 100, 1, 10_000),
    "skip_max": Parameter(15, "number", 3, 0, 255),
}
NAMES = {parameter.attribute: name for name, parameter in PARAMETERS.items()}
REASONS = ("other", "data", "control", "ecn", "sack", "option", "first", "probe", "old", "duplicate", "window",
           "recovery", "group", "timer", "flushed")  # fmt: skip
STATISTICS = ("acks", "thinned", "evicted", "flows", "held", "dwin_milli", "skip", "failures_milli", "samples")
LAYOUT = struct.Struct(f"={len(REASONS) + 3}Q6I")


def pack(options: Options) -> bytes:
    """Pack the given parameters as the attributes of TCA_OPTIONS. Raises ValueError if there is no such parameter, or
    if its value is out of range."""
    numbers = {name: number(name, value) for name, value in options.items()}
    return build((PARAMETERS[name].attribute, value) for name, value in numbers.items())


def number(name: str, value: int | str) -> int:
    """Return the value of a parameter in the kernel's encoding. Raises ValueError as `pack` does."""
    if name not in PARAMETERS:
        raise ValueError(f"there is no parameter {name!r} of ackthin; there are: {', '.join(PARAMETERS)}")
    parameter = PARAMETERS[name]
    if parameter.kind == "word":
        if value not in POLICIES:
            raise ValueError(f"there is no {name} {value!r} of ackthin; there are: {', '.join(POLICIES)}")
        return POLICIES.index(str(value))
    if not isinstance(value, int) or not parameter.minimum <= value <= parameter.maximum:
        raise ValueError(f"ackthin: {name} is from {parameter.minimum} to {parameter.maximum}, not {value!r}")
    return value


def unpack(data: bytes) -> dict[str, int | str]:
    """Return the parameters by name, from the attributes of TCA_OPTIONS."""
    found: dict[str, int | str] = {}
    for attribute, value in parse(data).items():
        if name := NAMES.get(attribute):
            word = int.from_bytes(value, "little")
            found[name] = POLICIES[word] if PARAMETERS[name].kind == "word" else word
    return found


def statistics(data: bytes) -> dict[str, int | dict[str, int]]:
    """Parse TCA_STATS_APP: `passed` by reason, and STATISTICS. Fields that a newer module appends are ignored."""
    values = LAYOUT.unpack_from(data)
    passed = dict(zip(REASONS, values, strict=False))
    return {"passed": passed, **dict(zip(STATISTICS, values[len(REASONS) :], strict=True))}
