# SPDX-License-Identifier: BSD-3-Clause
"""Which modes of 802.11n, ac and ax there are, and why others are not: one sentence for each refusal.

The air makes a mode from the same numbers and refuses the same ones (`emulation/dcf80211/core/mode.c`); the tests hold
the two to each other. What depends on the band, the channel or the kind of link is here only.
"""

from collections.abc import Collection
from dataclasses import dataclass

STREAMS = 4


@dataclass(frozen=True)
class Format:
    """What one amendment offers."""

    amendment: str
    name: str
    mcs: int  # how many, for each number of streams
    widths_mhz: tuple[int, ...]
    guards_ns: tuple[int, ...]
    bands_ghz: tuple[int, ...]
    links: frozenset[str]


_ALL_LINKS = frozenset({"adhoc", "mesh", "infrastructure", "wlan"})
FORMATS = {
    "n": Format("802.11n", "HT", 8, (20, 40), (400, 800), (2, 5), _ALL_LINKS),
    "ac": Format("802.11ac", "VHT", 10, (20, 40, 80, 160), (400, 800), (5,), _ALL_LINKS),
    "ax": Format("802.11ax", "HE", 12, (20, 40, 80, 160), (800, 1600, 3200), (2, 5), _ALL_LINKS - {"adhoc"}),
}
# IEEE 802.11-2020, 21.5: an encoder's coded bits would be no whole number of blocks. Width, streams, MCS
EXCLUDED = frozenset({(20, 1, 9), (20, 2, 9), (20, 4, 9), (80, 3, 6), (160, 3, 9)})
# HE-LTF symbols by guard interval (27.3.11.10), the usual one first: sizes in 3.2 us
LTF = {800: (2, 1, 4), 1600: (2,), 3200: (4,)}

# Blocks of channels at 5 GHz (annex E): the lowest channel of each
BLOCKS = {40: (36, 44, 52, 60, 149, 157), 80: (36, 52, 149), 160: (36, 149)}
RADAR = frozenset(range(52, 145))  # channels that need radar detection first, which is not modelled


# What people may ask for by name, and is not modelled
ABSENT = {
    "ofdma": "a PPDU of 802.11ax is for one station (HE SU)",
    "mu_mimo": "a PPDU is for one station",
    "puncturing": "a PPDU has all channels of its width",
    "dfs": "channels that need radar detection are not there",
    "power_save": "stations are always awake",
    "twt": "stations are always awake",
    "stbc": "each stream has its own data",
    "beamforming": "a power is that of the table, whatever the streams",
}


def _words(numbers: Collection[float], last: str = "or") -> str:
    *most, end = (f"{number:g}" for number in numbers)
    return f"{', '.join(most)} {last} {end}" if most else end


def _us(ns: Collection[int]) -> str:
    return _words([each / 1000 for each in ns]) + " us"


def members(channel: int, width_mhz: int) -> tuple[int, ...]:
    """The 20 MHz channels of the block that a channel at 5 GHz is in; none, if there is no such block."""
    for lowest in BLOCKS.get(width_mhz, ()):
        if channel in (block := tuple(range(lowest, lowest + width_mhz // 5, 4))):
            return block
    return (channel,) if width_mhz == 20 else ()


def refuse_mode(
    mode: str, mcs: int, streams: int, width_mhz: int, guard_ns: int, *, ldpc: bool, ltf: int | None = None,
    padding_us: int = 0,
) -> str | None:  # fmt: skip
    """Why there is no such mode; None: there is. An `ltf` of None is the usual one."""
    if mode not in FORMATS:
        return f"there is no mode {mode}; there are: {', '.join(FORMATS)}"
    f = FORMATS[mode]
    if not 0 <= mcs < f.mcs:
        return f"{f.amendment} has MCS 0 to {f.mcs - 1} for each number of streams, not {mcs}"
    if not 1 <= streams <= STREAMS:
        return f"1 to {STREAMS} streams are modelled, not {streams}"
    if width_mhz not in f.widths_mhz:
        return f"{f.amendment} is {_words(f.widths_mhz)} MHz wide, not {width_mhz}"
    if guard_ns not in f.guards_ns:
        return f"the guard interval of {f.amendment} is {_us(f.guards_ns)}, not {guard_ns / 1000:g}"
    if mode == "ac" and (width_mhz, streams, mcs) in EXCLUDED:
        them = "one stream" if streams == 1 else f"{streams} streams"
        return f"802.11ac has no MCS {mcs} for {them} at {width_mhz} MHz (IEEE 802.11-2020, 21.5)"
    if mode == "ax":
        return _refuse_he(mcs, width_mhz, guard_ns, ldpc, ltf, padding_us)
    if ltf or padding_us:
        return f"{f.amendment} knows neither sizes of training fields nor packet padding, which are 802.11ax's"
    return None


def _refuse_he(mcs: int, width_mhz: int, guard_ns: int, ldpc: bool, ltf: int | None, padding_us: int) -> str | None:
    if ltf is not None and ltf not in LTF[guard_ns]:
        sizes = _words(sorted(LTF[guard_ns]))
        return f"with a guard interval of {guard_ns / 1000:g} us HE-LTFs are of size {sizes}, not {ltf}"
    if not ldpc and (width_mhz > 20 or mcs > 9):
        return "802.11ax has BCC for 20 MHz and MCS 0 to 9 only; all else is LDPC"
    if padding_us not in (0, 8, 16):
        return f"packet padding is 0, 8 or 16 us, not {padding_us}"
    return None


def refuse_link(mode: str, link: str, band_ghz: int, channel: int, width_mhz: int) -> str | None:
    """Why a link of this kind cannot be of this mode on this channel; None: it can."""
    if mode not in FORMATS:
        return "802.11n and later have no links of kind ocb, not even for legacy radios" if link == "ocb" else None
    f = FORMATS[mode]
    if link not in f.links:
        what = "an independent BSS" if link == "adhoc" else f"a link of kind {link}"
        return f"{what} cannot be of {f.amendment}: mac80211 has {f.name} for access points, their stations and meshes"
    if band_ghz not in f.bands_ghz:
        return f"{f.amendment} is at 5 GHz only, and channel {channel} is at {2.4 if band_ghz == 2 else band_ghz:g}"
    if width_mhz == 20:
        return None
    if band_ghz == 2:
        return None if width_mhz == 40 else f"there are no {width_mhz} MHz at 2.4 GHz"
    block = members(channel, width_mhz)
    if not block:
        return f"channel {channel} is in no block of {width_mhz} MHz"
    if taboo := sorted(RADAR.intersection(block)):
        them = f"{width_mhz} MHz around channel {channel} take channels {block[0]} to {block[-1]}"
        return f"{them}, and from {taboo[0]} on they need radar detection, which is not modelled"
    return None


def channel_number(freq: int) -> int:
    """The number of the channel with this centre frequency in MHz."""
    return 14 if freq == 2484 else (freq - 2407) // 5 if freq < 3000 else (freq - 5000) // 5


def refuse_channel(mode: str, freq: int, width_mhz: int) -> str | None:
    """The same for links of any kind, by the centre frequency in MHz."""
    if freq == 2484 or freq >= 5850:
        return f"there is no {FORMATS[mode].amendment} at {freq} MHz"
    return refuse_link(mode, "mesh", 2 if freq < 3000 else 5, channel_number(freq), width_mhz)


def centre(freq: int, width_mhz: int) -> int:
    """The centre frequency of a channel of this width, by that of its primary 20 MHz; at 2.4 GHz up to channel 7 the
    secondary is above."""
    if width_mhz == 20:
        return freq
    if freq < 3000:
        return freq + 10 if channel_number(freq) <= 7 else freq - 10
    block = members(channel_number(freq), width_mhz)
    return 5000 + 5 * (block[0] + block[-1]) // 2
