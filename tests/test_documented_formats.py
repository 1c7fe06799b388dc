# SPDX-License-Identifier: BSD-3-Clause
"""Formats are documented as they are: trace records to the byte, and each key of plans and results.

`./dcflab python tests/test_documented_formats.py` makes docs/result.md again from the models of `result.json`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
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
RESULT = DOCS / "result.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Fields of result.json

Made from the models in `analysis/results`, of which `Result` is the whole file:

    ./dcflab python tests/test_documented_formats.py

[file-formats.md](file-formats.md#resultjson) says how to read the file.
A field with a default may be missing.
"""
FIELD = re.compile(r"(\d+) ([iu]\d) (\w+)")
LAYOUTS = {"TX": trace.TX, "RX": trace.RX, "END": trace.END, "MARK": trace.MARK, "": senders.RECORD}
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("string", {"stations": 3, "reception": "sinr", "edca": "standard", "fading": "rayleigh", "ackthin": "daa"}),
    ("mobile", {"stations": 5}),
    ("mesh", {"routing": "aodv", "medium": "wmediumd-compat"}),
    ("wlan", {"security": "wpa2", "passphrase": "correct horse"}),
]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_page_has_each_field_of_a_record_at_its_place(name: str) -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```$", (DOCS / "records.md").read_text(), re.MULTILINE | re.DOTALL)
    layout, started = LAYOUTS[name], f"{name}:" if name else " 0 u2 size = 80"
    [part] = [part for block in blocks for part in block.split("\n\n") if part.startswith(started)]
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


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """It, and the models in its fields, in their order."""
    yield model
    for field in model.model_fields.values():
        waiting = [field.annotation]
        for kind in waiting:
            waiting += getattr(kind, "__args__", ())
            if inspect.isclass(kind) and issubclass(kind, BaseModel):
                yield from models(kind)


def rows(model: type[BaseModel]) -> Iterator[str]:
    """A line of a table for each field that it declares: the text below the field is its meaning."""
    [declared] = ast.parse(inspect.getsource(model)).body
    assert isinstance(declared, ast.ClassDef)
    for line, after in zip(declared.body, [*declared.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            said = " ".join(str(text.value).split()) if isinstance(text, ast.Constant) else ""
            kind = re.sub(r"^Annotated\[(.*), \w+\(.*\)\]$", r"\1", ast.unparse(line.annotation)).replace(
                "Whole", "int"
            )
            kind += f" = {ast.unparse(line.value)}" if line.value else ""
            yield f"| `{line.target.id}` | `{kind}` | {said} |".replace(" | None", " \\| None")


def page() -> str:
    parts = [HEAD]
    for model in dict.fromkeys(models(Result)):
        base = model.__base__
        more = "" if base is None or not base.model_fields else f" The fields of `{base.__name__}`, and:"
        table = ["| field | type | |", "|---|---|---|", *rows(model)] if list(rows(model)) else []
        more = more if table else more.replace(", and:", ".")
        parts.append("\n".join([f"## {model.__name__}\n", f"{inspect.getdoc(model)}{more}\n", *table, ""]))
    return "\n".join(parts)


def test_the_page_has_each_field_of_a_result() -> None:
    assert RESULT.read_text() == page(), f"{RESULT} is not up to date; it says how to make it again"


if __name__ == "__main__":
    RESULT.write_text(page())
