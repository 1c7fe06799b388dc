# SPDX-License-Identifier: BSD-3-Clause
"""The radios: rates, channel, RTS/CTS, retries, queue. Defaults are those of paper 000, section 2: 802.11b, 2 Mb/s."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from emulation.specification.modes import FORMATS, RADAR, channel_number, refuse_channel, refuse_mode
from emulation.specification.words import Section, one_of, split

DSSS, HR, OFDM = (1.0, 2.0), (1.0, 2.0, 5.5, 11.0), (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
RATES = HR + OFDM  # Mb/s
# In MHz. Any regulatory domain allows a network on the first; the others need hwsim's own regulatory domain.
CHANNELS_1_TO_11, CHANNEL_14 = tuple(range(2412, 2463, 5)), 2484
CHANNELS_ITS = tuple(range(5855, 5926, 5))  # for vehicles (IEEE 802.11-2016, E.2.3); 20 MHz wide here, like all
CHANNELS_5GHZ = (*range(5180, 5241, 20), *range(5745, 5826, 20), *CHANNELS_ITS)
CHANNELS = (*CHANNELS_1_TO_11, CHANNEL_14, *CHANNELS_5GHZ)

EDCA_QUEUE = 37  # four queues must fit the 150 frames that the air takes from a radio

OLDER = "abg"  # the mode of legacy rates
AUTO = "auto"
TOP = 54.0  # Mb/s: the highest legacy rate, of frames that are no data
# Settings that only modes with MCS have, with what they are in others
OF_MCS: Mapping[str, object] = {"width": 20, "streams": 1, "mcs": AUTO, "guard": 0.8, "aggregation": "ath9k"}
OF_MODE = ("mode", *OF_MCS)  # they are settings of nodes, too
OF_QUEUES: Mapping[str, object] = {"airtime_fairness": True, "aql": None, "driver_queue": None, "pacing_shift": 7}
CHANNEL = "channel"  # a setting of access points and links
OLDER_MODES = {"b": 11.0, "a": TOP, "g": TOP}  # what nodes may call them, with the highest rate of each

Rate = Annotated[float, one_of(RATES, "Mb/s")]
Mcs = Annotated[int, Field(ge=0, le=11)] | Literal["auto"]


class Radio(Section):
    """How stations send."""

    mode: Literal["abg", "n", "ac", "ax"] = Field(
        "abg", description="802.11n, ac or ax, with aggregation; abg: 802.11a, b or g, by rate and channel"
    )
    width: Annotated[int, one_of((20, 40, 80, 160), "MHz")] = Field(20, description="with mode: channel width in MHz")
    streams: int = Field(1, ge=1, le=4, description="with mode: spatial streams")
    mcs: Mcs = Field(
        "auto", description="with mode: MCS of data frames, from 0 for any number of streams; auto: minstrel_ht chooses"
    )
    guard: Annotated[float, one_of((0.4, 0.8, 1.6, 3.2), "us")] = Field(
        0.8, description="with mode: guard interval in us; with mcs auto the shortest"
    )
    aggregation: Literal["ath9k", "ath10k", "mt76", "none"] = Field(
        "ath9k", description="with mode: the driver whose rules for aggregates are used; none: no aggregation"
    )
    airtime_fairness: bool = Field(True, description="with mode: mac80211's airtime fairness")
    aql: Literal["on", "off"] | None = Field(
        None, description="with mode: airtime queue limits; by default as the driver has them"
    )
    driver_queue: int | None = Field(
        None, ge=1, le=1000, description="with mode: frames in one drop-tail queue below mac80211, as drivers had "
        "before 2016; by default a few aggregates"
    )  # fmt: skip
    pacing_shift: int = Field(
        7, ge=0, le=31, description="with mode: TCP small queues let a socket have 2^-N s of data below it; wired: 10"
    )
    rate: Rate = Field(2.0, description="data rate in Mb/s: 1|2|5.5|11|6|9|12|18|24|36|48|54")
    rate_control: Literal["fixed", "minstrel"] = Field(
        "fixed", description="fixed: always --rate; minstrel: the kernel chooses a rate up to it"
    )
    basic_rates: Annotated[tuple[Rate, ...], BeforeValidator(split)] | None = Field(
        None, min_length=1, description="rates of control frames; by default 1 for DSSS, and 6, 12, 24 for OFDM"
    )
    freq: Annotated[int, one_of(CHANNELS, "MHz")] = Field(
        2412, description="channel, by its centre frequency in MHz: 2412, 2417 to 2462, 2484, 5180, 5200 to 5240, "
        "5745, 5765 to 5825, 5855, 5860 to 5925; at 5 GHz with OFDM's rates only, 6 Mb/s and more"
    )  # fmt: skip
    rts: Literal["full", "partial", "none"] = Field("none", description="RTS/CTS before all, long, or no frames")
    short_retry: int = Field(7, ge=1, le=255, description="attempts to send an RTS, or a frame without RTS")
    long_retry: int = Field(4, ge=1, le=255, description="attempts to send a frame after its RTS")
    queue: int = Field(
        50, ge=1, le=150, description="frames in a station's drop-tail queue; with EDCA, 37 in each of four"
    )
    edca: Literal["off", "kernel", "standard"] = Field(
        "off", description="four access categories, with the parameters of the kernel or of the standard"
    )
    preamble: Literal["long", "short"] = Field(
        "long", description="preamble of DSSS and CCK frames: 192 us, or 96 us at 2 Mb/s and above"
    )
    beacon_tu: int | None = Field(
        None, ge=10, le=10_000, description="beacon interval in TU; by default 1000 if stations move, else 10000"
    )

    @model_validator(mode="before")
    @classmethod
    def _queues(cls, data: object) -> object:
        """Set the default queue with EDCA: four of 50 frames are more than hwsim's radio can hold."""
        if isinstance(data, Mapping) and data.get("edca", "off") != "off":
            return {"queue": EDCA_QUEUE, **data}
        return data

    @model_validator(mode="before")
    @classmethod
    def _mode(cls, data: object) -> object:
        """Set the defaults of modes with MCS, which are on channel 36 and have EDCA. It runs before `_queues`."""
        if isinstance(data, Mapping) and data.get("mode", OLDER) != OLDER:
            return {"rate": TOP, "rate_control": "minstrel", "edca": "kernel", "freq": 5180, **data}
        return data

    @model_validator(mode="after")
    def _of_mode(self) -> Self:
        if self.mode == OLDER:
            if given := [name for name, usual in {**OF_MCS, **OF_QUEUES}.items() if getattr(self, name) != usual]:
                raise ValueError(f"{given[0]}: give a mode, too: n, ac or ax")
            return self
        if self.mode == "ac" and self.width == 160 and self.mcs == AUTO:
            raise ValueError("mcs: minstrel_ht does not support 160 MHz: give one, 0 to 9")
        if why := refuse_mode(
            self.mode, self.mcs if isinstance(self.mcs, int) else 0, self.streams, self.width, round(self.guard * 1000),
            ldpc=self.mode == "ax",
        ) or refuse_channel(self.mode, self.freq, self.width):  # fmt: skip
            raise ValueError(f"mode: {why}")
        if self.rate != TOP or self.rate_control != "minstrel":
            raise ValueError(f"rate, rate_control: {FORMATS[self.mode].amendment} sends data at an MCS: use mcs")
        if self.edca == "off":
            raise ValueError(f"edca: {FORMATS[self.mode].amendment} always has EDCA: use kernel or standard")
        return self

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.edca != "off" and self.queue > EDCA_QUEUE:
            raise ValueError(f"queue: with EDCA must be at most {EDCA_QUEUE} for each category, not {self.queue}")
        there = OFDM if self.freq in CHANNELS_5GHZ else HR if self.freq == CHANNEL_14 else RATES
        if self.rate not in there:
            raise ValueError(f"rate: at {self.freq} MHz there is no {self.rate:g} Mb/s; there are: {_said(there)}")
        known = HR if self.rate in HR else there
        if not set(self.basic_rates or ()) <= set(known):
            raise ValueError(f"basic_rates: stations at {self.rate:g} Mb/s support only {_said(known)}")
        return self


def frequency(channel: object) -> int:
    """Return the centre frequency in MHz of a channel, by its number. Raises ValueError."""
    by_number: dict[object, int] = {channel_number(freq): freq for freq in CHANNELS}
    if isinstance(channel, str) and channel.isdecimal():
        channel = int(channel)
    if type(channel) is int and channel in by_number:
        return by_number[channel]
    why = ", as it needs radar detection, which is not modelled" if channel in RADAR else ""
    raise ValueError(f"channel: there is no {channel!r} here{why}; there are: {', '.join(map(str, by_number))}")


def of_mode(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a network whose radios are all as these settings of a node say. Raises ValueError."""
    own = {name: settings[name] for name in OF_MODE if name in settings}
    mode = own.get("mode")
    there = (OLDER, "a", "b", "g", *FORMATS)
    if mode is not None and mode not in there:
        what = (
            f"802.11{mode} is not modelled" if mode in ("be", "bn", "ad", "ay", "ah", "p") else f"there is no {mode!r}"
        )
        raise ValueError(f"mode: {what}; there are: {', '.join(there)}")
    if mode in OLDER_MODES:
        own |= {"mode": OLDER, "rate": OLDER_MODES[mode], "rate_control": "minstrel"}
        own |= {"freq": CHANNELS_5GHZ[0]} if mode == "a" else {}
    if CHANNEL in settings:
        own["freq"] = frequency(settings[CHANNEL])
    return own


def _said(rates: tuple[float, ...]) -> str:
    return ", ".join(f"{rate:g}" for rate in rates)
