# SPDX-License-Identifier: BSD-3-Clause
"""Formats are documented as they are: trace records to the byte, and each key of plans and results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from analysis.results.result import Result
from analysis.tcp import senders
from analysis.traces import trace
from emulation.plan import plan
from emulation.specification import specify

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIELD = re.compile(r"(\d+) ([iu]\d) (\w+)")
LAYOUTS = {"TX": trace.TX, "RX": trace.RX, "END": trace.END, "MARK": trace.MARK, "": senders.RECORD}
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("string", {"stations": 3, "reception": "sinr", "edca": "standard", "fading": "rayleigh", "ackthin": "daa"}),
    ("mobile", {"stations": 5}),
    ("mesh", {"routing": "aodv", "medium": "wmediumd-compat"}),
    ("wlan", {"security": "wpa2", "passphrase": "correct horse"}),
]


def blocks(page: str) -> list[str]:
    """The fenced blocks of a page."""
    return re.findall(r"^```\w*\n(.*?)^```$", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_page_has_each_field_of_a_record_at_its_place(name: str) -> None:
    parts = [part for block in blocks("records.md") for part in block.split("\n\n")]
    layout, started = LAYOUTS[name], f"{name}:" if name else " 0 u2 size = 80"
    [part] = [part for part in parts if part.startswith(started)]
    said = {field: (int(at), np.dtype(f"<{kind}")) for at, kind, field in FIELD.findall(part)}
    assert layout.fields is not None
    assert said == {field: (at, kind) for field, (kind, at, *_) in layout.fields.items()}


def keys(value: Any) -> set[str]:
    """The keys of JSON that are names of the format: nodes, addresses, numbers and settings have names of their own."""
    if isinstance(value, dict):
        named = {key for key in value if re.fullmatch(r"[a-z]\w*", key) and not re.fullmatch(r"(sta|r|h|s|ap)\d+", key)}
        return named.union(*(keys(each) for each in value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(("topology", "options"), ASKED)
def test_the_page_has_each_key_of_a_plan(topology: str, options: dict[str, Any]) -> None:
    """Those that a kind adds are on its own page."""
    planned = plan(specify(topology, options))
    of_kinds = keys([planned["routing"], planned["applications"], [node["routing"] for node in planned["nodes"]]])
    documented = set(re.findall(r"\w+", (DOCS / "interfaces.md").read_text()))
    assert keys(planned) - of_kinds - documented == set()


def fields(model: type[BaseModel]) -> set[str]:
    """Its fields', and those of the models in them."""
    schema = model.model_json_schema()
    return {name for part in (schema, *schema["$defs"].values()) for name in part.get("properties", {})}


def test_the_page_has_each_field_of_a_result() -> None:
    documented = set(re.findall(r"\b\w+\b", "".join(blocks("file-formats.md"))))
    assert fields(Result) - documented == set()
