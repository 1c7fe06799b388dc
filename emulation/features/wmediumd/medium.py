# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd or its model as a medium: it gets the air's powers as SNRs in wmediumd's grammar."""

from collections.abc import Mapping, Sequence
from typing import Any

from emulation.lane.air import stations_of
from emulation.lane.errors import Misuse
from emulation.lane.per_tables import NOISE_DBM
from emulation.specification import Specification
from emulation.specification.per import PerTable

INSIDE = "emulation.features.wmediumd.inside.medium"
NO_SIGNAL = -100  # the SNR of a signal that does not arrive


def plan_medium(
    specification: Specification,
    air: Mapping[str, Any],
    links: Sequence[Any],
    nodes: Sequence[Any],
    moving: bool,
    *,
    program: str | None = None,
) -> dict[str, Any]:
    """Return the plan's `medium` (docs/interfaces.md, section 1). Without a program it is the model. Raises Misuse for
    what wmediumd cannot do."""
    medium = specification.medium
    fading = medium.fading
    if moving:
        raise Misuse("medium: wmediumd gets positions only once, at the start; leave out motion")
    if fading and fading.model != "lognormal":
        raise Misuse(f"medium: wmediumd has no {fading.model} fading; it has lognormal, of whole dB")
    if fading and fading.coherence_ms:
        raise Misuse("medium: wmediumd draws the fade of each frame; leave out coherence_ms")
    config = configuration(
        stations_of({"links": links, "nodes": nodes, "air": air}), air, round(fading.sigma or 1) if fading else 0
    )
    return {
        "kind": medium.medium,
        "module": INSIDE,
        "program": program,
        "config": config,
        "table": table(medium.per) if medium.per else None,
    }


def configuration(stations: Sequence[Mapping[str, Any]], air: Mapping[str, Any], fading: int = 0) -> str:
    """Return the air's powers in wmediumd's grammar: whole dB over its noise."""
    ids = ",\n    ".join(f'"{station["address"]}"' for station in stations)
    links = ",\n    ".join(
        f"({a}, {b}, {NO_SIGNAL if power is None else round(power / 1000 - NOISE_DBM)})"
        for a, row in enumerate(air["power_mdbm"])
        for b, power in enumerate(row)
        if a != b
    )
    fades = f"  fading_coefficient = {fading};\n" if fading else ""
    return f"""ifaces:
{{
  ids = [
    {ids}
  ];
}};
model:
{{
  type = "snr";
{fades}  links = (
    {links}
  );
}};
"""


def table(per: PerTable) -> str:
    """Return packet error rates in wmediumd's format."""
    first = round(per.first_db + NOISE_DBM)
    rows = ("\t".join([str(first + number), *map(repr, row)]) for number, row in enumerate(per.rows))
    return "\n".join(rows) + "\n"
