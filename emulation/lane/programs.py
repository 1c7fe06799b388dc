# SPDX-License-Identifier: BSD-3-Clause
"""The distribution's programs that a network may run: where they are, and daemons.

The search includes folders for root. A network depends on its daemons: if one ends, the run ends.
"""

from __future__ import annotations

import errno
import os
import select

from emulation.lane.clock import wait_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from traffic.loop import Loop

# Debian's packages with programs of other names.
PACKAGES = {
    program: package
    for package, programs in {
        "aircrack-ng": "airbase-ng airdecap-ng aireplay-ng airmon-ng airodump-ng packetforge-ng",
        "apache2-utils": "ab htpasswd",
        "bind9": "named",
        "bind9-dnsutils": "dig host nslookup",
        "bird2": "bird birdc",
        "bridge-utils": "brctl",
        "d-itg": "ITGDec ITGRecv ITGSend",
        "default-jre-headless": "java",
        "docker.io": "docker",
        "dsniff": "arpspoof dnsspoof",
        "expect": "unbuffer",
        "ffmpeg": "ffplay ffprobe",
        "frr": "bgpd ospfd vtysh zebra",
        "gpac": "MP4Box",
        "gstreamer1.0-tools": "gst-launch-1.0",
        "hostapd": "hostapd_cli",
        "iproute2": "ip ss tc",
        "iptables": "ip6tables iptables-restore iptables-save",
        "iputils-ping": "ping",
        "iputils-tracepath": "tracepath",
        "isc-dhcp-client": "dhclient",
        "isc-dhcp-server": "dhcpd",
        "lldpd": "lldpcli",
        "mosquitto-clients": "mosquitto_pub mosquitto_sub",
        "mtr-tiny": "mtr",
        "net-tools": "arp ifconfig netstat route",
        "netcat-openbsd": "nc netcat",
        "netperf": "netserver",
        "nftables": "nft",
        "nodejs": "node",
        "openssh-client": "scp ssh",
        "openssh-server": "sshd",
        "openvswitch-common": "ovs-appctl ovs-dpctl ovs-ofctl",
        "openvswitch-switch": "ovs-vsctl ovs-vswitchd",
        "openvswitch-testcontroller": "ovs-testcontroller",
        "procps": "free pgrep pkill ps sysctl top vmstat watch",
        "psmisc": "fuser killall pstree",
        "python-is-python3": "python",
        "python3-os-ken": "osken-manager ryu-manager",
        "python3-pip": "pip pip3",
        "reaver": "wash",
        "sip-tester": "sipp",
        "snmp": "snmpget snmpwalk",
        "sysstat": "iostat mpstat sar",
        "tcpreplay": "tcpprep tcprewrite",
        "vlan": "vconfig",
        "vlc-bin": "cvlc",
        "wireguard-tools": "wg",
        "wireless-tools": "iwconfig iwlist iwpriv iwspy",
        "wireshark-common": "capinfos dumpcap editcap mergecap",
        "wpasupplicant": "wpa_cli wpa_passphrase wpa_supplicant",
    }.items()
    for program in programs.split()
}
# Programs that no package has, and what does their work.
UNPACKAGED = {
    program: instead
    for programs, instead in {
        "dpctl ofdatapath ofprotocol": "switches are Open vSwitch, use ovs-ofctl",
        "hwsim_mgmt wmediumd": "the lane has its own radios and their medium",
        "p4c simple_switch simple_switch_CLI simple_switch_grpc": "P4 is not supported",
    }.items()
    for program in programs.split()
}
# The message of a shell that did not find a command.
NOT_FOUND = r"^\S*sh: (?:line )?(?:\d+: )?(\S+): (?:command )?not found"
NOT_THERE = 127  # the exit status of that shell
KEYWORDS = {"if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"}  # a command follows
REPORTED: set[str] = set()  # missing programs
OF_ROOT = ":/usr/local/sbin:/usr/sbin:/sbin"
PATH = os.environ.get("PATH", os.defpath) + OF_ROOT


def package(program: str) -> str:
    return PACKAGES.get(program, program)


def path_of(program: str) -> str | None:
    import shutil

    return shutil.which(program, path=os.environ.get("PATH", os.defpath) + OF_ROOT)


def find(program: str, of: str = "") -> str:
    """Return the path of a program. Raises OSError, naming its package, if it is not there."""
    if not (found := path_of(program)):
        raise OSError(errno.ENOENT, missing_message(program, of))
    return found


def missing_message(program: str, of: str = "") -> str:
    """Return the error message for a program that is not there."""
    package_of = f"install the package {of or package(program)}"
    instead = UNPACKAGED.get(program) or ("check this path" if "/" in program else package_of)
    return f"there is no {program} on this machine: {instead}"


def new_messages(missing: Iterable[str]) -> Iterator[str]:
    """Yield `missing_message` for each of these programs, once per program."""
    for program in missing:
        if program not in REPORTED:
            REPORTED.add(program)
            yield missing_message(program)


def not_found(output: str) -> list[str]:
    """Return the commands that a shell did not find, by its output."""
    if "not found" not in output:
        return []
    import re

    return re.findall(NOT_FOUND, output, re.MULTILINE)


def programs_called(command: str) -> list[str]:
    """Return the programs that a line for a shell calls by plain names, also in a line for another shell (`sh -c`).
    Nothing for lines that need more of a parser: several lines, functions, `case`."""
    import re
    import shlex

    reader = shlex.shlex(command, posix=False, punctuation_chars=True)
    try:
        words = [*reader]
    except ValueError:
        return []
    if "\n" in command or {"()", "case", ";;"} & {*words}:
        return []
    found, begins, to_file, before = list[str](), True, False, ""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if ">" in word or "<" in word:
            to_file = True
        elif to_file:
            to_file = False
        elif word[0] in ";&|()":
            begins = True
        elif begins and not (word in KEYWORDS or "=" in word or (word.isdecimal() and after[:1] in ("<", ">"))):
            begins = False
            found += [word] * bool(re.fullmatch(r"[\w./+-]+", word))
        elif before == "-c" and found[-1:] in (["sh"], ["bash"]) and word[0] in "'\"":
            found += programs_called(word[1:-1])
        before = word
    return found


def lacking(command: str) -> list[str]:
    """Return the programs that a line for a shell calls, and that are not there."""
    return [name for name in programs_called(command) if not path_of(name) and not has_command(name)]


def has_command(command: str) -> bool:
    """Return whether a shell has a command: a built-in, or a program."""
    from subprocess import DEVNULL, run

    return run(["sh", "-c", 'command -v "$1"', "sh", command], stdout=DEVNULL, stderr=DEVNULL).returncode == 0


def needed_by(plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the programs that a plan's network itself needs, each with its user. Applications name their own."""
    if plan["routing"]["kind"] == "babel":
        yield "babeld", "routing babel"
    if any((node["bridge"] or {}).get("kind") == "ovs" for node in plan["nodes"]):
        yield "ovs-vswitchd", "bridges of Open vSwitch"
    interfaces = [interface for node in plan["nodes"] for interface in node["interfaces"]]
    for link in plan["links"]:
        if link["kind"] not in ("infrastructure", "wlan"):
            continue
        of = [{**link, **interface.get("wlan", {})} for interface in interfaces if interface["link"] == link["name"]]
        yield "hostapd", "access points"
        if any(not each.get("master") and each.get("client") == "wpa_supplicant" for each in of):
            yield "wpa_supplicant", "clients that look for their access point, or need a passphrase"


def ended_error(where: str, program: str, status: int, output: str) -> OSError:
    """Return the OSError to raise when a program has ended early."""
    how = f"killed by signal {-status}" if status < 0 else f"with status {status}"
    return OSError(errno.ECHILD, f"{where}: {program} has ended, {how}. Its last output: {output or 'nothing'}")


def last_line(log: str) -> str:
    with open(log, errors="replace") as file:
        return ["", *file.read().splitlines()][-1]


class Daemon:
    """A program that runs as long as its node exists. `last_output` returns the last line of its log."""

    def __init__(
        self, where: str, program: str, process: subprocess.Popen[bytes], last_output: Callable[[], str]
    ) -> None:
        self.where, self.program, self.process, self.last_output = where, program, process, last_output
        self.descriptor = -1

    def check(self) -> None:
        """Check that the program runs. Raises OSError if it has ended."""
        if self.process.poll() is not None:
            raise ended_error(self.where, self.program, self.process.returncode, self.last_output())

    def wait_for(self, file: str, seconds: float) -> None:
        """Wait until the program has made this file. Raises OSError if it ends, or has not after `seconds`."""

        def made() -> bool:
            self.check()
            return os.path.exists(file)

        if not wait_until(made, seconds):
            raise OSError(errno.ETIMEDOUT, f"{self.where}: {self.program} has not started after {seconds:g} s")

    def watch(self, loop: Loop) -> None:
        """Watch the program in a loop, which raises OSError if it ends."""
        self.check()
        self.descriptor = os.pidfd_open(self.process.pid)
        loop.watch(self.descriptor, select.EPOLLIN, self.check)

    def unwatch(self, loop: Loop) -> None:
        if self.descriptor >= 0:
            loop.forget(self.descriptor)
            os.close(self.descriptor)
            self.descriptor = -1

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
