# SPDX-License-Identifier: BSD-3-Clause
"""The prompt inside a running network, with Mininet's verbs.

`sta1 COMMAND` runs a program in a node; a node's name among its arguments stands for its address. In the virtual
lane the clock stands while the prompt waits, however long you think, and leaps while a command waits: `sta1 ping sta3`
takes no time, and `wait 60` lets a minute of the network's time pass in a moment. That is why ping counts to four here
unless told otherwise. Ctrl-C ends a command, not the network.
"""

from __future__ import annotations

import cmd
import subprocess
import time
import traceback

from traffic.applications import Applications
from traffic.loop import Loop
from traffic.ping import ping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from emulation.lane.net import Net
    from emulation.lane.node import Node

PROMPT = "dcflab> "
LONGEST_S = 100_000


def terminal(prompt: str) -> str | None:
    """A line typed at this terminal; None at its end."""
    try:
        return input(prompt)
    except EOFError:
        return None


class Shell(cmd.Cmd):
    """The prompt of a started network. `read(prompt)` gives the next line, None at the end of the input."""

    intro = "A network of {} nodes. Type help for the verbs, exit to leave."

    def __init__(self, net: Net, read: Callable[[str], str | None] = terminal) -> None:
        super().__init__()
        self.net, self.read = net, read
        self.background: list[subprocess.Popen[bytes]] = []
        self.names: dict[str, object] = {"net": net, **net.nodes}  # of `py`

    def run(self) -> None:
        """Serve until exit or the end of the input; what was started in the background ends then."""
        print(self.intro.format(len(self.net.nodes)))
        try:
            while (line := self.read(PROMPT)) is not None:
                try:
                    if self.onecmd(line.strip()):
                        break
                except KeyboardInterrupt:
                    print("interrupted")
                except OSError as error:
                    print(f"*** {error.strerror or error}")
                except Exception as error:  # a mistake at the prompt, or in a verb, is not the network's end
                    print(f"*** {type(error).__name__}: {error}")
        finally:
            for process in self.background:
                process.kill()
                process.wait()

    def emptyline(self) -> bool:
        return False

    def default(self, line: str) -> None:
        """NODE COMMAND: run a program in a node; with & at the end, in the background."""
        name, _, command = line.partition(" ")
        if name not in self.net.nodes:
            print(f"*** no verb and no node: {name} (there are: {', '.join(self.net.nodes)})")
            return
        node, words = self.net[name], command.split()
        words = [self.net[word].IP() if word in self.net.nodes else word for word in words]
        if words[:1] == ["ping"] and (options := ping_options(words[1:])):
            self.ping(node, *options)
        elif words[-1:] == ["&"]:
            self.background.append(node.popen(" ".join(words[:-1]), stdin=subprocess.DEVNULL))
        elif words:
            node.popen(" ".join(words), stdin=subprocess.DEVNULL).wait()

    def ping(self, node: Node, ip: str, count: int, interval_s: float, size: int) -> None:
        print(f"PING {ip} {size} bytes of data, {count} times", flush=True)
        times = []
        for sequence, ttl, rtt_s in ping(node, ip, count, interval_s, size):
            if rtt_s is None:
                print(f"no answer to icmp_seq={sequence}", flush=True)
            else:
                times.append(rtt_s * 1000)
                print(f"{size + 8} bytes from {ip}: icmp_seq={sequence} ttl={ttl} time={times[-1]:.3f} ms", flush=True)
        print(f"{count} packets transmitted, {len(times)} received, {100 * (count - len(times)) // count}% packet loss")
        if times:
            print(f"rtt min/avg/max = {min(times):.3f}/{sum(times) / len(times):.3f}/{max(times):.3f} ms")

    def do_nodes(self, _: str) -> None:
        """nodes: the nodes, by kind."""
        kinds = dict.fromkeys(node.kind for node in self.net.nodes.values())
        for kind in kinds:
            print(f"{kind}s:", *(node.name for node in self.net.nodes.values() if node.kind == kind))

    def do_net(self, _: str) -> None:
        """net: who is on which link, and whom each node hears."""
        for interface in self.net.interfaces():
            node, link = interface.node, self.net.link_of(interface).plan
            heard = " ".join(other for other, _ in self.net.heard_by(node)) or "nobody"
            print(f"{node.name} {interface.name}: {link['kind']} {link['ssid']}, {link['freq']} MHz; hears {heard}")

    def do_links(self, _: str) -> None:
        """links: the received power of each pair that can exchange frames."""
        for node in self.net.nodes.values():
            for other, dbm in self.net.heard_by(node):
                print(f"{other} -> {node.name}", "" if dbm is None else f"{dbm:.1f} dBm")

    def do_intfs(self, _: str) -> None:
        """intfs: the interfaces."""
        for node in self.net.nodes.values():
            print(f"{node.name}: lo,{','.join(interface.name for interface in node.interfaces)}")

    def do_dump(self, _: str) -> None:
        """dump: all about the nodes."""
        for node in self.net.nodes.values():
            print(repr(node))

    def do_pingall(self, _: str) -> None:
        """pingall: ping between all pairs."""
        lost = sent = 0
        for a in self.net.nodes.values():
            row: list[str] = []
            for b in self.net.nodes.values():
                if a is not b:
                    rtt_s = next(ping(a, b.IP()))[2]
                    row.append("X" if rtt_s is None else b.name)
            lost, sent = lost + row.count("X"), sent + len(row)
            print(f"{a.name} -> {' '.join(row)}", flush=True)
        print(f"*** Results: {100 * lost // max(sent, 1)}% dropped ({sent - lost}/{sent} received)")

    def do_iperf(self, line: str) -> None:
        """iperf [A B [SECONDS]]: TCP goodput from A to B; by default from the first to the last, for 5 seconds."""
        words, names = line.split(), list(self.net.nodes)
        a, b = words[:2] if len(words) >= 2 else (names[0], names[-1])
        if not {a, b} <= set(names) or a == b:
            print(f"*** iperf: between which two of {', '.join(names)}?")
            return
        if (seconds := duration(words[2] if len(words) > 2 else "5")) is None:
            print("*** iperf: for how many seconds?")
            return
        flow = {"name": "iperf", "source": a, "destination": b, "kind": "bulk", "port": 5201, "congestion": "reno",
                "mss": None, "send_buffer": None, "receive_buffer": None, "start_s": 0.0, "bytes": None}  # fmt: skip
        with Loop() as loop, Applications([flow], self.net.nodes, loop, self.net.folder, seconds) as traffic:
            traffic.prepare()
            traffic.run()
            bits = 8 * traffic.finish()[0]["delivered_bytes"]
        print(f"*** Results: {bits / seconds / 1e3:.0f} kb/s from {a} to {b} over {seconds:g} s")

    def do_py(self, line: str) -> None:
        """py EXPRESSION: evaluate Python, or run it; net and the nodes are there by name."""
        try:
            try:
                print(eval(line, self.names))
            except SyntaxError:
                exec(line, self.names)
        except Exception:
            print(traceback.format_exc(limit=0).strip())

    def do_sh(self, line: str) -> None:
        """sh COMMAND: run a program beside the nodes, in no one's namespace."""
        subprocess.run(line, shell=True, stdin=subprocess.DEVNULL)

    def do_time(self, line: str) -> None:
        """time COMMAND: run a verb and say how long it took, in the network's time."""
        began = time.monotonic()
        self.onecmd(line)
        print(f"*** Elapsed time: {time.monotonic() - began:.6f} s")

    def do_wait(self, line: str) -> None:
        """wait SECONDS: let the network's time pass."""
        if (seconds := duration(line)) is None:
            print("*** wait: how many seconds?")
        else:
            time.sleep(seconds)

    def do_exit(self, _: str) -> bool:
        """exit: leave; the network is taken down."""
        return True

    do_quit = do_EOF = do_exit


def duration(word: str) -> float | None:
    """Seconds, above 0 and up to LONGEST_S; None if that is not what the word says."""
    try:
        seconds = float(word)
    except ValueError:
        return None
    return seconds if 0 < seconds <= LONGEST_S else None


def ping_options(words: list[str]) -> tuple[str, int, float, int] | None:
    """(address, count, interval, size) of ping's arguments; None if there is more in them than this ping knows."""
    values = {"-c": 4.0, "-i": 1.0, "-s": 56.0}
    hosts = []
    arguments = iter(words)
    for word in arguments:
        if word in values:
            try:
                values[word] = float(next(arguments, ""))
            except ValueError:
                return None
        else:
            hosts.append(word)
    if len(hosts) != 1 or hosts[0].startswith("-") or values["-c"] < 1:
        return None
    return hosts[0], int(values["-c"]), values["-i"], int(values["-s"])
