# SPDX-License-Identifier: BSD-3-Clause
"""Command-line options, made from the fields of the specification, which also have the defaults."""

import types
import typing
from collections.abc import Collection, Mapping
from typing import Any

import click
from pydantic.fields import FieldInfo

from emulation.cli.command import Option
from emulation.specification import OPTIONS, SECTION_OF, parameters_of, usual
from emulation.specification.medium import ABSENT, COMPOUND

HIDDEN = {"own", "topology", "parameters", "seed"} | ABSENT  # seeds have an option of their own
GROUPS = {
    "radio": "Radios",
    "medium": "The air",
    "transport": "Flows, TCP and queues",
    "kernel": "Modules and plug-ins",
    "measurement": "What is measured",
}  # the rest belongs to the network
# The options that people use first, after the topology's own.
FIRST = ("rts", "rate", "tcp", "seconds", "seeds", "vary", "full")
PREFERRED, MOST_PREFERRED = ("stations", "size", "spacing", "flows"), 3  # of a topology's own options: these first
REPEATED = {"application": "KIND,from=A,to=B[,NAME=VALUE...]"}
METAVARS = {int: "N", float: "X", tuple: "A[,B...]"}


def short_help_options(topology: str | None, varied: Collection[str] = ()) -> list[str]:
    """Return the options in the short help: some of the topology's own, and the common ones."""
    own = [name for name in (parameters_of(topology).model_fields if topology else ()) if name not in HIDDEN]
    own.sort(key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
    return [name for name in (*own[:MOST_PREFERRED], *FIRST) if name not in varied]


def _choices(annotation: Any) -> list[str] | None:
    """Return the values of a Literal, also of an optional one."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        return next((c for part in parts if (c := _choices(part))), None)
    return [str(word) for word in parts] if origin is typing.Literal else None


def _as_written(default: Any) -> str:
    if isinstance(default, dict):  # a kind and its settings
        word, *pairs = default.items() or [("", "none")]
        return ",".join([_as_written(word[1]), *(f"{name}={_as_written(value)}" for name, value in pairs)])
    if isinstance(default, tuple):
        return ",".join(map(_as_written, default)) or "none"
    return f"{default:g}" if isinstance(default, float) else str(getattr(default, "name", default))


def _option(name: str, field: FieldInfo) -> click.Option:
    flag = "--" + name.replace("_", "-")
    group = GROUPS.get(SECTION_OF.get(name, ""), "Network")
    text = field.description or ""
    if field.annotation is bool:
        no = flag.replace("--", "--no-", 1)
        text += f"  [default: {flag if field.default else no}]"
        return Option([f"{flag}/{no}", name], default=None, help=text, group=group)
    if name in REPEATED:
        text += "  [default: none]"
        return Option([flag, name], metavar=REPEATED[name], help=text, group=group, multiple=True,
                      callback=lambda ctx, parameter, values: values or None)  # fmt: skip
    if not field.is_required() and field.default is not None:
        text += f"  [default: {_as_written(field.default)}]"
    metavar = "A[,B[,C]]" if name in COMPOUND else METAVARS.get(type(field.default), "VALUE")
    metavar = "|".join(_choices(field.annotation) or [metavar])
    return Option([flag, name], metavar=metavar, help=text, group=group)


def options_of(topology: str | None, defaults: Mapping[str, object] | None = None) -> list[click.Option]:
    """Return an option for each parameter of the topology, if any, and each field of the specification. `defaults`
    replace theirs."""
    fields = {**(parameters_of(topology).model_fields if topology else {}), **OPTIONS}
    fields = {name: field for name, field in fields.items() if name not in HIDDEN}
    others = {**(usual(topology, {}) if topology else {}), **(defaults or {})}
    for name in fields.keys() & others.keys():
        fields[name] = FieldInfo.merge_field_infos(fields[name], default=others[name])
    return [_option(name, field) for name, field in fields.items()]
