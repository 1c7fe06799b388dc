# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's vhost-user socket: requests, virtqueues, and what a hostile kernel could say; and two kernels whose radios
meet there, in real time and in a scheduler's."""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulation.features.wmediumd.inside import hwsim, vhost
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.control import UnknownError
from emulation.features.wmediumd.inside.formula import Formula
from emulation.features.wmediumd.inside.vhost import HEADER, NEED_REPLY, NEXT, VERSION, WRITE, Request
from emulation.lane import netlink
from emulation.lanes import CHECKOUT
from emulation.setup import Prepared
from tests.features.wmediumd.test_api import frame

SIZE = 1 << 16  # bytes of shared memory
BASE = 0x10000  # its address for the kernel; for the kernel's program it is 0
BUFFERS, PLACES = 4, {vhost.TX: 0x1000, vhost.RX: 0x2000}
USED, AVAILABLE, DATA = 0x100, 0x200, 0x4000
MINE, OTHERS = bytes.fromhex("020000000000"), bytes.fromhex("020000000100")
IDS = 'ifaces: { ids = ["02:00:00:00:00:00", "02:00:00:00:01:00"]; };'


class Kernel:
    """A kernel's half of the protocol; and a loop, in which each callback comes at once."""

    def __init__(self) -> None:
        loop: Any = self
        self.now_ns, self.dropped = 0, list[Exception]()
        self.edge = hwsim.Edge(loop, parse(IDS).stations, Formula(), 1, now=lambda: self.now_ns)
        self.watched: dict[int, Any] = {}
        self.guest = vhost.Guest(self.edge, loop, False, lambda level, sentence: None, self.dropped.append)
        self.file = os.memfd_create("memory")
        os.truncate(self.file, SIZE)
        self.memory = mmap.mmap(self.file, SIZE)

    def close(self) -> None:
        self.guest.close()
        self.memory.close()
        os.close(self.file)

    def at(self, when_ns: int, callback: Any) -> None:
        if not when_ns:
            callback()

    def watch(self, descriptor: int, events: int, callback: Any) -> None:
        self.watched[descriptor] = callback

    def forget(self, descriptor: int) -> None:
        del self.watched[descriptor]

    def ask(self, request: int, body: bytes = b"", *descriptors: int) -> bytes:
        self.guest.descriptors += [os.dup(one) for one in descriptors]
        answers = list(self.guest.feed(HEADER.pack(request, VERSION | NEED_REPLY, len(body)) + body))
        ((_, flags, _), body) = HEADER.unpack_from(answers[0]), answers[0][HEADER.size :]
        assert len(answers) == 1 and flags == VERSION | vhost.REPLY
        return body

    def share(self) -> None:
        table = struct.pack("=II", 1, 0) + vhost.REGION.pack(BASE, SIZE, 0, 0)
        assert self.ask(Request.SET_MEM_TABLE, table, self.file) == bytes(8)

    def start(self, *sizes: int) -> None:
        """Share memory and both virtqueues."""
        self.share()
        for number, place in PLACES.items():
            self.ask(Request.SET_VRING_NUM, struct.pack("=II", number, BUFFERS))
            self.ask(Request.SET_VRING_BASE, struct.pack("=II", number, 0))
            addresses = place, place + USED, place + AVAILABLE, 0
            self.ask(Request.SET_VRING_ADDR, vhost.ADDRESSES.pack(number, 0, *addresses))
            self.ask(Request.SET_VRING_ENABLE, struct.pack("=II", number, 1))

    def offer(self, number: int, *parts: tuple[int, int, int]) -> None:
        """Make a buffer available, of parts with an address, a length and flags."""
        place = PLACES[number]
        for index, (address, length, flags) in enumerate(parts):
            following = NEXT if index < len(parts) - 1 else 0
            struct.pack_into("<QIHH", self.memory, place + 16 * index, address, length, flags | following, index + 1)
        (count,) = struct.unpack_from("<H", self.memory, place + AVAILABLE + 2)
        struct.pack_into("<H", self.memory, place + AVAILABLE + 4 + 2 * (count % BUFFERS), 0)
        struct.pack_into("<H", self.memory, place + AVAILABLE + 2, (count + 1) & 0xFFFF)

    def used(self, number: int) -> tuple[int, int]:
        """Return how many buffers are used, and the length of the last."""
        place = PLACES[number] + USED
        (count,) = struct.unpack_from("<H", self.memory, place + 2)
        return count, struct.unpack_from("<II", self.memory, place + 4 + 8 * ((count - 1) % BUFFERS))[1]

    def transmit(self, message: bytes) -> None:
        self.memory[DATA : DATA + len(message)] = message
        self.offer(vhost.TX, (BASE + DATA, len(message), 0))

    def kick(self, number: int) -> None:
        self.ask(Request.VRING_KICK, struct.pack("=II", number, 0))

    def play(self) -> None:
        self.now_ns = self.edge.medium.next_ns()
        self.edge._due(self.now_ns)


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    made = Kernel()
    yield made
    made.close()


def test_a_frame_goes_out_and_its_report_comes_back(kernel: Kernel) -> None:
    """The latter in a buffer of two parts; and not before there is one."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        kernel.ask(Request.SET_SLAVE_REQ_FD, b"", ours.fileno())
        kernel.start()
        kernel.transmit(frame(MINE, OTHERS, MINE) + bytes(50))
        kernel.kick(vhost.TX)
        assert kernel.used(vhost.TX) == (1, 0)
        request, _, _, number, _ = struct.unpack("=IIIII", theirs.recv(100))
        assert (request, number) == (vhost.VRING_CALL, vhost.TX)
        kernel.play()
        assert kernel.used(vhost.RX)[0] == 0
        for count in (1, 2, 3):  # a station of unknown owner has two names
            kernel.offer(vhost.RX, (BASE + DATA, 30, WRITE), (BASE + DATA + 30, 4000, WRITE))
            kernel.kick(vhost.RX)
            assert kernel.used(vhost.RX)[0] == count
        ((_, _, _, body),) = netlink.messages(kernel.memory[DATA : DATA + kernel.used(vhost.RX)[1]])
        assert body[0] == hwsim.TX_INFO_FRAME
        assert not kernel.dropped


def test_notices_by_eventfd(kernel: Kernel) -> None:
    kick, call = (os.eventfd(0, os.EFD_NONBLOCK) for _ in range(2))
    try:
        kernel.start()
        kernel.ask(Request.SET_VRING_KICK, struct.pack("=Q", vhost.TX), kick)
        kernel.ask(Request.SET_VRING_CALL, struct.pack("=Q", vhost.TX), call)
        kernel.transmit(frame(MINE, OTHERS, MINE))
        os.eventfd_write(kick, 1)
        (ring,) = kernel.watched.values()
        ring()
        assert os.eventfd_read(call) == 1
        assert kernel.ask(Request.GET_VRING_BASE, struct.pack("=II", vhost.TX, 0)) == struct.pack("=II", vhost.TX, 1)
        assert not kernel.watched
    finally:
        os.close(kick)
        os.close(call)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ([(0x50000, 8, 0)], "8 bytes at 0x50000 are not in shared memory"),
        ([(BASE + SIZE - 4, 8, 0)], "not in shared memory"),
        ([(BASE, 8, NEXT)], "descriptors do not end"),  # the next has a number that is none
    ],
)
def test_a_buffer_that_cannot_be_one_ends_the_connection(
    kernel: Kernel, parts: Sequence[tuple[int, int, int]], said: str
) -> None:
    kernel.start()
    kernel.offer(vhost.TX, *parts)
    struct.pack_into("<H", kernel.memory, PLACES[vhost.TX] + 14, 99)
    kernel.kick(vhost.TX)
    assert said in str(kernel.dropped[0])


@pytest.mark.parametrize(
    ("request_number", "body", "said"),
    [
        (99, b"", "request 99 is not served"),
        (Request.SET_MEM_TABLE, struct.pack("=II", 1, 0) + bytes(vhost.REGION.size), "without its file descriptor"),
        (Request.SET_MEM_TABLE, struct.pack("=II", 2, 0), "request 5 with 8 bytes"),
        (Request.SET_VRING_NUM, struct.pack("=II", 0, 3), "a virtqueue of 3 buffers"),
        (Request.SET_VRING_ENABLE, struct.pack("=II", 2, 1), "request 18 with 8 bytes"),
        (Request.SET_FEATURES, bytes(1 << 15), "request 2 with flags 0x9 and 32768 bytes"),
    ],
)
def test_a_request_that_cannot_be_one_is_refused(kernel: Kernel, request_number: int, body: bytes, said: str) -> None:
    with pytest.raises(UnknownError, match=said):
        kernel.ask(request_number, body)


def test_memory_that_is_cut_short_ends_the_connection(kernel: Kernel) -> None:
    """And not the program, which a signal would end if it had mapped the file."""
    kernel.start()
    kernel.transmit(frame(MINE, OTHERS, MINE))
    kernel.memory.close()
    os.truncate(kernel.file, DATA)
    kernel.kick(vhost.TX)
    assert "are beyond the end of shared memory" in str(kernel.dropped[0])


@given(st.lists(st.tuples(st.sampled_from([*Request]), st.binary(max_size=60))), st.binary(max_size=300))
def test_no_bytes_break_it(requests: list[tuple[Request, bytes]], queues: bytes) -> None:
    """They are carried out, or end the connection with a sentence."""
    kernel = Kernel()
    try:
        kernel.start()
        kernel.memory[PLACES[vhost.TX] : PLACES[vhost.TX] + len(queues)] = queues
        kernel.transmit(b"")
        with contextlib.suppress(UnknownError, OSError):
            kernel.kick(vhost.TX)
            for request, body in requests:
                kernel.ask(request, body)
    finally:
        kernel.close()


class Lab:
    """mediumd as it is started, and kernels with a radio each."""

    def __init__(self, folder: Path, kernel: Path, stack: contextlib.ExitStack) -> None:
        self.folder, self.kernel, self.stack = folder, kernel, stack
        (folder / "lab.cfg").write_text('ifaces: { ids = ["02:00:00:00:00:01", "02:00:00:00:00:02"]; };')

    def start(self, *command: str | Path, log: str) -> subprocess.Popen[str]:
        with (self.folder / log).open("w") as file:
            started = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=file, text=True, cwd=CHECKOUT
            )
        self.stack.enter_context(started)
        self.stack.callback(started.kill)
        return started

    def medium(self, *words: str) -> subprocess.Popen[str]:
        module = (sys.executable, "-m", "emulation.features.wmediumd.daemon", "--wmediumd-compat")
        files = ("-c", self.folder / "lab.cfg", "-u", self.folder / "air", "-p", self.folder / "air.pcapng")
        started = self.start(*module, *files, *words, log="mediumd")
        assert started.stdout and started.stdout.readline() == "REGISTER SENT!\n"
        return started

    def boot(self, number: int, *arguments: str) -> subprocess.Popen[str]:
        (self.folder / f"uml{number}").mkdir()
        program = Path(__file__).with_name("kernel_with_radio.py")
        return self.start(
            *("setarch", "-R", self.kernel, "mem=128M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
            *(f"init={Path(sys.executable).resolve()}", "random_seed=1", "mac80211_hwsim.radios=0", *arguments),
            *("console=tty0", "con=null", "con0=null,fd:2", f"uml_dir={self.folder}/uml{number}"),
            *(f"virtio_uml.device={self.folder}/air:29", "--", "-sSB", program, str(number), "10"), log=f"log{number}",
        )  # fmt: skip


@pytest.fixture
def lab(prepared: Prepared, tmp_path: Path) -> Iterator[Lab]:
    with contextlib.ExitStack() as stack:
        yield Lab(tmp_path, prepared.kernel.linux, stack)


def test_radios_of_two_kernels_meet(lab: Lab) -> None:
    """With hwsim as it is in them; the medium needs no root. What the first sends comes back from the second."""
    medium = lab.medium()
    first, _ = lab.boot(1), lab.boot(2)
    assert first.wait(60) == 0
    assert "10 of 10 came back" in (lab.folder / "log1").read_text()
    medium.terminate()
    assert medium.wait(10) == 0 and not (lab.folder / "air").exists()


def test_one_scheduler_one_sequence_of_events(lab: Lab) -> None:
    """-t: two kernels and the medium share one time; so two simulations are the same, byte by byte."""
    seen = set[str]()
    for turn in range(2):
        lab.folder = lab.folder / str(turn)
        lab.folder.mkdir()
        Lab(lab.folder, lab.kernel, lab.stack)
        time = lab.folder / "time"
        scheduler = lab.start(sys.executable, Path(__file__).with_name("scheduler.py"), time, "3", log="scheduler")
        assert scheduler.stdout and scheduler.stdout.readline() == "listening\n"
        medium = lab.medium("-t", str(time))
        first, _ = (lab.boot(number, f"time-travel=ext:{number}:{time}") for number in (1, 2))
        assert first.wait(60) == 0 and medium.wait(10) == 0
        assert "10 of 10 came back" in (lab.folder / "log1").read_text()
        seen.add(hashlib.sha256((lab.folder / "air.pcapng").read_bytes()).hexdigest())
    assert len(seen) == 1


def test_a_scheduler_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from emulation.features.wmediumd.daemon import main

    (tmp_path / "lab.cfg").write_text(IDS)
    words = ["-c", str(tmp_path / "lab.cfg"), "--wmediumd-compat", "-u", str(tmp_path / "air")]
    assert main([*words, "-t", str(tmp_path / "none")]) == 1
    assert f"{tmp_path}/none: No such file or directory" in capfd.readouterr().err
