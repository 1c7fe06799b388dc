# SPDX-License-Identifier: BSD-3-Clause
"""Radios of 802.11n and later, and legacy ones beside them: what each says that it can do, and how it aggregates."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from emulation.lane.errors import Misuse
from emulation.specification import modes
from emulation.specification.modes import centre, channel_number, refuse_link
from emulation.specification.radio import AUTO, CHANNEL, OF_MCS, OF_QUEUES, OLDER, OLDER_MODES, Radio, of_mode

QUEUE = 1024  # MPDUs that a radio may have below mac80211; its profile allows fewer
FORMATS = {OLDER: "ofdm", "n": "ht", "ac": "vht", "ax": "he"}


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
    protection: bool  # by HT Protection of the BSS


# ath9k of Linux 6.12, drivers/net/wireless/ath/ath9k: two aggregates a queue (ATH_AGGR_MIN_QDEPTH), 30 retries
# (ATH_MAX_SW_RETRIES), half the window and 4 ms (xmit.c), 8 us between MPDUs (common-init.c).
# mt76 of the same, drivers/net/wireless/mediatek/mt76: AQL (mac80211.c), a window of 256 (mt7915/init.c), 15 attempts
# (mt76_connac_mac.c), 4 us (mt7915/init.c). Its firmware makes aggregates as long as the standard allows, of a ring
# that only AQL limits.
# ath10k of the same, drivers/net/wireless/ath/ath10k: AQL and 8 us between MPDUs (mac.c), 64 MPDUs in an aggregate
# (htt.h), and the most retries that it lets one set (core.h): its firmware's number is not in the source.
# All three have airtime fairness (init.c; mac80211.c; mac.c).
# Beside 802.11b, mac80211 asks for CTS-to-self (use_cts_prot). mt76 also heeds HT Protection, by RTS and CTS
# (mt76x02_mac.c, mt7915/mcu.c), and ath9k does not (xmit.c).
PROFILES = {
    "ath9k": Profile(2, 31, 64, 32, 65_535, 4_000, 6, aql=False, protection=False),
    "ath10k": Profile(8, 31, 64, 64, 1_048_575, 5_484, 6, aql=True, protection=False),
    "mt76": Profile(8, 15, 256, 256, 6_500_631, 5_484, 5, aql=True, protection=True),
    "none": Profile(2, 7, 0, 0, 65_535, 5_484, 0, aql=False, protection=False),
}


def of_node(radio: Radio, settings: Mapping[str, Any], leads: bool) -> dict[str, Any]:
    """Return what a node's settings change in the radio of its link: fields of Radio.

    A node of another mode has that mode's defaults, and the link's width as far as the mode has it. Only nodes that
    lead, access points, can be wider than the link. Raises ValueError.
    """
    own, word = of_mode(settings), settings.get("mode")
    own.pop("rate_control", None)  # the network's
    mode = own.get("mode", radio.mode)
    if radio.mode == OLDER != mode:
        raise ValueError(f"mode: {mode} is not possible in a network of legacy rates; change one of both")
    if mode != radio.mode and mode in (OLDER, *modes.FORMATS):
        widest = 20 if mode == OLDER else max(modes.FORMATS[mode].widths_mhz)
        own = {**OF_MCS, "width": min(radio.width, widest), **(OF_QUEUES if mode == OLDER else {}), **own}
    if not leads and "width" in own:
        own["width"] = min(own["width"], radio.width)
    freq = own["freq"] if CHANNEL in settings else radio.freq
    own["freq"] = freq
    if not leads and freq != radio.freq:
        raise ValueError(f"channel: the link is at {radio.freq} MHz, but the node's channel at {freq} MHz")
    if word in OLDER_MODES and (word == "a") != (freq > 3000):
        raise ValueError(f"mode: 802.11{word} needs {5 if word == 'a' else 2.4} GHz, but its channel is at {freq} MHz")
    return own


def plan_ht(radio: Radio, link: str, legacy: bool) -> dict[str, Any]:
    """Return `ht` of a radio on a link of this kind (docs/interfaces.md, section 1); nothing if all radios of the
    network are `legacy`. Raises Misuse."""
    if legacy:
        return {}
    refused = refuse_link(radio.mode, link, 2 if radio.freq < 3000 else 5, channel_number(radio.freq), radio.width)
    if refused:
        raise Misuse(f"mode: {refused}")
    profile = PROFILES["none" if radio.mode == OLDER else radio.aggregation]
    return {
        "ht": {
            "format": FORMATS[radio.mode],
            "streams": radio.streams,
            "width_mhz": radio.width,
            "centre_mhz": centre(radio.freq, radio.width),
            "guard_ns": round(radio.guard * 1000),
            "mcs": None if radio.mcs == AUTO else radio.mcs,
            "held": False,
            **profile._asdict(),
            "aql": profile.aql if radio.aql is None else radio.aql == "on",
            "fairness": radio.airtime_fairness,
            "fifo": radio.driver_queue or 0,
            "pacing_shift": radio.pacing_shift,
        }
    }


def hold(radios: Sequence[dict[str, Any]]) -> None:
    """Set `held` of the `ht` of radios whose MCS minstrel_ht can be held at: all other radios know it. It would also
    hold it for stations that do not."""
    ranks = list(FORMATS.values())
    for mine in radios:
        known = all(
            ranks.index(other["format"]) >= ranks.index(mine["format"])
            and other["streams"] >= mine["streams"]
            and other["width_mhz"] >= mine["width_mhz"]
            and other["guard_ns"] <= mine["guard_ns"]
            and (other["mcs"] is None or mine["mcs"] is None or other["mcs"] >= mine["mcs"])
            for other in radios
        )
        minstrel = mine["format"] in ("ht", "vht") and mine["width_mhz"] < 160
        mine["held"] = known and mine["mcs"] is not None and minstrel
