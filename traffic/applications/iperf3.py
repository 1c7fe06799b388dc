# SPDX-License-Identifier: BSD-3-Clause
"""The iperf3 flow: the program everybody knows, one process at each end.

The client starts when the server has said that it listens. While a client waits for its server's word, before the first
byte and after the last, it does not sleep but asks for the time over and over; and virtual time, which asking does not
move, lets it on in steps of 20 us. So a run with iperf3 takes several times as long as one with `bulk`. Its socket
buffers are bounded (-w) for the same reason. What was delivered is read from the kernel when time is up, or from
iperf3's own report, which is kept, if it was done before.
"""

from __future__ import annotations

import math
import os
import select
from operator import itemgetter

from traffic import applications

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from typing import Any

    from traffic.host import Host
    from traffic.loop import Loop

BLOCK = 1 << 17
COOKIE = 37  # bytes that each iperf3 connection begins with
GOODBYE_S = 10  # iperf3 exchanges results at the end; how long it may take over a busy path, in the lane's time


class Application(applications.Application):
    """One flow."""

    programs = ("iperf3",)

    def __init__(self, plan: dict[str, Any], source: Host, destination: Host, loop: Loop, folder: str) -> None:
        super().__init__(plan, source, destination, loop, folder)
        self.report = f"{folder}/iperf3-{plan['name']}.json"
        self.server: subprocess.Popen[bytes] | None = None
        self.client: subprocess.Popen[bytes] | None = None

    def prepare(self) -> None:
        """Start the server and wait for its word. Raises OSError if there is no iperf3, or it does not listen."""
        from subprocess import DEVNULL, PIPE, STDOUT

        server = ["iperf3", "--server", "--version4", "--one-off", "--forceflush", "--port", str(self.plan["port"])]
        self.server = self.destination.popen(server, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
        assert self.server.stdout
        said = b""
        for line in self.server.stdout:
            said += line
            if b"Server listening" in line:
                return
        raise OSError(f"{self.plan['name']}: iperf3's server did not start: {said.decode(errors='replace').strip()}")

    def start(self) -> None:
        from subprocess import DEVNULL, STDOUT

        plan = self.plan
        if plan["bytes"]:  # iperf3 sends whole blocks, so up to a block more
            amount = ["--bytes", str(plan["bytes"]), "--length", str(min(plan["bytes"], BLOCK))]
        else:
            amount = ["--time", str(math.ceil(plan["seconds"]))]
        client = ["iperf3", "--client", self.destination.IP(), "--port", str(plan["port"]), "--json", *amount]
        client += ["--congestion", plan["congestion"]]
        client += ["--set-mss", str(plan["mss"])] if plan["mss"] else []
        client += ["--window", str(plan["send_buffer"])] if plan["send_buffer"] else []
        with open(self.report, "wb") as report:
            self.client = self.source.popen(client, stdin=DEVNULL, stdout=report, stderr=STDOUT)

    def finish(self) -> dict[str, Any]:
        """The result so far, from the kernel: the busier of the two connections carries the data."""
        if self.client and self.client.poll() == 0:
            return self.reported()
        port = self.plan["port"]
        sender = max(self.source.connections(port), key=itemgetter("bytes_acked"), default={})
        receiver = max(self.destination.connections(port), key=itemgetter("bytes_received"), default={})
        return {
            "congestion": sender.get("congestion", ""),
            "delivered_bytes": max(receiver.get("bytes_received", 0) - COOKIE, 0),
            "acked_bytes": max(sender.get("bytes_acked", 0) - COOKIE - 1, 0),  # Linux counts the SYN
            "retransmits": sender.get("total_retrans", 0),
            "tcp_info": {"sender": sender, "receiver": receiver},
            "finished_s": None,
        }

    def reported(self) -> dict[str, Any]:
        """The result of a client that was done in time, as iperf3 gives it."""
        import json

        with open(self.report) as file:
            end = json.load(file)["end"]
        return {
            "congestion": end["sender_tcp_congestion"],
            "delivered_bytes": end["sum_received"]["bytes"],
            "acked_bytes": end["sum_received"]["bytes"],
            "retransmits": end["sum_sent"]["retransmits"],
            "tcp_info": {"sender": {}, "receiver": {}},
            "finished_s": end["sum_received"]["seconds"],
        }

    def close(self) -> None:
        """Let both ends say goodbye, but not for ever."""
        for process in (self.client, self.server):
            if process is None:
                continue
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
