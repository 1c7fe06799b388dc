# SPDX-License-Identifier: BSD-3-Clause
"""The half of `module check` that runs in the lane, and the names that it shares with the half on the host.

`workout` is the program. It loads the module (`tested_module`) into a network (`playground`) with a crowd of
connections (`crowd`), and changes its parameters (`parameters`) and qdiscs (`queues`, `setups`, `children`) as `job`
says. `departures` watches what a qdisc lets out. `reach` looks for code that never ran. `kunit` reads its unit tests.
`smp` is the program of the stage smp.
"""

from __future__ import annotations

import enum


class Stage(enum.StrEnum):
    """The parts of a check, in order. docs/findings.md is made from the text below each."""

    BUILD = "build"
    """against the lab's kernel and each stock kernel whose headers are installed (`/lib/modules/*/build`,
    `/usr/src/linux-headers-*`), from a copy, with `W=1`; then sparse; then checkpatch, whose messages are notes without
    `--strict`"""
    LOAD = "load"
    """into the debug kernel: KASAN, kmemleak, lockdep, UBSAN, checks of RCU, of sleeping in atomic context, of objects
    and lists, of writes behind a congestion control's state (`ICSK_CA_PRIV_SIZE`), and of calls into unloaded code.
    The numbers are checked after each call of the module, and the locks at each of its accesses to memory. KUnit runs
    the suites that the module has"""
    WORKOUT = "workout"
    """a string of five stations with hidden terminals and an alternative path. Flows in both directions meet losses,
    timeouts, outages, route changes, changes of congestion control, failing allocations, qdiscs that are replaced under
    load and get small limits, and hundreds of short connections that end in all ways. Then qdiscs get other children,
    and lose classes. Then parameters at the ends of their ranges, an attempt to unload, and a second copy that finds
    the names taken. Then rounds over a loopback look for code that never ran. At the end the module must unload"""
    CYCLES = "cycles"
    """loaded with each of its allocations failing once; then loaded and unloaded 200 times, with some use in between;
    then memory is searched for leaks. If the workout broke the kernel, this is done in another one"""
    REFERENCE = "reference"
    """in the ordinary kernel: the module and a reference get the same load with the same seed, and each call of both is
    written down: arguments, results, and what tc shows. The first call that differs is a finding. The reference is the
    kernel's own file of the same name, or what `--reference` names"""
    SMP = "smp"
    """in a stock kernel, unmodified, under QEMU with four CPUs in real time. Eight processes open 450 short connections
    over loopbacks that lose packets, and change their congestion control; or the loopbacks have the qdisc, one with a
    backlog, and carry datagrams, too. Meanwhile parameters and qdiscs change, connections are listed, and the module is
    unloaded and loaded. Each place in its code that accesses memory waits now and then, and names other CPUs' accesses
    meanwhile. The kernel checks objects as they are allocated and freed (`slub_debug`). With `--smp debug` the kernel
    is one with KCSAN, which watches the module's accesses, lockdep and PROVE_RCU. The stage is statistical: which CPU
    comes first differs from try to try"""
    COMPARE = "compare"
    """in the ordinary kernel, beside `--against`, seed by seed: strings of 3 to 8 hops, 60 s each; about 4 hops for
    300 s; a string of 4 hops shared with the baseline (paper 003, section 4.4.3). A qdisc is put at both ends and at a
    bottleneck; any other module is loaded under flows of the baseline"""


class Name(enum.StrEnum):
    """Names of faults of a module. docs/findings.md is made from the text below each."""

    COMPILE_ERROR = "compile error"
    """the compiler's message, with file and line"""
    WARNING = "warning"
    """the compiler's, likewise; or a product of two 32-bit numbers that becomes 64 bits wide too late"""
    SPARSE = "sparse"
    """sparse's message, likewise"""
    CHECKPATCH = "checkpatch"
    """checkpatch's message, with `--strict` only"""
    REFUSED_LOAD = "refused load"
    """a missing symbol, a name that is built in (`reno`, `pfifo`, `mq`), or an error from the init function"""
    FAILED_TEST = "failed test"
    """a test of a KUnit suite in the module, and the expectation that does not hold"""
    REFUSED_UNLOAD = "refused unload"
    """a reference (`try_module_get`, a socket, a device) is never returned"""
    EMPTY_LOAD = "empty load"
    """it loads, but the kernel did not register it: check each return value in the init function, and undo what was
    done before"""
    LEAK = "leak"
    """memory without a pointer to it, with the stack that allocated it: an early end of a connection, an error,
    the exit function"""
    ATOMIC_SLEEP = "sleep in atomic context"
    """TCP and qdiscs call modules in softirq context with a lock held: use `GFP_ATOMIC`, no mutex, no `msleep`"""
    USE_AFTER_FREE = "use after free"
    """KASAN's three stacks: use, free, allocation. Without `.owner = THIS_MODULE` the module's own code may have been
    freed. Or a timer or work is stopped without waiting for its function, and its memory goes"""
    OUT_OF_BOUNDS = "out of bounds"
    """the access, with its line"""
    LOCK_INVERSION = "lock inversion"
    """two locks are taken in both orders"""
    LOCK_MISUSE = "lock misuse"
    """a lock is taken with softirqs on and within one (`spin_lock_bh`), taken twice, or not released"""
    DIVISION_BY_ZERO = "division by zero"
    """often a parameter that may be 0, or a time that is not measured yet; read a parameter once, and bound it"""
    UNDEFINED_BEHAVIOUR = "undefined behaviour"
    """the shift, the index or the sum, with its line"""
    NULL_POINTER = "null pointer"
    """the access, with its line"""
    RCU_MISUSE = "RCU misuse"
    """a pointer followed without `rcu_read_lock`, or after its end, or freed without a grace period; `list_del()` where
    readers may be; a function that returned inside a read-side critical section"""
    KERNEL_WARNING = "warning in the kernel"
    """a `WARN_ON`, with its function. If a window becomes 0 in recovery, `ssthresh()` returned 0"""
    OOPS = "oops"
    """a `BUG_ON` or fault, with its function"""
    WRONG_WINDOW = "wrong window"
    """after a call of the congestion control the window is out of bounds, or the threshold is below 2 or above the
    window; or the window does not grow again after a timeout. Or it never grows, grows or falls too much, or
    leaves an idle path unused; or other fields of the socket are changed"""
    WRONG_COUNT = "wrong count"
    """after a call of the qdisc, `qlen`, backlog, drops and sent packets do not agree, or `limit` or `peek` is not
    kept. Its parent and `tc -s` rely on them. Or a file of the module in debugfs or /proc/net shows a number that was
    counted down below 0"""
    WRONG_OPTION = "wrong option"
    """an option of the qdisc accepts values and shows another one, or accepts a value of no bytes; or the qdisc is
    missing in `tc qdisc show`"""
    WRONG_ORDER = "wrong order"
    """datagrams come out of the qdisc as no policy wants it. A flow is out of order, or gets nothing beside equal ones.
    What is interactive comes later than what is bulk, or only flows with ECN hear of congestion. Or a shaper does not
    keep its rate"""
    CHANGED_BEHAVIOUR = "changed behaviour"
    """under the same load and seed, the module and its reference give different answers to a call. If this is meant,
    `--reference none` accepts it"""
    DATA_RACE = "data race"
    """two accesses, one of them a write, that can happen at the same time on two CPUs: they have no lock in common.
    Take the lock of the other one, or use an atomic or per-CPU variable; mark what is meant to be without a lock:
    `READ_ONCE()`, `WRITE_ONCE()`, `data_race()`"""
    HANG = "hang"
    """a loop of the module without an end, with its line; or a lock that its holder waits for"""
    REFUSED_PARAMETER = "refused parameter"
    """it does not accept its first value again"""
    STALLED_TRAFFIC = "stalled traffic"
    """flows stop, deliver less than a tenth of the baseline's, or have a window of 0; or a qdisc keeps its last
    packets"""
    COLLAPSE = "collapse over time"
    """within 300 s, less than half of the first minute's rate, where the baseline keeps it; or less than a third of the
    baseline's"""
