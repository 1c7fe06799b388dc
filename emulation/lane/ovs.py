# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch, the distribution's, as a switch.

A database and a daemon run in the node's namespace, so a script can configure them (`s1.cmd("ovs-ofctl …")` with
`OVS_RUNDIR`). By default it learns addresses like any bridge.
"""

from __future__ import annotations

import errno
import os
import select
import time
from functools import partial

from emulation.lane import syscalls
from emulation.lane.programs import PATH, Daemon, last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from emulation.lane.node import Node

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
PACKAGE = "openvswitch-switch"
READY_S, LOOK_S = 10.0, 0.01  # in lane time


class Switch:
    """A bridge of Open vSwitch in a node, up. `folder` is its $OVS_RUNDIR. Raises OSError if it does not start."""

    def __init__(self, node: Node, name: str) -> None:
        self.node, self.name, self.folder = node, name, f"/run/openvswitch-{node.name}"
        self.database = f"unix:{self.folder}/db.sock"
        if not os.path.exists(SCHEMA):
            said = f"{node.name}: there is no Open vSwitch on this machine: install the package {PACKAGE}"
            raise OSError(errno.ENOENT, said)
        os.makedirs(self.folder, exist_ok=True)
        stored = f"{self.folder}/conf.db"
        if not os.path.exists(stored):
            self._call("ovsdb-tool", "create", stored, SCHEMA)
        server = self._begin("ovsdb-server", stored, f"--remote=p{self.database}")
        self._wait_for(f"{self.folder}/db.sock", server)
        self._call("ovs-vsctl", "--no-wait", "init")
        self._begin("ovs-vswitchd", self.database)
        self._call("ovs-vsctl", "--may-exist", "add-br", self.name, "--", "set-fail-mode", self.name, "standalone")
        self.node.route.set_link(self.node.route.index(self.name), up=True)

    def add(self, interface: str) -> None:
        """Make an interface a port. Raises OSError if that fails."""
        self._call("ovs-vsctl", "--may-exist", "add-port", self.name, interface)

    def _environment(self) -> dict[str, str]:
        own = {name: self.folder for name in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR")}
        return {**os.environ, **own, "PATH": PATH}

    def _begin(self, program: str, *arguments: str) -> Daemon:
        log = f"{self.folder}/{program}.log"
        command = [program, *arguments, "--no-chdir", "--pidfile", f"--log-file={log}"]
        said = partial(last_line, log)
        return self.node.keep(command, said, env=self._environment(), preexec_fn=_own_tmp)

    def _wait_for(self, file: str, server: Daemon) -> None:
        deadline = time.monotonic() + READY_S
        while not os.path.exists(file):
            server.check()
            if time.monotonic() > deadline:
                raise OSError(errno.ETIMEDOUT, f"{self.node.name}: {server.program} has not begun after {READY_S:g} s")
            select.select([], [], [], LOOK_S)

    def _call(self, program: str, *arguments: str) -> None:
        from subprocess import PIPE, STDOUT

        database = [f"--db={self.database}", "--timeout=30"] if program == "ovs-vsctl" else []
        command = [program, *database, *arguments]
        with self.node.popen(command, stdout=PIPE, stderr=STDOUT, env=self._environment()) as process:
            said = process.communicate()[0].decode(errors="replace").strip()
        if process.returncode:
            raise OSError(errno.EIO, f"{self.node.name}: {program} {arguments[0]}: {said or process.returncode}")


def _own_tmp() -> None:
    """Mount a /tmp of its own: the database writes there, and the host's is read-only."""
    syscalls.show_devices_of_namespace()
    syscalls.mount("tmpfs", "/tmp")
