# SPDX-License-Identifier: BSD-3-Clause
"""Radios of 802.11n and later: what each says that it can do, and how it aggregates."""

from __future__ import annotations

from typing import Any, NamedTuple

from emulation.specification.modes import centre
from emulation.specification.radio import AUTO, OLDER, Radio

QUEUE = 1024  # MPDUs that a radio may have below mac80211; its profile allows fewer
FORMATS = {"n": "ht", "ac": "vht"}


class Profile(NamedTuple):
    """A driver's rules for aggregates."""

    depth: int  # aggregates of a category that are prepared
    tries: int  # of an MPDU
    window: int  # of block ACK
    mpdus: int
    bytes: int
    ppdu_us: int
    density: int  # Minimum MPDU Start Spacing, as in HT capabilities
    aql: bool
    fairness: bool


# ath9k of Linux 6.12, drivers/net/wireless/ath/ath9k: two aggregates a queue (ATH_AGGR_MIN_QDEPTH), 30 retries
# (ATH_MAX_SW_RETRIES), half the window and 4 ms (xmit.c), 8 us between MPDUs and airtime fairness (init.c,
# common-init.c).
PROFILES = {
    "ath9k": Profile(2, 31, 64, 32, 65_535, 4_000, 6, aql=False, fairness=True),
    "none": Profile(2, 7, 0, 0, 65_535, 5_484, 0, aql=False, fairness=True),
}


def plan_ht(radio: Radio) -> dict[str, Any]:
    """Return `ht` of a radio (docs/interfaces.md, section 1), or nothing for one with legacy rates."""
    if radio.mode == OLDER:
        return {}
    return {
        "ht": {
            "format": FORMATS[radio.mode],
            "streams": radio.streams,
            "width_mhz": radio.width,
            "guard_ns": round(radio.guard * 1000),
            "mcs": None if radio.mcs == AUTO else radio.mcs,
            **PROFILES[radio.aggregation]._asdict(),
        }
    }


def plan_channel(radio: Radio, freq: int) -> dict[str, Any]:
    """Return `width_mhz` and `centre_mhz` of a link whose radios are not limited to legacy rates."""
    return {} if radio.mode == OLDER else {"width_mhz": radio.width, "centre_mhz": centre(freq, radio.width)}
