# SPDX-License-Identifier: BSD-3-Clause
"""Runs in the lane: seven radios in one network namespace, hostap's daemons on them, and hostap's runner of tests.

The radios and daemons are those of hostap's `tests/hwsim/start.sh`: stations wlan0 to wlan2, each with a
wpa_supplicant, a hostapd without an interface that the tests give access points on wlan3 and wlan4, a wpa_supplicant
without one for wlan5, and a RADIUS server. `job.json` in the run folder names the plan, programs and tests.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import time

from emulation.lane import guest, programs
from emulation.lane.air import Air
from emulation.lane.clock import settle
from emulation.lane.interfaces.radio import IFINDEX, IFTYPE, IFTYPES, SET_INTERFACE, SET_WIPHY, WIPHY, Interface
from emulation.lane.netlink import Generic
from emulation.lane.node import Node
from emulation.lane.rtnetlink import Route

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SOURCE, PLACE, LOGS = f"{guest.PLUGINS}/0", "/run/hostap-tests", f"{guest.RUN}/logs"
TESTS = "tests/hwsim"
RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
WIPHY_NAME = 2  # enum nl80211_attrs
BEACONS_US = 102_400  # hostapd's default beacon interval
GROUP = "adm"  # may use the daemons' sockets
ALONE = ("wlan5", "wlan6", "wlan7")  # wpa_supplicants without an interface
TMP = "/tmp"  # where the tests expect sockets
GLOBAL, OF_STATION = "/var/run/hostapd-global", f"{TMP}/wpas-{{}}"
START_S, POLL_S = 30.0, 0.01  # for daemons to answer
DEBUG = "-ddKt"


def make_tree(found: dict[str, str]) -> None:
    """Make a tree in which the tests find files and programs where they look for them, relative to their folder."""
    os.makedirs(f"{PLACE}/{TESTS}")
    for name in os.listdir(f"{SOURCE}/{TESTS}"):
        os.symlink(f"{SOURCE}/{TESTS}/{name}", f"{PLACE}/{TESTS}/{name}")
    for path, program in found.items():
        os.makedirs(os.path.dirname(f"{PLACE}/{path}"), exist_ok=True)
        os.symlink(program, f"{PLACE}/{path}")
    os.makedirs(LOGS)
    os.chdir(f"{PLACE}/{TESTS}")


def make_radios(plan: dict[str, Any], stack: contextlib.ExitStack) -> None:
    """Make the plan's radios in this namespace, under the names of its nodes, and the medium between them, if any."""
    if plan.get("medium"):
        stack.enter_context(importlib.import_module(plan["medium"]["module"]).Medium()).configure(plan)
    elif module := os.environ["DCFLAB_AIR"]:
        stack.enter_context(Air.load(module)).configure(plan)
    owner = stack.enter_context(Interface.common())
    for number, node in enumerate(plan["nodes"]):
        radio = Interface(Node(node["name"]), {**node["interfaces"][0], "name": node["name"]})
        radio.make(owner)
        name = f"phy{radio.wiphy}\0"  # the tests take a radio's number for its name
        owner.command("nl80211", SET_WIPHY, [(WIPHY, radio.wiphy), (WIPHY_NAME, name.encode())], what="name of radio")
        give_clock(owner, radio, number * BEACONS_US // len(plan["nodes"]))


def give_clock(owner: Generic, radio: Interface, ahead_us: int) -> None:
    """Set a radio's clock: with equal clocks, the beacons of two access points would always collide.

    Only some types of interface let it be set.
    """
    with Route() as route:
        owner.command("nl80211", SET_INTERFACE, [(IFINDEX, radio.index), (IFTYPE, IFTYPES["ibss"])])
        route.set_link(radio.index, up=True)
        with open(f"/sys/kernel/debug/ieee80211/phy{radio.wiphy}/netdev:{radio.name}/tsf", "w") as tsf:
            tsf.write(f"+={ahead_us:012d}")
        route.set_link(radio.index, up=False)
        owner.command("nl80211", SET_INTERFACE, [(IFINDEX, radio.index), (IFTYPE, IFTYPES["managed"])])


def settings(name: str) -> str:
    """Write a configuration file of hostap's tests, as start.sh does, and return its path."""
    with open(name) as file:
        text = file.read().replace("%LOGDIR%", LOGS).replace("LOGDIR", LOGS)
    path = f"{LOGS}/{os.path.basename(name)}"
    with open(path, "w") as file:
        file.write(text.replace("group=admin", f"group={GROUP}").replace("GROUP=admin", f"GROUP={GROUP}"))
    return path


def daemons(found: dict[str, str]) -> tuple[list[list[str]], list[str]]:
    """Return the daemons' command lines, and the sockets at which they answer."""
    hostapd, supplicant = found["hostapd/hostapd"], found["wpa_supplicant/wpa_supplicant"]
    commands, sockets = [], []
    for number in range(3):
        name = f"wlan{number}"
        socket_of = OF_STATION.format(name)
        commands.append([supplicant, "-g", socket_of, f"-G{GROUP}", "-Dnl80211", f"-i{name}",
                         "-c", settings(f"p2p{number}.conf"), DEBUG, "-f", f"{LOGS}/log{number}"])  # fmt: skip
        sockets += [socket_of, f"/var/run/wpa_supplicant/{name}"]
    for name in ALONE:
        socket_of = OF_STATION.format(name)
        commands.append([supplicant, "-g", socket_of, f"-G{GROUP}", DEBUG, "-f", f"{LOGS}/log{name[-1]}"])
        sockets.append(socket_of)
    commands.append([hostapd, DEBUG, "-g", GLOBAL, "-G", GROUP, "-f", f"{LOGS}/hostapd"])
    servers = [settings(f"auth_serv/{name}") for name in ("as.conf", "as2.conf") if os.path.exists(f"auth_serv/{name}")]
    if servers:
        commands.append([hostapd, DEBUG, *servers])
        open(f"{LOGS}/hostapd.db", "w").close()
    return commands, [*sockets, GLOBAL]


def answers(path: str) -> bool:
    """Return whether a daemon answers at its socket."""
    own = f"{TMP}/ping-{os.getpid()}"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asking:
        asking.bind(own)
        try:
            asking.settimeout(POLL_S)
            asking.connect(path)
            asking.send(b"PING")
            return asking.recv(64).startswith(b"PONG")
        finally:
            os.unlink(own)
    return False


def start(commands: Sequence[Sequence[str]], sockets: Sequence[str], stack: contextlib.ExitStack) -> None:
    """Start the daemons, and wait until all answer. Raises OSError if one does not."""
    running = []
    for number, command in enumerate(commands):
        with open(f"{LOGS}/daemon{number}", "wb") as log:
            running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0))
        stack.callback(running[-1].wait)
        stack.callback(running[-1].kill)
    deadline = time.monotonic() + START_S
    waiting = [*sockets]
    while waiting:
        waiting = [path for path in waiting if not answers(path)]
        for number, process in enumerate(running):
            if process.poll() is not None:
                last = programs.last_line(f"{LOGS}/daemon{number}")
                raise programs.ended_error("hostap's tests", commands[number][0], process.returncode, last)
        if waiting and time.monotonic() > deadline:
            raise OSError(
                f"hostap's tests: nothing answers at {waiting[0]} after {START_S:g} s; read logs/ in the run folder"
            )
        time.sleep(POLL_S * bool(waiting))


def main() -> int:
    with open(f"{guest.RUN}/job.json") as file:
        job = json.load(file)
    make_tree(job["programs"])
    settle()
    with contextlib.ExitStack() as stack:
        make_radios(job["plan"], stack)
        start(*daemons(job["programs"]), stack)
        python = programs.find("python3")
        return subprocess.call([python, "-B", RUNNER, "run-tests.py", "-q", "--logdir", LOGS, *job["tests"]])


if __name__ == "__main__":
    sys.exit(main())
