# SPDX-License-Identifier: BSD-3-Clause
"""A medium other than our air: wmediumd, or its model, as a program that runs beside the network.

It gets the plan's powers as SNRs, and decides alone; it reports no counts. For the network it is an air that cannot be
changed.
"""

from __future__ import annotations

import errno
import functools
import os
import signal
import threading
import time

from emulation.lane import programs, syscalls
from emulation.lane.air import Air, stations_of
from emulation.lane.netlink import NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from typing import IO, Any

WMEDIUMD = "wmediumd"
READY, NOTICE = b"REGISTER SENT!", "5"  # the line, and the lowest level at which wmediumd prints it
CHUNK = 1 << 16
CHECKOUT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
NOT_COUNTED: dict[str, Any] = {
    "tx": {}, "airtime_ns": {}, "rx": {}, "addressed": {}, "end": {}, "retries": {"short": 0, "long": 0},
    "busy_ns": 0, "nav_ns": 0, "tx_ns": 0,
}  # fmt: skip


class Medium(Air):
    """The medium of a plan that names one: a context manager, from `configure` to its end. Raises OSError."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.station_settings: dict[int, Mapping[str, Any]] = {}
        self.power_mdbm: dict[int, Sequence[int | None]] = {}
        self.by_distance = False
        self.process: subprocess.Popen[bytes] | None = None
        folder = os.environ.get("DCFLAB_RUN", "/run")
        self.config, self.table, self.log = (f"{folder}/{WMEDIUMD}.{name}" for name in ("cfg", "per", "log"))

    def configure(self, plan: dict[str, Any]) -> None:
        """Start the program, and wait until it receives hwsim's frames."""
        from subprocess import DEVNULL, PIPE, Popen

        medium, stations = plan["medium"], stations_of(plan)
        self.names = [station["name"] for station in stations]
        self.station_settings = {index: {**plan["air"], **station} for index, station in enumerate(stations)}
        self.power_mdbm = dict(enumerate(plan["air"]["power_mdbm"]))
        command, env = self.command(medium, plan["seed"])
        for path, text in ((self.config, medium["config"]), (self.table, medium["table"])):
            if text:
                with open(path, "w") as file:
                    file.write(text)
        end = functools.partial(syscalls.die_with_parent, signal.SIGKILL)
        with open(self.log, "wb") as log:
            self.process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=log, env=env, preexec_fn=end,
                                 process_group=0)  # fmt: skip
        assert self.process.stdout
        for line in self.process.stdout:
            if READY in line:
                return threading.Thread(target=drain, args=[self.process.stdout], daemon=True).start()
        raise programs.ended_error("the medium", command[0], self.process.wait(), programs.last_line(self.log))

    def command(self, medium: Mapping[str, Any], seed: int) -> tuple[list[str], dict[str, str]]:
        """Return the command of the program, and its environment."""
        files = ["-c", self.config, "-l", NOTICE, *(["-x", self.table] if medium["table"] else [])]
        if medium["program"]:
            return [programs.find(medium["program"], WMEDIUMD), *files], dict(os.environ)
        module = ["-sSBP", "-m", "emulation.features.wmediumd.inside", "--seed", str(seed)]
        return [os.readlink("/proc/self/exe"), *module, *files], {**os.environ, "PYTHONPATH": CHECKOUT}

    def start(self) -> int:
        return time.monotonic_ns()

    def stop(self) -> int:
        """Raises OSError if the program has ended: nothing was on the air since."""
        assert self.process
        if self.process.poll() is not None:
            raise programs.ended_error("the medium", WMEDIUMD, self.process.returncode, programs.last_line(self.log))
        return time.monotonic_ns()

    def report(self) -> dict[str, Any]:
        """Return the `air` part of lane.json: the stations, without counts."""
        nothing = dict.fromkeys(("lost_records", "refused_frames", "late_ns_max", "lost_messages"), 0)
        stations = [{"name": name, "counters": {**NOT_COUNTED}} for name in self.names]
        return {"version": 1, "counted": False, **nothing, "stations": stations}

    def refuse(self, *_: Any, **__: Any) -> None:
        raise NetlinkError(
            errno.EOPNOTSUPP,
            "wmediumd reads its settings once, at the start; set them before, or use --medium dcf80211",
        )

    set_station = set_powers = set_trajectory = set_table = refuse

    def close(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def drain(output: IO[bytes]) -> None:
    """Read and drop what a program prints until it ends, so that a full pipe never stops it."""
    with output:
        while output.read(CHUNK):
            pass
