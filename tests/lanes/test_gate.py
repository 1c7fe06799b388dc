# SPDX-License-Identifier: BSD-3-Clause
"""What a lane in real time reaches outside, and what it does not."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from emulation import lanes
from emulation.lane import outside
from emulation.lanes import Clock, Listener, host
from emulation.lanes.virtual.confine import is_root
from emulation.lanes.virtual.gate import Gate, is_ours, parse

Way = tuple[outside.Trunk, str]


@pytest.fixture
def echo() -> Iterator[str]:
    """A program that returns what it gets, until the other side has sent all. Its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve(made: socket.socket) -> None:
            with made:
                while data := made.recv(1 << 16):
                    made.sendall(data)

        def accept() -> None:
            while True:
                try:
                    outside.start(serve, listener.accept()[0])
                except OSError:
                    return

        thread = outside.start(accept)
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.fixture
def way(echo: str) -> Iterator[Way]:
    """The lane's end of a gate that leads to this program, and its address as a lane writes it."""
    with Gate([echo]).opened() as theirs:
        trunk = outside.Trunk(cast(io.RawIOBase, theirs.makefile("rwb", buffering=0)))
        outside.start(trunk.serve)
        yield trunk, echo.replace(":", " ")


@contextlib.contextmanager
def listening(trunk: outside.Trunk, address: str) -> Iterator[tuple[str, int]]:
    """Pass on connections to an address here. In the end its thread has ended, too: otherwise it would accept
    connections of whoever gets the descriptor next."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            with contextlib.suppress(OSError):
                trunk.listen(listener, address)

        thread = outside.start(listen)
        yield listener.getsockname()
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_programs_of_a_lane_talk_to_one_outside(way: Way) -> None:
    trunk, address = way
    assert trunk.ask(address) == ""
    with listening(trunk, address) as here:
        sent = [bytes([number]) * 30_000 for number in range(3)]
        ends = [socket.create_connection(here) for _ in sent]
        writers = [threading.Thread(target=end.sendall, args=(data,)) for end, data in zip(ends, sent, strict=True)]
        for writer in writers:
            writer.start()
        for end, data in zip(ends, sent, strict=True):
            with end, end.makefile("rb") as file:
                assert file.read(len(data)) == data


def test_a_connection_ends_when_the_program_outside_ends_it(way: Way) -> None:
    trunk, _ = way
    with listening(trunk, "127.0.0.1 9") as here, socket.create_connection(here) as made:  # not allowed
        assert made.recv(1) == b""


@pytest.mark.parametrize(
    ("address", "why"),
    [("192.0.2.1 6653", "add --outside 192.0.2.1:6653"), ("127.0.0.1 22", "add --outside 127.0.0.1:22"),
     ("0.0.0.0 6653", "add --outside 0.0.0.0:6653"), ("example.org 6653", "not a numeric address"), ("", "not a num")],
)  # fmt: skip
def test_other_addresses_are_closed(way: Way, address: str, why: str) -> None:
    assert why in way[0].ask(address)


def test_where_nothing_answers_it_says_so(way: Way) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        ip, port = closed.getsockname()
        with Gate([f"{ip}:{port}"]).opened() as theirs:
            trunk = outside.Trunk(cast(io.RawIOBase, theirs.makefile("rwb", buffering=0)))
            outside.start(trunk.serve)
            assert "nothing answers there (Connection refused)" in trunk.ask(f"{ip} {port}")


def test_a_connection_that_fails_leaves_its_room_to_others() -> None:
    def connect(address: str) -> socket.socket:
        raise MemoryError

    trunk = outside.Trunk(io.FileIO(os.devnull, "r+"), connect)
    trunk.room = threading.Semaphore(0)  # of one that `serve` has taken
    with pytest.raises(MemoryError):
        trunk.answer(1, outside.OPEN, "127.0.0.1 6653")
    assert trunk.room.acquire(blocking=False)


@pytest.mark.parametrize("names", [["other", "outside"], ["other"]], ids=["there", "none"])
def test_a_lane_awaits_its_port(names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel announces each port; without its own, a lane has no way out."""
    now, left, devices = [0.0], list(names), tmp_path / "dev"
    devices.mkdir()

    def recv(_: int) -> bytes:
        if not left:
            now.append(1e6)
            raise TimeoutError
        (port := tmp_path / "ports" / f"port{len(left)}").mkdir(parents=True)
        (devices / port.name).write_text(name := left.pop(0))
        (port / "name").write_text(f"{name}\n")
        return b""

    events = contextlib.nullcontext(SimpleNamespace(bind=id, settimeout=id, recv=recv))
    monkeypatch.setattr(outside.socket, "socket", lambda *family: events)
    monkeypatch.setattr(outside.time, "monotonic", lambda: now[-1])
    monkeypatch.setattr(outside, "PORTS", str(tmp_path / "ports/*/name"))
    monkeypatch.setattr(outside, "DEVICES", devices)
    monkeypatch.setenv("DCFLAB_CLOCK", "real")
    with outside.trunk_stream() or contextlib.nullcontext() as found:
        assert not left and (found.read(9) if found else b"") == (b"outside" if "outside" in names else b"")


def test_addresses_are_those_of_this_machine_or_named() -> None:
    assert is_ours("127.0.0.1") and not is_ours("192.0.2.1") and not is_ours("0.0.0.0")
    assert parse("::1:6653") == ("::1", 6653)
    for bad in ("127.0.0.1", "here:80", "127.0.0.1:0", "127.0.0.1:70000"):
        with pytest.raises(ValueError, match="not a numeric address and a port"):
            parse(bad)


SCRIPT = """
import socket, sys
from emulation.lane import outside
at = "127.0.0.1", int(sys.argv[1])
print(outside.reach(*at) or "reached")
with socket.create_connection(at) as made:
    made.sendall(b"hello")
    print(made.recv(5))
"""


@pytest.mark.skipif(not is_root(), reason="the lane host takes root")
def test_a_script_of_the_lane_host_reaches_a_program_outside(
    echo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its own network; without radios, for which not every kernel has a module."""
    monkeypatch.setattr(host, "loaded", lambda *modules: contextlib.nullcontext())
    (tmp_path / "run").mkdir()
    (script := tmp_path / "script.py").write_text(SCRIPT)
    said: list[str] = []
    command = ["script", str(script), echo.split(":")[1]]
    host.Host(outside=[echo]).run(Path(os.devnull), {}, tmp_path / "run", command, listener=Listener(said.append))
    assert said == ["reached", "b'hello'"]


def test_virtual_time_has_no_way_out() -> None:
    assert "real time only" in outside.reach("127.0.0.1", 6653)
    for name, settings in (("virtual", {}), ("vm", {"clock": Clock.VIRTUAL})):
        with pytest.raises(ValueError, match="outside"):
            lanes.with_settings(lanes.find(name), {"outside": ["127.0.0.1:1"], **settings})
