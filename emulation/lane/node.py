# SPDX-License-Identifier: BSD-3-Clause
"""Nodes and their interfaces. A node is a network namespace with its own routes and TCP settings.

Each is set up from its part of the plan (docs/interfaces.md, section 1), through netlink or a file of the kernel. Each
value is read back and noted in `settings`, with the kernel's default.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time

from emulation.lane import syscalls
from emulation.lane.motion import at_rest
from emulation.lane.netlink import NetlinkError, text
from emulation.lane.rtnetlink import IFLA_BR_MCAST_SNOOPING, IFLA_BR_STP_STATE, ROOT, TCA_KIND, TCA_OPTIONS, Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Sequence
    from random import Random
    from typing import Any, Self

    from emulation.lane.motion import Position
    from emulation.lane.ovs import Switch
    from emulation.lane.programs import Daemon

NAMESPACES = "/run/netns"  # the folder of `ip netns`
LOOPBACK = 1  # its interface index, in each namespace
HANDLE = 2 << 16  # of a qdisc with a child; a link's own qdisc is 1:
START_LEAST_S, START_MEAN_S = 0.0009, 0.001  # of a program: the least, and the mean of what is added (docs/hosts.md)


class Node:
    """A network namespace with interfaces; a host for traffic.

    `with node:` moves this thread into the namespace; it does not nest.
    """

    route: Route  # from `open` to `close`

    def __init__(self, name: str, position: Position = (0.0, 0.0, 0.0), kind: str = "station") -> None:
        self.name, self.kind, self.trajectory = name, kind, at_rest(position)
        self.plan: dict[str, Any] = {}  # this node's part of the plan; set before `open`
        self.interfaces: list[Interface] = []
        self.path = f"{NAMESPACES}/{self.name}"
        self.settings: list[dict[str, object]] = []
        self.daemons: list[Daemon] = []
        self.namespace = self.original_namespace = -1
        self.apart = True  # whether the namespace is its own; a switch of Open vSwitch is in the first one
        self.switch: Switch | None = None  # of Open vSwitch
        self.join_bridge: Callable[[Interface], None] | None = None  # makes an interface a port, if it is a bridge
        self.private: dict[str, str] = {}  # folders that only its programs see, by where they see them
        self.starts: Random | None = None  # draws how long programs take to start; None: no time
        self.cleanup = contextlib.ExitStack()

    def __repr__(self) -> str:
        on = ", ".join(f"{each.name} {each.IP()} {each.MAC()}" for each in self.interfaces)
        return f"<{self.kind.capitalize()} {self.name}: {on} at {tuple(self.position)}>"

    def IP(self) -> str:
        """Return the address of its first interface."""
        return self.interfaces[0].IP()

    def MAC(self) -> str:
        return self.interfaces[0].MAC()

    @property
    def radio(self) -> Any:
        """Return its first interface on the air, by choice one that a routing of radios uses. Raises LookupError if it
        has none."""
        radios = [interface for interface in self.interfaces if interface.on_air]
        if not radios:
            raise LookupError(f"{self.name} has no radio")
        return next((radio for radio in radios if not radio.plan.get("beside")), radios[0])

    @property
    def on_air(self) -> bool:
        """Return whether it has a radio."""
        return any(interface.on_air for interface in self.interfaces)

    @property
    def position(self) -> Position:
        """Return its current position, in metres."""
        return self.trajectory.at(time.monotonic_ns())

    def make(self) -> None:
        """Make the namespace under its name. Raises OSError if the name exists, or if this user lacks the rights."""
        with contextlib.ExitStack() as stack:
            os.makedirs(NAMESPACES, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
            stack.callback(os.unlink, self.path)
            self.original_namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, self.original_namespace)
            try:
                if self.apart:
                    syscalls.new_network_namespace()
                syscalls.mount("", self.path, "/proc/thread-self/ns/net", syscalls.MS_BIND)
                stack.callback(syscalls.unmount, self.path)
                self.namespace = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                stack.callback(os.close, self.namespace)
                self.route = stack.enter_context(Route())
            finally:
                syscalls.enter_network_namespace(self.original_namespace)
            stack.callback(self.stop_daemons)
            self.route.set_link(LOOPBACK, up=True)
            self.cleanup = stack.pop_all()

    def open(self) -> None:
        """Make the namespace, unless it exists, and set it up. Raises OSError, after removing it, if that fails."""
        self.settings.clear()
        self.trajectory = at_rest(self.plan["position"])
        if self.namespace < 0:
            self.apart = (self.plan["bridge"] or {}).get("kind") != "ovs"
            self.make()
        with contextlib.ExitStack() as stack:
            stack.callback(self.close)
            with self:
                for name, value in self.plan["sysctl"].items():
                    self.sysctl(name, value)
            if self.plan["bridge"]:
                self.join_bridge = self.new_bridge(self.plan["bridge"])
            stack.pop_all()

    def new_bridge(self, plan: dict[str, Any]) -> Callable[[Interface], None]:
        """Make a bridge and return a function that makes an interface its port. It is Open vSwitch, or the kernel's,
        without IGMP snooping, which would send queries. Raises OSError."""
        if plan["kind"] == "ovs":
            from emulation.lane.ovs import Switch

            self.switch = switch = Switch(self, plan)
            return lambda port: switch.add(port.name)
        options = (IFLA_BR_MCAST_SNOOPING, b"\0"), (IFLA_BR_STP_STATE, int(plan["stp"]))
        self.route.new_link(plan["name"], "bridge", None, [*options])
        index = self.route.index(plan["name"])
        self.route.set_link(index, up=True)
        return lambda port: self.route.set_link(port.index, master=index)

    def close(self) -> None:
        """Remove the namespace and its name."""
        self.cleanup.close()
        self.namespace, self.switch = -1, None

    def __enter__(self) -> Self:
        syscalls.enter_network_namespace(self.namespace)
        return self

    def __exit__(self, *_: object) -> None:
        syscalls.enter_network_namespace(self.original_namespace)

    def sysctl(self, name: str, value: str) -> None:
        """Set a variable of this namespace, in which this thread must be. Raises OSError if the kernel does not keep
        it."""
        self.settings.append(set_file(self.name, name, "/proc/sys/" + name.replace(".", "/"), value))

    def note(self, what: str, value: object, default: object) -> None:
        """Note a setting that was read back."""
        self.settings.append({"where": self.name, "what": what, "value": value, "default": default})

    def take_start_time(self) -> None:
        """Sleep for as long as a program takes to start, if this network has such delays."""
        if self.starts:
            time.sleep(START_LEAST_S + self.starts.expovariate(1 / START_MEAN_S))

    def popen(self, command: Sequence[str] | str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in the node; a str is run by the shell. Options are those of subprocess.Popen."""
        from subprocess import Popen

        self.take_start_time()
        options.setdefault("preexec_fn", self.show_its_own if self.apart else None)
        with self:
            return Popen(command, shell=isinstance(command, str), **options)

    def show_its_own(self) -> None:
        """Let this process and its children see the node's devices in /sys, and its private folders."""
        syscalls.show_devices_of_namespace()
        for place, folder in self.private.items():
            syscalls.mount("", place, folder, syscalls.MS_BIND | syscalls.MS_REC)

    def start_daemon(self, command: Sequence[str], last_output: Callable[[], str], **options: Any) -> Daemon:
        """Start a program that runs as long as the node exists; an interrupt at a prompt does not reach it.
        `last_output` returns its last output for the error message if it ends early."""
        from subprocess import DEVNULL

        from emulation.lane.programs import Daemon

        process = self.popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, process_group=0, **options)
        self.daemons.append(Daemon(self.name, os.path.basename(command[0]), process, last_output))
        return self.daemons[-1]

    def stop_daemons(self) -> None:
        """End the programs that `start_daemon` started."""
        while self.daemons:
            self.daemons.pop().stop()

    def cmd(self, command: Sequence[str] | str) -> str:
        """Run a program in the node to its end and return its output, including errors. If a shell in it did not find a
        command, print a hint on standard error, also if its message was redirected."""
        from subprocess import DEVNULL, PIPE, STDOUT

        from emulation.lane import programs

        with self.popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as process:
            output = process.communicate()[0].decode(errors="replace")
        self.ended(command)
        missing = programs.not_found(output)
        if isinstance(command, str) and ">" in command:
            missing += programs.lacking(command)
        for message in programs.new_messages(missing):
            print(f"*** {self.name}: {message}", file=sys.stderr, flush=True)
        return output

    def ended(self, command: Sequence[str] | str) -> None:
        """Notice what a program that has ended changed. By default nothing of the network."""

    def connections(self, port: int) -> list[dict[str, Any]]:
        """Return TCP_INFO and `congestion` of each of its TCP connections from or to a port."""
        from emulation.lane import sock_diag

        with self:
            return sock_diag.connections(port)


class Interface:
    """An interface of a node, in the node's namespace between `open` and `close`. `index` is its interface index."""

    on_air = False  # whether it is a station of the air

    def __init__(self, node: Node, plan: dict[str, Any]) -> None:
        self.node, self.plan = node, plan
        self.name: str = plan["name"]
        self.index = 0
        self.parent = ROOT  # of its qdisc; a link may install one above it

    def IP(self) -> str:
        return str(self.plan["ip"] or "").partition("/")[0]

    def MAC(self) -> str:
        return str(self.plan["address"])

    @classmethod
    def common(cls) -> contextlib.AbstractContextManager[Any]:
        """Return a context manager that all interfaces of this kind share while the network exists."""
        return contextlib.nullcontext()

    def open(self, common: Any) -> None:
        """Make the interface, down and without a link; `common` is what this kind shares. Raises OSError."""
        raise NotImplementedError

    def starting(self) -> None:
        """Prepare for joining: all interfaces exist and will now join their links."""

    def started(self) -> None:
        """Release what was only needed for joining."""

    def close(self) -> None:
        """Release what `open` took, even after a failure. The interface itself may disappear with `common`."""

    def switch(self, on: bool) -> None:
        self.node.route.set_link(self.index, up=on)

    def combine(self, on: bool) -> None:
        """Pass on as one packet what arrives of a flow of datagrams at one time, if this kind can; or do not. Raises
        OSError."""

    def configure(self) -> None:
        """Set the address and the qdisc of the interface, which is up. Raises NetlinkError."""
        if self.plan["ip"]:
            self.node.route.add_address(self.index, self.plan["ip"])
        if self.plan["qdisc"]:
            self.set_qdisc(self.plan["qdisc"])

    def set_qdisc(self, options: dict[str, Any], index: int | None = None, parent: int | None = None) -> None:
        """Install a root qdisc on the interface, or on interface `index` that replaces it; with `parent`, a child.
        `options` has its `kind`, the options of ackthin or netem, and the qdisc `below` it. Raises NetlinkError."""
        from emulation.lane import ackthin, netem

        node, wanted, index = self.node, dict(options), index or self.index
        kind, below, parent = wanted.pop("kind"), wanted.pop("below", None), parent or self.parent
        packer: Any = netem if kind == "netem" else ackthin
        node.route.replace_qdisc(index, kind, packer.pack(wanted) or None, parent, HANDLE if below else 0)
        made = node.route.qdisc(index, parent)
        node.note("root qdisc" if parent == self.parent else "qdisc below it", text(made[TCA_KIND]), None)
        kept = packer.unpack(made[TCA_OPTIONS]) if wanted else {}
        for name, value in wanted.items():
            if kept[name] != value:
                message = f"{self.name}: {kind} {name} was set to {value}, but is {kept[name]}"
                raise NetlinkError(errno.EINVAL, message)
            node.note(f"{kind} {name}", kept[name], None)
        if below:
            self.set_qdisc(below, index, HANDLE | 1)


def set_file(where: str, what: str, path: str, value: str) -> dict[str, object]:
    """Write a kernel variable, read it back, and return the setting. Raises OSError if the kernel does not keep it."""
    try:
        variable = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            default = " ".join(os.pread(variable, 4096, 0).decode().split())
            os.pwrite(variable, value.encode(), 0)
            kept = " ".join(os.pread(variable, 4096, 0).decode().split())
        finally:
            os.close(variable)
    except OSError as error:
        raise OSError(error.errno, f"{where}: cannot set {what} to {value}: {error.strerror}") from None
    if kept != value:
        raise OSError(errno.EINVAL, f"{where}: {what} was set to {value}, but the kernel kept {kept}")
    return {"where": where, "what": what, "value": kept, "default": default}
