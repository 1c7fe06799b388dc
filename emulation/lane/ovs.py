# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch, the distribution's, as a switch.

As in Mininet, one database and one daemon serve all bridges of a lane, in its first namespace, in which the nodes of
these bridges are. So `ovs-vsctl`, `ovs-ofctl` and their like find them from any node, at their usual place, and a
controller in the first namespace is at 127.0.0.1.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from functools import partial

from emulation.lane import syscalls
from emulation.lane.programs import PATH, Daemon, last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from emulation.lane.node import Node

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
PACKAGE = "openvswitch-switch"
FOLDER = "/run/openvswitch"  # where the programs look by themselves
DATABASE = f"{FOLDER}/db.sock"
READY_S = 60.0  # in lane time; an emulated processor in real time is slow
VERSIONS = ",".join(f"OpenFlow{number}" for number in range(10, 16))
ENVIRONMENT = {"OVS_RUNDIR": FOLDER, "OVS_LOGDIR": FOLDER, "OVS_DBDIR": FOLDER, "PATH": PATH}


class Switch:
    """A bridge of Open vSwitch in a node. Raises OSError if Open vSwitch does not start."""

    def __init__(self, node: Node, plan: dict[str, Any]) -> None:
        self.node, self.plan, self.name = node, plan, str(plan["name"])
        self.ports: list[str] = []
        if not os.path.exists(DATABASE):
            run_daemons(node)

    def add(self, interface: str) -> None:
        """Make an interface a port when the bridge starts."""
        self.ports.append(interface)

    def words(self) -> list[str]:
        """Return the words for ovs-vsctl that make the bridge."""
        columns, numbers = self.plan["columns"], self.plan.get("ports", {})
        said = ["--", "--may-exist", "add-br", self.name, "--", "set", "bridge", self.name]
        said += [f"{name}={value}" for name, value in columns.items()]
        for place, port in enumerate(self.ports, 1):
            said += ["--", "--may-exist", "add-port", self.name, port, "--", "set", "port", port, f"qos=@{self.name}"]
            said += ["--", "set", "interface", port, f"ofport_request={numbers.get(port, place)}"]
        # By default Open vSwitch removes the qdiscs of its ports.
        return [*said, *(["--", f"--id=@{self.name}", "create", "qos", "type=linux-noop"] if self.ports else [])]

    def start(self, *more: str) -> None:
        """Make the bridge, with more words for ovs-vsctl. Raises OSError."""
        self.begin([self], more)

    def begin(self, switches: Sequence[Switch], more: Sequence[str] = ()) -> None:
        """Make several bridges at once, and switch them on. Raises OSError."""
        words = (word for switch in switches for word in switch.words())
        _call(self.node, "ovs-vsctl", "--timeout=30", *words, *more)
        for switch in switches:
            self.node.route.set_link(self.node.route.index(switch.name), up=True)

    def stop(self) -> None:
        """Remove the bridge, until `start`. Raises OSError."""
        _call(self.node, "ovs-vsctl", "--if-exists", "del-br", self.name)


def run_daemons(node: Node) -> None:
    """Start the database and the daemon, which run as long as this node. Raises OSError."""
    if not os.path.exists(SCHEMA):
        said = f"{node.name}: there is no Open vSwitch on this machine: install the package {PACKAGE}"
        raise OSError(errno.ENOENT, said)
    os.makedirs(FOLDER, exist_ok=True)
    stored = f"{FOLDER}/conf.db"
    _call(node, "ovsdb-tool", "create", stored, SCHEMA)
    server = _keep(node, "ovsdb-server", stored, f"--remote=punix:{DATABASE}")
    node.cleanup.callback(shutil.rmtree, FOLDER)
    server.wait_for(DATABASE, READY_S)
    _call(node, "ovs-vsctl", "--no-wait", "init")
    daemon = _keep(node, "ovs-vswitchd", f"unix:{DATABASE}")
    node.cleanup.callback(_end, node, daemon)


def _end(node: Node, daemon: Daemon) -> None:
    """End the daemon and its kernel's half, which would outlive it."""
    with contextlib.suppress(OSError):  # it has ended
        _call(node, "ovs-appctl", "exit", "--cleanup")
        daemon.process.wait()


def _keep(node: Node, program: str, *arguments: str) -> Daemon:
    log = f"{FOLDER}/{program}.log"
    command = [program, *arguments, "--no-chdir", "--pidfile", f"--log-file={log}"]
    return node.start_daemon(command, partial(last_line, log), env={**os.environ, **ENVIRONMENT}, preexec_fn=_own_tmp)


def _call(node: Node, program: str, *arguments: str) -> None:
    from subprocess import PIPE, STDOUT

    environment = {**os.environ, **ENVIRONMENT}
    with node.popen([program, *arguments], stdout=PIPE, stderr=STDOUT, env=environment) as process:
        said = process.communicate()[0].decode(errors="replace").strip()
    if process.returncode:
        raise OSError(errno.EIO, f"{node.name}: {program}: {said or process.returncode}")


def _own_tmp() -> None:
    """Mount a /tmp of its own: the database writes there, and the host's is read-only."""
    syscalls.own_mounts()
    syscalls.mount("tmpfs", "/tmp")
