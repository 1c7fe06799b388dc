# SPDX-License-Identifier: BSD-3-Clause
"""The prompt, with the commands of Mininet and Mininet-WiFi, and the lab's own. It reads lines from the terminal or
standard input; at the end of input the script continues."""

from __future__ import annotations

import cmd
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.log import output
from emulation.features.mininet.node import note_lacks
from emulation.features.mininet.roles import LO
from emulation.features.mininet.util import dumpNodes
from emulation.features.prompt.inside import shell as prompt
from emulation.lane import guest
from emulation.lane.errors import Misuse
from emulation.lane.motion import Trajectory, at_rest

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet
    from emulation.features.mininet.node import Node

NO_TERMINAL = "there are no terminals in a lane: NODE COMMAND runs a program, with & in the background"


class CLI(prompt.Shell):
    """The prompt of a started network, until exit or the end of input; or the lines of a file. A script's own class may
    add verbs."""

    intro = "*** Starting CLI:"

    def __init__(self, mininet: Mininet, stdin: Any = None, script: str | None = None, **_: Any) -> None:
        if not mininet.lab:
            raise Misuse("CLI(net): the network is not built yet; call it after net.build() or net.start()")
        lines = iter(lines_of("CLI", script)) if script else None if stdin is sys.stdin else stdin
        super().__init__(mininet.lab, guest.read_line if lines is None else lambda _: next(lines, None))
        self.prompt_text = self.prompt if self.prompt != cmd.Cmd.prompt else mininet.prompt_text
        self.mininet = self.mn = mininet
        self.paused: dict[str, tuple[Trajectory, int]] = {}
        self.names = {"net": mininet, **mininet.nameToNode}
        guest.report(words=self.words())
        before = os.getcwd()
        try:
            self.run()
        finally:
            os.chdir(before)

    def getLocals(self) -> dict[str, object]:
        return self.names

    def mine(self, name: str) -> Node:
        return self.mininet[name]

    def default(self, line: str) -> None:
        """NODE COMMAND: run a program in a node's shell; with & at the end, in the background.

        sta1 ping -c 2 sta3
        sta1 ifconfig sta1-wlan0
        sta3 iperf3 -s &
        """
        name, _, rest = line.partition(" ")
        if name not in self.mininet:
            output(f"*** Unknown command: {line}\n")
            return
        addresses = {name: node.IP() for name, node in self.mininet.nameToNode.items()}
        words = [word if addresses.get(word) in (None, LO) else str(addresses[word]) for word in rest.split(" ")]
        if words[:1] == ["ping"] and not any(name.startswith("-c") for name in words):
            words.insert(1, "-c 4")  # virtual time runs ahead, so the user could not end it
        if words != [""]:
            node = self.mininet[name]
            node.sendCmd(" ".join(words))
            while node.waiting:
                try:
                    output(node.monitor())
                except KeyboardInterrupt:
                    node.sendInt()

    def do_sh(self, line: str) -> None:
        """sh COMMAND: run a program in the lane outside of the nodes, in a folder that it may write to.

        sh ls
        """
        note_lacks(line, self.mininet)
        super().do_sh(line)

    def do_nodes(self, _: str) -> None:
        """nodes: list the nodes."""
        output(f"available nodes are: \n{' '.join(sorted(self.mininet.keys()))}\n")

    def do_net(self, _: str) -> None:
        """net: list the interfaces and their peers."""
        for node in self.mininet.all_nodes():
            ends = [f"{intf}:{intf.beyond()}" for intf in node.intfList()]
            output(f"{node.name} {' '.join(ends)}\n")

    def do_dump(self, _: str) -> None:
        """dump: print details of the nodes."""
        dumpNodes(self.mininet.values())

    def do_intfs(self, _: str) -> None:
        """intfs: list the interfaces."""
        for node in self.mininet.all_nodes():
            output(f"{node.name}: {','.join(node.intfNames())}\n")

    def do_ports(self, _: str) -> None:
        """ports: list the ports of access points and switches."""
        for node in (*self.mininet.switches, *self.mininet.aps):
            output(f"{node.name} " + " ".join(f"{intf}:{port}" for port, intf in node.intfs.items()) + "\n")

    def do_links(self, _: str) -> None:
        """links: list the links, and whether both ends are up."""
        for link in self.mininet.links:
            output(f"{link} {link.status()}\n")

    def do_pingall(self, line: str) -> None:
        """pingall [SECONDS]: ping between all pairs, with this timeout."""
        self.mininet.pingAll(line or None)

    def do_pingpair(self, _: str) -> None:
        """pingpair: ping between the first two nodes."""
        self.mininet.pingPair()

    def do_pingallfull(self, _: str) -> None:
        """pingallfull: ping between all pairs, with times."""
        self.mininet.pingAllFull()

    def do_pingpairfull(self, _: str) -> None:
        """pingpairfull: ping between the first two nodes, with times."""
        self.mininet.pingPairFull()

    def do_iperf(self, line: str) -> None:
        """iperf [A B [SECONDS]]: TCP goodput from A to B, by default from the first to the last.

        iperf sta1 sta2
        """
        words = line.split()
        seconds = float(words.pop()) if len(words) == 3 else 5.0
        self.mininet.iperf([self.mine(name) for name in words] or None, seconds=seconds)

    def do_iperfudp(self, line: str) -> None:
        """iperfudp [BANDWIDTH [A B]]: UDP goodput from A to B at this offered rate.

        iperfudp 5M sta1 sta2
        """
        words = line.split() or ["10M"]
        self.mininet.iperf([self.mine(name) for name in words[1:]] or None, l4Type="UDP", udpBw=words[0])

    def do_distance(self, line: str) -> None:
        """distance A B: print the distance between two nodes.

        distance sta1 sta2
        """
        if len(words := line.split()) != 2:
            raise ValueError("distance: give two nodes")
        a, b = map(self.mine, words)
        output(f"The distance between {a.name} and {b.name} is {a.get_distance_to(b):.2f} meters\n")

    def do_px(self, line: str) -> None:
        """px STATEMENT: run Python, with net and the nodes by name."""
        exec(line, self.names)

    def do_link(self, line: str) -> None:
        """link A B up|down: switch the wires between two nodes."""
        if len(words := line.split()) != 3 or words[2] not in ("up", "down"):
            raise ValueError("link: give two nodes, and up or down")
        self.mininet.configLinkStatus(*words)

    def do_noecho(self, line: str) -> None:
        """noecho NODE COMMAND: run a program in a node."""
        self.onecmd(line)

    def do_source(self, line: str) -> None:
        """source FILE: run the lines of a file."""
        for each in lines_of("source", line):
            if each.strip() and not each.lstrip().startswith("#"):
                self.onecmd(each.strip())

    def do_stop(self, _: str) -> None:
        """stop: stop all motion, until start."""
        lab = self.mininet.lab
        assert lab
        for node in lab.nodes.values():
            if len(node.trajectory.waypoints) > 1 and node.name not in self.paused:
                self.paused[node.name] = node.trajectory, time.monotonic_ns()
                lab.motion.set_trajectory(node, at_rest(node.position))

    def do_start(self, _: str) -> None:
        """start: continue the motion that stop ended."""
        lab, now = self.mininet.lab, time.monotonic_ns()
        assert lab
        for name, (path, since) in self.paused.items():
            lab.motion.set_trajectory(lab.nodes[name], Trajectory(path.waypoints, path.since_ns + now - since))
        self.paused.clear()

    def do_switch(self, line: str) -> None:
        """switch NODE start|stop: start or stop a bridge; on|off: switch a node's interface.

        switch s1 stop
        """
        name, _, action = line.partition(" ")
        if action.strip() not in ("start", "stop") or name not in self.mininet:
            super().do_switch(line)
        elif (node := self.mine(name)) not in (*self.mininet.switches, *self.mininet.aps):
            raise ValueError(f"switch: {name} is a {node.kind}; name a switch or an access point")
        else:
            getattr(node, action.strip())()

    def do_xterm(self, _: str) -> None:
        """xterm: there are no terminals in a lane."""
        raise ValueError(NO_TERMINAL)

    do_x = do_gterm = do_xterm

    def do_dpctl(self, line: str) -> None:
        """dpctl COMMAND: run ovs-ofctl with each switch and access point.

        dpctl dump-flows
        dpctl add-flow in_port=1,actions=output:2
        """
        if not (words := line.split()):
            raise ValueError("dpctl: give a command of ovs-ofctl, such as dump-flows")
        for node in (*self.mininet.switches, *self.mininet.aps):
            output(f"*** {node.name} {'-' * 72}\n{node.dpctl(*words)}")


def lines_of(call: str, file: str) -> list[str]:
    """Return the lines of a file of commands. Raises Misuse."""
    try:
        return Path(file).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Misuse(f"{call}: {file!r} cannot be read: {getattr(error, 'strerror', error)}") from None
