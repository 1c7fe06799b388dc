# SPDX-License-Identifier: BSD-3-Clause
"""The first process of the lane `vm`, on a distribution's kernel.

The kernel has unpacked its root file system into memory. This process prepares it for programs and continues in
`first_process`, as every lane does.

Three serial lines serve as the three consoles. While a program runs, it reads nothing from the host, because the time
that this takes does not follow from the seed. At the end, the content of the run folder is copied to the host by 9p.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys
import termios
import time

from emulation.lane import first_process, guest, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROGRAM, REPORTS = "/dev/ttyS1", "/dev/ttyS2"
ADD_ENTROPY, RESEED = 0x40085203, 0x5207  # include/uapi/linux/random.h: RNDADDENTROPY, RNDRESEEDCRNG
SEED_BYTES = 32
RADIOS = {"mac80211_hwsim": "radios=0"}
HOST, RESULTS = "/host", "/run/lab/results"
TRANSPORT = "virtio_mmio", "virtio_pci", "9pnet_virtio", "9p"
MOUNT_OPTIONS = "trans=virtio,version=9p2000.L,msize=524288"
READ_OPTIONS = f"{MOUNT_OPTIONS},cache=loose"  # the host changes nothing meanwhile
# Read before a run.
READ_AHEAD = ("dash", "ip", "iw", "tc", "ping", "iperf3", "sleep", "cat", "hostapd", "wpa_supplicant")
HIGH_RESOLUTION_S, WAIT_S, ATTEMPTS = 1e-9, 0.1, 100
BLOCK = 1 << 20  # bytes to copy at a time


def load(name: str) -> None:
    """Load a module of the distribution and those it depends on, unless it is built in. Raises OSError."""
    top = f"/lib/modules/{os.uname().release}"
    with open(f"{top}/modules.dep") as file:
        needs = {path: needed.split() for path, _, needed in (line.partition(":") for line in file)}
    for path in needs:
        if os.path.basename(path) == f"{name}.ko":
            for dependency in (*reversed(needs[path]), path):
                module = os.path.basename(dependency).removesuffix(".ko")
                syscalls.load_module(f"{top}/{dependency}", RADIOS.get(module, ""))


def enter_host(folders: dict[str, str]) -> None:
    """Make the host's root file system the root, read-only, and mount its other folders. Programs of the user then run
    as on the host. Helpers that the kernel starts stay outside."""
    for name in TRANSPORT:
        load(name)
    (root, *tags), (_, *places) = folders.keys(), folders.values()
    os.mkdir(HOST)
    syscalls.mount("9p", HOST, root, syscalls.MS_RDONLY, READ_OPTIONS)
    for folder in ("/proc", "/sys", "/dev", "/run"):
        syscalls.mount("", HOST + folder, folder, syscalls.MS_BIND | syscalls.MS_REC)
    syscalls.mount("tmpfs", HOST + "/tmp")
    for tag, place in zip(tags, places, strict=True):
        if place.startswith("/run/"):
            os.makedirs(place, exist_ok=True)
            syscalls.mount("9p", HOST + place, tag, syscalls.MS_RDONLY, READ_OPTIONS)
    os.chroot(HOST)
    os.chdir("/")
    sys.path_importer_cache.clear()  # the files at these paths have changed
    for name in READ_AHEAD:
        for file in filter(os.path.isfile, (f"/usr/{folder}/{name}" for folder in ("bin", "sbin"))):
            with open(file, "rb") as program:
                program.read()


def seed_randomness(seed: int) -> None:
    """Seed the kernel's random numbers. They also depend on what the kernel drew before."""
    data = seed.to_bytes(SEED_BYTES, "little")
    with open("/dev/urandom", "wb") as file:
        fcntl.ioctl(file, ADD_ENTROPY, struct.pack("=ii", 8 * SEED_BYTES, SEED_BYTES) + data)
        fcntl.ioctl(file, RESEED)


def raw(line: str) -> None:
    """Switch off output processing on a serial line."""
    descriptor = os.open(line, os.O_RDWR | os.O_NOCTTY)
    modes = termios.tcgetattr(descriptor)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(descriptor, termios.TCSANOW, modes)
    os.close(descriptor)


def copy_results() -> None:
    """Copy the content of the run folder to the host. Raises OSError."""
    for name in TRANSPORT:
        load(name)
    os.makedirs(RESULTS, exist_ok=True)
    syscalls.mount("9p", RESULTS, "results", data=MOUNT_OPTIONS)
    for folder, _, files in os.walk(guest.RUN):
        target = RESULTS + folder.removeprefix(guest.RUN)
        os.makedirs(target, exist_ok=True)
        for name in files:
            copy(f"{folder}/{name}", f"{target}/{name}")
    syscalls.unmount(RESULTS)


def copy(source: str, target: str) -> None:
    with open(source, "rb", buffering=0) as reader, open(target, "wb", buffering=0) as writer:
        while data := reader.read(BLOCK):
            writer.write(data)


def settle(boot: dict[str, Any]) -> None:
    """Load the modules of a network, and wait until the kernel's timers have high resolution."""
    guest.console, guest.publish = PROGRAM, copy_results
    seed_randomness(boot["seed"])
    radios = guest.AIR_MODULE in boot["modules"] or boot["clock"] != "real"  # in virtual time, traces depend on it
    trunk = ["virtio_console"] * (boot["clock"] == "real")
    for name in (*["mac80211_hwsim"] * radios, *boot["load"], *trunk):
        load(name)
    raw(REPORTS)
    if boot["host"]:
        enter_host(boot["host"])
    for _ in range(ATTEMPTS):
        if time.clock_getres(time.CLOCK_MONOTONIC) <= HIGH_RESOLUTION_S:
            break
        time.sleep(WAIT_S)


def main() -> None:
    with open(sys.argv[1]) as file:
        boot = json.load(file)
    first_process.mount_system()
    settle(boot)
    first_process.serve(boot, REPORTS)
    syscalls.power_off()
