# SPDX-License-Identifier: BSD-3-Clause
"""The congestion controls in the kernel, driven by scripts that run in a lane: their first lines, and the fixture. A
test file takes the fixture with `lane = scripted.lane`."""

from __future__ import annotations

import json

import pytest

MODULES = ("tcp_sca", "tcp_cwl", "tcp_dcr")

SETUP = """
import json, random
from traffic import tcp_info

for name in ("dsack", "recovery", "early_retrans", "frto", "timestamps"):
    sysctl("net.ipv4.tcp_" + name, 0)
sysctl("net.ipv4.tcp_no_metrics_save", 1)

def info(flow):
    return tcp_info.of_socket(flow.socket)

def in_flight(of):
    return of["unacked"] - of["sacked"] - of["lost"] + of["retrans"]

def set(module, parameter, value):
    with open(f"/sys/module/{module}/parameters/{parameter}", "w") as file:
        file.write(str(value))

def counters(module, name):
    with open(f"/sys/kernel/debug/{module}/{name}") as file:
        return {name: int(value) for name, value in map(str.split, file)}

def next_second():
    wire.wait((wire.now() // (1000 * MS) + 1) * 1000 * MS)

def timed_out(control, **options):
    '''A flow right after its first timeout: the window is 1, ssthresh 5, and ten segments are out.'''
    flow = wire.connect(control, delay_ns=50 * MS, **options)
    flow.write(900_000)
    assert len(flow.heard()) == 10
    flow.expect(seq=0)
    assert [info(flow)[name] for name in ("snd_cwnd", "snd_ssthresh")] == [1, 5]
    return flow

wire = Wire()
"""


@pytest.fixture
def lane(script):
    """Run lines of Python with all three modules; return what the last line printed, as JSON."""
    return lambda text: json.loads(script(SETUP + text, *MODULES)[-1])
