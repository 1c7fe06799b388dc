# SPDX-License-Identifier: BSD-3-Clause
"""Controllers of OpenFlow: programs in the lane's first namespace, in which the switches of Open vSwitch are, too."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import tempfile
from typing import Any

from emulation.features.mininet.node import Node
from emulation.features.mininet.refusals import note
from emulation.lane import guest, outside, ovs, programs
from emulation.lane.clock import wait_until
from emulation.lane.errors import Misuse
from emulation.lane.node import LOOPBACK

LOCAL = "127.0.0.1"
LEARNING = "ovs-testcontroller"  # makes switches learn addresses
OPENFLOW_PORTS = 6653, 6633  # the second is that of older controllers
READY_S, STARTING_S = 30.0, 2.0  # in lane time
LEARN, NONE = "learning", "none"  # values of --controller
NOBODY = "{}: no controller answers at {}:{}, so "
LEARNS = "switches learn addresses, as under a Controller; --controller 'PROGRAM' starts yours in the lane. "
NO_FLOWS = "as --controller none says, switches in failMode 'secure' have no flows but the script's. "
# Programs that have another default port than a script may name, and how they are told.
PORT_WORDS = {"osken-manager": " --ofp-tcp-listen-port {}", "ryu-manager": " --ofp-tcp-listen-port {}"}


class Controller(Node):
    """A program that controls switches, by default Open vSwitch's own, by which they learn addresses."""

    kind = "controller"
    apart, nobody = False, False
    sought = replaced = False  # whether its program was looked for; whether none was found, and switches learn
    answers = False  # whether it is a program that the script does not name here

    def __init__(self, name: str, command: str = "", cargs: str = "ptcp:%d", cdir: str | None = None,
                 ip: str = LOCAL, port: int | None = None, protocol: str = "tcp", **params: Any) -> None:  # fmt: skip
        super().__init__(name, **params)
        usual = command in ("", "controller", "ovs-controller")  # Mininet's names of one that learns
        self.command, self.cargs, self.cdir = LEARNING if usual else command, cargs, cdir
        self.ip, self.port, self.protocol = ip, port or OPENFLOW_PORTS[0], protocol
        self.said = port

    @property
    def learns(self) -> bool:
        """Whether its switches forward as bridges do."""
        return self.replaced or (self.command == LEARNING and not self.by_script)

    @property
    def by_script(self) -> bool:
        """Whether the script's own class starts its program."""
        return type(self).start.__module__ != __name__

    @property
    def at_ports(self) -> tuple[int, ...]:
        """The ports at which it may listen."""
        return (self.port,)

    @property
    def target(self) -> str:
        return f"{self.protocol}:{LOCAL if self.ip == 'localhost' else self.ip}:{self.port}"

    def IP(self, intf: Any = None) -> str | None:
        return str(self.ip)

    def start(self, controllers: Any = None) -> None:
        """Start the program, and wait until it listens. Raises Misuse if it is not there, or ends."""
        self.sought = True
        if self.isListening() or (self.learns and not self.net.has_openflow):
            return
        if not programs.path_of(program := shlex.split(self.command)[0]):
            if self.learns:
                return  # its switches learn by themselves
            raise Misuse(f"{self.name}: {programs.missing_message(program)}")
        cargs = self.cargs % self.port if "%" in self.cargs else self.cargs
        if self.learns and not any(node.params.get("protocols") for node in self.net.values()):
            cargs = f"-O OpenFlow10 {cargs}"  # as Mininet's: no flow for packets without one, which hides a script's
        self.run_program(f"{self.command} {cargs}")

    def run_program(self, command: str) -> None:
        """Start a program, and wait until it listens. Raises Misuse if it is not there, or ends."""
        os.makedirs(ovs.FOLDER, exist_ok=True)  # without a switch it is not there
        log = f"{tempfile.gettempdir()}/{self.name}.log"
        self.cmd(f"{f'cd {self.cdir}; ' * bool(self.cdir)}{command} >{log} 2>&1 &")
        ended = f"/proc/{self.lastPid}/exe"
        wait_until(lambda: self.found() or not os.path.exists(ended), READY_S)
        if not self.found():
            said = programs.last_line(log)
            raise Misuse(f"{self.name}: {command} does not listen at port {self.port}: {said}")

    def found(self) -> bool:
        """Return whether it listens at a port that it may have, which becomes its own."""
        there = [port for port in self.at_ports if self.isListening(port=port)]
        self.port = [*there, self.port][0]
        return bool(there)

    def look(self) -> None:
        """Do what a switch needs before it connects: look for a program that a script starts."""
        if self.by_script and not self.sought:
            self.seek()

    def seek(self) -> None:
        """Look for the program. Its address becomes one of the first namespace, unless a node has it. Raises Misuse."""
        self.sought = True
        there = {intf.IP() for node in self.net.all_nodes() for intf in node.intfList()}
        if self.ip != "localhost" and not self.ip.startswith("127.") and self.ip not in there:
            with contextlib.suppress(OSError):  # it has this address already
                self.running("start()").route.add_address(LOOPBACK, f"{self.ip}/32")
        why = ""
        self.answers = wait_until(self.found, STARTING_S)  # it may be about to start
        for port in self.at_ports if not self.answers and self.ip not in there else ():
            if not (why := outside.reach(LOCAL if self.ip == "localhost" else self.ip, port)):
                self.port, self.answers = port, True
                break
        if not self.answers:
            self.replace(os.environ.get(f"{guest.OPTION}CONTROLLER", LEARN), why)
        self.net.cut_loops()

    def replace(self, program: str, why: str) -> None:
        """Do what the option says, as nothing answers at this address. Raises Misuse."""
        self.replaced = program == LEARN
        if said := {LEARN: LEARNS, NONE: NO_FLOWS}.get(program):
            note(NOBODY.format(self.name, self.ip, self.port) + said + why, said)  # once for all controllers
            return
        if not programs.path_of(name := shlex.split(program)[0]):
            raise Misuse(f"--controller: {programs.missing_message(name)}")
        words = PORT_WORDS.get(os.path.basename(name), "")
        self.run_program(program.replace("%d", str(self.port)) + words.format(self.port))
        self.answers = True

    def stop(self, deleteIntfs: bool = False) -> None:
        self.terminate()

    def terminate(self) -> None:
        """End its programs, with the shell that started them."""
        if self.shell:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.shell.process.pid, signal.SIGKILL)
        super().terminate()

    def isListening(self, ip: str = "", port: int = 0) -> bool:
        """Return whether a program accepts connections at its address."""
        with socket.socket() as made, contextlib.suppress(OSError):
            made.connect((ip or self.ip, port or self.port))
            return True
        return False

    def checkListening(self) -> None: ...

    def isAvailable(self) -> bool:
        return True


class RemoteController(Controller):
    """A controller that the script starts in the lane, or in real time one that runs outside; or else what the option
    `--controller` says."""

    learns = property(lambda self: self.replaced)

    @property
    def at_ports(self) -> tuple[int, ...]:
        return (self.said,) if self.said else OPENFLOW_PORTS

    def start(self, controllers: Any = None) -> None:
        self.seek()

    def look(self) -> None:
        if not self.sought:
            self.start()


class Ryu(Controller):
    """Ryu, or os-ken, its successor, with applications."""

    def __init__(self, name: str, *apps: str, **params: Any) -> None:
        program = "ryu-manager" if programs.path_of("ryu-manager") else "osken-manager"
        cargs = " ".join(("--ofp-tcp-listen-port %d", *apps))
        super().__init__(name, command=program, cargs=cargs, **params)


class NullController(Controller):
    """No controller."""

    learns, nobody = False, True

    def start(self, controllers: Any = None) -> None: ...
