# SPDX-License-Identifier: BSD-3-Clause
"""Modes and channels by Mininet-WiFi's names, and how wide a channel is.

A radio of 802.11n and later is like hwsim's: two streams and the short guard interval. Its channel has 20 MHz unless
`band`, `ht_cap` or `vht_cap` says more, or hostapd's keywords `ht_capab` and `vht_capab`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from emulation.features.mininet.refusals import note, numeric
from emulation.lane.errors import Misuse
from emulation.specification import modes
from emulation.specification.radio import CHANNELS, OLDER, OLDER_MODES

STREAMS, SHORT, HE_GUARD, WIDEST, VHT_MCS = 2, 0.4, 0.8, 160, 9
WIDTH = ("band", "ht_cap", "vht_cap", "ht_capab", "vht_capab")  # keywords that say how wide a channel is
WIDER = re.compile(r"(?<!\d)(40|80|160)(?!\d)")


class Mode(NamedTuple):
    """A mode of a radio: that of the specification, and its bands in GHz, the usual one first."""

    name: str
    bands: tuple[int, ...]


MODES = {
    "a": Mode(OLDER, (5,)), "b": Mode(OLDER, (2,)), "g": Mode(OLDER, (2,)),
    "n": Mode("n", (5, 2)), "n2": Mode("n", (2,)), "n5": Mode("n", (5,)), "ac": Mode("ac", (5,)),
    "ax": Mode("ax", (5, 2)), "ax2": Mode("ax", (2,)), "ax5": Mode("ax", (5,)),
}  # fmt: skip
NEAREST = {"be": "ax", "be2": "ax2", "be5": "ax5", "be6": "ax5", "ax6": "ax5"}  # of what is not modelled
NOT_THERE = {
    "ad": "60 GHz is not supported: write mode='ac'", "ah": "channels below 1 GHz are not supported: write mode='n2'",
    "p": "802.11p is a link: addLink(car1, cls=ITSLink)",
}  # fmt: skip
CHANNELS_5GHZ = {modes.channel_number(freq): freq for freq in CHANNELS if freq > 3000}
CHANNELS_2GHZ = {modes.channel_number(freq): freq for freq in CHANNELS if freq < 3000}
CHANNELS_6GHZ = range(1, 234, 4)  # some are numbers of other bands, too


def mode_of(call: str, mode: str) -> str:
    """Check the name of a mode, and return it, or the nearest that is modelled. Raises Misuse."""
    if nearest := NEAREST.get(mode):
        note(f"{call}: mode={mode!r}: 802.11be and 6 GHz are not modelled; it is {nearest!r} here")
        return nearest
    if mode not in MODES:
        why = NOT_THERE.get(mode, f"there is no such mode: write one of {', '.join(MODES)}")
        raise Misuse(f"{call}: mode {mode!r}: {why}")
    return mode


def usual_channel(mode: str, said: Mapping[str, Any]) -> int:
    """Return the channel of a radio without one."""
    bands = MODES[mode].bands
    low = bands[0] == 2 or (2 in bands and str(said.get("freq") or "").startswith("2"))
    return 1 if low else 36


def channel_of(call: str, mode: str, said: Mapping[str, Any]) -> Any:
    """Return the channel of a radio by its keywords; for one that is of 6 GHz only, the usual one."""
    channel, usual = said.get("channel"), usual_channel(mode, said)
    number = int(channel) if str(channel).isdecimal() else 0  # type: ignore[arg-type]
    only_6 = str(said.get("mode")).endswith("6") or (number > 14 and number not in CHANNELS_5GHZ)
    if MODES[mode].name == "ax" and number in CHANNELS_6GHZ and only_6:
        note(f"{call}: channel {channel}: 6 GHz is not modelled; it is channel {usual} here")
        return usual
    return channel or usual


def freq_of(call: str, mode: str, channel: Any) -> int:
    """Return the centre frequency of a channel in MHz. Raises Misuse."""
    by_band = {2: CHANNELS_2GHZ, 5: CHANNELS_5GHZ}
    there: dict[Any, int] = {number: freq for band in MODES[mode].bands for number, freq in by_band[band].items()}
    if MODES[mode].name != OLDER:
        there = {number: freq for number, freq in there.items() if not modes.refuse_channel("n", freq, 20)}
    number = int(channel) if isinstance(channel, str) and channel.isdecimal() else channel
    if type(number) is int and number in there:
        return there[number]
    known = ", ".join(map(str, there))
    if number in modes.RADAR:
        raise Misuse(f"{call}: channel {channel} needs radar detection (DFS), which is not modelled; use: {known}")
    if mode == "ac" and number in CHANNELS_2GHZ:
        raise Misuse(f"{call}: channel {channel}: 802.11ac is at 5 GHz only: write channel=36, or mode='n'")
    raise Misuse(f"{call}: channel {channel!r}: in mode {mode} there are: {known}")


def check_freq(call: str, mode: str, channel: Any, said: Mapping[str, Any]) -> None:
    """Check that the keyword `freq` agrees with mode and channel. Raises Misuse."""
    if (freq := said.get("freq")) is None:
        return
    band = 5 if freq_of(call, mode, channel) > 3000 else 2
    if int(numeric(f"{call}: freq", freq)) not in (band, *range(1000 * band, 1000 * (band + 1))):
        instead = "write mode='a' for 5 GHz, 'g' or 'b' for 2.4"
        if MODES[mode].name != OLDER:
            instead = f"its channel is {channel}"
        raise Misuse(f"{call}: freq={freq!r}: mode {mode!r} is of {'5' if band == 5 else '2.4'} GHz: {instead}")


def width_of(call: str, mode: str, channel: Any, said: Mapping[str, Any]) -> int:
    """Return how wide a channel is, in MHz. Legacy modes have 20 MHz, whatever `ht_cap` says. Raises Misuse."""
    given = {keyword: said[keyword] for keyword in WIDTH if said.get(keyword)}
    for keyword, value in given.items():
        check_capabilities(call, keyword, str(value))
    widths = [int(width) for keyword in given.values() for width in WIDER.findall(str(keyword))]
    width = max([20, *widths])
    if MODES[mode].name == OLDER:
        if width > 20 and "band" in given:
            raise Misuse(f"{call}: band={given['band']!r}: channels of mode {mode!r} are 20 MHz wide: leave it out")
        for keyword, value in given.items():
            if keyword != "band":
                note(f"{keyword}={value!r}: mode {mode!r} has no HT and VHT: write mode='n', 'n2' or 'ac'")
        return 20
    if width == 20 and "band" in given and str(given["band"]) != "20":
        raise Misuse(f"{call}: band={given['band']!r}: channels are 20, 40, 80 or 160 MHz wide")
    freq = freq_of(call, mode, channel)
    name = MODES[mode].name
    refused = width not in modes.FORMATS[name].widths_mhz and f"802.11{name} has no {width} MHz"
    if why := refused or modes.refuse_channel(name, freq, width):
        raise Misuse(f"{call}: {'; '.join(f'{keyword}={value!r}' for keyword, value in given.items())}: {why}")
    return width


def check_capabilities(call: str, keyword: str, value: str) -> None:
    """Check hostapd's names of what a radio can do, as [HT40+]. Raises Misuse."""
    for each in re.findall(r"\[([^]]+)\]", value):
        if each.startswith("MU-"):
            raise Misuse(f"{call}: {keyword}: [{each}]: MU-MIMO is not modelled: {modes.ABSENT['mu_mimo']}")
        if not each.startswith(("HT", "VHT", "SHORT-GI")):
            note(f"{keyword}: [{each}] has no effect: all radios have the same capabilities (docs/ht.md)")


def settings_of(mode: str, width: int) -> dict[str, Any]:
    """Return the settings of a node with a radio of this mode."""
    name = MODES[mode].name
    if name == OLDER:
        return {"mode": OLDER, "rate": rate_of(mode)}  # at the network's frequency, which may be of another band
    if name == "ac" and width == WIDEST:
        note(f"mode={mode!r}: data uses VHT MCS {VHT_MCS}, as the kernel's minstrel_ht does not support {WIDEST} MHz")
        return {"mode": name, "width": width, "streams": STREAMS, "guard": SHORT, "mcs": VHT_MCS}
    return {"mode": name, "width": width, "streams": STREAMS, "guard": HE_GUARD if name == "ax" else SHORT}


def rate_of(mode: str) -> float:
    """Return the highest legacy rate of a mode."""
    return OLDER_MODES.get(mode, OLDER_MODES["g"])
