# SPDX-License-Identifier: BSD-3-Clause
"""Propagation: the power that arrives, and its delay, from the positions of stations.

The air has no positions and no formulas: it gets the received power of each ordered pair of stations, and thresholds.
Both come from a model in this file. A new model is a frozen dataclass with one method and the decorator `model`; it
needs no C. docs/medium.md has all equations with their sources.

Distances are in metres, powers in dBm; `-inf` means that nothing arrives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from topologies.links import LinksFile

Floats = NDArray[np.float64]

STRICT = {"extra": "forbid"}  # for pydantic, which checks these dataclasses: an unknown parameter is an error

SPEED_OF_LIGHT = 299_792_458.0  # m/s
STRONGEST_DBM, FAINTEST_DBM = 40, -140  # limits of the air, which counts in attowatts: DCF_MAX_POWER_AW, and 10
SILENT = -(1 << 30)  # in mdBm: nothing arrives
HIGHEST_CAPTURE_DB = 66  # as a ratio in thousandths it fits 32 bits
CHANNEL_1_MHZ = 2412.0
NS2_POWER_DBM = 10 * math.log10(0.28183815e3)  # ns-2's Pt_ of 0.28183815 W


@dataclass(frozen=True)
class Ranges:
    """The distances, in metres, at which a frame can be received, is sensed, and interferes; the defaults are ns-2's.

    The first two become thresholds: the power that the model predicts at that distance. `interference_m` sets the
    capture ratio: a frame sent from `transmission_m` away is lost if another transmitter is within `interference_m`.
    Without it, the specification has the capture ratio.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = STRICT

    transmission_m: float = 250.0
    carrier_sense_m: float = 550.0
    interference_m: float | None = None

    def __post_init__(self) -> None:
        if not (0 < self.transmission_m < math.inf and 0 < self.carrier_sense_m < math.inf):
            raise ValueError(
                f"transmission_m ({self.transmission_m:g}) and carrier_sense_m ({self.carrier_sense_m:g}) must be "
                "above 0"
            )
        if self.interference_m is not None and not self.transmission_m <= self.interference_m < math.inf:
            raise ValueError(
                f"interference_m ({self.interference_m:g}) must be at least transmission_m ({self.transmission_m:g})"
            )


@dataclass(frozen=True)
class Thresholds:
    """The lowest powers, in dBm, at which a frame is received and the medium is busy; and the capture ratio, in dB."""

    __pydantic_config__: ClassVar[dict[str, str]] = STRICT

    receive_dbm: float
    sense_dbm: float
    capture_db: float | None = None

    def __post_init__(self) -> None:
        if not all(FAINTEST_DBM <= power <= STRONGEST_DBM for power in (self.receive_dbm, self.sense_dbm)):
            raise ValueError(
                f"thresholds of {self.receive_dbm:g} dBm to receive, {self.sense_dbm:g} dBm to sense: both must be "
                f"from {FAINTEST_DBM} to {STRONGEST_DBM} dBm"
            )
        if self.capture_db is not None and not 0 <= self.capture_db <= HIGHEST_CAPTURE_DB:
            raise ValueError(f"the capture ratio must be between 0 and {HIGHEST_CAPTURE_DB} dB")


@dataclass(frozen=True)
class Propagation:
    """The base class of all models. Making one raises ValueError if a parameter is out of its domain.

    `by_distance` is true if the received power depends on the distance only, not on the stations. Each class must set
    it itself; it is not inherited.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = STRICT
    name: ClassVar[str]
    by_distance: ClassVar[bool] = False

    def received_dbm(self, distance: Floats) -> Floats:
        """Return the received power in dBm, in the shape of `distance` (m)."""
        raise NotImplementedError

    def thresholds(self, ranges: Ranges | None) -> Thresholds:
        """Return the thresholds for these ranges under this model; None: the model's own, or ns-2's ranges."""
        ranges = ranges or Ranges()
        reach = (ranges.transmission_m, ranges.carrier_sense_m, ranges.interference_m or ranges.transmission_m)
        receive, sense, harm = (float(power) for power in self.received_dbm(np.array(reach)))
        return Thresholds(receive, sense, receive - harm if ranges.interference_m else None)

    def tuned(self, channel_mhz: float) -> Propagation:
        """Return the model for this channel, if it depends on the frequency and none was set."""
        return self

    def reach_m(self, power_dbm: float) -> int | None:
        """Return the last whole metre, up to 20 km, at which this power arrives; None if the model has no distances."""
        arrives = self.received_dbm(np.arange(1.0, 20_001.0)) >= power_dbm
        return int(np.flatnonzero(arrives)[-1]) + 1 if arrives.any() else 0


M = TypeVar("M", bound=type[Propagation])
MODELS: dict[str, type[Propagation]] = {}


def model(name: str) -> Callable[[M], M]:
    """Register a model for specifications under this name."""

    def register(cls: M) -> M:
        cls.name = name
        cls.by_distance = vars(cls).get("by_distance", False)
        MODELS[name] = cls
        return cls

    return register


def _within(low: float, high: float, **values: float) -> None:
    for name, value in values.items():
        if not low <= value <= high:
            raise ValueError(f"{name} must be from {low:g} to {high:g}")


def _loss_at_1_m(frequency_mhz: float) -> float:
    """Return Friis' loss in dB, rounded to a tenth."""
    return round(20 * math.log10(4 * math.pi * frequency_mhz * 1e6 / SPEED_OF_LIGHT), 1)


def _log10(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.log10(values)


@model("free-space")
@dataclass(frozen=True)
class FreeSpace(Propagation):
    """Friis: P = P_t + 20 log10(lambda / (4 pi d)), at most P_t.

    H. T. Friis, "A note on a simple transmission formula", Proc. IRE 34(5), 1946.
    """

    by_distance: ClassVar[bool] = True
    frequency_mhz: float | None = None  # by default the radios' channel
    tx_power_dbm: float = 20.0

    def __post_init__(self) -> None:
        _within(1, 1e6, frequency_mhz=self.carrier_mhz)
        _within(FAINTEST_DBM, STRONGEST_DBM, tx_power_dbm=self.tx_power_dbm)

    @property
    def wavelength(self) -> float:
        return SPEED_OF_LIGHT / (self.carrier_mhz * 1e6)

    @property
    def carrier_mhz(self) -> float:
        return CHANNEL_1_MHZ if self.frequency_mhz is None else self.frequency_mhz

    def tuned(self, channel_mhz: float) -> Propagation:
        return self if self.frequency_mhz is not None else replace(self, frequency_mhz=float(channel_mhz))

    def received_dbm(self, distance: Floats) -> Floats:
        loss = 20 * _log10(4 * np.pi * distance / self.wavelength)
        return self.tx_power_dbm - np.maximum(loss, 0)


@model("two-ray")
@dataclass(frozen=True)
class TwoRayGround(FreeSpace):
    """Two-ray ground: P = P_t + 10 log10(h_t^2 h_r^2 / d^4) from the cross-over distance 4 pi h_t h_r / lambda on.

    Below it, Friis. The defaults are ns-2's WaveLAN (914 MHz, 0.28183815 W, antennas 1.5 m above ground). With them,
    ns-2's thresholds of 3.652e-10 W and 1.559e-11 W are 250 m and 550 m. T. S. Rappaport, "Wireless Communications",
    1996, section 3.6; the ns Manual, section 18.2.
    """

    by_distance: ClassVar[bool] = True
    frequency_mhz: float | None = 914.0
    tx_power_dbm: float = NS2_POWER_DBM
    height_m: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        _within(0.01, 1000, height_m=self.height_m)

    @property
    def crossover(self) -> float:
        return 4 * math.pi * self.height_m**2 / self.wavelength

    def received_dbm(self, distance: Floats) -> Floats:
        ground = self.tx_power_dbm + 40 * (math.log10(self.height_m) - _log10(distance))
        return np.where(distance < self.crossover, super().received_dbm(distance), ground)


@model("log-distance")
@dataclass(frozen=True)
class LogDistance(Propagation):
    """Log-distance: P = P_t - L_0 - 10 n log10(d / d_0), where d_0 is 1 m; at most P_t - L_0.

    The default L_0 is Friis at 1 m on the radios' channel, 40.1 dB at 2412 MHz. T. S. Rappaport, "Wireless
    Communications", 1996, section 3.9.1.
    """

    by_distance: ClassVar[bool] = True
    exponent: float = 3.0
    reference_loss_db: float | None = None
    tx_power_dbm: float = 20.0

    def __post_init__(self) -> None:
        _within(0.1, 20, exponent=self.exponent)
        _within(0, 200, reference_loss_db=self.loss_db)
        _within(FAINTEST_DBM, STRONGEST_DBM, tx_power_dbm=self.tx_power_dbm)

    @property
    def loss_db(self) -> float:
        return _loss_at_1_m(CHANNEL_1_MHZ) if self.reference_loss_db is None else self.reference_loss_db

    def tuned(self, channel_mhz: float) -> Propagation:
        return (
            self if self.reference_loss_db is not None else replace(self, reference_loss_db=_loss_at_1_m(channel_mhz))
        )

    def received_dbm(self, distance: Floats) -> Floats:
        return self.tx_power_dbm - self.loss_db - 10 * self.exponent * np.maximum(_log10(distance), 0)


@model("itu-indoor")
@dataclass(frozen=True)
class Indoor(Propagation):
    """ITU-R P.1238, indoors: P = P_t - (20 log10 f + N log10 d - 28), f in MHz, d from 1 m on; at most P_t.

    Without a `coefficient`, N is 28, and 38 beyond 16 m, as in wmediumd.
    """

    frequency_mhz: float | None = None  # by default the radios' channel
    coefficient: float | None = None
    tx_power_dbm: float = 20.0

    def __post_init__(self) -> None:
        _within(1, 1e6, frequency_mhz=self.frequency_mhz or CHANNEL_1_MHZ)
        _within(0, 200, coefficient=self.coefficient or 0)
        _within(FAINTEST_DBM, STRONGEST_DBM, tx_power_dbm=self.tx_power_dbm)

    def tuned(self, channel_mhz: float) -> Propagation:
        return self if self.frequency_mhz is not None else replace(self, frequency_mhz=float(channel_mhz))

    def received_dbm(self, distance: Floats) -> Floats:
        far = np.maximum(distance, 1.0)
        n = np.where(far > 16, 38.0, 28.0) if self.coefficient is None else self.coefficient
        carrier = 20 * math.log10(self.frequency_mhz or CHANNEL_1_MHZ)
        return self.tx_power_dbm - np.maximum(carrier + n * np.log10(far) - 28, 0)


@model("disc")
@dataclass(frozen=True)
class Disc(Propagation):
    """The ideal disc: full power within the radius, nothing beyond, so no interference (paper 003, section 3.2)."""

    by_distance: ClassVar[bool] = True
    radius_m: float = 250.0
    tx_power_dbm: float = 20.0

    def __post_init__(self) -> None:
        _within(0.01, 1e6, radius_m=self.radius_m)
        _within(FAINTEST_DBM, STRONGEST_DBM, tx_power_dbm=self.tx_power_dbm)

    def received_dbm(self, distance: Floats) -> Floats:
        return np.where(distance <= self.radius_m, self.tx_power_dbm, -np.inf)

    def thresholds(self, ranges: Ranges | None) -> Thresholds:
        if ranges is not None:
            raise ValueError("a disc has one range, its radius_m; leave out the ranges")
        return Thresholds(self.tx_power_dbm, self.tx_power_dbm)


@model("snr")
@dataclass(frozen=True)
class SnrMatrix(Propagation):
    """wmediumd's SNR matrix: P = noise + `snr_db[transmitter][receiver]`, at any positions; null: nothing arrives.

    A frame is received, and the medium is busy, from wmediumd's CCA_THRESHOLD of -90 dBm on.
    """

    snr_db: tuple[tuple[float | None, ...], ...]
    noise_dbm: float = -91.0
    cca_dbm: float = -90.0

    def __post_init__(self) -> None:
        if not self.snr_db or any(len(row) != len(self.snr_db) for row in self.snr_db):
            raise ValueError("snr_db must be a square matrix, a row for each transmitter")
        _within(FAINTEST_DBM, STRONGEST_DBM, noise_dbm=self.noise_dbm, cca_dbm=self.cca_dbm)
        for snr in itertools.chain(*self.snr_db):
            _within(-200, STRONGEST_DBM - self.noise_dbm, snr_db=0 if snr is None else snr)

    def received_dbm(self, distance: Floats) -> Floats:
        if len(distance) != len(self.snr_db):
            raise ValueError(f"snr_db is for {len(self.snr_db)} stations; there are {len(distance)}")
        return self.noise_dbm + np.array(
            [[-np.inf if snr is None else snr for snr in row] for row in self.snr_db], dtype=np.float64
        )

    def thresholds(self, ranges: Ranges | None) -> Thresholds:
        if ranges is not None:
            raise ValueError("an SNR matrix has no distances; leave out the ranges")
        return Thresholds(self.cca_dbm, self.cca_dbm)

    def reach_m(self, power_dbm: float) -> int | None:
        return None


@model("table")
@dataclass(frozen=True)
class Table(Propagation):
    """Measured links between named stations, independent of their positions (`topologies.links`).

    The CSV `file`, of at most 8 MB, also in .gz, begins with its columns, in any order:

    - `from,to,dbm`: received power
    - `from,to,snr`: dB over the noise
    - `from,to,rate,delivery`: the share of frames of `frame` bytes (FCS included) that arrive at this rate in Mb/s

    Each direction has its own line; without a line nothing arrives; lines that start with `#` are comments. A delivery
    ratio becomes the SINR at which the air's error table loses that share, so it is for `--reception sinr`. Of several
    rates of a link, the one nearest to one half counts. A ratio of 0 means no signal; a ratio above 99.9 % counts as
    99.9 %. The specification keeps the content, so a replay does not need the file.

    A frame is received, and the medium is busy, from `cca_dbm` on. By default that is 4 dB below the default noise,
    where nine of ten short frames at 1 Mb/s are still received (`emulation.plan.error_rates`).
    `emulation.plan.link_table` computes the powers for the air.
    """

    file: LinksFile
    frame: int = 1536
    cca_dbm: float = -98.0

    def __post_init__(self) -> None:
        _within(1, 4095, frame=self.frame)
        _within(FAINTEST_DBM, STRONGEST_DBM, cca_dbm=self.cca_dbm)

    def received_dbm(self, distance: Floats) -> Floats:
        raise ValueError("a table has powers by station, not by distance")

    def thresholds(self, ranges: Ranges | None) -> Thresholds:
        if ranges is not None:
            raise ValueError("a table has no distances; leave out the ranges")
        return Thresholds(self.cca_dbm, self.cca_dbm)

    def reach_m(self, power_dbm: float) -> int | None:
        return None


def distances(positions: ArrayLike) -> Floats:
    """Return the (N, N) distances in metres between N positions of shape (N, 3)."""
    at = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
    return np.asarray(np.linalg.norm(at[:, None, :] - at[None, :, :], axis=2))


def delay_ns(distance: Floats) -> NDArray[np.int64]:
    """Return propagation delays: distance / c, rounded to nanoseconds."""
    return np.rint(distance / SPEED_OF_LIGHT * 1e9).astype(np.int64)


def mdbm(power_dbm: float) -> int:
    """Convert a power or ratio to thousandths of a dB, as the air takes it; the error is at most 0.0005 dB."""
    return round(power_dbm * 1000)


def power_mdbm(power_dbm: Floats, floor_dbm: float) -> NDArray[np.int64]:
    """Convert powers [transmitter][receiver] for the air; SILENT below the floor, and from a station to itself. Raises
    ValueError if a power exceeds STRONGEST_DBM."""
    silent = ~(power_dbm >= floor_dbm) | np.eye(len(power_dbm), dtype=bool)
    if (strongest := np.where(silent, -np.inf, power_dbm).max(initial=-np.inf)) > STRONGEST_DBM:
        raise ValueError(f"{strongest:g} dBm would arrive; the air accepts {STRONGEST_DBM} dBm (10 W) at most")
    return np.where(silent, SILENT, np.rint(np.where(silent, 0, power_dbm) * 1000).astype(np.int64))


def listed(power: NDArray[np.int64]) -> list[Any]:
    """Convert such powers to lists for a plan: None for SILENT."""
    found = power.astype(object)
    found[power == SILENT] = None
    listed: list[Any] = found.tolist()
    return listed
