# SPDX-License-Identifier: BSD-3-Clause
"""A station: a network namespace with a radio.

What a station is told comes from the plan (docs/interfaces.md, section 1), is set through netlink or a file of the
kernel, is read back, and is remembered with the kernel's default beside it: `settings`.
"""

from __future__ import annotations

import contextlib
import os

from emulation.lane import syscalls
from emulation.lane.netlink import Generic, NetlinkError
from emulation.lane.radio import Radio, hardware_address
from emulation.lane.rtnetlink import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from typing import Any, Self

NAMESPACES = "/run/netns"  # where `ip netns` looks
LOOPBACK = 1  # its interface index, in each namespace


class Station:
    """A host: a network namespace with a radio. `with station:` puts this thread into its namespace (does not nest)."""

    def __init__(self, name: str, position: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
        self.name, self.position = name, position  # in metres
        self.plan: dict[str, Any] = {}  # this station's part of it, before `open`
        self.path = f"{NAMESPACES}/{self.name}"
        self.interface = f"{self.name}-wlan0"
        self.settings: list[dict[str, object]] = []  # what differs from the kernel's default, as read back
        self.namespace = self.home = -1
        self.cleanup = contextlib.ExitStack()
        self.radio: Radio | None = None

    def __repr__(self) -> str:
        return f"<Station {self.name}: {self.interface} {self.IP()} {self.MAC()} at {tuple(self.position)}>"

    def IP(self) -> str:
        return str(self.plan["ip"]).partition("/")[0]

    def MAC(self) -> str:
        return str(self.plan["address"])

    def open(self) -> None:
        """Make the namespace, under its name. Raises OSError if there is one of that name, or this user may not."""
        self.settings.clear()
        with contextlib.ExitStack() as stack:
            os.makedirs(NAMESPACES, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
            stack.callback(os.unlink, self.path)
            self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, self.home)
            try:
                syscalls.new_network_namespace()
                syscalls.mount("", self.path, "/proc/thread-self/ns/net", syscalls.MS_BIND)
                stack.callback(syscalls.unmount, self.path)
                self.namespace = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
                stack.callback(os.close, self.namespace)
                self.route = stack.enter_context(Route())
                self.nl80211 = stack.enter_context(Generic())
                self.events = stack.enter_context(Generic())
            finally:
                syscalls.enter_network_namespace(self.home)
            self.route.set_link(LOOPBACK, up=True)
            with self:
                for name, value in self.plan["sysctl"].items():
                    self.sysctl(name, value)
            self.cleanup = stack.pop_all()

    def close(self) -> None:
        """Take the namespace and its name away; the owner of its radio was closed before."""
        self.radio = None
        self.cleanup.close()

    def __enter__(self) -> Self:
        syscalls.enter_network_namespace(self.namespace)
        return self

    def __exit__(self, *_: object) -> None:
        syscalls.enter_network_namespace(self.home)

    def sysctl(self, name: str, value: str) -> None:
        """Set a variable of this namespace, which this thread must be in. Raises OSError if it does not hold."""
        self.settings.append(set_file(self.name, name, "/proc/sys/" + name.replace(".", "/"), value))

    def note(self, what: str, value: object, default: object) -> None:
        """Remember a setting that was read back."""
        self.settings.append({"where": self.name, "what": what, "value": value, "default": default})

    def attach(self, owner: Generic) -> None:
        """Give the station its radio, and the radio its settings; `owner` is as `Radio` has it."""
        plan = self.plan
        self.radio = radio = Radio(owner, plan["address"], self.interface)
        radio.move(self.namespace, self.nl80211, self.events)
        radio.set_type(plan["link"])
        radio.set_rts_threshold(plan["rts_threshold"])
        self.note("rts threshold", radio.rts_threshold(), None)
        self.route.set_link(radio.index, up=True)
        if plan["rates"]:
            radio.fix_rates(plan["rates"], plan["freq"])
            self.note("rates (100 kb/s)", plan["rates"], "all")
        self.route.add_address(radio.index, plan["ip"])
        for ip, address in plan["neighbours"].items():
            self.route.add_neighbour(radio.index, ip, hardware_address(address))
        for route in plan["routes"]:
            self.add_route(route)
        if plan["qdisc"]:
            self.set_qdisc(plan["qdisc"])

    def set_qdisc(self, options: dict[str, Any]) -> None:
        """Give the interface a root qdisc: its `kind`, and if that is ackthin, what it takes. Raises NetlinkError."""
        from emulation.lane import ackthin

        assert self.radio
        wanted = dict(options)
        kind = wanted.pop("kind")
        self.route.replace_qdisc(self.radio.index, kind, ackthin.pack(wanted))
        root = self.route.qdisc(self.radio.index)
        self.note("root qdisc", root[1].rstrip(b"\0").decode(), None)
        kept = ackthin.unpack(root[2]) if wanted else {}
        for name, value in wanted.items():
            if kept[name] != value:
                raise NetlinkError(22, f"{self.name}: {kind} {name} was set to {value}, but is {kept[name]}")
            self.note(f"{kind} {name}", kept[name], None)

    def add_route(self, route: dict[str, Any]) -> None:
        """Add a route of the plan. Raises NetlinkError if the kernel did not keep its metrics."""
        assert self.radio
        wanted = {"quickack": route["quickack"], "initcwnd": route["initcwnd"], "rto_min": route["rto_min_ms"]}
        metrics = {name: int(value) for name, value in wanted.items() if value}
        via = None if route["via"] in (None, route["to"]) else route["via"]
        self.route.add_route(self.radio.index, route["to"], via, metrics, route["metric"])
        kept = self.route.route_metrics(route["to"].partition("/")[0]) if metrics else {}
        if metrics != {name: kept.get(name) for name in metrics}:
            raise NetlinkError(22, f"{self.name}: route to {route['to']}: asked for {metrics}, the kernel kept {kept}")
        for name in metrics:
            self.note(f"route {route['to']} {name}", kept[name], 0)

    def popen(self, command: Sequence[str] | str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a program in the station; a str goes through the shell. Options as of subprocess.Popen."""
        from subprocess import Popen

        with self:
            return Popen(command, shell=isinstance(command, str), **options)

    def cmd(self, command: Sequence[str] | str) -> str:
        """Run a program in the station to its end and return what it printed, errors included."""
        from subprocess import DEVNULL, PIPE, STDOUT

        with self.popen(command, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT) as process:
            return process.communicate()[0].decode(errors="replace")


def set_file(where: str, what: str, path: str, value: str) -> dict[str, object]:
    """Write a kernel variable and read it back. Returns the setting. Raises OSError if it does not hold."""
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
        raise OSError(22, f"{where}: {what} was set to {value}, but the kernel kept {kept}")
    return {"where": where, "what": what, "value": kept, "default": default}
