# SPDX-License-Identifier: BSD-3-Clause
"""What all congestion controls share, in user space: flows are counted, and parameters checked."""

from __future__ import annotations

import errno

import pytest
from kernel import OPEN, Socket, Within


@pytest.mark.parametrize(("module", "name", "control"), [
    ("tcp_sca", "ss", "ss"), ("tcp_sca", "sca", "sca"), ("tcp_sca", "ssca", "ssca"), ("tcp_cwl", "cwl", "cwl"),
    ("tcp_dcr", "dcr", "dcr"),
])  # fmt: skip
def test_flows_are_counted_once_they_were_initialized(module, name, control):
    with Within(module) as loaded:
        before = loaded.counters(name)
        sock, never = Socket(loaded, control), Socket(loaded, control, init=False)
        never.state(OPEN)  # as the kernel does with the child of a listening socket
        during = loaded.counters(name)
        sock.release()
        never.release()
        after = loaded.counters(name)
        assert [now["flows"] - before["flows"] for now in (during, after)] == [1, 1]
        assert [now["flows_now"] - before["flows_now"] for now in (during, after)] == [1, 0]


@pytest.mark.parametrize(("module", "parameter", "good", "bad"), [
    ("tcp_sca", "ca_increase_thresh", ["0", "10", "65535"], ["-1", "65536", "ten", ""]),
    ("tcp_sca", "ss_increase_thresh", ["0", "4", "65535"], ["-1", "65536"]),
    ("tcp_sca", "adaptive", ["off", "dsr", "aodv"], ["DSR", "olsr", "", "1"]),
    ("tcp_sca", "min_hops", ["0", "4", "255"], ["256"]),
    ("tcp_sca", "hops", ["0", "255"], ["256"]),
    ("tcp_cwl", "rule", ["chen", "fixed", "h/4", "rthc/5", "3h/2"], ["h", "3h", "Chen"]),
    ("tcp_cwl", "limit", ["1", "65535"], ["0", "65536", "-1"]),
    ("tcp_cwl", "hops", ["0", "255"], ["256"]),
    ("tcp_dcr", "delay_percent", ["0", "100", "65535"], ["-1", "65536"]),
])  # fmt: skip
def test_parameters_take_what_makes_sense(module, parameter, good, bad):
    with Within(module) as loaded:
        for value in good:
            assert loaded.set(parameter, value) == 0
            assert loaded.get(parameter) == value
        for value in bad:
            assert loaded.set(parameter, value) in (errno.EINVAL, errno.ERANGE)
            assert loaded.get(parameter) == good[-1]
