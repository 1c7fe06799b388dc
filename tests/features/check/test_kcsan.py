# SPDX-License-Identifier: BSD-3-Clause
"""The debug kernel with several CPUs: what it is configured with, and KCSAN's reports in its log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from emulation.features.check import Name, Stage, build, kcsan, smp, smp_kernel
from emulation.features.check.lines import FRAME, Lines
from emulation.features.check.subject import Kind, Module
from emulation.setup import PreparedStock, kernel, packages, uml
from emulation.setup.errors import SetupError
from emulation.setup.stock import Installed

RECORDED = Path(__file__).parent / "kcsan.log"
UNKNOWN = """\
[   50.1] ==================================================================
[   50.2] BUG: KCSAN: data-race in tcp_veno_init+0x30/0x80 [tcp_veno]
[   50.3]
[   50.4] race at unknown origin, with {what} to 0xffffffffc0203000 of 4 bytes by interrupt on cpu 1:
[   50.5]  tcp_veno_init+0x30/0x80 [tcp_veno]
[   50.6]  tcp_init_congestion_control+0x56/0x120
[   50.7]
[   50.8] value changed: 0x00000001 -> 0x00000002
[   50.9]
[   50.9] ==================================================================
"""


def read(tmp_path, monkeypatch, log, name="tcp_veno"):
    """Return what is read from a log, where the debug information says `NAME.c:OFFSET`."""
    monkeypatch.setattr(Lines, "of", lambda lines, frame: place(frame) if f"[{lines.name}]" in frame else "")
    return log_read(tmp_path, log, name)


def log_read(tmp_path, log, name="tcp_veno"):
    (tmp_path / "console.log").write_text(log)
    path = tmp_path / f"{name}.ko"
    path.touch()
    return smp.read(tmp_path, Module(name, path, Kind.CONGESTION), tmp_path)


def place(frame: str) -> str:
    found = FRAME.search(frame)
    return f"{found['module']}.c:{int(found['offset'], 16)}" if found else ""


def test_a_race_is_a_finding_with_both_places_and_stacks(tmp_path, monkeypatch):
    """Of a log that a counter of all connections left: here `x++` is a read and a write."""
    monkeypatch.setattr(kcsan.Lines, "of", lambda lines, frame: "tcp_veno.c:88" if "[tcp_veno]" in frame else "")
    found = log_read(tmp_path, RECORDED.read_text())
    (race,) = found.findings
    assert (race.stage, race.name, race.where) == (Stage.SMP, Name.DATA_RACE, "tcp_veno_state [tcp_veno]")
    assert race.text == "tcp_veno.c:88 in tcp_veno_state (write) against tcp_veno.c:88 in tcp_veno_state (read)"
    assert race.place == "tcp_veno.c:88"
    assert race.console[0].startswith("BUG: KCSAN: data-race in tcp_veno_state [tcp_veno] / ")
    assert race.console[-1].startswith("Tainted: ")
    assert not found.notes


def test_a_read_beside_a_write_is_a_note(tmp_path, monkeypatch):
    found = read(tmp_path, monkeypatch, RECORDED.read_text())
    assert not found.findings
    said = "tcp_veno.c:50 in tcp_veno_state (write) against tcp_veno.c:27 in tcp_veno_state (read)"
    assert found.notes == (f"{smp.SEEN}{said}",)


def test_two_writes_are_a_finding(tmp_path, monkeypatch):
    found = read(tmp_path, monkeypatch, RECORDED.read_text().replace("] read to ", "] write to "))
    (race,) = found.findings
    assert race.text == "tcp_veno.c:27 in tcp_veno_state (write) against tcp_veno.c:50 in tcp_veno_state (write)"
    often = [one.text for one in smp.counted([found, smp.Try(()), found], "smp-m")]
    assert often == [f"{race.text} (in 2 of 3 tries; {smp.UNSTABLE}; smp-m/1/console.log)"]


def test_a_race_is_named_by_both_accesses_whichever_came_first():
    lines = Lines("m", Path("none"), Path("none"))
    write, read = kcsan.Access("write", "b+0x1/0x2 [m]"), kcsan.Access("read", "a.part.0+0x1/0x2 [m]")
    for order in ((write, read), (read, write)):
        assert kcsan.Race(order, ()).said(lines) == "b (write) against a (read)"


@pytest.mark.parametrize("what", ["read", "write", "read-write", "read (marked)"])
def test_a_change_by_other_code_is_a_note(tmp_path, monkeypatch, what):
    """KCSAN does not see that access, so nobody can tell whether it is marked or has a lock."""
    found = read(tmp_path, monkeypatch, UNKNOWN.format(what=what))
    assert not found.findings
    said = f"tcp_veno.c:48 in tcp_veno_init ({what.partition(' (')[0]}) against {kcsan.UNKNOWN}"
    assert found.notes == (f"{smp.SEEN}{said}",)


FREED = """\
[   50.8] value changed: 0x00000001 -> 0x6b6b6b6b
[   50.8]  slab kmalloc-8 start ffff88800a pointer offset 0 size 8
[   50.8]  Free path:
[   50.8]     kfree+0x1/0x2
[   50.8]     tcp_veno_gone+0x5/0x70 [tcp_veno]
"""


def test_memory_that_is_freed_meanwhile_is_a_finding(tmp_path, monkeypatch):
    """It is named by both places: where it is used, and where it was freed."""
    log = UNKNOWN.format(what="read").replace("[   50.8] value changed: 0x00000001 -> 0x00000002\n", FREED)
    (finding,) = read(tmp_path, monkeypatch, log).findings
    assert (finding.name, finding.where) == (Name.USE_AFTER_FREE, "tcp_veno_init [tcp_veno]")
    used, by = "tcp_veno.c:48 in tcp_veno_init (read)", "tcp_veno_gone (tcp_veno.c:5)"
    assert finding.text == f"{used}, and they are freed meanwhile by {by}"


def test_races_of_other_modules_are_left_out(tmp_path, monkeypatch):
    assert read(tmp_path, monkeypatch, UNKNOWN.format(what="write"), "tcp_other") == smp.Try((), 0, -1)


def test_each_option_is_asked_for_once():
    lines = uml.read_list(smp_kernel.CONFIGURATION)
    options = Counter(line.partition("=")[0] for line in lines)
    assert all(line.startswith("CONFIG_") and "=" in line for line in lines)
    assert max(options.values()) == 1
    assert {"CONFIG_KCSAN_STRICT=y", "CONFIG_PROVE_LOCKING=y", "CONFIG_PROVE_RCU=y", "CONFIG_SMP=y"} <= set(lines)
    assert "CONFIG_KASAN" not in options  # KCSAN excludes it


def test_modules_are_built_against_what_is_kept_of_the_build(tmp_path):
    built, ready = tmp_path / "smp-0", tmp_path / "stock-0"
    built.mkdir()
    (built / "modules.builtin").write_text("kernel/net/sched/sch_tbf.ko\nkernel/fs/9p/9p.ko\n")
    debug = smp_kernel.Debug("6.12.1-smp-debug", ready, built)
    assert debug.modules == {"sch_tbf": ready / "linux"}
    place = PreparedStock(debug, debug.modules)
    assert smp.target(place) == build.kcsan_target(built)
    assert debug.make == ("-C", str(built))
    control = Module("tcp_veno", tmp_path / "tcp_veno.ko", Kind.CONGESTION)
    assert smp.watching(place, control)[-1] == "kcsan.skip_watch=8"
    assert smp.watching(place, replace(control, kind=Kind.QDISC, qdisc="sfq"))[-1] == "kcsan.skip_watch=64"
    assert not smp.watching(PreparedStock(Installed("6.12.1"), {}), control)


def test_without_a_kernel_source_it_is_not_built(monkeypatch):
    monkeypatch.setattr(packages, "ensure", lambda *groups: None)
    monkeypatch.setattr(kernel, "archive", lambda: None)
    with pytest.raises(SetupError, match="no kernel source"):
        smp.debug_place()
