# SPDX-License-Identifier: BSD-3-Clause
"""The network: a topology and its parameters, or one that a script or a file made; its links, routing and motion."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

import topologies
from emulation.specification.words import Section, word_and_pairs
from topologies import Application, Motion, Network, mobility
from topologies.files import NOBODY, own_mistakes, run_by

ALSO_KNOWN_AS = {"802.11s": "hwmp"}  # other names of routings


def _routing(value: object) -> object:
    """Convert hyphens: a kind is the name of a Python file."""
    chosen = word_and_pairs("kind", value)
    if isinstance(chosen, dict) and isinstance(kind := chosen.get("kind"), str):
        return {**chosen, "kind": ALSO_KNOWN_AS.get(kind, kind).replace("-", "_")}
    return chosen


def _motion(value: object, info: ValidationInfo) -> object:
    return None if value is None else mobility.check(word_and_pairs("model", value), info.context or NOBODY)


def _applications(value: object) -> object:
    """Accept applications as on a command line: `voice,from=sta1,to=sta3,codec=g729`. Several are in a sequence, or
    separated by semicolons."""
    several = value.split(";") if isinstance(value, str) else value
    return tuple(map(_application, several)) if isinstance(several, tuple | list) else several


def _application(value: object) -> object:
    asked = word_and_pairs("kind", value)
    if isinstance(value, Application) or not isinstance(asked, Mapping) or "settings" in asked:
        return value
    settings = dict(asked)
    source, to, kind = (settings.pop(name, None) for name in ("from", "to", "kind"))
    if not (source and to and kind):
        raise ValueError(f"{value!r}: give its kind and its nodes: KIND,from=NODE,to=NODE[,NAME=VALUE...]")
    return Application(source=source, destination=to, kind=kind, settings=settings)


class Chosen(Section):
    """The choice of a network. Either `topology` or `own` is set; `application` adds to it. `made()` returns it."""

    own: Network | None = Field(None, description="a network that was built, and comes from no topology")
    topology: str | None = Field("string", description="who stands where and talks to whom", validate_default=True)
    parameters: dict[str, Any] = Field({}, description="the topology's own parameters", validate_default=True)
    link: str = Field("adhoc", pattern=r"^\w+$", description="how stations connect: adhoc|mesh|ocb")
    routing: Annotated[dict[str, Any], BeforeValidator(_routing)] = Field(
        {"kind": "static"},
        description="routing: static|none|aodv|dsr|olsr|dsdv|batman-adv|babel|hwmp|etx-frozen|..., "
        "with options: KIND,NAME=VALUE",
    )
    application: Annotated[tuple[Application, ...], BeforeValidator(_applications)] = Field(
        (),
        description="another application, between any two nodes; repeat it for several. Its settings are those of "
        "flows (tos, start_s, stop_s ...) and of its kind: docs/traffic.md",
    )
    unreachable: bool = Field(False, description="allow flows that have no path")
    motion: Annotated[dict[str, Any] | None, BeforeValidator(_motion)] = Field(
        None, description=f"mobility model: {'|'.join(mobility.names())} or a file, with parameters: MODEL,NAME=VALUE"
    )

    @field_validator("topology")
    @classmethod
    def _known(cls, name: str | None, info: ValidationInfo) -> str | None:
        if info.data.get("own") is not None:
            return None
        if name is None:
            raise ValueError("no network: name a topology, or give the path of your own")
        return topologies.find(run_by(name, info.context) if topologies.is_file(name) else name).name

    @field_validator("routing")
    @classmethod
    def _a_word(cls, routing: dict[str, Any]) -> dict[str, Any]:
        if not re.fullmatch(r"\w+", str(routing.get("kind", ""))):
            raise ValueError(f"there is no routing {routing.get('kind')!r}")
        return routing

    @field_validator("parameters")
    @classmethod
    def _complete(cls, parameters: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        name = info.data.get("topology")
        if name is None:  # its own validator has refused it
            return parameters
        with own_mistakes(Path(name)):
            return topologies.find(name).Parameters.model_validate(parameters, context=info.context).model_dump()

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        self.standing()
        return self

    def standing(self) -> Network:
        """Return the network before `motion` moves it."""
        if self.own is not None:
            network = self.own
        else:
            assert self.topology is not None
            network = topologies.find(self.topology).network(self.parameters)
        if not self.application:
            return network
        return Network.model_validate({**dict(network), "applications": network.applications + self.application})

    def made(self, seconds: float, seed: int) -> Network:
        """Return the network with its motion for `seconds`. Raises ValueError if the model cannot move it."""
        standing = self.standing()
        if self.motion:
            return mobility.move(self.motion, standing, seconds, seed)
        return mobility.settled(standing, Motion(standing.motion, standing.presence), seconds)
