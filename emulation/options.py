# SPDX-License-Identifier: BSD-3-Clause
"""Command-line options made from the specification: its fields are the one place where options and defaults are."""

from __future__ import annotations

import types
import typing
from typing import Any

import click
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

import topologies
from emulation.specification import Specification, explain, specify

HIDDEN = {"version", "topology", "parameters", "seed"}  # seeds have an option of their own
COMPOUND = {"ranges": ("transmission_m", "carrier_sense_m", "interference_m"), "thresholds": ("receive_dbm", "sense_dbm")}


def _choices(annotation: Any) -> list[str] | None:
    """The words of a Literal, also of one that may be None."""
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        return next((c for part in typing.get_args(annotation) if (c := _choices(part))), None)
    return [str(word) for word in typing.get_args(annotation)] if typing.get_origin(annotation) is typing.Literal else None


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = "--" + name.replace("_", "-")
    default = None if field.default is None else getattr(field.default, "name", field.default)
    shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
    text = field.description or ""
    text += f" [default: {shown}]" if shown is not None and not field.is_required() else ""
    if field.annotation is bool:
        return click.Option([f"{flag}/--no-{name}", name], default=None, help=text)
    metavar = ",".join(COMPOUND[name]) if name in COMPOUND else "|".join(_choices(field.annotation) or []) or "VALUE"
    return click.Option([flag, name], metavar=metavar, help=text)


def options_of(topology: str) -> list[click.Parameter]:
    """One option for each parameter of the topology and each field of the specification."""
    models: list[type[BaseModel]] = [topologies.find(topology).Parameters, Specification]
    return [
        _option(name, field) for model in models for name, field in model.model_fields.items() if name not in HIDDEN
    ]


def _value(name: str, value: object) -> object:
    if name in COMPOUND and isinstance(value, str):
        return dict(zip(COMPOUND[name], value.split(","), strict=False))
    return value


def specification_of(topology: str, given: dict[str, Any]) -> Specification:
    """The specification of a topology and the options that were given. Raises UsageError, which says what is wrong."""
    try:
        return specify(topology, {name: _value(name, value) for name, value in given.items() if value is not None})
    except (ValidationError, ValueError) as error:
        raise click.UsageError("\n       ".join(explain(error))) from None


class Seeds(click.ParamType):
    """`3`, `1..5`, `1,4,9`, or a mixture: the seeds in order, each once."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        seeds: list[int] = []
        for part in str(value).split(","):
            first, dots, last = part.partition("..")
            if not (first.isdecimal() and (last.isdecimal() if dots else not last)):
                self.fail(f"{value}: a seed is a whole number; several are written 1..5 or 1,4,9", param, ctx)
            seeds += range(int(first), int(last or first) + 1)
            if len(seeds) > 10_000 or not seeds:
                self.fail(f"{value}: between 1 and 10000 seeds", param, ctx)
        if max(seeds) >= 2**63:
            self.fail(f"{value}: a seed is below 2^63", param, ctx)
        return list(dict.fromkeys(seeds))
