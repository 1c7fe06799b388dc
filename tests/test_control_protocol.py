# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol is defined once, in YAML: generated files are up to date, and handwritten ones agree."""

import re

import pytest

from emulation import generate

SPECS = {family: generate.read(family) for family in generate.FAMILIES}
ENUMS = [
    (family, definition["name"], definition["entries"])
    for family, spec in SPECS.items()
    for definition in spec["definitions"]
    if "entries" in definition
]
CORE = {
    generate.AIR: (("core/dcf.h", "core/mode.h", "wire/frame.h"), "dcf"),
    generate.MANET: (("core/manet.h",), "manet"),
}


@pytest.mark.parametrize("family", SPECS, ids=lambda family: family.name)
def test_what_is_made_is_up_to_date(family: generate.Family) -> None:
    """After a change of the YAML: python -m emulation.generate"""
    for file, text in family.files().items():
        assert file.read_text() == text


@pytest.mark.slow
def test_the_routing_cores_parameters_are_up_to_date() -> None:
    """After a change of a core's: python -m emulation.generate"""
    assert generate.PARAMETERS_FILE.read_text() == generate.parameters()


@pytest.mark.parametrize(("family", "name", "entries"), ENUMS, ids=[name for _, name, _ in ENUMS])
def test_the_core_numbers_what_it_tells_alike(family: generate.Family, name: str, entries: list[str]) -> None:
    """The core has its own enums; a name that would clash is longer: DCF_STAGES_USED."""
    files, core_name = CORE[family]
    sources = "".join((family.folder / file).read_text() for file in files)
    body = re.search(rf"enum {core_name}_{generate.capitals(name).lower()} \{{(.*?)\}};", sources, re.DOTALL)
    assert body
    *core, count = re.findall(rf"\b{core_name.upper()}_\w+", re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL))
    prefix = "DCF_EIFS_" if name == "eifs" else f"{core_name.upper()}_"
    for said, entry in zip(core, entries, strict=True):
        assert said.startswith(prefix + generate.capitals(entry))
    assert count.endswith("S")


@pytest.mark.parametrize("family", SPECS, ids=lambda family: family.name)
def test_the_kernel_answers_to_each_command_as_told(family: generate.Family) -> None:
    """By one message or a dump, and with the stated rights."""
    told = {
        generate.capitals(operation["name"]): (
            "dumpit" if "dump" in operation else "doit",
            "admin-perm" in operation.get("flags", []),
        )
        for operation in SPECS[family]["operations"]["list"]
    }
    entry = r"\{ \.cmd = CMD_(\w+), \.(doit|dumpit) = \w+(, ADMIN)? \}"
    found = re.findall(entry, (family.folder / "control.c").read_text())
    assert {command: (how, bool(admin)) for command, how, admin in found} == told
