# SPDX-License-Identifier: BSD-3-Clause
"""The control protocol is said once, in YAML: what is made of it is up to date, and what is written by hand agrees."""

import re

import pytest

from emulation.dcf80211 import generate

SPEC = generate.read()
ENUMS = {definition["name"]: definition["entries"] for definition in SPEC["definitions"] if "entries" in definition}


def test_what_is_made_is_up_to_date() -> None:
    """After a change of the YAML: python -m emulation.dcf80211.generate"""
    assert generate.HEADER.read_text() == generate.header(SPEC)
    assert generate.MODULE.read_text() == generate.module(SPEC)


@pytest.mark.parametrize("name", ENUMS)
def test_the_core_numbers_what_it_tells_alike(name: str) -> None:
    """The core has enums of its own; where a name would be another's, it says more: DCF_STAGES_USED."""
    sources = "".join((generate.HERE / file).read_text() for file in ("core/dcf.h", "wire/frame.h"))
    body = re.search(rf"enum dcf_{name} \{{(.*?)\}};", sources, re.DOTALL)
    assert body
    *core, count = re.findall(r"\bDCF_\w+", re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL))
    prefix = "DCF_EIFS_" if name == "eifs" else "DCF_"
    for said, entry in zip(core, ENUMS[name], strict=True):
        assert said.startswith(prefix + generate.capitals(entry))
    assert count.endswith("S")


def test_the_kernel_answers_to_each_command_as_told() -> None:
    """By one message or by a dump; and to whom."""
    told = {
        generate.capitals(operation["name"]): (
            "dumpit" if "dump" in operation else "doit",
            "admin-perm" in operation.get("flags", []),
        )
        for operation in SPEC["operations"]["list"]
    }
    entry = r"\{ \.cmd = CMD_(\w+), \.(doit|dumpit) = \w+(, ADMIN)? \}"
    found = re.findall(entry, (generate.HERE / "control.c").read_text())
    assert {command: (how, bool(admin)) for command, how, admin in found} == told
