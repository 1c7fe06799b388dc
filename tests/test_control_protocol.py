# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol is said three times, for the kernel, for YNL tools and for Python: all three must agree."""

import re
from pathlib import Path

import yaml

from emulation.lane import air

FOLDER = Path(air.__file__).parent / "dcf80211"


def enum(name: str) -> list[str]:
    """The names of one of control.c's enums, in order."""
    body = re.search(rf"enum \{{\s*({name}\b.*?)\}};", (FOLDER / "control.c").read_text(), re.DOTALL)
    assert body
    return [part.split("=")[0].strip() for part in body[1].split(",") if part.strip()]


def test_attributes_and_commands_agree() -> None:
    spec = yaml.safe_load((FOLDER / "dcf80211.yaml").read_text())
    attributes = [a["name"] for a in spec["attribute-sets"][0]["attributes"]]
    kernel = [name.removeprefix("A_").lower().replace("_", "-") for name in enum("A_PAD") if name != "ATTRS"]
    assert attributes == kernel
    renamed = {"trace": "TRACE_ON", "station": "STATION_INDEX", "links": "LINKS_OF", "eifs": "EIFS_RULE"}
    for number, name in enumerate(attributes, 1):
        assert getattr(air, renamed.get(name, name.upper().replace("-", "_"))) == number
    commands = [operation["name"] for operation in spec["operations"]["list"]]
    assert commands == [name.removeprefix("CMD_").lower() for name in enum("CMD_SETUP")]
    for number, name in enumerate(commands, 1):
        assert getattr(air, name.upper()) == number


def test_tables_agree() -> None:
    spec = yaml.safe_load((FOLDER / "dcf80211.yaml").read_text())
    entries = {d["name"]: d["entries"] for d in spec["definitions"] if d["type"] == "enum"}
    assert tuple(entries["reception"]) == air.RECEPTIONS
    assert tuple(entries["eifs"]) == air.EIFS
    for name, ours in (("kind", air.KINDS), ("outcome", air.OUTCOMES), ("reason", air.REASONS)):
        assert [e.replace("-", "_") for e in entries[name]] == [o.lower() for o in ours]
