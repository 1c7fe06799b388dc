# SPDX-License-Identifier: BSD-3-Clause
"""Radios of 802.11n and later: what each says that it can do, and how it aggregates."""

from __future__ import annotations

from typing import Any, NamedTuple

from emulation.lane.errors import Misuse
from emulation.specification.modes import centre, channel_number, refuse_link
from emulation.specification.radio import AUTO, OLDER, Radio

QUEUE = 1024  # MPDUs that a radio may have below mac80211; its profile allows fewer
FORMATS = {"n": "ht", "ac": "vht", "ax": "he"}


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
# mt76 of the same, drivers/net/wireless/mediatek/mt76: AQL and airtime fairness (mac80211.c), a window of 256
# (mt7915/init.c), 15 attempts (mt76_connac_mac.c), 4 us (mt7915/init.c). Its firmware makes aggregates as long as the
# standard allows, of a ring that only AQL limits.
PROFILES = {
    "ath9k": Profile(2, 31, 64, 32, 65_535, 4_000, 6, aql=False, fairness=True),
    "mt76": Profile(8, 15, 256, 256, 6_500_631, 5_484, 5, aql=True, fairness=True),
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


def plan_channel(radio: Radio, link: str, freq: int) -> dict[str, Any]:
    """Return `width_mhz` and `centre_mhz` of a link whose radios are not limited to legacy rates. Raises Misuse."""
    if radio.mode == OLDER:
        return {}
    if why := refuse_link(radio.mode, link, 2 if freq < 3000 else 5, channel_number(freq), radio.width):
        raise Misuse(f"mode: {why}")
    return {"width_mhz": radio.width, "centre_mhz": centre(freq, radio.width)}
