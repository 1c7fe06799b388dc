# SPDX-License-Identifier: BSD-3-Clause
"""The iperf3 flow: the well-known program, one process at each end.

The client starts after the server has said that it listens. While a client waits for its server, before the first byte
and after the last, it does not sleep but polls the clock. Polling does not advance virtual time, which moves on in
steps of 20 us. So a run with iperf3 takes several times as long as one with `bulk`. For the same reason its socket
buffers are bounded (-w). When time is up, the delivered data is read from the kernel, or for datagrams from the
server's output every tenth of a second. If iperf3 finished before, its own report is used; that is kept.
"""

from __future__ import annotations

import math
import os
import re
import select
import time
from operator import itemgetter

from traffic import applications, samples, tcp_info
from traffic.settings import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any, ClassVar

    from traffic.host import Host
    from traffic.loop import Loop

BLOCK = 1 << 17
COOKIE = 37  # bytes that begin each iperf3 connection
INTERVAL = re.compile(rb"sec .* ([\d.]+) ms +(-?\d+)/(\d+) ")  # of datagrams, by the server: jitter, lost, total
SUMMARY = b"- - -"  # follows the intervals
GOODBYE_S = 10  # s of the lane's time for iperf3's final exchange of results, over a busy path


class Application(applications.Application):
    """One flow."""

    programs = ("iperf3",)
    heeds = ("tcp", "mss", "send_buffer", "bytes", "tos", "start_s", "stop_s", "port")
    settings: ClassVar = {
        "protocol": Setting("tcp", words=("tcp", "udp")),
        "rate_kbps": Setting(None, 1, 1e7, of=float),  # None: as fast as TCP can; UDP 1 Mb/s
        "datagram_bytes": Setting(1448, 16, 65_507),
    }

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str) -> None:
        super().__init__(plan, source, destination, loop, folder)
        self.report = f"{folder}/iperf3-{plan['name']}.json"
        self.server: subprocess.Popen[bytes] | None = None
        self.client: subprocess.Popen[bytes] | None = None
        self.udp = plan["protocol"] == "udp"
        self.incomplete = b""  # an incomplete line of the server
        self.sent = self.arrived = self.last_ns = 0  # datagrams, as far as the server has reported
        self.jitter_ms: float | None = None

    def prepare(self) -> None:
        """Start the server and wait until it listens. Raises OSError if there is no iperf3, or it does not listen."""
        from subprocess import DEVNULL, PIPE, STDOUT

        server = ["iperf3", "--server", "--version4", "--one-off", "--forceflush", "--port", str(self.plan["port"])]
        server += ["--interval", "0.1" if self.udp else "0"]
        self.server = self.destination.popen(server, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        assert self.server.stdout
        said = b""
        for line in self.server.stdout:
            said += line
            if b"Server listening" in line:
                self.loop.watch(self.server.stdout.fileno(), select.EPOLLIN, self.hear)
                return
        raise OSError(f"{self.plan['name']}: iperf3's server did not start: {said.decode(errors='replace').strip()}")

    def hear(self) -> None:
        """Read the server's output; unread, it would eventually fill the pipe and stop the server."""
        assert self.server and self.server.stdout
        descriptor = self.server.stdout.fileno()
        if not (said := os.read(descriptor, 1 << 16)):
            self.loop.forget(descriptor)
        *lines, self.incomplete = (self.incomplete + said).split(b"\n")
        for line in lines:
            if SUMMARY in line:  # the summary repeats everything
                self.loop.forget(descriptor)
                break
            if found := INTERVAL.search(line):
                lost, sent = int(found[2]), int(found[3])
                self.sent, self.arrived = self.sent + sent, self.arrived + sent - lost
                self.jitter_ms = float(found[1])
                self.last_ns = time.monotonic_ns() if sent > lost else self.last_ns

    def start(self) -> None:
        from subprocess import DEVNULL, STDOUT

        plan = self.plan
        length = plan["datagram_bytes"] if self.udp else min(plan["bytes"] or BLOCK, BLOCK)
        # It sends whole blocks, so up to a block more, or for whole seconds.
        amount = ["--bytes", str(plan["bytes"])] if plan["bytes"] else ["--time", str(math.ceil(plan["seconds"]))]
        client = ["iperf3", "--client", self.destination.IP(), "--port", str(plan["port"]), "--json", *amount]
        client += ["--length", str(length)] if self.udp or plan["bytes"] else []
        client += ["--udp"] if self.udp else ["--congestion", plan["congestion"]]
        client += ["--bitrate", f"{round(plan['rate_kbps'] * 1000)}"] if plan["rate_kbps"] else []
        client += ["--set-mss", str(plan["mss"])] if plan["mss"] and not self.udp else []
        client += ["--window", str(plan["send_buffer"])] if plan["send_buffer"] else []
        client += ["--tos", str(plan["tos"])] if plan["tos"] is not None else []
        with open(self.report, "wb") as report:
            self.client = self.source.popen(client, stdin=DEVNULL, stdout=report, stderr=STDOUT)

    def ends(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return TCP_INFO of both ends of its busier connection, which carries the data."""
        port = self.plan["port"]
        return (
            max(self.source.connections(port), key=itemgetter("bytes_acked"), default={}),
            max(self.destination.connections(port), key=itemgetter("bytes_received"), default={}),
        )

    def sample(self) -> dict[str, Any]:
        if self.udp:
            delivered = self.arrived * self.plan["datagram_bytes"]
            return {
                "delivered_bytes": delivered, "sent": self.sent, "arrived": self.arrived, "jitter_ms": self.jitter_ms
            }  # fmt: skip
        sender, receiver = self.ends()
        return samples.of_tcp(sender, max(receiver.get("bytes_received", 0) - COOKIE, 0))

    def finish(self) -> dict[str, Any]:
        """Return the result so far, from the kernel or the server."""
        said = self.said() if self.client and self.client.poll() is not None else None
        if said and "error" not in said:
            return self.reported(said["end"])
        now_ns, error = time.monotonic_ns(), said["error"] if said else None
        if self.udp:
            last_s = self.since_start_s(self.last_ns) if self.last_ns else None
            return {
                "delivered_bytes": self.arrived * self.plan["datagram_bytes"],
                "error": error,
                "last_s": last_s,
                "waiting_s": (now_ns - self.last_ns) / 1e9 if self.last_ns else None,
                "datagrams": self.of_datagrams(self.sent, self.sent - self.arrived, self.jitter_ms),
            }
        sender, receiver = self.ends()
        return {
            "congestion": sender.get("congestion", ""),
            "delivered_bytes": max(receiver.get("bytes_received", 0) - COOKIE, 0),
            "acked_bytes": max(sender.get("bytes_acked", 0) - COOKIE - 1, 0),  # Linux counts the SYN
            "retransmits": sender.get("total_retrans", 0),
            "tcp_info": {"sender": sender, "receiver": receiver},
            "error": error,
            **tcp_info.silence(receiver, self.since_start_s(now_ns)),
        }

    def of_datagrams(self, sent: int, lost: int, jitter_ms: float | None) -> dict[str, Any]:
        """Return the report of datagrams, as `traffic.datagrams` has it; iperf3 does not report delays."""
        return {
            "sent": sent, "arrived": sent - lost, "lost_percent": 100 * lost / sent if sent else None,
            "delay_ms": None, "jitter_ms": jitter_ms,
        }  # fmt: skip

    def said(self) -> dict[str, Any]:
        """Return the output of a client that has ended, or `error` if it failed."""
        import json

        with open(self.report) as file:
            text = file.read()
        try:
            return dict(json.loads(text))
        except ValueError:
            return {"error": text.strip() or "iperf3 failed"}

    def reported(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a client that ended in time, from iperf3's report."""
        if self.udp:
            total = end["sum"]
            found = self.of_datagrams(total["packets"], total["lost_packets"], total["jitter_ms"])
            delivered = found["arrived"] * self.plan["datagram_bytes"]
            return {"delivered_bytes": delivered, "finished_s": total["seconds"], "datagrams": found}
        return {
            "congestion": end["sender_tcp_congestion"],
            "delivered_bytes": end["sum_received"]["bytes"],
            "acked_bytes": end["sum_received"]["bytes"],
            "retransmits": end["sum_sent"]["retransmits"],
            "tcp_info": {"sender": {}, "receiver": {}},
            "finished_s": end["sum_received"]["seconds"],
        }

    def close(self) -> None:
        """Let both ends finish, for a limited time."""
        for process in (self.client, self.server):
            if process is None:
                continue
            if process.stdout:
                self.loop.forget(process.stdout.fileno())
            if self.plan["stop_s"] is not None:  # its time is over, and others go on
                process.kill()
                process.wait()
            if process.poll() is None:
                ended = os.pidfd_open(process.pid)
                waiter = select.poll()
                waiter.register(ended, select.POLLIN)
                if not waiter.poll(GOODBYE_S * 1000):
                    process.kill()
                process.wait()
                os.close(ended)
            if process.stdout:
                process.stdout.close()
