# SPDX-License-Identifier: BSD-3-Clause
"""Command-line options made from the specification: its fields are the one place where options and defaults are."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import click
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import topologies
from emulation.plan import plan
from emulation.specification import Specification, explain, specify
from emulation.specification.propagation import Ranges, Thresholds

HIDDEN = {"version", "topology", "parameters", "seed"}  # seeds have an option of their own
COMPOUND: dict[str, type[Ranges | Thresholds]] = {"ranges": Ranges, "thresholds": Thresholds}
METAVARS = {int: "N", float: "X", tuple: "A[,B...]"}


def _choices(annotation: Any) -> list[str] | None:
    """The words of a Literal, also of one that may be None."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        return next((c for part in parts if (c := _choices(part))), None)
    return [str(word) for word in parts] if origin is typing.Literal else None


def _said(default: Any) -> str:
    """A default, as it would be written on the command line."""
    if isinstance(default, tuple):
        return ",".join(map(_said, default))
    return f"{default:g}" if isinstance(default, float) else str(getattr(default, "name", default))


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = "--" + name.replace("_", "-")
    text = field.description or ""
    if field.annotation is bool:
        no = flag.replace("--", "--no-", 1)
        text += f"  [default: {flag if field.default else no}]"
        return click.Option([f"{flag}/{no}", name], default=None, help=text)
    if not field.is_required() and field.default is not None:
        text += f"  [default: {_said(field.default)}]"
    metavar = "A[,B[,C]]" if name in COMPOUND else METAVARS.get(type(field.default), "VALUE")
    metavar = "|".join(_choices(field.annotation) or [metavar])
    return click.Option([flag, name], metavar=metavar, help=text)


def options_of(topology: str, defaults: Mapping[str, object] | None = None) -> list[click.Option]:
    """One option for each parameter of the topology and each field of the specification; `defaults` if others."""
    models: list[type[BaseModel]] = [topologies.find(topology).Parameters, Specification]
    fields = {name: field for model in models for name, field in model.model_fields.items() if name not in HIDDEN}
    for name in fields.keys() & (defaults or {}).keys():
        fields[name] = FieldInfo.merge_field_infos(fields[name], default=(defaults or {})[name])
    return [_option(name, field) for name, field in fields.items()]


def _value(name: str, value: object) -> object:
    """What `Specification` takes: of the compound ones, which are numbers with commas, an object."""
    if name not in COMPOUND or not isinstance(value, str):
        return value
    names, numbers = [field.name for field in fields(COMPOUND[name])], value.split(",")
    if len(numbers) > len(names):
        raise ValueError(f"{name}: at most {', '.join(names)}, with commas; not {value!r}")
    return dict(zip(names, numbers, strict=False))


def specification_of(topology: str, given: dict[str, Any]) -> Specification:
    """The specification of a topology and the options that were given.

    Raises UsageError, which says what is wrong: with an option, or with the plan that they make together.
    """
    try:
        found = specify(topology, {name: _value(name, value) for name, value in given.items() if value is not None})
        plan(found)
        return found
    except ValueError as error:
        raise click.UsageError("\n       ".join(explain(error))) from None


class Seeds(click.ParamType[list[int], str]):
    """`3`, `1..5`, `1,4,9`, or a mixture: the seeds in order, each once."""

    name = "seeds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        seeds: list[int] = []
        for part in str(value).split(","):
            first, dots, last = part.partition("..")
            if not (first.isdecimal() and (last.isdecimal() if dots else not last)):
                self.fail(f"{value}: a seed is a whole number; several are written 1..5 or 1,4,9", param, ctx)
            if len(first) > 19 or len(last) > 19 or max(int(first), int(last or 0)) >= 2**63:
                self.fail(f"{value}: a seed is below 2^63", param, ctx)
            more = int(last or first) + 1 - int(first)
            if more < 1 or len(seeds) + more > 10_000:
                self.fail(f"{value}: between 1 and 10000 seeds", param, ctx)
            seeds += range(int(first), int(first) + more)
        return list(dict.fromkeys(seeds))
