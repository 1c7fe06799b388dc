# SPDX-License-Identifier: BSD-3-Clause
"""The flows of every congestion control in the kernel: each is counted when it begins, and when it ends."""

from __future__ import annotations

import pytest
import scripted

pytestmark = pytest.mark.lane
lane = scripted.lane


def test_flows_come_and_go(lane):
    """Also those that fail, and children of a listening socket."""
    found = lane("""
import socket
pairs = [("tcp_sca", "ss"), ("tcp_sca", "sca"), ("tcp_sca", "ssca"), ("tcp_cwl", "cwl"), ("tcp_dcr", "dcr")]
found = []
for module, name in pairs:
    flow, other = wire.connect(name), wire.accept(congestion=name)
    during = counters(module, name)
    flow.send("R")
    other.send("R")
    for each in (flow, other):
        each.socket.close()
    after = counters(module, name)
    found.append([during["flows"], during["flows_now"], after["flows"], after["flows_now"]])
print(json.dumps(found))
""")
    assert found == [[2, 2, 2, 0]] * 5
