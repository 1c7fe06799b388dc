# SPDX-License-Identifier: BSD-3-Clause
"""Read from outside which program a User-Mode Linux guest runs, for the message when a run hangs, and interrupt it.

A guest in an endless loop cannot answer. But its kernel is a process of ours with a symbol table. `cpu_tasks[0]` points
to the running task. A task has its program's name where `init_task` has "swapper".
"""

import contextlib
import functools
import os
import signal
import struct
from pathlib import Path

SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
SYMBOL_TABLE = 2
IDLE = b"swapper\0"
KERNEL_THREADS = (IDLE, b"kworker/", b"ksoftirqd/", b"rcu_", b"kthreadd\0")  # if one of these runs, no program does


def running_program(pid: int, kernel: Path) -> str | None:
    """Return the name of the program that runs now in the guest with this process id. Empty if all programs are
    waiting. None if it cannot be determined: the process has ended, or the kernel has no symbols."""
    try:
        symbols = elf_symbols(kernel.read_bytes(), (b"cpu_tasks", b"init_task"))
        (running, _), (idle, size) = symbols[b"cpu_tasks"], symbols[b"init_task"]
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:

            def read(address: int, length: int) -> bytes:
                memory.seek(address)
                return memory.read(length)

            name_at = read(idle, size).index(IDLE)
            task = int.from_bytes(read(running, 8), "little")
            name = read(task + name_at, 16)
    except (OSError, KeyError, ValueError, OverflowError, struct.error):
        return None
    return "" if name.startswith(KERNEL_THREADS) else name.split(b"\0")[0].decode(errors="replace")


def virtual_time_ns(pid: int, kernel: Path) -> int | None:
    """Return the time of the guest's clock with this process id; None if it cannot be determined."""
    try:
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            memory.seek(clock_of(kernel))
            return int.from_bytes(memory.read(8), "little")
    except (OSError, KeyError, ValueError, OverflowError, struct.error):
        return None


def advance_clock(pid: int, kernel: Path) -> None:
    """Let the time of the guest with this process id advance to its next timer, although a program runs and never
    waits. Then its kernel handles input and signals. The run is not repeatable any more."""
    with contextlib.suppress(OSError, KeyError, ValueError, OverflowError, struct.error):
        symbols = elf_symbols(kernel.read_bytes(), (b"time_travel_time", b"time_travel_timer_event"))
        os.kill(pid, signal.SIGSTOP)
        try:
            with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
                memory.seek(symbols[b"time_travel_timer_event"][0])
                timer = memory.read(8)  # the time of its next interrupt comes first
                memory.seek(symbols[b"time_travel_time"][0])
                if memory.read(8)[::-1] < timer[::-1]:
                    memory.seek(symbols[b"time_travel_time"][0])
                    memory.write(timer)
        finally:
            os.kill(pid, signal.SIGCONT)
        os.killpg(pid, signal.SIGALRM)  # the kernel's timer interrupt, and a return of its program to the kernel


@functools.cache
def clock_of(kernel: Path) -> int:
    """Return the address of a kernel's time, which only User-Mode Linux has. Raises KeyError, struct.error, OSError or
    ValueError."""
    address, _ = elf_symbols(kernel.read_bytes(), (b"time_travel_time",))[b"time_travel_time"]
    return address


def elf_symbols(image: bytes, wanted: tuple[bytes, ...]) -> dict[bytes, tuple[int, int]]:
    """Return address and size of symbols in a 64-bit little-endian ELF file. Raises struct.error if it is not one."""
    (table,) = struct.unpack_from("<Q", image, 40)
    (count,) = struct.unpack_from("<H", image, 60)
    sections = [SECTION.unpack_from(image, table + i * SECTION.size) for i in range(count)]
    found = {}
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != SYMBOL_TABLE:
            continue
        names = sections[link][4]
        for name, _, _, _, address, length in SYMBOL.iter_unpack(image[offset : offset + size]):
            start = names + name
            for want in wanted:
                if image.startswith(want + b"\0", start):
                    found[want] = address, length
    return found
