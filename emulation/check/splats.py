# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's log, read: each report of its checks becomes a `Finding` with one of the names there are.

A report (a "splat") opens with a title that says what happened and is followed by the stacks of who did it. Computing
takes no time in the lane, so all lines of one report have the same time stamp, and its end needs no grammar. Between
the reports the workout says what it is doing (lines `dcflab: …`), so a finding can say during what it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from emulation.check import Finding, Name, Stage

AIR = "dcf80211"  # a module, too, and on most stacks: all packets come through it
LONGEST = 300  # lines of a report
SAME_TIME_S = 0.001

STAMP = re.compile(r"^(?:<\d+>)?\[\s*(\d+\.\d+)\] ?")
OURS = re.compile(r"^dcflab: (stage |phase |finding: |note: )?(.*)$")
FUNCTION = r"(\w+)(?:\.[\w.]+)?\+0x[0-9a-f]+(?:/0x[0-9a-f]+)?"  # without the compiler's .cold, .part.0, .isra.0
IN_MODULE = re.compile(FUNCTION + r" \[(\w+)\]")
IN_KERNEL = re.compile(FUNCTION)
OFFSET, ABSOLUTE = re.compile(r"\+0x[0-9a-f]+/0x[0-9a-f]+"), re.compile(r"(?<!\S)/\S*/(?=[^/\s]+:\d)")
UNSURE = re.compile(r"\] \? ")  # a return address that no frame pointer proves
END = re.compile(r"^---\[ end trace")
CUT, BAR = "------------[ cut here ]------------", re.compile(r"^=+$")

# What a line must hold to open a report, and its name. The first that fits counts: the particular before the general.
TITLES = tuple((re.compile(pattern), name) for pattern, name in (
    (r"BUG: KASAN: \S*(use-after-free|double-free|invalid-free)", Name.USE_AFTER_FREE),
    (r"KASAN: (probably |maybe )?null-ptr-deref", Name.NULL_POINTER),
    (r"KASAN: (probably |maybe )?(user|wild)-memory-access", Name.OOPS),
    (r"BUG: KASAN:", Name.OUT_OF_BOUNDS),
    (r"UBSAN: division-overflow", Name.DIVISION_BY_ZERO),
    (r"UBSAN: array-index-out-of-bounds", Name.OUT_OF_BOUNDS),
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
    (r"list_(add|del) (corruption|double add).*LIST_POISON", Name.USE_AFTER_FREE),
    (r"Objects remaining (in|on) |kmem_cache_destroy .*still has objects|unregister_netdevice: waiting for", Name.LEAK),
    (r"INFO: task \S+ blocked for more than|soft lockup|rcu: INFO: .*stall|workqueue lockup", Name.HANG),
    (r"Kernel mode signal 8\b|divide error:", Name.DIVISION_BY_ZERO),
    (r"Kernel mode fault at addr 0x[0-9a-f]{1,3},|kernel NULL pointer dereference", Name.NULL_POINTER),
    (r"list_(add|del) (corruption|double add)|BUG: failure at|kernel BUG at|BUG: Bad page|BUG: unable to handle"
     r"|Kernel mode fault at|Kernel tried to access user memory|Segfault with no mm|Kernel panic - not syncing"
     r"|general protection|Oops", Name.OOPS),
    (r"WARNING: CPU: ", Name.KERNEL_WARNING),
))  # fmt: skip
OBJECT = re.compile(r"^unreferenced object 0x[0-9a-f]+ \(size (\d+)\)")  # the first line of kmemleak's
ALLOCATORS = re.compile(r"\w*(stack_trace|set_track|create_object|alloc|kmem|kstrdup)")  # the first frames
NAMELESS = re.compile(r"^0x[0-9a-f]+$")
STACK = re.compile(r"^\s*\[<[^>]*>\] ")
PARTICULAR = 4  # lines after `WARNING: CPU:` in which what was warned of may stand


class Line(NamedTuple):
    """A line of the log: when it was said (None: it has no stamp), and what."""

    time_s: float | None
    text: str


def find(console: Iterable[str], seed: int | None = None) -> list[Finding]:
    """The findings of a lane's log, each once and in order."""
    lines = [split(line) for line in console]
    found: list[Finding] = []
    stage, phase, doing = Stage.LOAD, "", ""
    at = 0
    while at < len(lines):
        if ours := OURS.match(lines[at].text):
            if ours[1] == "stage " and ours[2] in list(Stage):
                stage = Stage(ours[2])
            elif ours[1] == "phase ":
                phase, doing = ours[2], ""
            elif not ours[1]:
                doing = ours[2]
        elif name := title(lines[at].text):
            end = end_of_report(lines, at)
            found.append(finding(stage, name, lines[at:end], seed, context(phase, doing)))
            at = end
            continue
        at += 1
    return merge(found)


def split(line: str) -> Line:
    stamp = STAMP.match(line)
    return Line(float(stamp[1]), line[stamp.end() :]) if stamp else Line(None, line)


def title(text: str) -> Name | None:
    return next((name for pattern, name in TITLES if pattern.search(text)), None)


def end_of_report(lines: Sequence[Line], start: int) -> int:
    """Where the report that begins here is over: at its end mark, its time's, or the next title's."""
    began = lines[start].time_s
    particular = start + PARTICULAR if lines[start].text.startswith("WARNING: CPU:") else start
    for at in range(start + 1, min(start + LONGEST, len(lines))):
        time_s, text = lines[at]
        later = began is not None and time_s is not None and time_s - began > SAME_TIME_S
        if later or text == CUT or OURS.match(text) or (at > particular and title(text)):
            return at
        if END.match(text) or (BAR.match(text) and "KASAN" in lines[start].text):
            return at + 1
    return min(start + LONGEST, len(lines))


def context(phase: str, doing: str) -> str:
    """What the workout was about, in a few words."""
    return ", ".join([f"during {phase}"] * bool(phase) + [f"after {doing}"] * bool(doing))


def finding(stage: Stage, name: Name, report: Sequence[Line], seed: int | None, during: str) -> Finding:
    """One report as a finding."""
    texts = [line.text for line in report]
    said = texts[0]
    if name is Name.KERNEL_WARNING:
        for text in texts[1:PARTICULAR]:
            if text and (particular := title(text)):
                name, said = particular, text
                break
    return Finding(stage, name, words(said) + (f" ({during})" if during else ""), seed, tuple(texts), culprit(texts))


def words(said: str) -> str:
    """A title without what is the same in all of them, offsets, and the folders of an absolute path."""
    said = said.strip().removeprefix("[ ").removesuffix(" ]")
    said = said.removeprefix("BUG: ").removeprefix("WARNING: ").removeprefix("Kernel panic - not syncing: ")
    return ABSOLUTE.sub("", OFFSET.sub("", said))


def culprit(texts: Sequence[str]) -> str:
    """The function that did it: a module's, that nearest to the title; else the kernel's in the title."""
    sure = [text for text in texts if not UNSURE.search(text)]
    for lines in (sure, texts):
        for match in (match for text in lines for match in IN_MODULE.finditer(text)):
            if match[2] != AIR:
                return f"{match[1]} [{match[2]}]"
    kernels = IN_KERNEL.search(texts[0])
    return kernels[1] if kernels else ""


def merge(found: Iterable[Finding]) -> list[Finding]:
    """Say the same only once: a report that comes again, or what the kernel died of after it had reported it."""
    kept: list[Finding] = []
    for one in found:
        if not any(same(one, other) for other in kept):
            kept.append(one)
    return kept


def same(one: Finding, other: Finding) -> bool:
    return one.name == other.name and (one.where == other.where or not one.where)


def leaks(stage: Stage, report: Iterable[str], module: str, seed: int | None = None) -> list[Finding]:
    """The findings of a report of kmemleak, those of one backtrace together.

    What an unloaded module allocated has addresses without names in its backtrace; no other module comes and goes.
    """
    alike: dict[str, list[list[str]]] = {}
    for block in objects(report):
        alike.setdefault(allocator(stack(block), module), []).append(block)
    found = []
    for by, blocks in alike.items():
        size = sum(int(match[1]) for block in blocks if (match := OBJECT.search(block[0])))
        text = f"{len(blocks)} object{'s' * (len(blocks) > 1)}, {size} bytes, allocated by {by}: nothing points there"
        found.append(Finding(stage, Name.LEAK, text, seed, tuple(blocks[0]), by if f"[{module}]" in by else ""))
    return found


def allocator(trace: Sequence[str], module: str) -> str:
    """Who allocated an object: the module's function, or that without a name, or else the kernel's."""
    callers = [line for line in trace if not ALLOCATORS.match(line)]
    for line, caller in zip(callers, [*callers[1:], ""], strict=True):
        if (match := IN_MODULE.search(line)) and match[2] == module:
            return f"{match[1]} [{module}]"
        if NAMELESS.match(line):
            return f"[{module}], called by {caller.partition('+')[0]}"
    return callers[0].partition("+")[0] if callers else "somebody"


def objects(report: Iterable[str]) -> list[list[str]]:
    """A report of kmemleak, object by object."""
    found: list[list[str]] = []
    for line in report:
        if OBJECT.search(line):
            found.append([])
        if found:
            found[-1].append(line)
    return found


def stack(block: Sequence[str]) -> list[str]:
    """The backtrace of one object."""
    start = next((at for at, line in enumerate(block) if line.strip().startswith("backtrace")), len(block))
    return [STACK.sub("", line).strip() for line in block[start + 1 :]]
