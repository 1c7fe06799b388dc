# SPDX-License-Identifier: BSD-3-Clause
"""Write files for C and Python from the modules' YNL specifications: `protocol.h` for a module's control.c, and a
module of names for the lane, where parsing YAML would take too long. Also write the parameters of the routing cores
for Python. Run it after a change of dcf80211.yaml, manet.yaml or a core's parameters:

    python -m emulation.generate

Names are the YAML's; commands and attributes are numbered from 1, in its order. The policy checks each attribute that
a request may carry, and a table for each command lists those that are required.
"""

import ctypes as c
import re
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import yaml

HERE = Path(__file__).parent


class Family(NamedTuple):
    """A module that is controlled by generic netlink."""

    name: str  # also of its folder
    of: str  # what it controls
    module: str  # Python's module of names, in the lane

    @property
    def folder(self) -> Path:
        return HERE / self.name

    def files(self) -> dict[Path, str]:
        spec = read(self)
        return {self.folder / "protocol.h": header(self, spec), HERE / "lane" / f"{self.module}.py": module(self, spec)}


AIR, MANET = Family("dcf80211", "the air", "protocol"), Family("manet", "routing interfaces", "manet_protocol")
FAMILIES = (AIR, MANET)
CAPITALS = ("outcome", "reason", "category")  # tables whose words Python has in capitals
WIDTH = 120
C = """\
/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the netlink family that controls {of}.
 * generate.py writes this file from {name}.yaml.
 */
#ifndef {NAME}_PROTOCOL_H
#define {NAME}_PROTOCOL_H

#include <net/netlink.h>

#define {NAME}_FAMILY_NAME "{name}"
#define {NAME}_FAMILY_VERSION {version}

enum {{
{commands}
}};

enum {{
{attributes}
}};

static const struct nla_policy policy[ATTRS] __maybe_unused = {{
{policy}
}};

/* Attributes that each request must carry. */
{needs}

#endif
"""
PYTHON = '''\
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the netlink family that controls {of}. generate.py writes this file from
emulation/{name}/{name}.yaml."""

FAMILY = "{name}"

{tables}


class Command:
    """Numbers of commands."""

{commands}


class Attribute:
    """Numbers of attributes."""

{attributes}
'''


def capitals(name: str) -> str:
    return name.upper().replace("-", "_")


def read(family: Family) -> dict[str, Any]:
    """Return the YAML, with the attributes of each command's request as `requests`."""
    spec: dict[str, Any] = yaml.safe_load((family.folder / f"{family.name}.yaml").read_text())
    spec["commands"] = [operation["name"] for operation in spec["operations"]["list"]]
    spec["attributes"] = spec["attribute-sets"][0]["attributes"]
    asked = {o["name"]: request(o).get("attributes") for o in spec["operations"]["list"]}
    spec["requests"] = {name: attributes for name, attributes in asked.items() if attributes}
    return spec


def request(operation: dict[str, Any]) -> dict[str, Any]:
    """Return the request of an operation."""
    carried: dict[str, Any] = {**operation.get("do", {}), **operation.get("dump", {})}.get("request", {})
    return carried


def check(attribute: dict[str, Any]) -> str:
    """Return a line of the kernel's policy."""
    checks = attribute.get("checks", {})
    if "exact-len" in checks:
        return f"NLA_POLICY_EXACT_LEN({checks['exact-len']})"
    longest = f", .len = {checks['max-len']}" if "max-len" in checks else ""
    kind = "NUL_STRING" if attribute["type"] == "string" else capitals(attribute["type"])
    return f"{{ .type = NLA_{kind}{longest} }}"


def needs(command: str, attributes: list[str]) -> str:
    return f"static const int {command}_needs[] __maybe_unused = {{\n{listed('A', attributes, '0')}\n}};"


def listed(kind: str, names: list[str], last: str = "") -> str:
    """Return names of C in lines, each with a comma, and a last word."""
    words = " ".join([*(f"{kind}_{capitals(name)}," for name in names), last])
    return textwrap.fill(words, 100, initial_indent="\t", subsequent_indent="\t")


def header(family: Family, spec: dict[str, Any]) -> str:
    carried = {name for attributes in spec["requests"].values() for name in attributes}
    checked = [attribute for attribute in spec["attributes"] if attribute["name"] in carried]
    return C.format(
        name=family.name,
        NAME=capitals(family.name),
        of=family.of,
        version=spec["version"],
        commands=listed("CMD", ["unspec", *spec["commands"]]),
        attributes=listed("A", ["unspec", *(a["name"] for a in spec["attributes"])], "ATTRS"),
        policy="\n".join(f"\t[A_{capitals(a['name'])}] = {check(a)}," for a in checked),
        needs="\n".join(needs(*request) for request in spec["requests"].items()),
    )


def table(enum: dict[str, Any]) -> str:
    name, entries = enum["name"], [entry.replace("-", "_") for entry in enum["entries"]]
    words = [f'"{entry.upper() if name in CAPITALS else entry}",' for entry in entries]
    names = re.sub("Y?S?$", lambda end: "IES" if end[0] == "Y" else "S", capitals(name), count=1)
    said = f"{names} = ({' '.join(words).removesuffix(',' * (len(words) > 1))})"
    return said if len(said) <= WIDTH else f"{names} = (\n{filled(words, 4)}\n)  # fmt: skip"


def numbers(names: list[str]) -> str:
    words = filled([f"{capitals(name)}," for name in names], 8)
    return f"    (\n{words}\n    ) = range(1, {len(names) + 1})  # fmt: skip"


def filled(words: list[str], indent: int) -> str:
    """Return lines of these words, which may have spaces."""
    text = " ".join(word.replace(" ", "\0") for word in words)
    margin = " " * indent
    return textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin).replace("\0", " ")


def module(family: Family, spec: dict[str, Any]) -> str:
    return PYTHON.format(
        name=family.name,
        of=family.of,
        tables="\n".join(table(definition) for definition in spec["definitions"] if "entries" in definition),
        commands=numbers(spec["commands"]),
        attributes=numbers([attribute["name"] for attribute in spec["attributes"]]),
    )


class Parameter(c.Structure):
    """struct manet_parameter"""

    _fields_ = (
        ("name", c.c_char_p), ("least", c.c_uint32), ("most", c.c_uint32), ("preset", c.c_uint32 * 3),
        ("what", c.c_char_p),
    )  # fmt: skip


def parameters() -> str:
    """Return manet_parameters.py, from the cores, which are built for this."""
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/manet.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, *(MANET.folder / "core").glob("*.c")], check=True)
        cores = c.CDLL(library)
    cores.manet_protocol_name.restype, cores.manet_parameters.restype = c.c_char_p, c.POINTER(Parameter)
    lines, protocol = [], 0
    while name := cores.manet_protocol_name(protocol):
        count = c.c_uint32()
        table = cores.manet_parameters(protocol, c.byref(count))
        rows = [f'"{p.name.decode()}": ({p.least}, {p.most}, {tuple(p.preset)}),' for p in table[: count.value]]
        lines += [f'    "{name.decode()}": {{', filled(rows, 8), "    },"]
        protocol += 1
    return PARAMETERS.format(tables="\n".join(lines))


PARAMETERS_FILE = HERE / "lane" / "manet_parameters.py"
PARAMETERS = '''\
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of the routing cores: least, most, and the presets rfc, thesis and cmu. generate.py writes this file from
the cores."""

PARAMETERS = {{
{tables}
}}  # fmt: skip
'''


if __name__ == "__main__":
    PARAMETERS_FILE.write_text(parameters())
    for made in FAMILIES:
        for file, text in made.files().items():
            file.write_text(text)
