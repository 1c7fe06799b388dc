# SPDX-License-Identifier: BSD-3-Clause
"""The channel's deviations from the mean of the propagation model: shadowing is constant, fading is not.

`emulation.plan.shadowing` and `emulation.plan.fading` compute them; docs/medium.md has the equations.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from emulation.specification.words import Section, pairs, word_and_pairs


class Shadowing(Section):
    """Log-normal shadowing: a constant deviation of the power between two places."""

    sigma: float = Field(ge=0, le=30, description="standard deviation of what both directions share, dB")
    asymmetry: float = Field(
        0.0, ge=0, le=30, description="standard deviation of the difference between directions, dB"
    )
    correlation: float | None = Field(
        None, gt=0, le=1e6, description="metres over which the correlation falls to 1/e; none: each pair by itself"
    )
    seed: int | None = Field(None, ge=0, lt=2**64, description="one place whatever the run's seed; by default that")


MOST_SIGMA = 4.5  # dB: the air allows signals up to 64 times their mean


class Fading(Section):
    """Block fading: a deviation of the power of each signal from its mean."""

    model: Literal["rayleigh", "ricean", "lognormal"]
    k: float | None = Field(
        None, ge=-20, le=20, description="Ricean: power of the direct path over all others', dB; by default 6"
    )

    sigma: float | None = Field(
        None, gt=0, le=MOST_SIGMA, description="log-normal: standard deviation of the power in dB; by default 1"
    )
    coherence_ms: float | None = Field(
        None, ge=0.001, le=4000, description="how long a pair of stations keeps a fade; none: each frame has its own"
    )

    @property
    def factor(self) -> float:
        """Return K as a ratio; 0 for Rayleigh fading, which has no direct path."""
        return 0.0 if self.model == "rayleigh" else 10 ** ((6.0 if self.k is None else self.k) / 10)


def _off(value: object) -> object:
    return None if value == "none" else value


def _fading(value: object) -> object:
    value = word_and_pairs("model", _off(value))
    for model, name in (("ricean", "k"), ("lognormal", "sigma")):
        if isinstance(value, dict) and value.get("model") != model and value.get(name) is not None:
            raise ValueError(f"{value.get('model')} has no {name}; {model} has it")
    return value


MaybeShadowing = Annotated[Shadowing | None, BeforeValidator(lambda value: pairs(_off(value)))]
MaybeFading = Annotated[Fading | None, BeforeValidator(_fading)]
