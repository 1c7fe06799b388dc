# SPDX-License-Identifier: BSD-3-Clause
"""Nodes with the methods of Mininet and Mininet-WiFi. Before the network is built they are notes. Then `lane` is the
node in the running network, a network namespace, also for access points and switches."""

from __future__ import annotations

import math
import os
import re
import shlex
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any, ClassVar

from emulation.features.mininet.interface import Intf, WIntf
from emulation.features.mininet.log import info
from emulation.features.mininet.refusals import UnknownParameter, missing, note, refuse
from emulation.features.mininet.shell import Shell
from emulation.lane import guest, programs
from emulation.lane import node as lane
from emulation.lane.errors import Misuse
from emulation.lane.links.infrastructure import CONTROL, CONTROL_OF_APS
from emulation.lane.userland import make_folder
from emulation.net.station import powers_in

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet
    from emulation.net.station import Station as Lane

Position = tuple[float, float, float]
PRIVATE = "/run/private"
ADDS_IP6 = re.compile(
    r"\bip (-6 )?a\w* (add|replace|change) [0-9a-f]*:|\bip -6 r\w* add |\bifconfig \S+ (inet6? )?add "
)
BEFORE = "commands about interfaces before net.build() run at its end, which makes these, and return nothing"
FREE = "computing takes no time in a lane"


def note_lacks(command: str, net: Mininet) -> None:
    """Print a note if a command of a user looks for what the lane's kernel lacks."""
    if "mptcp" in command and not os.path.exists("/proc/sys/net/mptcp"):
        note("this lane's kernel has no MPTCP, but a distribution's has it: add --lane vm")
    if "hwsim0" in command and net.medium.is_later():
        note("hwsim0 has no frames of modes n, ac and ax: air.pcapng.gz of the run folder has them")


def place(what: str, position: Any) -> Position:
    """Parse a position: "10,20,0", "10,20" or numbers. Raises Misuse."""
    try:
        numbers = position.split(",") if isinstance(position, str) else list(position)
        x, y, z = (float(number) for number in (numbers if len(numbers) == 3 else [*numbers, 0.0]))
    except (TypeError, ValueError):
        raise Misuse(f"{what}: {position!r} is not a position like '10,20,0', in metres") from None
    return x, y, z


class Params(dict[str, Any]):
    """The keywords of a node, as the script gave them; others are at its interfaces."""

    def __missing__(self, name: str) -> Any:
        raise UnknownParameter(f"params[{name!r}] does not exist: use sta1.wintfs[0].{name}, position or IP()")


class Derived(dict[Any, Any]):
    """A table made from `intfs`. A script that changes this too may set and delete what has no effect."""

    def __delitem__(self, key: Any) -> None:
        self.pop(key, None)


class Alone:
    """The network of a node that a script makes by its class: it has programs only. Raises Misuse."""

    built = False

    def __init__(self, name: str) -> None:
        self.name = name

    def interfaces(self) -> tuple[str, ...]:
        return ()

    def __getattr__(self, what: str) -> Any:
        refuse(f"{self.name} without a network", f"net = Mininet(), and net.addHost({self.name!r})")


class Node:
    """A node, by default a host."""

    kind, port_base = "host", 0  # the kind in `emulation.net`; the number of its first wired interface
    apart = True  # whether it has a network namespace of its own
    replayed: list[Any] | None = None
    is_learning = alone = False  # whether it is a bridge, and learns without a controller

    def __init__(self, name: str, inNamespace: bool = True, **params: Any) -> None:
        self.name, self.keywords, self.inNamespace = name, Params(params), inNamespace
        self.net: Any = Alone(name)  # its network
        self.lane: Lane | None = None
        self.early: lane.Node | None = None  # its namespace, before the network is built
        self.shell: Shell | None = None
        self.waiting, self.lastCmd = False, ""
        self.lastPid: int | None = None
        self.intfs: dict[int, Intf] = {}
        self.wintfs: dict[int, WIntf] = {}
        self.coord: list[Any] = []  # positions between `mobility`'s start and stop
        self.noted_position: Position | None = None
        self.noted_ip6: list[tuple[str, int, Any]] = []
        self.deferred: list[str] = []  # commands about interfaces, before these are made
        if params.get("position") is not None:
            self.noted_position = place(name, params["position"])

    def __repr__(self) -> str:
        intfs = ",".join(f"{intf}:{intf.IP()}" for intf in self.intfList())
        return f"<{type(self).__name__} {self.name}: {intfs} pid={self.shell.process.pid if self.shell else None}> "

    def __str__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Any:
        missing(self.__dict__.get("name", type(self).__name__), name, {}, dir(type(self)))

    @property
    def params(self) -> Params:
        """The keywords of the node, with its current position."""
        if "position" in self.keywords:
            self.keywords["position"] = list(self.position)
        return self.keywords

    # Interfaces

    def take_lane(self, made: lane.Node) -> None:
        """Be this node of the running network."""
        self.lane = made  # type: ignore[assignment]
        made.private = self.private()
        named = {each.name: each for each in made.interfaces}
        for intf in self.intfList():
            intf.lane = named[intf.name]
            intf.mac = intf.mac or intf.MAC()

    @property
    def nameToIntf(self) -> dict[str, Intf]:
        meshes = {intf.mesh_name: intf for intf in self.wintfs.values() if intf.mesh_name}
        return Derived(meshes | {intf.name: intf for intf in self.intfs.values()})

    @property
    def ports(self) -> dict[Intf, int]:
        return Derived((intf, port) for port, intf in self.intfs.items())

    def addIntf(self, intf: Intf, port: int | None = None, **_: Any) -> None:
        """Take an interface from another node."""
        self.intfs[self.newPort() if port is None else port] = intf
        intf.node = self

    def newPort(self) -> int:
        return max(self.intfs) + 1 if self.intfs else self.port_base

    def intfList(self) -> list[Intf]:
        return [self.intfs[port] for port in sorted(self.intfs)]

    def intfNames(self) -> list[str]:
        return [intf.name for intf in self.intfList()]

    def defaultIntf(self) -> Intf | None:
        return next(iter(self.intfList()), None)

    def intf(self, intf: Any = None) -> Intf | None:
        """Return an interface by name, by default the first."""
        return self.defaultIntf() if not intf else self.nameToIntf.get(str(intf))

    def known(self, intf: Any = None) -> Intf:
        """Return an interface as `intf` does. Raises Misuse if there is none."""
        if found := self.intf(intf):
            return found
        raise Misuse(f"{self.name} has no interface {intf or ''}; it has: {', '.join(self.intfNames()) or 'none'}")

    def wintf(self, intf: Any = None) -> WIntf:
        """Return a wireless interface. Raises Misuse if there is none."""
        found = self.known(intf) if intf else next(iter(self.wintfs.values()), None)
        if not isinstance(found, WIntf):
            raise Misuse(f"{self.name}: {intf or 'it'} is not wireless" if intf else f"{self.name} has no radio")
        return found

    def IP(self, intf: Any = None) -> str | None:
        found = self.intf(intf)
        return found.IP() if found else None

    def MAC(self, intf: Any = None) -> str | None:
        found = self.intf(intf)
        return found.MAC() if found else None

    def setIP(self, ip: str, prefixLen: int | None = None, intf: Any = None, **_: Any) -> None:
        self.known(intf).setIP(ip, prefixLen)

    def setMAC(self, mac: str, intf: Any = None) -> None:
        self.known(intf).setMAC(mac)

    def setIP6(self, ip: str, prefixLen: int = 64, intf: Any = None, **_: Any) -> None:
        """Add an IPv6 address; before the interface exists, note it for `config`."""
        if not self.known(intf).lane:
            self.noted_ip6.append((ip, prefixLen, intf))
            return
        name = self.known(intf).name
        self.enable_ip6()
        self.must("ip", "-6", "addr", "add", ip if "/" in ip else f"{ip}/{prefixLen}", "dev", name, "nodad")

    def enable_ip6(self) -> None:
        """Switch IPv6 on, which is off by default."""
        names = ("all", "default", *(intf.name for intf in self.intfList() if intf.lane))
        self.pexec("sysctl", "-qw", *(f"net.ipv6.conf.{name.replace('.', '/')}.disable_ipv6=0" for name in names))

    def must(self, *args: str) -> None:
        """Run a program. Raises Misuse with its output if it fails."""
        _, said, status = self.pexec(*args)
        if status:
            raise Misuse(f"{self.name}: {' '.join(args)}: {said.strip()}")

    def setARP(self, ip: str, mac: str) -> str:
        return self.cmd("ip", "neigh", "replace", ip, "lladdr", mac, "nud", "permanent", "dev", self.known())

    def setHostRoute(self, ip: str, intf: Any) -> str:
        return self.cmd("ip", "route", "add", ip, "dev", intf)

    def setDefaultRoute(self, intf: Any = None) -> None:
        """Set the default route: over this interface, or as for `ip route`, "via 10.0.0.254"."""
        words = intf.split() if isinstance(intf, str) and " " in intf else ["dev", str(intf or self.known())]
        self.must("ip", "route", "replace", "default", *words)

    def connectionsTo(self, node: Node | str) -> list[tuple[Intf, Intf]]:
        links = [intf.link for intf in self.intfList() if intf.link and intf.link.intf2]
        ends = [(link.intf1, link.intf2) if link.intf1.node is self else (link.intf2, link.intf1) for link in links]
        there = self.net.node_of(node)
        return [(mine, other) for mine, other in ends if mine and other and other.node is there]

    def linkTo(self, node: Node | str, link: Any = None) -> Any:
        return self.net.addLink(self, node, cls=link)

    # Programs

    outToNode: ClassVar[dict[int, Node]] = {}  # by the descriptor of its shell's output

    @property
    def stdout(self) -> Any:
        """The output of its shell, for `poll`; `monitor` reads it."""
        assert self.pid and self.shell
        self.outToNode[self.shell.screen] = self
        return self.shell.process.stdout

    def private(self) -> dict[str, str]:
        """Make the folders that only this node's programs see, `privateDirs`, and return them by where they are seen.
        Raises Misuse if a place does not exist and cannot be made."""
        seen: dict[str, str] = {}
        for said in self.params.get("privateDirs") or ():
            place, folder = (said, f"{PRIVATE}/{self.name}{said}") if isinstance(said, str) else said
            seen[place] = folder % {**self.params, "name": self.name} if "%(" in folder else folder
            try:
                os.makedirs(seen[place], exist_ok=True)
                make_folder(place)
            except OSError as error:
                raise Misuse(
                    f"{self.name}: privateDirs: {place}: {error.strerror}: name a folder that exists"
                ) from None
            if os.path.realpath(place) == "/run":  # wpa_cli and hostapd_cli still find their programs
                for sockets in (CONTROL, CONTROL_OF_APS):
                    shown = f"{seen[place]}/{os.path.basename(sockets)}"
                    os.makedirs(sockets, exist_ok=True)
                    os.makedirs(shown, exist_ok=True)
                    seen[shown] = sockets
        # What hides the folders themselves, as /var/run does, is mounted last.
        return dict(sorted(seen.items(), key=lambda each: PRIVATE.startswith(os.path.realpath(each[0]))))

    def names_in(self, words: str) -> str | None:
        """Return the interface that these words name, before the network is built."""
        there = () if self.lane or self.net.built else self.net.interfaces()
        return next((name for name in there if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", words)), None)

    def running(self, what: str) -> lane.Node:
        """Return the node in the lane; before the network is built, one without interfaces. Raises Misuse if `what`
        needs them."""
        if self.lane:
            return self.lane
        if named := self.names_in(what):
            raise Misuse(f"{self.name}.{what}: {named} does not exist yet; call it after net.build()")
        if not self.early:
            self.early = lane.Node(self.name)
            self.early.apart = self.apart
            self.early.make()
            self.early.private = self.private()
            guest.at_program_end.callback(self.early.close)
        return self.early

    @property
    def pid(self) -> int | None:
        """The process id of its shell, which the network starts."""
        if self.lane and not self.shell:
            self.shell = Shell(self.lane)
        return self.shell.process.pid if self.shell else None

    def sendCmd(self, *args: Any, **kwargs: Any) -> None:
        """Start a command; read its output by `waitOutput` or `monitor`."""
        if self.waiting:
            raise Misuse(f"{self.name}: {self.lastCmd!r} is still running; call waitOutput() first")
        words = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
        command = " ".join(map(str, words))
        if self.names_in(command):
            note(BEFORE)
            self.deferred.append(command)
            self.lastCmd = ""
            return
        there = self.running(f"cmd({command!r})")
        if self.shell and self.shell.process.poll() is not None:  # after the command `exit`
            self.terminate()
        self.shell = self.shell or Shell(there)
        self.before(command)
        self.lastCmd, self.waiting = command, True
        self.shell.begin(command)

    def before(self, command: str) -> None:
        """Do what a command needs of the lab before it starts."""
        if ADDS_IP6.search(command):
            self.enable_ip6()
        note_lacks(command, self.net)

    def monitor(self, timeoutms: float | None = None, **_: Any) -> str:
        """Return the command's new output."""
        assert self.shell
        said, end = self.shell.more(timeoutms)
        if self.waiting and end:
            self.take_power(self.lastCmd)
        self.waiting = self.waiting and not end
        for message in programs.new_messages(self.shell.missing()):
            note(f"{self.name}: {message}")
        return said.decode(errors="replace").replace("\n", "\r\n")  # as from the terminal that Mininet gives a shell

    def take_power(self, command: str) -> None:
        """Give the air the transmit power that a command set with iw: hwsim does not use it."""
        for name, power in powers_in(command):
            if isinstance(intf := self.nameToIntf.get(name), WIntf):
                intf.setTxPower(power)

    def waitOutput(self, verbose: bool = False, **_: Any) -> str:
        """Wait for the command's end, and return its output."""
        said = []
        while self.waiting:
            said.append(self.monitor())
            if verbose:
                info(said[-1])
        return "".join(said)

    def cmd(self, *args: Any, verbose: bool = False, **_: Any) -> str:
        """Run a command in the node's shell, and return its output."""
        if verbose:
            info(f"*** {self.name} : {args}\n")
        self.sendCmd(*args)
        said = self.waitOutput(verbose)
        if self.lastCmd.rstrip().endswith("&"):
            self.sendCmd("echo $!")
            pid = self.waitOutput().strip()
            self.lastPid = int(pid) if pid.isdecimal() else None
        return said

    def cmdPrint(self, *args: Any) -> str:
        return self.cmd(*args, verbose=True)

    def popen(self, *args: Any, **kwargs: Any) -> Popen[bytes]:
        """Start a program outside the shell; a string is split into words unless shell=True."""
        kwargs.pop("mncmd", None)
        words: Any = args[0] if len(args) == 1 else list(map(str, args))
        if isinstance(words, str) and not kwargs.pop("shell", False):
            words = shlex.split(words)
        kwargs = {"stdout": PIPE, "stderr": PIPE, **kwargs}
        there = self.running(f"popen({words!r})")
        try:
            return there.popen(words, **kwargs)
        except FileNotFoundError as error:
            missing = words if isinstance(words, str) else words[0]
            raise Misuse(f"{self.name}: {programs.missing_message(missing)}") from error

    def pexec(self, *args: Any, **kwargs: Any) -> tuple[str, str, int]:
        """Run a program, and return its output, its error output and its exit status."""
        process = self.popen(*args, **kwargs)
        out, err = process.communicate()
        self.take_power(" ".join(map(str, args[0] if isinstance(args[0], list | tuple) else args)))
        return (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"), process.wait()

    # Life cycle

    def config(self, **params: Any) -> dict[str, Any]:
        """Set what the keywords say, when the network is built; a script's class can override this."""
        if route := params.get("defaultRoute"):
            self.setDefaultRoute(route)
        if ip6 := params.get("ip6"):
            self.setIP6(ip6)
        noted, self.noted_ip6 = self.noted_ip6, []
        for each in noted:
            self.setIP6(*each)
        return {}

    configDefault = config

    def start(self, controllers: Any = None) -> None:
        """No effect: the network starts its nodes."""

    def stop(self, deleteIntfs: bool = False) -> None:
        """End the node's programs; the network removes the node."""
        self.terminate()

    def terminate(self) -> None:
        """End its shell and the shell's children."""
        if self.shell:
            self.shell.close()
            self.shell = None

    def sendInt(self, intr: str = "\x03") -> None:
        """Interrupt the command in the shell."""
        self.running("sendInt()").cmd(f"pkill -INT -P {self.pid}")

    def read(self, size: int = 1024) -> str:
        return self.monitor()

    @classmethod
    def setup(cls) -> None:
        """No effect: a lane is ready."""

    # Position

    @property
    def position(self) -> Position:
        """The current position in metres."""
        if self.replayed is not None:
            return self.replayed  # type: ignore[return-value]
        if self.lane and self.kind in ("station", "ap"):
            return self.lane.position
        return self.noted_position or (0.0, 0.0, 0.0)

    @position.setter
    def position(self, position: Any) -> None:
        if position == []:  # older scripts fill this list for ReplayingMobility
            self.replayed = position
        else:
            self.setPosition(position)

    pos = position  # older scripts' name

    def setPosition(self, pos: Any) -> None:
        """Set the position at once. A station that this takes out of its access point's range leaves it, and joins
        another before this returns."""
        there = place(self.name, pos)
        if not (self.lane and self.kind in ("station", "ap")):
            self.noted_position = there
            return
        with self.net.jump(self):
            self.noted_position = self.lane.position = there

    def plot(self, position: Any) -> None:
        """Set the position of a node without radio, for pictures."""
        self.setPosition(position)

    def getxyz(self) -> Position:
        return self.position

    def get_distance_to(self, dst: Node | str) -> float:
        """Return the distance in metres."""
        return round(math.dist(self.position, self.net.node_of(dst).position), 2)


class Host(Node):
    """A host on wires."""


class CPULimitedHost(Host):
    """A host, without limits: computing takes no time in a lane."""

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **params)
        note(f"CPULimitedHost: {FREE}: CPU limits have no effect")

    def setCPUFrac(self, *_: Any, **__: Any) -> None:
        """No effect, as for the next two."""

    setCPUs = cgroupSet = setCPUFrac
