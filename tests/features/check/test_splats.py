# SPDX-License-Identifier: BSD-3-Clause
"""What the debug kernel says, as it said it (its stacks shortened), and what the bench makes of it."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.check import Finding, Name, Stage, exercise, splats
from emulation.features.check.lines import explained
from emulation.features.check.subject import Kind, Module

STACK = """\
CPU: 0 UID: 0 PID: 23 Comm: python Tainted: G           O       6.12.117 #1
Tainted: [O]=OOT_MODULE
Stack:
 0cbb2e80 00000002 60ec27e0 65d973f0
Call Trace:
 [<602bf6a0>] ? __asan_load4+0x0/0x90
 [<60c7b315>] show_stack.cold+0xb0/0x17b
 [<60cf5e93>] dump_stack+0x1a/0x1c
 [<80818000>] ? foo_other+0x0/0x90 [tcp_foo]
 [<8081f1c5>] foo_acked.part.0+0x1c4/0xa0f [tcp_foo]
 [<60786698>] tcp_ack+0x1855/0x2e20
 [<606fc5d0>] dcf_deliver+0x41/0x90 [dcf80211]
"""

KASAN = f"""\
==================================================================
BUG: KASAN: slab-use-after-free in foo_acked+0x41/0x70 [tcp_foo]
Read of size 8 at addr 00000000645ab6d8 by task ksoftirqd/0/10

{STACK}
Allocated by task 10:
 __kmalloc_cache_noprof+0x29b/0x3b0
 foo_init+0x43/0x65 [tcp_foo]

The buggy address belongs to the object at 00000000645ab6c0
 which belongs to the cache kmalloc-32 of size 32
Memory state around the buggy address:
 00000000645ab600: fa fb fb fb fc fc fc fc fa fb fb fb fc fc fc fc
==================================================================
"""

LOCKDEP = f"""\

======================================================
WARNING: {{}}
6.12.117 #1 Tainted: G           O
------------------------------------------------------
python/23 is trying to acquire lock:
000000008081a0d8 (losses_lock){{{{+.-.}}}}-{{{{2:2}}}}, at: foo_acked+0x37/0x80 [tcp_foo]

but task is already holding lock:
000000008081a138 (acked_lock){{{{+.-.}}}}-{{{{2:2}}}}, at: foo_other+0x31/0x80 [tcp_foo]

stack backtrace:
{STACK}"""

WARNED = f"""\
------------[ cut here ]------------
WARNING: CPU: 0 PID: 23 at {{}}
{{}}
Modules linked in: tcp_foo(O)
{STACK}irq event stamp: 40641
---[ end trace 0000000000000000 ]---
"""

UBSAN = f"""\
------------[ cut here ]------------
UBSAN: {{}}
shift exponent 40 is too large for 32-bit type 'int'
{STACK}---[ end trace ]---
"""

PANIC = f"""\

Modules linked in: tcp_foo(O)
Pid: 23, comm: python Tainted: G           O       6.12.117
RIP: 0033:foo_acked+0x99/0xa0f [tcp_foo]
RSP: 0000000065da76b0  EFLAGS: 00010246
RAX: 0000000000000000 RBX: 000000000cbb4ef4 RCX: 0000100000000000
Kernel panic - not syncing: {{}}
{STACK.replace("foo_acked", "tcp_foo_caller")}"""

RACE = f"""\
dcflab: race: foo_acked+0x41/0x70 [tcp_foo] writes total, and foo_other+0x23/0x90 [tcp_foo] may write it at the same \
time on another CPU: no lock prevents it; updates may be lost
  foo_acked+0x41/0x70 [tcp_foo] writes it in a softirq, called as foo_acked [tcp_foo], with slock-AF_INET held
  foo_other+0x23/0x90 [tcp_foo] writes it in a task, called as foo_set [tcp_foo], with no lock held
{STACK}"""

SAMPLES = [
    (Name.DATA_RACE, "foo_acked [tcp_foo] writes total, and foo_other [tcp_foo] may write it at", RACE),
    (Name.USE_AFTER_FREE, "KASAN: slab-use-after-free in foo_acked [tcp_foo]", KASAN),
    (Name.USE_AFTER_FREE, "KASAN: double-free", KASAN.replace("slab-use-after-free", "double-free")),
    (Name.OUT_OF_BOUNDS, "KASAN: slab-out-of-bounds", KASAN.replace("slab-use-after-free", "slab-out-of-bounds")),
    (Name.LOCK_INVERSION, "possible circular", LOCKDEP.format("possible circular locking dependency detected")),
    (Name.LOCK_INVERSION, "possible irq", LOCKDEP.format("possible irq lock inversion dependency detected")),
    (Name.LOCK_INVERSION, "SOFTIRQ-safe", LOCKDEP.format("SOFTIRQ-safe -> SOFTIRQ-unsafe lock order detected")),
    (Name.LOCK_MISUSE, "inconsistent lock state", LOCKDEP.format("inconsistent lock state")),
    (Name.LOCK_MISUSE, "possible recursive", LOCKDEP.format("possible recursive locking detected")),
    (Name.LOCK_MISUSE, "bad unlock", LOCKDEP.format("bad unlock balance detected!")),
    (Name.LOCK_MISUSE, "held lock freed", LOCKDEP.format("held lock freed!")),
    (Name.LOCK_MISUSE, "python/23 still has", LOCKDEP.format("python/23 still has locks held!")),
    (Name.LOCK_MISUSE, "Invalid wait", LOCKDEP.replace("WARNING: {}", "[ BUG: Invalid wait context ]").format()),
    (Name.RCU_MISUSE, "suspicious RCU usage", LOCKDEP.format("suspicious RCU usage")),
    (
        Name.ATOMIC_SLEEP,
        "sleeping function called from invalid context at include/linux/sched/mm.h:321",
        f"BUG: sleeping function called from invalid context at include/linux/sched/mm.h:321\n{STACK}",
    ),
    (Name.ATOMIC_SLEEP, "scheduling while", f"BUG: scheduling while atomic: python/23/0x00000002\n{STACK}"),
    (
        Name.DIVISION_BY_ZERO,
        "UBSAN: division-overflow in tcp_foo.c:24:24",
        UBSAN.format("division-overflow in /a/b/tcp_foo.c:24:24"),
    ),
    (Name.UNDEFINED_BEHAVIOUR, "UBSAN: shift", UBSAN.format("shift-out-of-bounds in tcp_foo.c:32:10")),
    (Name.OUT_OF_BOUNDS, "UBSAN: array", UBSAN.format("array-index-out-of-bounds in tcp_foo.c:33:11")),
    (
        Name.USE_AFTER_FREE,
        "ODEBUG: free active",
        WARNED.format(
            "lib/debugobjects.c:514 debug_print_object+0x155/0x1c0",
            "ODEBUG: free active (active state 0) object: 0000000063494200 object type: timer_list hint: 0x0",
        ),
    ),
    (
        Name.USE_AFTER_FREE,
        "refcount_t: underflow",
        WARNED.format("lib/refcount.c:28 refcount_warn+0x1/0x2", "refcount_t: underflow; use-after-free."),
    ),
    (
        Name.LEAK,
        "refcount_t: decrement hit 0",
        WARNED.format("lib/refcount.c:31 refcount_warn+0x1/0x2", "refcount_t: decrement hit 0; leaking memory."),
    ),
    (
        Name.KERNEL_WARNING,
        "tcp_foo.c:24 foo_acked [tcp_foo]: too many 3",
        WARNED.format("/a/tcp_foo.c:24 foo_acked+0x5/0x9 [tcp_foo]", "too many 3"),
    ),
    (Name.NULL_POINTER, "Kernel mode fault at addr 0x8", PANIC.format("Kernel mode fault at addr 0x8, ip 0x8081f09a")),
    (Name.OOPS, "Kernel mode fault", PANIC.format("Kernel mode fault at addr 0xdead000000000100, ip 0x8081f09a")),
    (
        Name.USE_AFTER_FREE,
        "Kernel mode fault at addr 0x80804041",
        PANIC.format("Kernel mode fault at addr 0x80804041, ip 0x80804041"),
    ),
    (Name.DIVISION_BY_ZERO, "Kernel mode signal 8", PANIC.format("Kernel mode signal 8")),
    (
        Name.OOPS,
        "list_add double add",
        f"list_add double add: new=0000000080822500, prev=0000000080821180, next=0000000080822500.\n"
        f"BUG: failure at lib/list_debug.c:35/__list_add_valid_or_report()!\nKernel panic - not syncing: BUG!\n{STACK}",
    ),
    (Name.HANG, "foo_acked [tcp_foo] is in a loop",
     "dcflab: no return: foo_acked+0x5/0x9 [tcp_foo] is in a loop\n"
     f"Kernel panic - not syncing: dcflab: a module does not return\n{STACK}"),
    (Name.HANG, "task python:24 blocked", f"INFO: task python:24 blocked for more than 120 seconds.\n{STACK}"),
    (
        Name.LEAK,
        "BUG foo: Objects remaining",
        "=====\nBUG foo (Tainted: G           O      ): Objects remaining on __kmem_cache_shutdown()\n-----\n\n"
        "Object 0x00000000634942c0 @offset=704\n"
        + WARNED.format("mm/slub.c:1152 __slab_err+0x4b/0x60", "")
        + WARNED.format("mm/slab_common.c:1 kmem_cache_destroy+0x1/0x2", "kmem_cache_destroy foo: Slab cache still has "
                        "objects when called from foo_exit+0x5/0x9 [tcp_foo]").replace("foo_exit", "foo_acked"),
    ),
]  # fmt: skip

KMEMLEAK = """\
unreferenced object 0x66ba5a00 (size 64):
  comm "softirq", pid 0, jiffies 4294939009
  hex dump (first 32 bytes):
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................
  backtrace (crc 3a40462a):
    save_stack_trace+0x92/0xb0
    __create_object+0x2b/0x100
    __kmalloc_cache_noprof+0x2fc/0x3b0
    {}
    tcp_init_congestion_control+0x6c/0x200
    tcp_init_transfer+0x457/0x560
"""


SUSPICIOUS = """\
WARNING: suspicious RCU usage
include/linux/rcupdate.h:415 Illegal context switch in RCU read-side critical section!
1 lock held by ksoftirqd/0/10:
 #0: 0000000021227800 (rcu_read_lock){....}-{1:3}, at: netif_receive_skb_list_internal+0x218/0x580
Call Trace:
 [<20053298>] run_ksoftirqd+0xa8/0x100
"""


def stamped(text: str, time_s: float = 30.12) -> list[str]:
    return [f"[{time_s:12.6f}] {line}" for line in text.splitlines()]


@pytest.mark.parametrize(("name", "said", "text"), SAMPLES, ids=[f"{name}: {said[:30]}" for name, said, _ in SAMPLES])
@pytest.mark.parametrize("look", [stamped, str.splitlines], ids=["with times", "without"])
def test_reports_are_named(name, said, text, look):
    """One report is one finding, with the module's function that is nearest to the title, and its whole text."""
    quiet = look("dcflab: stage workout\ntcp_foo: loading out-of-tree module taints kernel.\n")
    (found,) = splats.find([*quiet, *look(text), *look("dcflab: phase wind down\n")], seed=3)
    assert (found.name, found.stage, found.seed, found.where) == (name, Stage.WORKOUT, 3, "foo_acked [tcp_foo]")
    assert found.text.startswith(said)
    assert len(found.console) >= len(STACK.splitlines())


def test_a_finding_names_its_phase():
    """The workout's own lines name the stage, the phase and the last action before the report."""
    log = [
        *stamped("dcflab: stage workout\ndcflab: phase reroutes\ndcflab: route at sta1", 1.0),
        *stamped(UBSAN.format("division-overflow in tcp_foo.c:24:24"), 1.0),
        *stamped("dcflab: stage cycles\n" + KASAN, 2.0),
    ]
    first, second = splats.find(log)
    assert first.text == "UBSAN: division-overflow in tcp_foo.c:24:24 (during reroutes, after route at sta1)"
    assert (second.stage, second.name) == (Stage.CYCLES, Name.USE_AFTER_FREE)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("divisor = '0'\ndcflab: with divisor = '0'", "(during parameters, with divisor = '0')"),
        ("divisor = '0'", "(during parameters, after divisor = '0')"),
        ("divisor = '0'\ndcflab: divisor = '0': Invalid argument\ndcflab: with ", "(during parameters)"),
        ("divisor = '0'\ndcflab: with divisor = '0'\ndcflab: divisor = '1'\ndcflab: with ", "(during parameters)"),
    ],
    ids=["in force", "being set", "refused", "as it was at first"],
)
def test_a_parameter_is_named_while_it_is_in_force(said, expected):
    """And not because it was written to before, or because it was refused."""
    log = stamped(f"dcflab: stage workout\ndcflab: phase parameters\ndcflab: {said}\n{KASAN}")
    (found,) = splats.find(log)
    assert found.text.endswith(f"in foo_acked [tcp_foo] {expected}")


def test_the_same_is_said_once():
    """A report that comes again, at whatever time, is the same finding; what the kernel then dies of is, too."""
    log = [line for time_s in range(5) for line in stamped(KASAN, float(time_s))]
    log += stamped(UBSAN.format("division-overflow in tcp_foo.c:24:24"), 6.0)
    log += stamped("Kernel panic - not syncing: Kernel mode signal 8\nReceived SIGSEGV in SIGSEGV handler", 6.0)
    assert [one.name for one in splats.find(log)] == [Name.USE_AFTER_FREE, Name.DIVISION_BY_ZERO]


def test_races_of_several_variables_are_several():
    """Though the function is the same; each variable is reported once."""
    said = [RACE, RACE.replace("total", "largest"), RACE.replace("0x41/", "0x47/")]
    found = splats.find(line for at, text in enumerate(said) for line in stamped(text, 30.0 + at))
    assert [" writes largest, " in one.text for one in found] == [False, True]


def test_a_second_copy_may_find_its_names_taken():
    warned = stamped(WARNED.format("fs/proc/generic.c:399 proc_register+0x1/0x2", "'net/foo' already registered"), 1.0)
    said = ["phase second copy", "load tcp_foz"], ["phase unload in use"]
    found = [splats.find([*(f"[    0.900000] dcflab: {line}" for line in lines), *warned]) for lines in said]
    assert [list(map(splats.meant, each)) for each in found] == [[True], [False]]


@pytest.mark.parametrize(
    ("warned", "explained"),
    [("tcp_cwnd_reduction", True), ("tcp_end_cwnd_reduction.part.0", True), ("tcp_init_transfer", False)],
)
def test_a_window_of_0_in_recovery_comes_of_the_threshold(warned, explained):
    """Which is said, with the module; a window of 0 elsewhere may come of anything."""
    text = WARNED.format(f"include/net/tcp.h:1322 {warned}+0x1a0/0x1c0", "").replace("[tcp_foo]", "")
    (found,) = splats.find(stamped(f"dcflab: stage workout\ndcflab: phase memory shortage\n{text}"))
    said = splats.with_cause(found, "tcp_foo").text
    assert said.startswith("tcp_foo: ssthresh() returned 0, ") == explained
    assert said.endswith(found.text) and "(during memory shortage)" in said


@pytest.mark.parametrize("given_back", [False, True])
def test_a_lock_that_a_function_kept_is_reported_with_its_effect(given_back):
    """With the line that took it; unless another function gives it back, as those of a seq_file do."""
    said = ["foo_acked [tcp_foo] returned with rcu_read_lock held, taken at foo_acked+0x1b/0x70 [tcp_foo]"]
    said += ["foo_stop [tcp_foo] returned without a lock that its caller held"] * given_back
    log = [*stamped("".join(f"dcflab: left: {line}\n" for line in said), 1.0), *stamped(SUSPICIOUS, 2.0)]
    (found,) = splats.find(log)
    assert found.name is Name.RCU_MISUSE and found.text.endswith("suspicious RCU usage")
    if given_back:
        assert found.text == "suspicious RCU usage" and not found.where
    else:
        assert found.text.startswith("foo_acked [tcp_foo] returned with rcu_read_lock held, taken at foo_acked [tcp_")
        assert found.where == "foo_acked [tcp_foo]" and found.console[0] == said[0]


def test_reports_do_not_run_into_each_other():
    """Two reports of one moment, and one of a later moment, are three findings."""
    other = KASAN.replace("slab-use-after-free", "slab-out-of-bounds")
    log = stamped(KASAN + other, 1.0) + stamped(WARNED.format("net/a.c:1 tcp_ack+0x1/0x2", "odd"), 2.0)
    found = splats.find(log)
    assert [one.name for one in found] == [Name.USE_AFTER_FREE, Name.OUT_OF_BOUNDS, Name.KERNEL_WARNING]
    assert not any("odd" in line for line in found[1].console)


def test_a_sound_log_has_no_findings():
    log = """\
        Kernel command line: mem=512M root=/dev/root rootfstype=hostfs quiet loglevel=7 hung_task_panic=0
        Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
        epollctl add err fd 6, Operation not permitted
        dcf80211: loading out-of-tree module taints kernel.
        dcflab: finding: refused unload: 35 references are left
        dcflab: beta = '-1': Invalid argument
        reboot: Power down"""
    assert splats.find(stamped(textwrap.dedent(log))) == []


@pytest.mark.parametrize(
    ("frame", "by", "where"),
    [
        ("foo_init+0x43/0x65 [tcp_foo]", "foo_init [tcp_foo]", "foo_init [tcp_foo]"),
        ("0x80818103", *["[tcp_foo], called by tcp_init_congestion_control"] * 2),
        ("inet_create+0x10/0x20", "the kernel (inet_create) while the module was at work", ""),
    ],
    ids=["the module", "the module, unloaded", "the kernel"],
)
def test_leaks_are_attributed_by_who_allocated(frame, by, where):
    """Objects of one allocator are one finding."""
    report = (KMEMLEAK.format(frame) * 3).splitlines()
    (found,) = splats.leaks(Stage.CYCLES, report, "tcp_foo", seed=2)
    assert (found.name, found.stage, found.seed, found.where) == (Name.LEAK, Stage.CYCLES, 2, where)
    assert found.text == f"3 objects, 192 bytes, allocated by {by}: nothing points there"
    assert len(found.console) == len(report) // 3


def test_a_leak_of_the_kernel_itself_is_not_reported():
    """It loses the name of a cache whose creation fails."""
    report = KMEMLEAK.format("kobject_init_and_add+0xdc/0x140\n    sysfs_slab_add+0x202/0x2b0\n    0x8084b165")
    assert splats.leaks(Stage.CYCLES, report.splitlines(), "tcp_foo") == []


LINES = st.lists(
    st.sampled_from([line for _, _, text in SAMPLES for line in text.splitlines()] + KMEMLEAK.splitlines()) | st.text()
)


@given(LINES, st.sampled_from(["", "[    1.000000] ", "<4>[12.5]", "[x] "]))
def test_no_log_is_too_odd(lines, stamp):
    """Reports cut and mixed as they please are read without complaint, and every finding has a line to show."""
    for found in splats.find(stamp + line for line in lines):
        assert found.console
    splats.leaks(Stage.WORKOUT, lines, "tcp_foo")


def test_an_address_that_only_lay_on_the_stack_is_no_place():
    """The kernel marks it with a question mark: it may be of an earlier call."""

    class Known:
        def of(self, line):
            return "tcp_foo.c:13" if "+0x0/" in line else "tcp_foo.c:24" if "+0x29d/" in line else ""

        def gone(self, line):
            return ""

    stack = (
        " [<8082f000>] ? foo_acked+0x0/0x2a5 [tcp_foo]",
        " [<8082f29d>] foo_acked+0x29d/0x2a5 [tcp_foo]",
    )
    finding = Finding(Stage.WORKOUT, Name.DIVISION_BY_ZERO, "", console=stack, where="foo_acked [tcp_foo]")
    found = explained(finding, Known())
    assert (found.text, found.place) == ("", "tcp_foo.c:24")
    assert [line.endswith(".c:13)") for line in found.console] == [True, False]


def test_what_the_oracle_says_is_one_line():
    """With the function, and without what stands around it."""
    said = (
        "[   46.948933] dcflab: qdisc newest at sta4 behind a token bucket",
        "[   46.948933] dcflab: wrong count: newest_enqueue+0x0/0x420 [sch_newest] changed qlen from 50 to 50",
        "[   46.948933] dcflab: wrong count: newest_enqueue+0x0/0x420 [sch_newest] changed the backlog from 0 to 0",
        "[   46.949000] dcflab: wrong window: tcp_reno_ssthresh+0x0/0x20 returned 0",
        "[   47.949000] dcflab: late function: newest_destroy+0x90/0xe0 [sch_newest] stops a timer in the memory of",
    )
    count, window, late = splats.find(said)
    assert (count.name, count.where) == (Name.WRONG_COUNT, "newest_enqueue [sch_newest]")
    assert count.text.startswith("newest_enqueue [sch_newest] changed qlen from 50 to 50 (")
    assert count.console == (said[1].partition("] ")[2],)
    assert (window.name, window.where) == (Name.WRONG_WINDOW, "tcp_reno_ssthresh")
    assert (late.name, late.where) == (Name.USE_AFTER_FREE, "newest_destroy [sch_newest]")


def test_of_a_log_without_an_end_only_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a note says so."""
    monkeypatch.setattr(exercise, "MOST_LOG", 1 << 20)
    late = "[   46.948933] dcflab: wrong count: newest_enqueue+0x0/0x420 [sch_newest] changed qlen from 50 to 50\n"
    (tmp_path / exercise.CONSOLE).write_text("[    1.000000] a warning\n" * 50_000 + late)
    place: Any = None  # used only to explain what was found
    module = Module("sch_newest", tmp_path / "sch_newest.ko", Kind.QDISC)
    [report] = exercise.read(place, tmp_path, module, 1, {Stage.WORKOUT: 1.0})
    note = "the kernel's log has more than 1 MB; what comes later was not read"
    assert (report.findings, report.notes) == ((), (note,))
