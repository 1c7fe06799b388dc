# SPDX-License-Identifier: BSD-3-Clause
"""EDCA parameters of access categories that do not come from the kernel (IEEE 802.11-2016, 9.4.2.29)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from emulation.lane.errors import Misuse
from emulation.lane.protocol import CATEGORIES
from emulation.plan.checks import check_names
from emulation.specification import explain
from emulation.specification.radio import HR, Radio

EDCA = "edca"  # setting of a node
UNIT_US = 32  # unit of TXOP limits


class Contention(BaseModel):
    """The EDCA parameters of a category.

    AIFS is SIFS + `aifsn` slots. The contention window grows from `cw_min` to `cw_max` slots. `txop_us` is the TXOP
    limit (0: one frame).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    aifsn: int = Field(ge=1, le=255)
    cw_min: int = Field(ge=0, le=65535)
    cw_max: int = Field(ge=0, le=65535)
    txop_us: int = Field(0, ge=0, le=65535 * UNIT_US, multiple_of=UNIT_US)

    @model_validator(mode="after")
    def _ordered(self) -> Contention:
        if self.cw_min > self.cw_max:
            raise ValueError("cw_min: must not be above cw_max")
        return self


def standard(radio: Radio, cw_min: int, cw_max: int) -> dict[str, Contention]:
    """Return the defaults of 9.4.2.29, table 9-137, for a PHY with these contention windows."""
    hr = radio.rate in HR
    half, quarter = (cw_min + 1) // 2 - 1, (cw_min + 1) // 4 - 1
    return {
        "VO": Contention(aifsn=2, cw_min=quarter, cw_max=half, txop_us=3264 if hr else 1504),
        "VI": Contention(aifsn=2, cw_min=half, cw_max=cw_min, txop_us=6016 if hr else 3008),
        "BE": Contention(aifsn=3, cw_min=cw_min, cw_max=cw_max),
        "BK": Contention(aifsn=7, cw_min=cw_min, cw_max=cw_max),
    }


def plan_edca(
    radio: Radio, name: str, settings: Mapping[str, Any], cw_min: int, cw_max: int, older: bool = False
) -> dict[str, Any] | None:
    """Return `edca` of a radio (docs/interfaces.md, section 1): parameters that override the kernel's; None: none.

    `settings` are the node's. Without EDCA, an `older` radio than the network's has its own contention window, as that
    of BE. Raises Misuse.
    """
    sets = standard(radio, cw_min, cw_max) if radio.edca == "standard" else {}
    if older and radio.edca == "off":
        sets = {"BE": Contention(aifsn=2, cw_min=cw_min, cw_max=cw_max)}
    own = settings.get(EDCA)
    if own is not None:
        if radio.edca == "off":
            raise Misuse(f"{name}: {EDCA}: the network has no EDCA; give --edca kernel or standard")
        if not isinstance(own, Mapping):
            raise Misuse(f"{name}: {EDCA}: must be categories, {', '.join(CATEGORIES)}, with their parameters")
        check_names(f"{name}: {EDCA}", own, CATEGORIES)
        try:
            sets |= TypeAdapter(dict[str, Contention]).validate_python(own)
        except ValidationError as error:
            raise Misuse("; ".join(f"{name}: {EDCA}: {line}" for line in explain(error))) from None
    return {category: sets[category].model_dump() for category in CATEGORIES if category in sets} or None
