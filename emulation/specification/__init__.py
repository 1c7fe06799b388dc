# SPDX-License-Identifier: BSD-3-Clause
"""Specifications: what a user asks for, one experiment as data.

All defaults are here. A specification holds a network and how to play it, in sections: radio, medium, transport,
kernel, measurement. It is checked when it is made, so later code can rely on it. `emulation.plan` turns it into
numbers. Flat options, as on a command line, are a view of it: `specify` makes a specification from them, and `flatten`
returns them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, JsonValue, model_validator
from pydantic.fields import FieldInfo

import topologies
from emulation.specification.kernel import Kernel
from emulation.specification.measurement import Measurement
from emulation.specification.medium import OURS, Medium
from emulation.specification.modes import FORMATS
from emulation.specification.network import Chosen
from emulation.specification.radio import OLDER, Radio, of_mode
from emulation.specification.transport import Transport
from emulation.specification.words import Section
from topologies import Network
from topologies.errors import explain as _explain
from topologies.files import NOBODY, USER, Mistake, Trust, ask, is_a, own_mistakes, run_by

SECTIONS: dict[str, type[Section]] = {
    "network": Chosen,
    "radio": Radio,
    "medium": Medium,
    "transport": Transport,
    "kernel": Kernel,
    "measurement": Measurement,
}
SECTION_OF = {name: section for section, model in SECTIONS.items() for name in model.model_fields}
OPTIONS: dict[str, FieldInfo] = {
    name: field for model in SECTIONS.values() for name, field in model.model_fields.items()
}  # by their flat names


class Specification(Section):
    """One experiment. Raises pydantic's ValidationError if it is not valid; `explain` formats that for people."""

    version: Literal[2] = 2
    network: Chosen = Chosen()
    radio: Radio = Radio()
    medium: Medium = Medium()
    transport: Transport = Transport()
    kernel: Kernel = Kernel()
    measurement: Measurement = Measurement()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        flows, tcp = len(self.network.standing().applications), self.transport.tcp
        if len(tcp) not in (1, flows):
            raise ValueError(f"tcp: give one for all flows, or one for each of the {flows} flows; not {len(tcp)}")
        if self.radio.edca != "off" and (self.medium.like == "ns2" or self.medium.rules):
            raise ValueError("edca: ns-2 has no EDCA; leave out like and rules")
        tuned = self.medium.propagation.tuned(self.radio.freq)
        if self.radio.mode != OLDER:
            self._of_mode()
        if self.medium.medium != OURS and self.measurement.trace:  # it keeps none
            untraced = self.measurement.model_copy(update={"trace": False})
            object.__setattr__(self, "measurement", untraced)
        object.__setattr__(self, "medium", self.medium.model_copy(update={"propagation": tuned}))  # the model is frozen
        return self

    def _of_mode(self) -> None:
        """Check what modes with MCS do not have."""
        what = f"mode {self.radio.mode}"
        if self.medium.medium != OURS:
            raise ValueError(f"{what}: medium {self.medium.medium} has legacy rates only")
        if self.medium.per:
            raise ValueError(f"{what}: per: wmediumd's tables have no MCS; leave it out")

    def made(self) -> Network:
        """Return the network, with its motion for the measured time. Raises ValueError if its model cannot move it."""
        return self.network.made(self.measurement.seconds, self.measurement.seed)

    def without_files(self) -> Specification:
        """Return the specification with the motion that the user's files give, instead of the files."""
        if not self.network.motion or not topologies.is_file(self.network.motion["model"]):
            return self
        chosen: dict[str, Any] = {
            "own": self.made(),
            "topology": None,
            "parameters": {},
            "application": (),
            "motion": None,
        }
        return self.model_copy(update={"network": self.network.model_copy(update=chosen)})

    def with_seed(self, seed: int) -> Specification:
        return self.model_copy(update={"measurement": self.measurement.model_copy(update={"seed": seed})})


def parameters_of(topology: str) -> type[BaseModel]:
    """Return the parameters of a topology. Raises ValueError if there is no such topology."""
    return topologies.find(topology).Parameters


def usual(topology: str, parameters: Mapping[str, Any], trust: Trust = USER) -> Mapping[str, Any]:
    """Return a topology's own defaults of flat options; empty if its parameters are not valid."""
    found = topologies.find(topology)
    with own_mistakes(Path(found.name)):
        try:
            valid = found.Parameters.model_validate(dict(parameters), context=trust)
            defaults: Mapping[str, Any] = ask(found.usual, _has_options, valid)
        except Mistake:
            raise
        except ValueError:
            return {}
        return defaults


def _has_options(found: Any) -> str:
    strange = sorted(map(str, found.keys() - OPTIONS.keys())) if isinstance(found, Mapping) else []
    return f"has options that there are not: {', '.join(strange)}" if strange else is_a(Mapping)(found)


def specify(what: str | Network, options: Mapping[str, Any], trust: Trust = USER) -> Specification:
    """Make a specification of a topology, by name, or of a network, from flat options.

    The topology's own parameters are options, too. By default the user wrote the options, and may name files;
    otherwise, `trust` says which files they may name. Raises ValueError if the topology is unknown, and ValidationError
    for other errors; `explain` formats both.
    """
    if isinstance(what, str) and topologies.is_file(what):
        run_by(what, trust)
    own = parameters_of(what).model_fields if isinstance(what, str) else {}
    if isinstance(what, Network) and "mode" not in options:
        options = {**of_nodes(what), **options}
    if isinstance(what, str):
        defaults = usual(what, {name: value for name, value in options.items() if name in own}, trust)
        if options.get("mode", OLDER) != OLDER:  # which has neither legacy rates of data nor OCB
            defaults = {name: value for name, value in defaults.items() if name != "rate" and value != "ocb"}
        options = {**defaults, **options}
    chosen: dict[str, Any] = {"topology": what} if isinstance(what, str) else {"own": what}
    sections: dict[str, Any] = {"network": {**chosen, "parameters": {n: v for n, v in options.items() if n in own}}}
    for name, value in options.items():
        if name not in own:
            section = SECTION_OF.get(name)
            (sections.setdefault(section, {}) if section else sections)[name] = value
    return Specification.model_validate(sections, context=trust)


def of_nodes(network: Network) -> dict[str, Any]:
    """Return the options that a network without a mode takes from the first of its nodes with the latest one. Access
    points come before stations. Raises ValueError."""
    ranks = ("b", "g", "a", OLDER, *FORMATS)
    nodes = [node.settings for kind in ("ap", "station") for node in network.nodes.values() if node.kind == kind]
    there = [settings for settings in nodes if settings.get("mode") in ranks]
    latest = max(there, key=lambda settings: ranks.index(settings["mode"]), default=None)
    return of_mode(latest) if latest else {}


def of_options(options: Mapping[str, Any]) -> Specification:
    """Check options before there is a network, as `specify` does. Raises ValueError."""
    ends = {"source": "sta1", "destination": "sta2"}
    stand_in = {
        "nodes": {"sta1": topologies.Node(), "sta2": topologies.Node()},
        "applications": [ends] * len(Transport.model_validate({"tcp": options["tcp"]}).tcp if "tcp" in options else ()),
    }
    return specify(Network.model_validate(stand_in), options)


def sections(specification: Specification) -> dict[str, Any]:
    """Return its flat options, as Python values."""
    return {name: value for section in SECTIONS for name, value in dict(getattr(specification, section)).items()}


def flatten(specification: Specification) -> dict[str, JsonValue]:
    """Return all flat options that make this specification, with the topology's parameters, as JSON."""
    return flat(specification.model_dump(mode="json"))


def flat(nested: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the flat options of a specification in JSON, as in a result, even if it is incomplete."""
    found = {name: value for section in SECTIONS for name, value in dict(nested.get(section) or {}).items()}
    parameters = dict(found.pop("parameters", None) or {})
    if found.get("own") is None:
        found.pop("own", None)
    return {**found, **parameters}


def unflatten(flat: Mapping[str, JsonValue], trust: Trust = NOBODY) -> Specification:
    """Make the specification whose options `flatten` returned, such as those of a run folder. Raises ValueError, as
    `specify` does."""
    options = dict(flat)
    topology, own = options.pop("topology", None), options.pop("own", None)
    return specify(topology if isinstance(topology, str) else Network.model_validate(own), options, trust)


def explain(error: ValueError) -> list[str]:
    """Return what is wrong, for people, a line per error. ValidationError is a ValueError."""
    return _explain(error, frozenset(SECTIONS))
