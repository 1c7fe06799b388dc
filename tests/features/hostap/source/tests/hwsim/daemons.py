# SPDX-License-Identifier: BSD-3-Clause
"""hostapd and wpa_supplicant, by their control sockets."""

import itertools
import select
import socket

NUMBERS = itertools.count()
HOSTAPD, GLOBAL = "/var/run/hostapd", "/var/run/hostapd-global"


class HwsimSkip(Exception):
    pass


def connected(path: str) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(f"/tmp/control-{next(NUMBERS)}")
    made.connect(path)
    return made


def receive(source: socket.socket, seconds: float = 10) -> str:
    if not select.select([source], [], [], seconds)[0]:
        raise TimeoutError(f"nothing in {seconds} s")
    return source.recv(4096).decode()


class Control:
    """A daemon: commands on one socket, events on another."""

    def __init__(self, path: str) -> None:
        self.commands, self.events = connected(path), connected(path)
        self.events.send(b"ATTACH")
        assert receive(self.events) == "OK\n"

    def ask(self, command: str, expected: str = "") -> str:
        self.commands.send(command.encode())
        answer = receive(self.commands)
        assert answer.startswith(expected), f"{command}: {answer}"
        return answer

    def wait(self, event: str) -> None:
        while event not in receive(self.events):
            pass


class Station(Control):
    def __init__(self, name: str) -> None:
        super().__init__(f"/var/run/wpa_supplicant/{name}")

    def connect(self, ssid: str, freq: int, psk: str = "") -> None:
        number = int(self.ask("ADD_NETWORK"))
        key = {"psk": f'"{psk}"'} if psk else {"key_mgmt": "NONE"}
        for name, value in {"ssid": f'"{ssid}"', **key, "scan_freq": str(freq)}.items():
            self.ask(f"SET_NETWORK {number} {name} {value}", "OK")
        self.ask(f"SELECT_NETWORK {number}", "OK")

    def scan(self, freq: int) -> str:
        """Listen on a channel, without probe requests; return what was found."""
        self.ask(f"SCAN TYPE=ONLY freq={freq} passive=1", "OK")
        self.wait("CTRL-EVENT-SCAN-RESULTS")
        return self.ask("SCAN_RESULTS")


def add_ap(ap: dict[str, str], **settings: str) -> Control:
    Control(GLOBAL).ask(f"ADD {ap['ifname']} {HOSTAPD}", "OK")
    made = Control(f"{HOSTAPD}/{ap['ifname']}")
    for name, value in {"driver": "nl80211", "hw_mode": "g", "ieee80211n": "1", "channel": "1", **settings}.items():
        made.ask(f"SET {name} {value}", "OK")
    made.ask("ENABLE", "OK")
    made.wait("AP-ENABLED")
    return made


def reset(stations: list[Station]) -> None:
    for station in stations:
        station.ask("FLUSH", "OK")
    everything = Control(GLOBAL)
    for name in everything.ask("INTERFACES").split():
        everything.ask(f"REMOVE {name}")  # the first network of a radio takes the others with it
