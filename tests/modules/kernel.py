# SPDX-License-Identifier: BSD-3-Clause
"""The congestion controls of tc_modules in user space: a module built against the shim, and a socket to drive it. The
test plays TCP, and calls what TCP would call."""

from __future__ import annotations

import ctypes as c
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from user_space import compile_library

SHIM, SOURCE = Path(__file__).parent / "shim", Path(__file__).parents[2] / "tc_modules"
OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
INFINITE = 0x7FFFFFFF  # ssthresh before the first loss
AF_INET, AF_INET6, UNICAST, LOCAL = 2, 10, 1, 2
INCLUDE = re.compile(r'^#include [<"](.*)[>"]', re.MULTILINE)
DESTINATION, GATEWAY = 0x0A000005, 0x0A000002
WINDOWS = st.integers(1, 40) | st.integers(1, 2**31 - 1)
ACKED = st.integers(0, 12) | st.integers(0, 2**20)  # segments at once


class Net(c.Structure):
    _fields_ = [("min_tso_segs", c.c_uint8), ("rt_genid", c.c_int), ("route_error", c.c_int),
                ("route_type", c.c_uint32), ("route_metric", c.c_uint32), ("route_gateway_family", c.c_uint32),
                ("route_gateway", c.c_uint32)]  # fmt: skip


class Sock(c.Structure):
    _fields_ = [
        ("net", c.POINTER(Net)), ("icsk_ca_ops", c.c_void_p), ("icsk_ca_priv", c.c_uint64 * 13),
        ("tcp_mstamp", c.c_uint64), ("family", c.c_uint32), ("daddr", c.c_uint32), ("saddr", c.c_uint32),
        ("mark", c.c_uint32), ("bound", c.c_uint32), ("uid", c.c_uint32), ("v6_daddr", c.c_uint32 * 4),
        ("dport", c.c_uint16), ("sport", c.c_uint16),
        *((name, c.c_uint32) for name in ("snd_cwnd", "snd_cwnd_cnt", "snd_ssthresh", "snd_cwnd_clamp", "prior_cwnd",
                                          "cwnd_limited", "ca_state", "snd_una", "sacked_out", "reordering",
                                          "srtt_us", "rtt_min")),
        ("reo_wnd_steps", c.c_uint8), ("reo_wnd_persist", c.c_uint8),
    ]  # fmt: skip


@cache
def library(name: str) -> c.CDLL:
    """Build a module and the shim as a shared library; with DCF_SANITIZE set, under the sanitizers. The shim comes
    first, so that all of the kernel's headers may be empty."""
    sources = [str(SOURCE / f"{name}.c"), str(SHIM / "shim.c")]
    with tempfile.TemporaryDirectory() as folder:
        for header in headers(SOURCE / f"{name}.c"):
            stub = Path(folder, header)
            stub.parent.mkdir(parents=True, exist_ok=True)
            stub.touch()
        built = f"{folder}/{name}.so"
        options = ["-Wno-unused-function", f"-I{folder}", "-include", f"{SHIM}/shim.h"]
        compile_library("DCF_SANITIZE", [*options, "-o", built, *sources])
        lib = c.CDLL(built)
    lib.shim_control.restype = c.c_void_p
    for returning in ("shim_min_tso_segs", "shim_ssthresh", "shim_undo_cwnd"):
        getattr(lib, returning).restype = c.c_uint32
    return lib


def headers(source: Path) -> set[str]:
    """Return the kernel's headers that a source includes, directly or through our own headers."""
    found: set[str] = set()
    for header in INCLUDE.findall(source.read_text()):
        ours = source.parent / header
        found |= headers(ours) if ours.exists() else {header}
    return found


class Module:
    """A loaded module with its parameters at their defaults, and one network with one route: five hops, no IPv6."""

    def __init__(self, name: str) -> None:
        self.lib = library(name)
        assert self.lib.shim_load() == 0
        self.defaults: dict[str, str] = {}
        self.net = Net(min_tso_segs=2)
        self.route(5)

    def close(self) -> None:
        for name, value in self.defaults.items():
            assert self.lib.shim_set(name.encode(), value.encode()) == 0
        self.lib.shim_unload()
        assert self.lib.shim_warnings() == 0

    def set(self, name: str, value: object) -> int:
        """Write a parameter as to its file; return 0 or an error number."""
        self.defaults.setdefault(name, self.get(name))
        return -self.lib.shim_set(name.encode(), f"{value}\n".encode())

    def get(self, name: str) -> str:
        buffer = c.create_string_buffer(4096)
        assert self.lib.shim_get(name.encode(), buffer) > 0
        return buffer.value.decode().rstrip("\n")

    def counters(self, name: str) -> dict[str, int]:
        """Return the content of a file in debugfs."""
        buffer = c.create_string_buffer(4096)
        assert self.lib.shim_read(name.encode(), buffer) == 0
        return {name: int(value) for name, value in (line.split() for line in buffer.value.decode().splitlines())}

    def route(self, metric: int, gateway: int = GATEWAY, *, kind: int = UNICAST, error: int = 0) -> None:
        """Replace the route; without a gateway it leads to a neighbour."""
        net = self.net
        net.route_metric, net.route_type, net.route_error = metric, kind, error
        net.route_gateway_family, net.route_gateway = AF_INET if gateway else 0, gateway
        net.rt_genid += 1


class Socket:
    """A TCP socket with a congestion control; its fields are TCP's."""

    def __init__(self, module: Module, control: str, *, init: bool = True, **fields: Any) -> None:
        state = {"snd_cwnd": 10, "snd_ssthresh": INFINITE, "snd_cwnd_clamp": 2**32 - 1, "cwnd_limited": 1,
                 "family": AF_INET, "daddr": DESTINATION, "reordering": 3, "rtt_min": 2**32 - 1}  # fmt: skip
        self.lib, self.sock = module.lib, Sock(net=c.pointer(module.net), **{**state, **fields})
        self.sock.icsk_ca_ops = self.lib.shim_control(control.encode())
        assert self.sock.icsk_ca_ops, control
        if init:
            self.lib.shim_init(c.byref(self.sock))

    def __getattr__(self, name: str) -> int:
        return int(getattr(self.sock, name))

    @property
    def window(self) -> tuple[int, int, int]:
        """The state that Reno uses."""
        return self.snd_cwnd, self.snd_cwnd_cnt, self.snd_ssthresh

    def set(self, **fields: int) -> None:
        for name, value in fields.items():
            setattr(self.sock, name, value)

    def cong_avoid(self, acked: int = 1) -> None:
        self.lib.shim_cong_avoid(c.byref(self.sock), c.c_uint32(acked))

    def burst(self) -> int:
        """TCP is about to send; return the least number of segments at once."""
        return int(self.lib.shim_min_tso_segs(c.byref(self.sock)))

    def lose(self) -> None:
        """Reduce the window as the kernel does at a loss that it repairs at once."""
        self.set(prior_cwnd=self.snd_cwnd, snd_ssthresh=self.lib.shim_ssthresh(c.byref(self.sock)), snd_cwnd_cnt=0)
        self.set(snd_cwnd=self.snd_ssthresh)

    def undo(self) -> None:
        self.set(snd_cwnd=self.lib.shim_undo_cwnd(c.byref(self.sock)))

    def state(self, state: int) -> None:
        self.lib.shim_set_state(c.byref(self.sock), state)

    def ack_event(self, at_us: int) -> None:
        """Process an ACK that has arrived; the kernel has not acted on it yet."""
        self.set(tcp_mstamp=at_us)
        self.lib.shim_in_ack_event(c.byref(self.sock))

    def release(self) -> None:
        self.lib.shim_release(c.byref(self.sock))


def loaded(name):
    """Return a fixture: the module for one test."""

    @pytest.fixture
    def fixture():
        module = Module(name)
        yield module
        module.close()

    return fixture


class Within:
    """Load a module for one example of a property test."""

    def __init__(self, name, **parameters):
        self.module = Module(name)
        for parameter, value in parameters.items():
            assert self.module.set(parameter, value) == 0

    def __enter__(self):
        return self.module

    def __exit__(self, *_):
        self.module.close()
