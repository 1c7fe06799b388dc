# SPDX-License-Identifier: BSD-3-Clause
"""A started network that is played (`emulation.lane.live`): by a script, or by the host and who looks at its page."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

from emulation.lane import guest
from emulation.lane.live import Stage, serve
from emulation.lane.measurement import Measurement
from emulation.plan.errors import PlanError
from traffic.loop import Loop

if TYPE_CHECKING:
    from emulation.net import Net

LIVE = "live"  # what such a run is called


@contextlib.contextmanager
def play(net: Net) -> Iterator[Stage]:
    """Its flows run, while time passes as the stage is told; what happens is kept as a run is. Raises PlanError."""
    if not net.started:
        raise PlanError("play: the network has not started: net.start()")
    with net.kept(LIVE, True) as keep:
        with Loop() as loop, Measurement(net, loop) as measurement:
            measurement.start()
            net.began_ns = measurement.started_ns
            net.motion.start(net.plan["motion"], loop, net.began_ns)
            net.presence.start(net.plan["presence"], loop, net.began_ns)
            with contextlib.closing(Stage(net, measurement)) as stage:
                yield stage
                measurement.stop()
                net.presence.loop = None
                flows, reports = stage.finish()
        result = measurement.result(reports)
        keep(result, result["air_s"], applications=flows)


def live(net: Net) -> None:
    """Let the host play, which has asked for it: `./dcflab live`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the host sees to its end
    with play(net) as stage:
        serve(stage, guest.read_line)
