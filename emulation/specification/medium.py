# SPDX-License-Identifier: BSD-3-Clause
"""The medium: the range of frames, and which of them survive. The defaults are ns-2's radio."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    InstanceOf,
    PlainSerializer,
    TypeAdapter,
    ValidationInfo,
    field_validator,
    model_validator,
)

from emulation import features
from emulation.lane.protocol import RULES
from emulation.specification.channel import MaybeFading, MaybeShadowing
from emulation.specification.per import MaybePer
from emulation.specification.propagation import (
    FAINTEST_DBM,
    HIGHEST_CAPTURE_DB,
    MODELS,
    Disc,
    Propagation,
    Ranges,
    Table,
    Thresholds,
    TwoRayGround,
)
from emulation.specification.words import Section, Words, word_and_pairs
from topologies.links import Links

COMPOUND: dict[str, type[Ranges | Thresholds]] = {"ranges": Ranges, "thresholds": Thresholds}


def _propagation(value: object, info: ValidationInfo) -> object:
    """Accept a model, its name, an object of `model` and its parameters, or `log-distance,exponent=4`."""
    if isinstance(value, Propagation):
        return value
    if isinstance(value, Links):  # from a topology
        return Table(value)
    value = word_and_pairs("model", value)
    parameters = dict(value) if isinstance(value, Mapping) else {"model": value}
    name = parameters.pop("model", None)
    if not isinstance(name, str) or name not in MODELS:
        raise ValueError(f"there is no propagation model {name!r}; there are: {', '.join(sorted(MODELS))}")
    there = [field.name for field in fields(MODELS[name])]
    if strange := next((parameter for parameter in parameters if parameter not in there), None):
        raise ValueError(f"{name}: there is no parameter {strange!r}; there are: {', '.join(there)}")
    return TypeAdapter(MODELS[name]).validate_python(parameters, context=info.context)


Model = Annotated[
    InstanceOf[Propagation],
    BeforeValidator(_propagation),
    PlainSerializer(lambda model: {"model": model.name, **asdict(model)}),
]


# Simulators whose air can be imitated: defaults of options that are not set. docs/like-ns2.md.
LIKE: dict[str, dict[str, object]] = {
    "ns2": {"reception": "capture", "eifs": "energy", "sensing_ns": 0, "nav_reset": False, "rules": RULES}
}


OURS = "dcf80211"
if TYPE_CHECKING:
    Kind = str
else:
    Kind = Literal[(OURS, *features.media())]
ABSENT = {"wmediumd"} - features.media().keys()  # options of media that are not here
HOST_DELAY_US = 25.0  # where a user's own programs run: docs/hosts.md


class Medium(Section):
    """How the air treats frames."""

    medium: Kind = Field(
        OURS,
        description="what decides which frames arrive: dcflab's air, or a program or model (docs/mediumd.md)",
    )
    wmediumd: str = Field("wmediumd", min_length=1, description="the program, with --medium wmediumd")
    like: Literal["standard", "ns2"] = Field(
        "standard", description="ns2: set the air's options as ns-2 has them (docs/like-ns2.md)"
    )
    propagation: Model = Field(
        TwoRayGround(), description="|".join(sorted(MODELS)) + ", with parameters: MODEL,NAME=VALUE"
    )
    shadowing: MaybeShadowing = Field(
        None, description="log-normal shadowing: sigma=DB[,asymmetry=DB][,correlation=METRES][,seed=N]"
    )
    fading: MaybeFading = Field(
        None,
        description="fading of each frame, or with coherence_ms=MS over this time: rayleigh, ricean with k=DB (6), "
        "lognormal with sigma=DB (1)",
    )
    ranges: Ranges | None = Field(
        None, description="transmission_m,carrier_sense_m,interference_m; by default those of ns-2, 250,550"
    )
    thresholds: Thresholds | None = Field(None, description="receive_dbm,sense_dbm,capture_db; instead of ranges")
    noise_dbm: float = Field(
        -94.0, ge=FAINTEST_DBM, le=0, description="noise power; by default kTB of 20 MHz with a noise figure of 7 dB"
    )
    reception: Literal["capture", "sinr"] = Field(
        "capture", description="capture: ns-2's rule; sinr: bit errors by rate and SINR"
    )
    bit_errors: Literal["nist", "table"] = Field(
        "nist", description="for OFDM with sinr: NIST's equations (hard decisions), or ns-3's tables (soft decisions)"
    )
    per: MaybePer = Field(None, description="with sinr: a wmediumd file of packet error rates, instead of bit_errors")
    capture_db: float = Field(
        10.0, ge=0, le=HIGHEST_CAPTURE_DB, description="how much stronger a frame must be than another to survive it"
    )
    detection_db: float = Field(
        4.0,
        ge=-20,
        le=40,
        description="with sinr: by how much a preamble must exceed all other signals (DSSS: after despreading)",
    )
    eifs: Literal["off", "frame", "energy"] | None = Field(
        None, description="EIFS after corrupted frames, or after any energy, as in ns-2; by default energy with capture"
    )

    host_delay_us: float = Field(
        0.0, ge=0, le=1000, description="mean delay of a station's host between an event and its frame (docs/hosts.md)"
    )
    sensing_ns: int | None = Field(
        None, ge=0, lt=9000, description="time for sensing and turnaround; by default a quarter of a slot; ns-2 has 0"
    )
    nav_reset: bool = Field(True, description="reset the NAV if no frame follows an RTS; ns-2 does not")
    rules: Words = Field((), description=f"single rules of ns-2: {', '.join(RULES)}")

    @model_validator(mode="before")
    @classmethod
    def _like(cls, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        like = data.get("like")
        return {**LIKE[like], **data} if isinstance(like, str) and like in LIKE else data

    @field_validator(*COMPOUND, mode="before")
    @classmethod
    def _in_order(cls, value: object, info: ValidationInfo) -> object:
        """Accept numbers with commas, as on a command line."""
        if not isinstance(value, str):
            return value
        names, numbers = [field.name for field in fields(COMPOUND[str(info.field_name)])], value.split(",")
        if len(numbers) > len(names):
            raise ValueError(f"at most {', '.join(names)}, with commas; not {value!r}")
        return dict(zip(names, numbers, strict=False))

    @field_validator("rules")
    @classmethod
    def _known(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [rule for rule in rules if rule not in RULES]:
            raise ValueError(f"there is no rule {unknown[0]!r}; there are: {', '.join(RULES)}")
        return tuple(rule for rule in RULES if rule in rules)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.ranges and self.thresholds:
            raise ValueError("ranges and thresholds are two forms of the same setting; give one of them")
        if isinstance(self.propagation, Disc) and (self.shadowing or self.fading):
            raise ValueError(
                "propagation disc: all frames in range arrive at full power; leave out shadowing and fading"
            )
        self.effective_thresholds()
        return self

    @property
    def by_distance(self) -> bool:
        """Return whether the mean received power depends on the distance only."""
        return self.propagation.by_distance and self.shadowing is None

    def effective_thresholds(self) -> Thresholds:
        """Return the thresholds in force, with the capture ratio. Raises ValueError if the model has none."""
        found = self.fitting(self.thresholds or self.propagation.thresholds(self.ranges))
        return found if found.capture_db is not None else replace(found, capture_db=self.capture_db)

    def fitting(self, found: Thresholds) -> Thresholds:
        """Return these thresholds. Raises ValueError if the reception rule does not allow them."""
        if self.reception == "capture" and found.sense_dbm > found.receive_dbm:
            raise ValueError(
                f"thresholds of {found.receive_dbm:g} dBm to receive, {found.sense_dbm:g} dBm to sense: with reception "
                "capture, which follows what it senses, the first must not be below the second; with sinr it may"
            )
        return found
