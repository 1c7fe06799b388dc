# SPDX-License-Identifier: BSD-3-Clause
"""Parse the kernel's log: each report of its checks becomes a `Finding` with one of the known names.

A report (a "splat") begins with a title that says what happened, followed by stacks. Computing takes no time in the
lane, so all lines of a report have the same time stamp, and its end needs no grammar. Between reports the workout logs
what it does (lines `dcflab: …`), so a finding can say during what it occurred.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from emulation.features.check import Finding, Name, Stage

OURS_TOO = ("dcf80211", "oracle", "stagger")  # modules of ours that are on most stacks: all packets pass them
LONGEST = 300  # lines of a report
SAME_TIME_S = 0.001

STAMP = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\] ?")
FOUND = r"(?:wrong \w+|race|early free|early unlock|early end|late function|no return): "  # reports of the oracle
OURS = re.compile(rf"^dcflab: (stage |phase |finding: |note: |with |left: |{FOUND})?(.*)$")
FUNCTION = r"(\w+)(?:\.[\w.]+)?\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?"  # without the compiler's .cold, .part.0, .isra.0
IN_MODULE = re.compile(FUNCTION + r" \[(\w+)\]")
IN_KERNEL = re.compile(FUNCTION)
OFFSET, ABSOLUTE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+"), re.compile(r"(?<!\S)/\S*/(?=[^/\s]+:\d)")
ALWAYS = re.compile(
    rf"^(dcflab: (?={FOUND})[^:]*:|WARNING: CPU: \d+ PID: \d+ at|BUG:|WARNING:|INFO:"
    r"|Kernel panic - not syncing:) "
    r"| \(Tainted: [^)]*\)"
)
# What comes before a stack, after a title of ours: one of two accesses, or the end of the kernel.
BEFORE_STACK = re.compile(r"^  \S+ \[\w+\] (reads|writes|frees) it in |Kernel panic - not syncing: dcflab: ")
RACED = re.compile(r" (?:reads|writes) (?:byte \d+ of )?([^,:]+)(?:, and|: no) ")
UNSURE = re.compile(r"\] \? ")  # a return address that no frame pointer confirms
END = re.compile(r"^---\[ end trace")
CUT, BAR = "------------[ cut here ]------------", re.compile(r"^=+$")

# Patterns of lines that open a report, and the report's name. The first match counts: specific before general.
TITLES = tuple((re.compile(pattern), name) for pattern, name in (
    (r"^dcflab: wrong window: ", Name.WRONG_WINDOW),
    (r"^dcflab: wrong count: ", Name.WRONG_COUNT),
    (r"^dcflab: race: ", Name.DATA_RACE),
    (r"^dcflab: early (free|unlock|end): ", Name.RCU_MISUSE),
    (r"^dcflab: late function: ", Name.USE_AFTER_FREE),
    (r"^dcflab: no return: ", Name.HANG),
    (r"BUG: KASAN: \S*(use-after-free|double-free|invalid-free)", Name.USE_AFTER_FREE),
    (r"KASAN: (probably |maybe )?null-ptr-deref", Name.NULL_POINTER),
    (r"KASAN: (probably |maybe )?(user|wild)-memory-access", Name.OOPS),
    (r"BUG: KASAN:", Name.OUT_OF_BOUNDS),
    (r"^BUG: KCSAN:", Name.DATA_RACE),
    (r"^BUG: freed meanwhile: ", Name.USE_AFTER_FREE),  # of stagger
    (r"UBSAN: division-overflow", Name.DIVISION_BY_ZERO),
    (r"UBSAN: (array-index-out-of-bounds|object-size-mismatch)", Name.OUT_OF_BOUNDS),
    (r"UBSAN:", Name.UNDEFINED_BEHAVIOUR),
    (r"detected (buffer overflow|field-spanning write)|memcpy: detected", Name.OUT_OF_BOUNDS),
    (r"WARNING: (possible circular locking|possible irq lock inversion|\S+-safe -> \S+-unsafe)", Name.LOCK_INVERSION),
    (r"WARNING: (possible recursive locking|inconsistent lock state|Nested lock was not taken|bad unlock balance"
     r"|bad contention|held lock freed|\S+ still has locks held|lock held when returning to user space)"
     r"|BUG: Invalid wait context|BUG: (spinlock|rwlock|key|workqueue leaked)|INFO: trying to register non-static key",
     Name.LOCK_MISUSE),
    (r"WARNING: suspicious RCU usage", Name.RCU_MISUSE),
    (r"BUG: (sleeping function called from|scheduling while atomic|scheduling in a non-blocking|assuming atomic)"
     r"|[Vv]oluntary context switch within RCU", Name.ATOMIC_SLEEP),
    (r"ODEBUG: free active", Name.USE_AFTER_FREE),
    (r"refcount_t: .*leaking memory", Name.LEAK),
    (r"refcount_t: ", Name.USE_AFTER_FREE),
    (r"list_(add|del) (corruption|double add).*(LIST_POISON|6b6b6b6b6b6b)", Name.USE_AFTER_FREE),
    (r"Objects remaining (in|on) |kmem_cache_destroy .*still has objects|unregister_netdevice: waiting for", Name.LEAK),
    (r"^BUG \S+ \(.*\): .*[Rr]edzone", Name.OUT_OF_BOUNDS),  # of slub_debug, and so the next two
    (r"^BUG \S+ \(.*\): |general protection fault.*0x6b6b6b6b6b6b", Name.USE_AFTER_FREE),
    (r"INFO: task \S+ blocked for more than|soft lockup|rcu: INFO: .*stall|workqueue lockup", Name.HANG),
    (r"Kernel mode signal 8\b|divide error:", Name.DIVISION_BY_ZERO),
    (r"Kernel mode fault at addr 0x[0-9a-f]{1,3},|kernel NULL pointer dereference", Name.NULL_POINTER),
    (r"Kernel mode fault at addr (0x[0-9a-f]+), ip \1\b", Name.USE_AFTER_FREE),  # of code that was unloaded
    (r"list_(add|del) (corruption|double add)|BUG: failure at|kernel BUG at|BUG: Bad page|BUG: unable to handle"
     r"|Kernel mode fault at|Kernel tried to access user memory|Segfault with no mm"
     r"|Kernel panic - not syncing(?!: (Fatal exception|dcflab))"  # it follows another report
     r"|general protection|^Oops:", Name.OOPS),
    (r"WARNING: CPU: ", Name.KERNEL_WARNING),
))  # fmt: skip
# Recovery sets the window to what is in flight and may be sent, and at its end to the threshold. It is 0 or negative
# only if that is.
WINDOW_OF_0 = re.compile(r"\bnet/tcp\.h:\d+ tcp_(end_)?cwnd_reduction\b")
LOCKS = (Name.RCU_MISUSE, Name.LOCK_MISUSE, Name.ATOMIC_SLEEP)  # consequences of a lock that was not released
GIVEN_BACK = re.compile(r" returned without ")
TAKEN = re.compile(r"(already registered|duplicate filename|already exists|-EEXIST).*\(during second copy\b")
OBJECT = re.compile(r"^unreferenced object 0x[0-9a-f]+ \(size (\d+)\)")  # the first line of kmemleak's report
ALLOCATORS = re.compile(r"\w*(stack_trace|set_track|create_object|alloc|kmem|kstrdup)")  # the first frames
KERNELS_LEAK = re.compile(r"\bsysfs_slab_add\+")  # if kmem_cache_create() fails late, it loses the cache's name
KERNEL, MOST_NAMES = "the kernel", 3
NAMELESS = re.compile(r"^0x[0-9a-f]+$")
STACK = re.compile(r"^\s*\[<[^>]*>\] ")
WARNING, PARTICULAR = re.compile(r"WARNING: CPU:"), 4  # what is warned of may be in this many lines after it
REGISTERS = re.compile(r"(RIP|RSP|R[A-D]X|R[SB][IP]|R1?\d|Pid|Modules linked in): ")


class Line(NamedTuple):
    """A line of the log: its time (None: it has no stamp), and its text."""

    time_s: float | None
    text: str


def find(console: Iterable[str], seed: int | None = None) -> list[Finding]:
    """Return the findings in a lane's log, once each and in order."""
    lines = [split(line) for line in console]
    found: list[Finding] = []
    now = Now()
    at = 0
    while at < len(lines):
        now.hear(lines[at].text)
        if name := name_of(lines, at):
            end = end_of_report(lines, at)
            report = tuple(line.text for line in lines[start_of_report(lines, at) : end])
            said = shortened(particular(lines, at)) + str(now)
            if now.left and name in LOCKS:
                said, report = f"{OFFSET.sub('', now.left)}: {said}", (now.left, *report)
            found.append(Finding(now.stage, name, said, seed, report, culprit(report), time_s=lines[at].time_s))
            at = end
        else:
            at += 1
    return merge(found)


def meant(finding: Finding) -> bool:
    """Return whether this was provoked: a second copy of the module found its names taken."""
    return bool(TAKEN.search(finding.text))


def with_cause(finding: Finding, module: str) -> Finding:
    """Add the cause to a warning that only a module's `ssthresh()` can lead to."""
    if not WINDOW_OF_0.search(finding.text):
        return finding
    return replace(finding, text=f"{module}: ssthresh() returned 0, or 2^31 or more; 2 is the least: {finding.text}")


def time_of(console: Iterable[str], text: str) -> float | None:
    return next((line.time_s for line in map(split, console) if line.text == text), None)


def last_lines(console: Iterable[str]) -> str:
    """Return what the workout was doing at the end, in the form that findings use."""
    now = Now()
    for line in console:
        now.hear(split(line).text)
    return str(now)


class Now:
    """What the workout is doing, from its log lines."""

    def __init__(self) -> None:
        self.stage, self.phase, self.action = Stage.LOAD, "", ""
        self.parameters = ""  # those in force that differ from the first ones
        self.left = ""  # the module's function that returned with a lock (oracle/balance.c)

    def hear(self, text: str) -> None:
        if ours := OURS.match(text):
            if ours[1] == "stage " and ours[2] in list(Stage):
                self.stage, self.phase, self.action = Stage(ours[2]), "", ""
            elif ours[1] == "phase ":
                self.phase, self.action = ours[2], ""
            elif ours[1] == "with ":
                self.parameters, self.action = ours[2], ""
            elif ours[1] == "left: ":
                self.left = "" if GIVEN_BACK.search(ours[2]) else ours[2]
            elif not ours[1]:
                self.action = ours[2]

    def __str__(self) -> str:
        context = [f"during {self.phase}"] * bool(self.phase)
        context += [f"after {self.action}"] * bool(self.action) + [f"with {self.parameters}"] * bool(self.parameters)
        return f" ({', '.join(context)})" if context else ""


def split(line: str) -> Line:
    stamp = STAMP.match(line)
    return Line(float(stamp[1]), line[stamp.end() :]) if stamp else Line(None, line)


def title(text: str) -> Name | None:
    return next((name for pattern, name in TITLES if pattern.search(text)), None)


def name_of(lines: Sequence[Line], at: int) -> Name | None:
    """Return the name of the report that this line opens, if any; a warning has the name of what it warns of."""
    name = title(lines[at].text)
    return title(particular(lines, at)) if name else None


def particular(lines: Sequence[Line], at: int) -> str:
    """Return the most specific line of a report: its title, or what the title of a warning announces."""
    said = lines[at].text
    if not WARNING.match(said):
        return said
    after = [line.text for line in lines[at + 1 : at + PARTICULAR]]
    message = after[0] if after and not REGISTERS.match(after[0]) else ""
    return next((text for text in after if title(text)), f"{said}: {message}" if message else said)


def start_of_report(lines: Sequence[Line], at: int) -> int:
    """Return the first line of the report with this title: a fault's registers come before it."""
    while at and REGISTERS.match(lines[at - 1].text):
        at -= 1
    return at


def end_of_report(lines: Sequence[Line], start: int) -> int:
    """Return the end of the report that begins here: at its end mark, at a later time, or at the next title after its
    stack. Before the stack, another title may follow at once and mean the same."""
    if OURS.match(lines[start].text) and not any(BEFORE_STACK.match(line.text) for line in lines[start + 1 :][:1]):
        return start + 1
    began, traced = lines[start].time_s, False
    for at in range(start + 1, min(start + LONGEST, len(lines))):
        time_s, text = lines[at]
        later = began is not None and time_s is not None and time_s - began > SAME_TIME_S
        if later or OURS.match(text) or (traced and (text == CUT or title(text))):
            return at
        if END.match(text) or (BAR.match(text) and traced):
            return at + 1
        traced = traced or text.startswith("Call Trace:")
    return min(start + LONGEST, len(lines))


def shortened(title: str) -> str:
    """Return a title without its fixed parts, offsets, and the folders of absolute paths."""
    title = title.strip().removeprefix("[ ").removesuffix(" ]")
    return ABSOLUTE.sub("", OFFSET.sub("", ALWAYS.sub("", title)))


def culprit(texts: Sequence[str]) -> str:
    """Return the function at fault: the module's that is nearest to the title, or else the kernel's in the title."""
    sure = [text for text in texts if not UNSURE.search(text)]
    for lines in (sure, texts):
        for match in (match for text in lines for match in IN_MODULE.finditer(text)):
            if match[2] not in OURS_TOO:
                return f"{match[1]} [{match[2]}]"
    kernels = IN_KERNEL.search(texts[0])
    return kernels[1] if kernels else ""


def merge(found: Iterable[Finding]) -> list[Finding]:
    """Remove repetitions: a report that recurs, or the reason of death after it was reported."""
    kept: list[Finding] = []
    for one in found:
        if not any(same(one, other) for other in kept):
            kept.append(one)
    return kept


def same(one: Finding, other: Finding) -> bool:
    return one.name == other.name and (one.where == other.where or not one.where) and raced(one) == raced(other)


def raced(finding: Finding) -> str:
    """Return the variable of a data race; of memory, who allocated it."""
    match = RACED.search(finding.text) if finding.name is Name.DATA_RACE else None
    return match[1] if match else ""


def leaks(stage: Stage, report: Iterable[str], module: str, seed: int | None = None) -> list[Finding]:
    """Return the findings in kmemleak's report: one for each function of the module that allocated, and one for the
    kernel, with packets and sockets that the module lost.

    Allocations of an unloaded module have nameless addresses in their backtrace; no other module comes and goes.
    """
    alike: dict[str, list[list[str]]] = {}
    for block in objects(report):
        if any(map(KERNELS_LEAK.search, block)):
            continue
        by = allocator(stack(block), module)
        alike.setdefault(by if f"[{module}]" in by else KERNEL, []).append(block)
    found = []
    for by, blocks in alike.items():
        size = sum(int(match[1]) for block in blocks if (match := OBJECT.search(block[0])))
        most = Counter(allocator(stack(block), module) for block in blocks).most_common(MOST_NAMES)
        who = by if by != KERNEL else f"{KERNEL} ({', '.join(name for name, _ in most)}) while the module was at work"
        text = f"{len(blocks)} object{'s' * (len(blocks) > 1)}, {size} bytes, allocated by {who}: nothing points there"
        found.append(Finding(stage, Name.LEAK, text, seed, tuple(blocks[0]), by if by != KERNEL else ""))
    return found


def allocator(trace: Sequence[str], module: str) -> str:
    """Return who allocated an object: the module's function, possibly without a name, or else the kernel's."""
    callers = [line for line in trace if not ALLOCATORS.match(line)]
    for line, caller in zip(callers, [*callers, ""][1:], strict=True):
        if (match := IN_MODULE.search(line)) and match[2] == module:
            return f"{match[1]} [{module}]"
        if NAMELESS.match(line):
            return f"[{module}], called by {caller.partition('+')[0]}"
    return callers[0].partition("+")[0] if callers else "?"


def objects(report: Iterable[str]) -> list[list[str]]:
    """Divide a report of kmemleak into objects."""
    found: list[list[str]] = []
    for line in report:
        if OBJECT.search(line):
            found.append([])
        if found:
            found[-1].append(line)
    return found


def stack(block: Sequence[str]) -> list[str]:
    """Return the backtrace of one object."""
    start = next((at for at, line in enumerate(block) if line.strip().startswith("backtrace")), len(block))
    return [STACK.sub("", line).strip() for line in block[start + 1 :]]
