# SPDX-License-Identifier: BSD-3-Clause
"""Work that the lane's kernel skips changes nothing for programs: the FPU, files, the time."""

import hashlib
import shutil
import subprocess

import pytest

KEEPER = r"""
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Keeps `tag` in a register of the FPU over a system call and a write to `page`; returns what is in it then. */
static long kept(long tag, long number, long first, long second, volatile char *page)
{
    long found;

    asm volatile("movq %1, %%xmm15\n\tsyscall\n\tmovb $1, (%5)\n\tmovq %%xmm15, %0"
          : "=&r"(found), "+r"(tag), "+a"(number) : "D"(first), "S"(second), "r"(page)
          : "rcx", "r11", "memory", "xmm15");
    return found;
}

static void spoil(int number)
{
    asm volatile("pcmpeqd %%xmm15, %%xmm15" ::: "xmm15");
}

static void *keep(void *tag)
{
    char *pages = mmap(0, 40 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct { long s, ns; } moment = { 0, 1000 };
    long calls[][3] = { { SYS_sched_yield }, { SYS_nanosleep, (long)&moment }, { SYS_getppid },
              { SYS_kill, getpid(), SIGUSR1 } };
    long wrong = 0;

    for (int i = 0; i < 40; i++) {
        long *call = calls[i % 4], value = (long)tag * 1000 + i;

        wrong += kept(value, call[0], call[1], call[2], pages + (i << 16)) != value;
    }
    return (void *)wrong;
}

int main(void)
{
    int parent = getpid(), status, wrong = 0;
    static char page;
    pthread_t thread;
    void *theirs;

    signal(SIGUSR1, spoil);
    wrong += kept(77, SYS_fork, 0, 0, &page) != 77; /* in the child, too */
    pthread_create(&thread, 0, keep, (void *)(getpid() == parent ? 1L : 2L));
    wrong += (long)keep((void *)(getpid() == parent ? 3L : 4L));
    pthread_join(thread, &theirs);
    wrong += (long)theirs;
    if (getpid() != parent)
        return wrong;
    waitpid(-1, &status, 0);
    printf("%d %d\n", wrong, status);
}
"""


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
def test_the_fpu_is_everyones_own(bench):  # type: ignore[no-untyped-def]
    """Across system calls, page faults and signals, of threads and processes that take turns."""
    (bench.folder / "keeper.c").write_text(KEEPER)
    subprocess.run(["cc", "-O1", "-pthread", "-o", "keeper", "keeper.c"], cwd=bench.folder, check=True)
    lines = bench.script("""
        import os, subprocess
        print(subprocess.run(["./keeper"], cwd=os.environ["DCFLAB_RUN"], capture_output=True, text=True).stdout)
    """)
    assert lines[0] == "0 0"


def test_large_writes_are_where_they_belong(bench):  # type: ignore[no-untyped-def]
    """A file written in pieces of all sizes, at odd offsets and through a map is the same inside and on the host."""
    lines = bench.script("""
        import hashlib, mmap, os
        path = os.environ["DCFLAB_RUN"] + "/file"
        sizes, expected = (10, 70_001, 4096, 4097, 1_000_000, 3, 65_536), bytearray()
        with open(path, "w+b", buffering=0) as file:
            for number, size in enumerate(sizes):
                piece = bytes([65 + number]) * size
                assert file.write(piece) == size
                expected += piece
            view = mmap.mmap(file.fileno(), 0)
            view[5:9] = expected[5:9] = b"view"
            assert os.pwrite(file.fileno(), b"x" * 9000, 2) == 9000
            expected[2:9002] = b"x" * 9000
            assert view[:] == expected
            assert os.pread(file.fileno(), len(expected) + 1, 0) == expected
        with open(path, "ab", buffering=0) as file:
            file.write(b"y" * 5000)
        print(hashlib.sha256(expected + b"y" * 5000).hexdigest())
    """)
    assert lines == [hashlib.sha256((bench.folder / "file").read_bytes()).hexdigest()]


def test_the_clock_that_programs_see_is_the_kernels(bench):  # type: ignore[no-untyped-def]
    """It stands still while a program computes, and advances when one waits or reads it very often."""
    lines = bench.script("""
        import ctypes, os, time
        libc, moment, MONOTONIC, GETTIME = ctypes.CDLL(None), (ctypes.c_long * 2)(), 1, 228
        def kernels():
            assert libc.syscall(GETTIME, MONOTONIC, moment) == 0
            return moment[0] * 10**9 + moment[1]
        libc.prctl(29, 1)  # PR_SET_TIMERSLACK: a nanosecond is the least
        began = time.monotonic_ns()
        assert {time.monotonic_ns() for _ in range(500)} == {kernels()} == {began}
        time.sleep(0.25)
        child = os.fork()
        if not child:
            time.sleep(0.5)
            os._exit(time.monotonic_ns() == kernels() != began + 250_000_001)
        print(time.monotonic_ns() - began, kernels() - began)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print(time.monotonic_ns() - began, kernels() - began)
        time.sleep(1)
        began, seen = time.monotonic_ns(), []
        while not seen or seen[-1] < began + 60_000:
            seen.append(time.monotonic_ns())
        print(len(seen), *[moment - began for moment in sorted(set(seen))])
    """)
    assert lines == ["250000001 250000001", "1", "750000002 750000002", "2001 0 20000 40000 60000"]
