# SPDX-License-Identifier: BSD-3-Clause
"""Path loss as wmediumd computes it: in whole dB, truncated, at 2412 MHz on every channel. Its indoor model uses hertz
where the formula needs megahertz, and so is 120 dB too high. Our own air has the correct models
(`emulation.features.wmediumd.configured`)."""

from __future__ import annotations

import math

from emulation.features.wmediumd.inside.stations import Loss, Mode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.features.wmediumd.inside.stations import PathLoss, Station, Stations

FREQUENCY_HZ, SPEED_OF_LIGHT = 2.412e9, 299_792_458.0
NEAREST_M = 1e-3  # closer, the loss stays the same
NEAR_M, N_NEAR, N_FAR = 16.0, 28.0, 38.0  # of the indoor model without a coefficient
DIFFERENT = -200.0  # the SNR of stations in different mediums


def loss_db(loss: PathLoss, distance: float, height: float = 1.0) -> int:
    """Return the loss over this distance (m), dB."""
    d = max(distance, NEAREST_M)
    friis = 20 * math.log10(4 * math.pi * d * FREQUENCY_HZ / SPEED_OF_LIGHT)
    system = 10 * math.log10(loss.system_loss)
    if loss.model is Loss.FREE_SPACE:
        return int(friis + system)
    if loss.model is Loss.ITU:
        n = loss.power_loss or (N_FAR if d > NEAR_M else N_NEAR)
        return int(20 * math.log10(FREQUENCY_HZ) + n * math.log10(d) + loss.floors * loss.floor_db - 28)
    if loss.model is Loss.TWO_RAY_GROUND:
        crossover = 4 * math.pi * height**2 * FREQUENCY_HZ / SPEED_OF_LIGHT
        return int((friis if d < crossover else 40 * math.log10(d / height)) + system)
    first = 20 * math.log10(4 * math.pi * FREQUENCY_HZ / SPEED_OF_LIGHT)
    return int(first + 10 * loss.exponent * math.log10(d) + loss.fixed_db + system)


def snr(stations: Stations, source: Station, to: Station) -> float:
    """Return the SNR of one station's signal at the other, dB."""
    if source.medium != to.medium:
        return DIFFERENT
    if stations.mode is not Mode.PATH_LOSS:
        return stations.link_snr(source, to)
    lost = loss_db(stations.loss, math.dist(source.position, to.position), source.height)
    return int(source.tx_power + source.gain + to.gain - source.shadow_db - lost - stations.noise_dbm)
