# SPDX-License-Identifier: BSD-3-Clause
"""The stage smp: what is read from the log of a kernel with several CPUs, how often it came, and where it is left out.

A load of real CPUs finds what it finds; `DCFLAB_SMP=10` asks for that many tries of each module that two CPUs break, in
each kernel.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from emulation.features.check import Finding, Name, Stage, build, smp, splats
from emulation.features.check.inside import queues
from emulation.features.check.inside import smp as inside
from emulation.features.check.report import Check, Done, without_report_lines
from emulation.features.check.subject import Kind, Module, examine, find
from emulation.lanes import LaneError, Reason
from emulation.setup import PreparedStock, packages, stock

RACY = Path(__file__).parent / "racy"
TRIES = int(os.environ.get("DCFLAB_SMP", "0"))

# Of CPU 0, while the load goes on on the others.
LOG = """\
[    7.002319] dcflab: stage smp
[    7.978686] dcflab: phase short connections
[    8.346432] dcflab: unload
[    9.873220] dcflab: load
[   10.108381] dcflab: slowdown = '7'
[   10.222141] list_del corruption. prev->next should be ffff88803f933ca0, but was ffff88803f9e2840.
[   10.222713] ------------[ cut here ]------------
[   10.222798] kernel BUG at lib/list_debug.c:62!
[   10.223288] Oops: invalid opcode: 0000 [#1] PREEMPT SMP NOPTI
[   10.224130] RIP: 0010:__list_del_entry_valid_or_report+0xa7/0xc0
[   10.225473] CS:  0010 DS: 0000 ES: 0000 CR0: 0000000080050033
[   10.261779] dcflab: slowdown = '1'
[   10.282092] Call Trace:
[   10.282233]  <TASK>
[   10.282344]  roster_release+0x22/0x60 [tcp_roster]
[   10.282522]  tcp_set_congestion_control+0x10a/0x280
[   10.283665]  entry_SYSCALL_64_after_hwframe+0x76/0x7e
[   10.283780] RIP: 0033:0x7ffff7dc0d6a
[   10.361732] ---[ end trace 0000000000000000 ]---
[   10.503272] Kernel panic - not syncing: Fatal exception
"""
QUIET = LOG.partition("[   10.222141]")[0]  # until there is something to report
CORRUPTED = """\
[   11.000100] =============================================================================
[   11.000200] BUG kmalloc-64 (Tainted: G           OE     ): {what}
[   11.000300] -----------------------------------------------------------------------------
[   11.000400] Allocated in notice_ssthresh+0x2a/0x90 [tcp_notice] age=12 cpu=2 pid=151
[   11.010500] Call Trace:
[   11.020600]  check_object+0x1c1/0x290
[   11.090700] FIX kmalloc-64: Restoring Poison 0xffff8880=0x6b
"""


def module(tmp_path: Path, content: bytes = b"") -> Module:
    path = tmp_path / "tcp_roster.ko"
    path.write_bytes(content)
    return Module("tcp_roster", path, Kind.CONGESTION)


def seen(tmp_path: Path, log: str = LOG, error: LaneError | None = None) -> smp.Try:
    (tmp_path / "console.log").write_text(log)
    return smp.read(tmp_path, module(tmp_path), Path("/lib/modules/none/build"), 250, error)


def test_a_report_is_read_though_other_cpus_go_on(tmp_path):
    """It names the module's function; what the load does meanwhile is not in it, and comes before it."""
    found = seen(tmp_path, error=LaneError(Reason.CRASHED, "Oops"))
    (finding,) = found.findings
    assert (finding.stage, finding.name, finding.where) == (Stage.SMP, Name.OOPS, "roster_release [tcp_roster]")
    assert finding.text.startswith("list_del corruption. prev->next should be ")
    assert finding.text.endswith("(during short connections, after slowdown = '1')")
    assert (finding.console[0][:8], finding.console[-1][:4]) == ("list_del", "---[")
    assert not any("slowdown" in line for line in finding.console)
    assert [line for line in LOG.splitlines() if "CS: " in line]
    assert not any("CS: " in line for line in without_report_lines(finding.console))
    assert (found.connections, found.reloads) == (250, 1)


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("Poison overwritten", Name.USE_AFTER_FREE),
        ("Object already free", Name.USE_AFTER_FREE),
        ("Right Redzone overwritten", Name.OUT_OF_BOUNDS),
    ],
)
def test_damaged_objects_are_named(what, name):
    (finding,) = splats.find(smp.calm((QUIET + CORRUPTED.format(what=what)).splitlines()))
    assert (finding.name, finding.where) == (name, "notice_ssthresh [tcp_notice]")
    assert finding.text == f"BUG kmalloc-64: {what} (during short connections, after slowdown = '7')"
    assert len(finding.console) == 6


def test_a_data_race_is_named_by_both_accesses(tmp_path, monkeypatch):
    """Of two writes; a read beside a write is a note. Other reports follow at once, of other CPUs."""
    frames = "tally_init+0x{}/0x20 [tcp_tally]", "tally_release+0x5/0x20 [tcp_tally]"
    said = f"{frames[0].format(7)} writes 4 bytes while {frames[1]} "
    log = f"{QUIET}[   10.2] dcflab: note: {said}reads them\n[   10.2] dcflab: race: {said}writes them\n"
    monkeypatch.setattr(smp.Lines, "of", lambda lines, frame: f"a.c:{frame.partition('+0x')[2][:1]}")
    found = seen(tmp_path, log + LOG.removeprefix(QUIET))
    both = "tally_init (a.c:7) writes 4 bytes while tally_release (a.c:5)"
    assert found.notes == (f"{smp.SEEN}{both} reads them",)
    race, corruption = found.findings
    assert (race.name, race.text, race.where) == (Name.DATA_RACE, f"{both} writes them", "tally_init [tcp_tally]")
    assert corruption.name is Name.OOPS


@pytest.mark.parametrize(("other", "lost"), [("tally_release+0x7/0x20", True), ("tally_release+0x5/0x20", False)])
def test_an_update_of_one_line_is_a_finding(tmp_path, monkeypatch, other, lost):
    """A read beside a write is lost if both are of one line, which may be inlined into several functions."""
    said = f"tally_init+0x7/0x20 [tcp_tally] reads 4 bytes while {other} [tcp_tally] writes them"
    monkeypatch.setattr(smp.Lines, "of", lambda lines, frame: f"a.c:{frame.partition('+0x')[2][:1]}")
    found = seen(tmp_path, f"{QUIET}[   10.2] dcflab: note: {said}\n")
    both = f"tally_init (a.c:7) reads 4 bytes while tally_release (a.c:{other[16]}) writes them"
    assert [(one.name, one.text, one.where) for one in found.findings] == [
        (Name.DATA_RACE, both, "tally_init [tcp_tally]")
    ] * lost
    assert found.notes == (f"{smp.SEEN}{both}",) * (not lost)


FREED = """\
[   10.200001] BUG: freed meanwhile: best_ack+0x7/0x20 [tcp_best] reads 4 bytes
[   10.200002]  slab kmalloc-8 start ffff88800a pointer offset 0 size 8
[   10.200003]     best_release+0x3/0x70 [tcp_best]
[   10.200004]  Free path:
[   10.200005]     kfree+0x1/0x2
[   10.200006]     best_release+0x5/0x70 [tcp_best]
[   10.200007] ==================================================================
"""


def test_memory_that_is_freed_while_it_is_read_is_named_by_reader_and_free(tmp_path, monkeypatch):
    monkeypatch.setattr(smp.Lines, "of", lambda lines, frame: f"b.c:{frame.partition('+0x')[2][:1]}")
    (finding,) = seen(tmp_path, QUIET + FREED).findings
    assert (finding.name, finding.where) == (Name.USE_AFTER_FREE, "best_ack [tcp_best]")
    assert finding.text == "best_ack (b.c:7) reads 4 bytes, and they are freed meanwhile by best_release (b.c:5)"


def test_a_crash_of_the_emulator_is_not_a_finding(tmp_path):
    """A breakpoint that another CPU has removed; or a crash before the module is loaded."""
    crashed = LaneError(Reason.CRASHED, "Oops")
    stale = LOG.replace("invalid opcode", "int3").splitlines()
    assert smp.emulator_failed(stale, crashed)
    assert smp.emulator_failed(LOG.splitlines()[5:], crashed)
    assert not smp.emulator_failed(LOG.splitlines(), crashed)
    assert not smp.emulator_failed([], LaneError(Reason.DISK_FULL))
    assert not smp.emulator_failed([], None)
    with pytest.raises(LaneError):
        seen(tmp_path, "\n".join(stale), crashed)


def test_what_comes_before_the_module_is_not_its_fault(tmp_path):
    """A warning of the machine while it boots; and a lane that fails."""
    boot = "[    1.0] WARNING: CPU: 0 PID: 1 at mm/dump.c:2 note_page+0x1/0x2\n[    1.1] ---[ end trace 0 ]---\n"
    crashed, full = LaneError(Reason.CRASHED, "WARNING"), LaneError(Reason.DISK_FULL)
    for log, error in ((boot, crashed), (QUIET, full)):
        with pytest.raises(LaneError, match=str(error)):
            seen(tmp_path, log, error)
    assert seen(tmp_path, boot + QUIET, crashed).findings[0].name is Name.OOPS  # it has not come to its end
    (tmp_path / "workout.json").write_text('{"findings": [], "connections": 4010}')
    assert seen(tmp_path, boot + QUIET, crashed) == smp.Try((), 4010, 1)


@pytest.mark.parametrize(("least", "boots"), [(0.0, smp.BOOTS), (1e9, 1)])
def test_a_kernel_whose_clock_runs_fast_is_booted_again(tmp_path, monkeypatch, least, boots):
    """To it, a second of this machine may be a hang."""
    assert [smp.runs_fast(LOG.splitlines(), wall_s) for wall_s in (1.0, 10.0)] == [True, False]
    booted = []

    class Lane:
        def run(self, *args, **settings):
            booted.append(settings)
            (tmp_path / "console.log").write_text(LOG)

    monkeypatch.setattr(smp, "FAST", least)
    monkeypatch.setattr(smp.lanes, "ready", lambda lane, kernel: (Lane(), ""))
    monkeypatch.setattr(smp, "built_against", lambda place: tmp_path)
    place = PreparedStock(stock.Stock("6.12.1", tmp_path), {})
    try:
        found = smp.attempt(place, replace(module(tmp_path), options="00ff"), tmp_path, 1, 1, print)
    except LaneError as error:
        assert error.reason is Reason.LATE
    else:
        assert boots == 1 and found.findings
    assert len(booted) == boots
    assert json.loads((tmp_path / "job.json").read_text())["options"] == "00ff"


def test_no_end_is_a_hang(tmp_path):
    (finding,) = seen(tmp_path, QUIET, LaneError(Reason.WALL_LIMIT)).findings
    assert (finding.name, finding.text[:13]) == (Name.HANG, "no end after ")


def test_a_load_that_a_busy_machine_does_not_finish_is_not_a_finding(tmp_path):
    late = f"{QUIET}[  {smp.WALL_LIMIT_S - smp.QUIET_S + 1:.6f}] dcflab: unload\n"
    with pytest.raises(LaneError):
        seen(tmp_path, late, LaneError(Reason.WALL_LIMIT))


def test_the_kernel_finds_a_hang_before_the_load_does_and_says_where():
    """It looks for hung tasks once in each limit, and for a soft lockup after two."""
    (stall,) = (int(word.partition("stall_timeout=")[2]) for word in smp.KERNEL_ARGUMENTS if "stall_timeout=" in word)
    lockup, hung = (int(inside.SETTINGS[name]) for name in ("watchdog_thresh", "hung_task_timeout_secs"))
    assert max(stall, 2 * lockup, 2 * hung) < inside.STUCK_MS / 1000 <= smp.QUIET_S
    assert min(stall, 2 * lockup, hung) >= 120  # seconds that another program may have had the CPUs


def test_a_finding_says_in_how_many_tries_it_came() -> None:
    one, other = Finding(Stage.SMP, Name.OOPS, "a", where="f [m]"), Finding(Stage.SMP, Name.HANG, "b")
    clean, twice = smp.Try(()), smp.Try((one,))
    found = [finding.text for finding in smp.counted([clean, twice, smp.Try((one, other, one)), clean], "smp-m")]
    expected = ("a", 2, "smp-m/2/console.log"), ("b", 1, "smp-m/3/console.log")
    assert found == [f"{text} (in {count} of 4 tries; {smp.UNSTABLE}; {log})" for text, count, log in expected]


def test_the_command_that_repeats_it_keeps_the_number_of_tries() -> None:
    finding = Finding(Stage.SMP, Name.OOPS, "a")
    check = Check("mine", {"--smp-tries": ["10"], "--seeds": ["3"], "--hops": ["4"]}, ["mine"], [])
    assert check.again(Done(Stage.SMP, ""), finding) == "./dcflab module check mine --only smp --smp-tries 10"


def test_all_objects_are_checked_if_the_module_has_its_own_cache(tmp_path):
    assert smp.checks_for(module(tmp_path)) == smp.OBJECTS
    assert smp.checks_for(module(tmp_path, b"\0__kmem_cache_create_args\0kmem_cache_create\0")) == "slub_debug=FZPU"


@pytest.mark.parametrize(("refused", "expected"), [((), (5, 1, 7, 1)), ((1,), (5, 0, 7, 1))])
def test_an_island_keeps_a_backlog_with_each_option_of_0_that_may_be_1(refused, expected):
    """One of 0 may switch a timer off."""
    load, put = object.__new__(inside.Load), []
    load.words, load.random = struct.pack("=4I", 5, 0, 7, 0), Random(1)

    def put_behind_bucket(node, kind, rate, options):
        put.append(struct.unpack("=4I", options))
        return not any(put[-1][at] for at in refused)

    load.put_behind_bucket = put_behind_bucket
    load.put_with_timers(None, "sfq")
    assert put[-1] == expected
    assert struct.unpack("=4I", inside.with_word(load.words, 8, Random(1)))[2] in queues.SMALL_LIMITS


def test_where_it_is_left_out_is_said_why(monkeypatch):
    monkeypatch.setattr(packages, "missing", lambda *groups: ["qemu-system-x86"])
    assert smp.release_for([]) == ("", "not installed: qemu-system-x86; ./dcflab doctor says how to")
    monkeypatch.setattr(packages, "missing", lambda *groups: [])
    monkeypatch.setattr(stock, "installed", lambda: [Path("/boot/a"), Path("/boot/b")])
    monkeypatch.setattr(stock, "release_of", lambda image: image.name)
    targets = [build.Target(name, Path(name)) for name in ("a", "b", "c")]
    assert smp.release_for(targets) == ("b", "")
    assert smp.release_for(targets[2:])[1] == "no stock kernel to build for can be booted here"


@pytest.mark.stock
@pytest.mark.skipif(not TRIES, reason="DCFLAB_SMP is not the number of tries")
@pytest.mark.parametrize("kernel", smp.KERNELS)
@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("tcp_roster", "roster_"),
        ("tcp_notice", "notice_"),
        ("sch_muster", "muster_"),
        ("tcp_tally", "tally_"),
        ("tcp_roster_guarded", ""),
        ("tcp_notice_guarded", ""),
        ("sch_muster_guarded", ""),
    ],
)
def test_what_two_cpus_break_is_found_in_some_tries(tmp_path, name, where, kernel):
    """And nothing in its twin."""
    release, lacking = smp.release_for(build.stock_targets())
    assert release, lacking
    place = smp.debug_place() if kernel == smp.DEBUG else smp.place_of(release)
    report = build.build(find(RACY), [smp.target(place)], tmp_path / "built")
    module = examine(Path(report.data["modules"][build.SMP][name]), [RACY / f"{name}.c"])
    found = smp.check(place, module, tmp_path / "load", tries=TRIES)
    print(found.data)
    assert bool(found.findings) == bool(where)
    assert any(finding.where.startswith(where) for finding in found.findings) or not where
