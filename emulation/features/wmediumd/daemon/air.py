# SPDX-License-Identifier: BSD-3-Clause
"""Our air under a wmediumd configuration, on a running kernel: dcf80211 plays it. What clients of the control socket
say about links, positions and stations becomes powers."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.taps.phy import radios
from emulation.features.wmediumd import configured as wmediumd
from emulation.features.wmediumd.daemon.capture import Capture
from emulation.features.wmediumd.inside.arguments import WARNING
from emulation.features.wmediumd.inside.stations import MOVE_S, Mode, Stations, name_of
from emulation.lane.air import Air
from emulation.lane.programs import PATH
from emulation.lane.protocol import FAMILY
from emulation.plan import plan
from emulation.plan.air import MAX_DELAY_NS, floor_dbm
from emulation.specification import propagation, specify
from emulation.specification.propagation import Propagation
from topologies import Network, Node

if TYPE_CHECKING:
    from emulation.features.wmediumd.inside.arguments import Arguments, Say
    from emulation.features.wmediumd.inside.control import Reply
    from emulation.lane.per_tables import Table
    from traffic.loop import Loop

STEP_NS = 100_000_000  # of stations with a direction
CHECK_NS = 10_000_000_000  # between two checks for frames that the air could not play
# Stations of an ordinary kernel: all rates, with the kernel's rate control, and all basic rates.
RADIOS: dict[str, Any] = {"rate": 54.0, "rate_control": "minstrel", "unreachable": True}
NO_LINKS = {"model": "free-space", "tx_power_dbm": propagation.FAINTEST_DBM}  # during set-up no links
FARTHEST_M = 1e6  # beyond, the delay is capped
BASIC_2GHZ = (1.0, 2.0, 6.0, 12.0, 24.0)


class Medium:
    """The air, until the end of the block. Raises OSError or ValueError if it cannot be set up."""

    def __init__(self, loop: Loop, stations: Stations, table: Table | None, arguments: Arguments, say: Say) -> None:
        self.loop, self.stations, self.table, self.say = loop, stations, table, say
        self.options = {**RADIOS, "freq": arguments.freq, "seed": arguments.seed, "trace": bool(arguments.capture)}
        self.capture: Capture | None = None
        self.wanted_model: dict[str, Any] = {}
        self.capture_path, self.captures = arguments.capture, 0
        if arguments.freq < 3000:
            self.options["basic_rates"] = BASIC_2GHZ
        self.air: Air | None = None
        self.refused = 0

    def __enter__(self) -> Medium:
        for sentence in wmediumd.differences(self.stations):
            self.say(WARNING, sentence)
        self._set_up()
        now = time.monotonic_ns()
        self.loop.at(now + CHECK_NS, self._check_periodically)
        if any(any(one.direction) for one in self.stations.all):
            self.loop.at(now + STEP_NS, self._move)
        return self

    def __exit__(self, *_: object) -> None:
        self._warn_of_refused()
        self._close()

    def on_change(self, done: Reply) -> None:
        """Apply a client's change. Raises OSError if the kernel refuses it. If the set of stations changed, there is
        then no air, and nothing arrives."""
        if done.members:
            try:
                self._set_up()
            except (OSError, ValueError):
                self._close()
                raise
        elif done.changed:
            self._set_powers()

    def _set_up(self) -> None:
        """Make an air with these stations: a new one, as an air's number of stations is fixed."""
        self._close()
        if not self.stations.all:
            return
        nodes = {f"sta{number}": Node() for number, _ in enumerate(self.stations.all, 1)}
        options = {**self.options, **wmediumd.medium_of(self.stations, self.table), "propagation": NO_LINKS}
        self.specification = specify(Network(nodes=nodes), options)
        planned = plan(self.specification)
        second_addresses = names_of_radios()
        for node, station in zip(planned["nodes"], self.stations.all, strict=True):
            address = name_of(station.address)
            node["interfaces"][0]["address"] = second_addresses.get(address, address)
        self.air = load()
        self.air.configure(planned)
        self._set_powers()
        if self.capture_path:
            self.captures += 1
            path = self.capture_path + (f".{self.captures}" if self.captures > 1 else "")
            self.capture = Capture(self.loop, path, radios(planned))
            self.air.start()

    def _close(self) -> None:
        """Close the air; write what was captured until then."""
        if self.air and self.capture:
            self.air.stop()
            self.capture.finish()
            self.capture = None
        if self.air:
            self.air.close()
            self.air = None

    def _set_powers(self) -> None:
        if not self.air:
            return
        model = self._model() if self.stations.mode is Mode.PATH_LOSS else None
        received = wmediumd.received(self.stations, model)
        found = propagation.power_mdbm(received, floor_dbm(self.specification, self.specification.network.standing()))
        delay: NDArray[np.int64] = np.zeros(found.shape, np.int64)
        if model:
            far = np.minimum(propagation.distances([one.position for one in self.stations.all]), FARTHEST_M)
            delay = np.minimum(propagation.delay_ns(far), MAX_DELAY_NS - 1)
        self.air.set_powers(dict(enumerate(propagation.listed(found))), dict(enumerate(delay.tolist())))

    def _model(self) -> Propagation:
        """Return the propagation model of the path loss, on this channel; make a new one if it changed."""
        wanted = wmediumd.model_of(self.stations)
        if wanted != self.wanted_model:
            options = {**self.options, "propagation": wanted}
            self.model = specify(Network(nodes={"sta1": Node()}), options).medium.propagation
            self.wanted_model = wanted
        return self.model

    def _move(self) -> None:
        """Move stations by a fraction of wmediumd's step, so that they do not jump."""
        self.stations.move(STEP_NS / 1e9 / MOVE_S)
        self._set_powers()
        self.loop.at(time.monotonic_ns() + STEP_NS, self._move)

    def _check_periodically(self) -> None:
        self._warn_of_refused()
        self.loop.at(time.monotonic_ns() + CHECK_NS, self._check_periodically)

    def _warn_of_refused(self) -> None:
        """Warn about frames that the air could not play, each time their number has grown."""
        if not self.air:
            return
        status = self.air.report()
        if status["refused_frames"] > self.refused:
            self.refused = status["refused_frames"]
            self.say(WARNING, f"{self.refused} frames were lost at rates of HT or later, which are not modelled; let "
                     "stations have legacy rates only: iw dev DEV set bitrates legacy-2.4 …")  # fmt: skip


def load() -> Air:
    """Load the running kernel's module: $DCFLAB_AIR, or what modprobe finds. Raises OSError if there is none."""
    module = os.environ.get("DCFLAB_AIR")
    if module or os.path.exists(f"/sys/module/{FAMILY}"):
        return Air.load(module or "")
    modprobe = shutil.which("modprobe", path=PATH)
    if not modprobe or subprocess.run([modprobe, FAMILY], capture_output=True).returncode:
        message = f"this kernel has no module {FAMILY}: install it by DKMS, or name its file in $DCFLAB_AIR"
        raise OSError(errno.ENOENT, message)
    return Air()


def names_of_radios() -> dict[str, str]:
    """Return hwsim's names, the second addresses, of the radios visible in this namespace, by their addresses. The air
    learns those of others from their first frame."""
    found: dict[str, str] = {}
    for path in Path("/sys/class/ieee80211").glob("*/addresses"):
        with contextlib.suppress(OSError, ValueError):  # it is gone, or has no second address
            first, second, *_ = path.read_text().split()
            found[first] = second
    return found
