# SPDX-License-Identifier: BSD-3-Clause
"""The places that a finding names, from a module's symbols."""

from __future__ import annotations

import subprocess

from emulation.features.check import Finding, Name, Stage
from emulation.features.check.lines import Lines, explained

START = 0x80853000


def test_a_variable_that_is_used_after_the_module_is_gone_is_named(tmp_path):
    """By the address of any earlier load; another address is nothing of the module's."""
    source, module = tmp_path / "tcp_mine.c", tmp_path / "tcp_mine.ko"
    source.write_text("int before[4] = {1}, notifier[4] = {2};\n")
    subprocess.run(["gcc", "-c", source, "-o", module], check=True)
    lines = Lines("tcp_mine", module, tmp_path, data=[START + 4096, START])
    at = next(symbol.value for symbol in lines.symbols if symbol.name == "notifier")
    title = "KASAN: vmalloc-out-of-bounds in notifier_chain_register"
    for address, name, where in (
        (START + at + 8, Name.USE_AFTER_FREE, "notifier [tcp_mine]"),
        (START - 8, Name.OUT_OF_BOUNDS, "chain"),
    ):
        console = (title, f"Read of size 8 at addr {address:016x} by task insmod/1")
        found = explained(Finding(Stage.CYCLES, Name.OUT_OF_BOUNDS, title, 1, console, "chain"), lines)
        assert (found.name, found.where) == (name, where)
