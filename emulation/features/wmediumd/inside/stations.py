# SPDX-License-Identifier: BSD-3-Clause
"""Stations and links, as wmediumd knows them: each ordered pair has an SNR, a loss probability, or what follows from
both positions. Links are kept by address, so stations come and go without renumbering."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from emulation.lane.per_tables import NOISE_DBM, RATES

TYPE_CHECKING = False
if TYPE_CHECKING:
    Address = bytes
    Pair = tuple[Address, Address]  # from, to
    Vector = tuple[float, float, float]

MOST = 250  # stations
SECOND = 0x40  # the bit of hwsim's second address, which named a radio in kernels before 4.1
SNR_DEFAULT = 30.0  # dB, of a link without a given value
CCA_DBM = -90.0  # the weakest at which a group frame is received
ALL_LOST = 1.0
MOVE_S = 3.0  # s between the steps of a station with a direction
SIZES = 12  # by RATES, in a matrix of SPECPROB_UPDATE
SIZE_STEP = 128  # bytes per row of it


class Mode(enum.Enum):
    """How links are given."""

    SNR = "snr"
    PROB = "prob"
    SPECIFIC = "specprob"  # a probability for each size and rate; only through the control socket (-d)
    PATH_LOSS = "path_loss"


class Loss(enum.Enum):
    """`model_name` of a path loss model."""

    FREE_SPACE = "free_space"
    LOG_DISTANCE = "log_distance"
    LOG_NORMAL_SHADOWING = "log_normal_shadowing"
    ITU = "itu"
    TWO_RAY_GROUND = "two_ray_ground"


@dataclass(frozen=True)
class PathLoss:
    """A path loss model and its parameters; the comments have wmediumd's names."""

    model: Loss = Loss.LOG_DISTANCE
    exponent: float = 3.5  # path_loss_exp
    fixed_db: float = 0.0  # xg
    floors: int = 0  # nFLOORS
    floor_db: float = 0.0  # LF, lF
    power_loss: float = 0.0  # pL; 0: 28, beyond 16 m 38
    system_loss: float = 1.0  # sL, a factor


@dataclass
class Station:
    """One radio. Units: metres, metres per step of MOVE_S, dBm, dB."""

    address: Address
    position: Vector = (0.0, 0.0, 0.0)
    direction: Vector = (0.0, 0.0, 0.0)
    tx_power: float = 15.0
    gain: float = 0.0
    height: float = 1.0
    shadow_db: float = 0.0  # GAUSS_RANDOM: of log_normal_shadowing
    is_ap: bool = False
    medium: int = 0  # stations of another one are not heard


@dataclass
class Stations:
    """All stations. `snr`, `error` and `specific` hold given values; others have the default."""

    all: list[Station] = field(default_factory=list)
    mode: Mode = Mode.SNR
    snr: dict[Pair, float] = field(default_factory=dict)
    error: dict[Pair, float] = field(default_factory=dict)
    default_error: float = ALL_LOST
    specific: dict[Pair, tuple[float, ...]] = field(default_factory=dict)  # SIZES rows of RATES
    loss: PathLoss = PathLoss()
    fading_db: float = 0.0
    noise_dbm: float = NOISE_DBM
    interference: bool | None = None  # whether weak frames lower others' SNR; None: not given

    def find(self, address: Address) -> Station | None:
        return next((one for one in self.all if one.address == address), None)

    def remove(self, station: Station) -> None:
        """Remove a station and all its links: if it returns, it has the defaults."""
        self.all.remove(station)
        for links in (self.snr, self.error, self.specific):
            for pair in [pair for pair in links if station.address in pair]:
                del links[pair]

    def link_snr(self, source: Station, to: Station) -> float:
        return self.snr.get((source.address, to.address), SNR_DEFAULT)

    def link_error(self, source: Station, to: Station) -> float:
        return self.error.get((source.address, to.address), self.default_error)

    def link_specific(self, source: Station, to: Station, size: int, rate: int) -> float:
        """Return the loss probability of frames with `size` bytes; `rate` is an index into RATES."""
        if matrix := self.specific.get((source.address, to.address)):
            return matrix[min(size // SIZE_STEP, SIZES - 1) * RATES + rate]
        return ALL_LOST

    def move(self, part: float = 1.0) -> bool:
        """Move all stations that have a direction by a part of a step; return whether there are any."""
        moving = [one for one in self.all if any(one.direction)]
        for one in moving:
            x, y, z = (place + step * part for place, step in zip(one.position, one.direction, strict=True))
            one.position = x, y, z
        return bool(moving)


def name_of(address: Address) -> str:
    return address.hex(":")
