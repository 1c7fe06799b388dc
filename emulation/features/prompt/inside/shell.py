# SPDX-License-Identifier: BSD-3-Clause
"""The prompt inside a running network, with Mininet's commands.

`sta1 COMMAND` runs a program in a node; a node's name among its arguments stands for its address. In the virtual lane
the clock stands still while the prompt waits for input, and jumps while a command waits. `sta1 ping sta3` takes no real
time, and `wait 60` lets a minute of the network's time pass at once. So ping sends four requests here unless told
otherwise. Ctrl-C and errors end a command, not the network.
"""

from __future__ import annotations

import cmd
import signal
import subprocess
import time
import traceback

from emulation.features.prompt.inside.traffic import duration, parse_flows, play, result_line
from emulation.lane import manet, programs
from emulation.lane.air import NO_BACKOFF
from emulation.lane.protocol import DOINGS
from traffic.ping import options, ping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from emulation.lane.network import Live
    from emulation.lane.node import Node

PROMPT = "dcflab> "
# Protocols that look for routes all the time. On a machine they have found some when a person has typed a line.
PROACTIVE, FOUND_S = ("olsr", "dsdv", "babel", "batman_adv"), 30
MODES = ("full", "partial", "none")
COLLIDED, GIVEN_UP = ("COLLISION", "OWN_TX"), ("RTS_LIMIT", "SHORT_LIMIT", "LONG_LIMIT", "STAGES")
COUNTER_COLUMNS = ("sent", "received", "COL_TOTAL", "retries", "given up", "queue full", "busy, s")
OUTSIDE_COL_TOTAL = ("ack", "routing", "management")  # kinds that are not in COL_TOTAL of the tables


def terminal(prompt: str) -> str | None:
    """Read a line from this terminal; return None at its end."""
    try:
        return input(prompt)
    except EOFError:
        return None


class Shell(cmd.Cmd):
    """The prompt of a started network. `read(prompt)` returns the next line, None at the end of the input."""

    intro = "A network of {} nodes. Type help for the commands, exit to leave."
    prompt_text = PROMPT

    def __init__(self, net: Live, read: Callable[[str], str | None] = terminal) -> None:
        super().__init__()
        self.net, self.read = net, read
        self.background: list[subprocess.Popen[bytes]] = []
        self.names: dict[str, object] = {"net": net, **net.nodes}  # for `py`

    def words(self) -> dict[str, list[str]]:
        """Return the words for completion that may follow each first word; "" has the first words."""
        verbs, nodes = sorted(name[3:] for name in self.get_names() if name.startswith("do_")), list(self.net.nodes)
        own = {"help": verbs, "rts": [*nodes, *MODES], "nodes": [], "net": [], "wait": [], "exit": [], "time": verbs}
        return {"": [*verbs, *nodes]} | {word: own.get(word, nodes) for word in (*verbs, *nodes)}

    def run(self) -> None:
        """Serve until exit or the end of the input; then end the programs in the background."""
        if (routing := self.net.plan["routing"]["kind"]) in PROACTIVE:
            print(f"*** {routing} looks for routes: {FOUND_S} s of the network's time pass", flush=True)
            time.sleep(FOUND_S)
        print(self.intro.format(len(self.net.nodes)))
        # Ctrl-C is for what runs; the host asks for lines.
        previous_handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            while (line := self.read(self.prompt_text)) is not None:
                try:
                    signal.signal(signal.SIGINT, signal.default_int_handler)
                    if self.onecmd(line.strip()):
                        break
                except KeyboardInterrupt:
                    signal.signal(signal.SIGINT, signal.SIG_IGN)
                    print("interrupted")
                except OSError as error:
                    print(f"*** {error.strerror or error}")
                except ValueError as error:
                    print(f"*** {error}")
                except (Exception, SystemExit) as error:  # an error at the prompt, or in a command, does not end it
                    print(f"*** {type(error).__name__}: {error}")
                signal.signal(signal.SIGINT, signal.SIG_IGN)
        finally:
            signal.signal(signal.SIGINT, previous_handler)
            for process in self.background:
                process.kill()
                process.wait()

    def emptyline(self) -> bool:
        return False

    def do_help(self, line: str) -> None:
        """help [COMMAND]: list the commands, or describe one.

        help iperf
        """
        known = {name[3:]: getattr(self, name).__doc__ for name in sorted(self.get_names()) if name.startswith("do_")}
        if line in self.net.nodes:
            line = "NODE"
        about = {"NODE": self.default.__doc__, **{name: text for name, text in known.items() if name not in ALIASES}}
        if line:
            if not (text := about.get(line) or known.get(line)):
                raise ValueError(f"there is no command {line}; there are: {', '.join(about)}")
            print("\n".join(f"    {row.strip()}".rstrip() for row in text.strip().splitlines()))
            return
        for text in about.values():
            usage, _, description = text.strip().splitlines()[0].partition(": ")
            print(f"    {usage:<30} {description}" if len(usage) <= 30 else f"    {usage}\n{'':34} {description}")
        print("    help COMMAND has an example of each; Tab completes, and the arrows recall earlier lines.")

    def default(self, line: str) -> None:
        """NODE COMMAND: run a program in a node; with & at the end, in the background.

        sta1 ping -c 2 sta3
        sta2 ip route
        sta3 iperf3 -s &
        """
        name, _, command = line.partition(" ")
        if name not in self.net.nodes:
            nodes = ", ".join(self.net.nodes)
            print(f"*** neither a command nor a node: {name} (nodes: {nodes}; help lists the commands)")
            return
        node, words = self.net.nodes[name], command.split()
        words = [self.net.nodes[word].IP() if word in self.net.nodes else word for word in words]
        if words[:1] == ["ping"] and (chosen := options(words[1:])):
            self.ping(node, *chosen)
        elif words[-1:] == ["&"]:
            self.background.append(node.popen(" ".join(words[:-1]), stdin=subprocess.DEVNULL, process_group=0))
        elif words:
            process = node.popen(" ".join(words), stdin=subprocess.DEVNULL)
            try:
                status = process.wait()
            except KeyboardInterrupt:
                process.kill()  # in case it ignored the signal
                process.wait()
                raise
            node.ended(words)
            if status == programs.NOT_THERE and not programs.path_of(words[0]):
                print(f"*** {programs.missing_message(words[0])}", flush=True)

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
        """net: the nodes of each link, and which nodes each node hears."""
        for interface in self.net.interfaces():
            node, link = interface.node, self.net.link_of(interface)
            if interface.on_air:
                heard = " ".join(other for other, _ in self.net.heard_by(node)) or "nobody"
                on = f"{link.plan['ssid']}, {link.plan['freq']} MHz; hears {heard}"
            else:
                others = (each for each in self.net.interfaces() if self.net.link_of(each) is link)
                on = " ".join(f"to {each.node.name}" for each in others if each is not interface)
            print(f"{node.name} {interface.name}: {link.plan['kind']} {on}")

    def do_clients(self, _: str) -> None:
        """clients: the clients of each access point."""
        names = {each.MAC(): each.node.name for each in self.net.interfaces()}
        for node in self.net.nodes.values():
            if node.kind == "ap":
                print(f"{node.name}:", *sorted(names.get(address, address) for address in node.radio.peers()))

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
        """dump: all data of the nodes."""
        for node in self.net.nodes.values():
            print(repr(node))

    def do_pingall(self, _: str) -> None:
        """pingall: ping between all pairs.

        pingall
        """
        lost = sent = 0
        nodes = [node for node in self.net.nodes.values() if node.IP()]
        for a in nodes:
            row: list[str] = []
            for b in nodes:
                if a is not b:
                    rtt_s = next(ping(a, b.IP()))[2]
                    row.append("X" if rtt_s is None else b.name)
            lost, sent = lost + row.count("X"), sent + len(row)
            print(f"{a.name} -> {' '.join(row)}", flush=True)
        print(f"*** Results: {100 * lost // max(sent, 1)}% dropped ({sent - lost}/{sent} received)")

    def do_iperf(self, line: str) -> None:
        """iperf [A B [SECONDS]]: TCP goodput from A to B; by default from the first node to the last, for 5 seconds.
        TCP and its settings are those of the network, such as --tcp.

        iperf sta1 sta3 20
        """
        words, names = line.split(), [node.name for node in self.net.nodes.values() if node.IP()]
        a, b = words[:2] if len(words) >= 2 else (names[0], names[-1])
        if len(words) == 1 or not {a, b} <= set(names) or a == b:
            print(f"*** iperf: between which two of {', '.join(names)}?")
            return
        seconds = duration("iperf", words[2] if len(words) > 2 else "5")
        (report,) = play(self.net, [self.net.flow_between(a, b)], seconds)
        rate = 8 * report["delivered_bytes"] / seconds / 1e3
        print(f"*** Results: {rate:.0f} kb/s from {a} to {b} over {seconds:g} s, {report['congestion']}")

    def do_flow(self, line: str) -> None:
        """flow SECONDS A B KIND …: flows of any kinds in parallel, with options as in --application.

        flow 20 sta1 sta3 voice,codec=g729 sta3 sta1 web
        """
        word, _, rest = line.partition(" ")
        seconds = duration("flow", word)
        asked = enumerate(parse_flows(rest.split()))
        flows = [self.net.flow_between(self.end(a), self.end(b), kind, number) for number, (a, b, kind) in asked]
        for flow, report in zip(flows, play(self.net, flows, seconds), strict=True):
            print(f"*** {result_line(flow, report, seconds)}")

    def end(self, name: str) -> str:
        """Return the name of a node that can be the end of a flow. Raises ValueError if it cannot."""
        if not self.node(name).IP():
            raise ValueError(f"flow: {name} has no address")
        return name

    def node(self, name: str) -> Any:
        """Return the node with this name. Raises ValueError if there is none."""
        if name not in self.net.nodes:
            raise ValueError(f"there is no node {name}; there are: {', '.join(self.net.nodes)}")
        return self.net.nodes[name]

    def do_counters(self, line: str) -> None:
        """counters [NODE]: what the air has counted at a node, or at all nodes, since the prompt began.
        These are: frames sent; frames received that were addressed to it; RTSs, CTSs and data addressed to it that
        collided, as in COL_TOTAL of the table; retries; frames given up; frames that found its queue full; and how long
        the medium was busy.

        counters sta2
        """
        if not self.net.air:
            raise ValueError("this medium keeps no counters")
        chosen = [self.node(line).name] if line else list(self.net.nodes)
        print(f"{'':9}" + "".join(f"{name:>12}" for name in COUNTER_COLUMNS))
        for station in self.net.air.report()["stations"]:
            if station["name"] in chosen:
                print(f"{station['name']:9}" + "".join(f"{value:>12}" for value in summary(station["counters"])))

    def do_air(self, line: str) -> None:
        """air [NODE]: what each station of the air is doing now.
        The columns are: until when, in us from now; the number of frames it holds; its NAV, in us; its contention
        window; and its remaining backoff slots. Looking changes nothing.

        air sta2
        """
        if not self.net.air or self.net.plan.get("medium"):
            raise ValueError("this medium does not report what stations are doing")
        chosen, now_ns = [self.node(line).name] if line else list(self.net.nodes), time.monotonic_ns()
        print(f"{'':9}{'does':>9}{'for, us':>10}{'holds':>7}{'NAV, us':>10}{'CW':>6}{'slots':>7}")
        for name, look in zip(self.net.air.names, self.net.air.look(), strict=True):
            if name in chosen:
                times = look["until_ns"], look["nav_end_ns"]
                until, nav = (f"{(at - now_ns) / 1e3:.1f}" if at else "-" for at in times)
                slots = "-" if look["backoff"] == NO_BACKOFF else look["backoff"]
                does = DOINGS[look["doing"]]
                print(f"{name:9}{does:>9}{until:>10}{look['queued']:>7}{nav:>10}{look['cw']:>6}{slots:>7}")

    def do_rts(self, line: str) -> None:
        """rts [[NODE] full|partial|none]: use RTS/CTS before all, long or no frames of a node, or of all nodes.

        rts sta2 none
        """
        words = line.split()
        nodes = [self.node(words.pop(0))] if words and words[0] in self.net.nodes else []
        for node in nodes or [node for node in self.net.nodes.values() if node.on_air]:
            if words:
                node.rts = words[0]
            print(f"{node.name}: {node.rts}")

    def do_power(self, line: str) -> None:
        """power NODE DBM: set its transmit power, from now on. Routes stay as they are.

        power sta1 10
        """
        name, _, dbm = line.partition(" ")
        node = self.node(name)
        try:
            node.tx_power_dbm = float(dbm)
        except ValueError as error:
            raise ValueError(f"power: give a number of dBm: {error}") from None
        self.print_receivers(node)

    def do_retry(self, line: str) -> None:
        """retry NODE [SHORT [LONG]]: attempts at an RTS or a frame without one, and at a frame after its RTS.

        retry sta2 1
        """
        self.set_both(line, "retry", ("short_retry", "long_retry"), int)

    def do_thresholds(self, line: str) -> None:
        """thresholds NODE [RECEIVE [SENSE]]: the power in dBm from which it receives, and senses.
        Routes stay as they are.

        thresholds sta2 -70 -80
        """
        self.set_both(line, "thresholds", ("receive_dbm", "sense_dbm"), float)

    def set_both(self, line: str, verb: str, names: tuple[str, str], number: Callable[[str], float]) -> None:
        word, *values = line.split() or [""]
        node = self.node(word)
        try:
            found = dict(zip(names, map(number, values), strict=len(values) > len(names)))
        except ValueError:
            raise ValueError(f"{verb}: NODE, and at most two numbers: {', '.join(names)}") from None
        if found:
            node.set_air(**found)
        print(f"{node.name}: " + ", ".join(f"{name} {getattr(node, name):g}" for name in names))

    def do_move(self, line: str) -> None:
        """move NODE X,Y[,Z] [SPEED]: move it there (metres) at once, or at this speed (m/s). Routes stay as they are.

        move sta3 500,0
        move sta3 500,0 10
        """
        name, where, speed = [*line.split(None, 2), "", "", ""][:3]
        node, numbers = self.node(name), where.split(",")
        if len(numbers) not in (2, 3):
            raise ValueError("move: give X,Y or X,Y,Z, in metres" + f"; not {where}" * bool(where))
        place = ",".join(numbers + ["0"] * (len(numbers) == 2))
        if speed:
            node.move(place, float(speed))
        else:
            node.position = place
        self.print_receivers(node)

    def do_switch(self, line: str) -> None:
        """switch NODE on|off: take its interface down without notice, or bring it up to join again, with its routes.

        switch sta2 off
        """
        name, _, how = line.partition(" ")
        if how not in ("on", "off"):
            raise ValueError("switch: give a node, and on or off")
        self.net.switch(self.node(name), on=how == "on")

    def print_receivers(self, node: Node) -> None:
        hears = {one.name: [name for name, _ in self.net.heard_by(one)] for one in self.net.nodes.values()}
        by = " ".join(name for name, heard in hears.items() if node.name in heard) or "nobody"
        print(f"{node.name} at {','.join(f'{value:g}' for value in node.position)}: heard by {by}")

    def do_capture(self, line: str) -> None:
        """capture FILE: write what has been on the air so far to the run folder, as pcapng.

        capture before.pcapng
        """
        if not line or "/" in line:
            raise ValueError("capture: give the name of a file in the run folder")
        self.net.capture(line)

    def do_routes(self, line: str) -> None:
        """routes [NODE]: the routes of a node, or of all nodes.

        routes sta2
        """
        for node in [self.node(line)] if line else self.net.nodes.values():
            print(f"{node.name}:")
            print("".join(f"    {row}\n" for row in node.cmd("ip route").splitlines()), end="", flush=True)

    def do_manet(self, line: str) -> None:
        """manet [NODE] [NAME=VALUE …] [--json]: the state and counters of a routing interface, or of all.
        With NAME=VALUE, set its parameters. This needs routing interfaces.

        manet sta2
        manet sta1 jitter_ms=0
        """
        words = line.split()
        chosen = [self.node(word) for word in words if "=" not in word and word != "--json"]
        names = [node.name for node in chosen or self.net.nodes.values()]
        print(manet.command_output(self.net, names, [word for word in words if "=" in word], "--json" in words))

    def do_py(self, line: str) -> None:
        """py EXPRESSION: evaluate or run Python; `net` and the nodes are defined by name.

        py sta1.radio.state()
        """
        try:
            try:
                print(eval(line, self.names))
            except SyntaxError:
                exec(line, self.names)
        except Exception:
            print(traceback.format_exc(limit=0).strip())

    def do_sh(self, line: str) -> None:
        """sh COMMAND: run a program in the lane outside of the nodes, in a folder that it may write to.

        sh ls
        """
        subprocess.run(line, shell=True, stdin=subprocess.DEVNULL)

    def do_time(self, line: str) -> None:
        """time COMMAND: run a command and print how long it took, in the network's time.

        time sta1 ping -c 1 sta3
        """
        began = time.monotonic()
        self.onecmd(line)
        print(f"*** Elapsed time: {time.monotonic() - began:.6f} s")

    def do_wait(self, line: str) -> None:
        """wait SECONDS: let the network's time pass.

        wait 60
        """
        time.sleep(duration("wait", line))

    def do_exit(self, _: str) -> bool:
        """exit: leave; the network is taken down."""
        return True

    do_quit = do_EOF = do_exit


ALIASES = ("quit", "EOF")


def summary(counters: dict[str, Any]) -> tuple[object, ...]:
    """Return the values of COUNTER_COLUMNS (docs/records.md, section 4)."""

    def of(table: str, *columns: str, without: Sequence[str] = ()) -> int:
        rows = [row for kind, row in counters[table].items() if kind not in without]
        return sum(row.get(column, 0) for row in rows for column in columns)

    return (
        sum(counters["tx"].values()), of("addressed", "OK"), of("addressed", *COLLIDED, without=OUTSIDE_COL_TOTAL),
        sum(counters["retries"].values()), of("end", *GIVEN_UP), of("end", "QUEUE_FULL"),
        f"{counters['busy_ns'] / 1e9:.3f}",
    )  # fmt: skip
