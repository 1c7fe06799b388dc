# SPDX-License-Identifier: BSD-3-Clause
"""`./dcflab doctor`: report what is there, what is missing, and how to fix it.

It changes nothing. It says what set-up will fix by itself at the next run. The launcher runs this file with the
system's Python if there is no environment, so it imports the standard library only.
"""

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from emulation import features
from emulation.lanes import LaneError, Listener, virtual
from emulation.lanes.virtual.boot import memory_folder
from emulation.lanes.virtual.confine import caution
from emulation.lanes.virtual.scratch import scratch
from emulation.setup import (
    LOCK_FILE,
    MODULES,
    RUN_LOCK_FILE,
    Group,
    cache,
    distribution,
    environment,
    kernel,
    modules,
    packages,
    prebuilt,
    uml,
)
from emulation.setup.diagnoses import Check, Status, entry

MEMORY_MB = 512  # of one lane
WHOLE = "environment"


def checks() -> list[Check]:
    """Return all findings, in the order in which to fix them. Boots a lane if there is a kernel."""
    return [*python(), *system_packages(), *caches(), *of_features(), *machine(), *lane()]


def python() -> Iterator[Check]:
    yield Check("python", Status.OK, f"{platform.python_version()} at {sys.executable}")
    if environment.is_ours(LOCK_FILE):
        if (found := entry(WHOLE, environment.name(LOCK_FILE))).status is not Status.MISSING:
            yield found
        else:
            yield entry("environment for runs", environment.name(RUN_LOCK_FILE))
            yield Check(WHOLE, Status.HINT, found.detail, "./dcflab setup makes it, or the first command that needs it")
    elif missing := environment.missing(LOCK_FILE):
        detail = f"what some commands need is not installed: {', '.join(map(environment.package, missing))}"
        yield Check("environment", Status.HINT, detail, environment.pip(missing))
    else:
        yield Check("environment", Status.OK, sys.prefix)


def system_packages() -> Iterator[Check]:
    """Check the packages by what needs them; those that build a thing are not needed if the cache has it."""
    prebuilt_file = prebuilt.find_file(kernel.recipe_key(uml.CONFIGURATION))
    environments = (environment.name(file) for file in (LOCK_FILE, RUN_LOCK_FILE) if environment.is_ours(file))
    needed = {
        Group.ENVIRONMENT: environment.is_ours(LOCK_FILE) and not any(map(cache.find, environments)),
        Group.BUILD: not (prebuilt_file or kernel.find()),
    }
    for group in (*Group, *(group for part in features.parts("of_setup") for group in part.GROUPS)):
        name = f"packages: {group.value}"
        if missing := packages.missing(group):
            status = Status.MISSING if needed.get(group) else Status.HINT
            fix = "; ".join(packages.command(missing).split("\n  "))
            yield Check(name, status, f"not installed: {', '.join(missing)}", f"as root: {fix}")
        else:
            yield Check(name, Status.OK, "all there")


def caches() -> Iterator[Check]:
    """Check the cache: its entries for this checkout, read completely, and its size."""
    built = kernel.find()
    wanted, recipe = kernel.name(uml.CONFIGURATION), kernel.recipe_key(uml.CONFIGURATION)
    offer = prebuilt.find_file(recipe)
    if why := prebuilt.why_unused(recipe):
        yield Check("prebuilt kernel", Status.BROKEN if os.environ.get(prebuilt.VARIABLE) else Status.HINT, why)
    elif offer:
        yield Check("prebuilt kernel", Status.OK, str(offer))
    if offer and not built:
        yield Check("kernel", Status.HINT, "not in the cache yet", "the next ./dcflab run takes the prebuilt one")
    else:
        yield entry("kernel", built.folder.name if built else wanted or "kernel")
    if built:
        for folder in MODULES:
            yield entry(f"modules: {folder.name}", modules.name(folder, built))
    for root in cache.roots():
        if root.is_dir():
            megabytes = sum(file.lstat().st_size for file in root.rglob("*")) >> 20
            said = "of a package" if root in cache.packaged() else "anything in it may be removed"
            yield Check("cache", Status.OK, f"{root}: {megabytes} MB; {said}")
    home = cache.roots()[-1]
    while not home.exists():
        home = home.parent
    free = shutil.disk_usage(home).free
    if not os.access(home, os.W_OK):
        yield Check("disk", Status.HINT, f"{home} cannot be written", "name a cache folder in $DCFLAB_CACHE")
    elif free < cache.SPACE:
        yield Check("disk", Status.HINT, f"{free >> 20} MB free in {home}", f"building needs {cache.SPACE >> 20} MB")
    else:
        yield Check("disk", Status.OK, f"{free >> 20} MB free in {home}")


def of_features() -> Iterator[Check]:
    """Check what features have in the cache."""
    for part in features.parts("of_setup"):
        yield from part.checks()


def machine() -> Iterator[Check]:
    """Check what this machine offers a lane: CPUs, memory, and the right to trace its own children."""
    if distribution.known():
        yield Check("system", Status.OK, distribution.title())
    else:
        fix = "packages have Debian 12's names here: see what yours are called"
        yield Check("system", Status.HINT, f"{distribution.title()}: neither Debian nor Ubuntu", fix)
    if (architecture := platform.machine()) != "x86_64":
        yield Check("architecture", Status.BROKEN, architecture, "lanes run on x86-64 only")
    if platform.release().endswith("-Microsoft"):
        yield Check("wsl", Status.BROKEN, "version 1 of WSL is not a Linux kernel", "wsl --set-version DISTRIBUTION 2")
    cpus = len(os.sched_getaffinity(0))
    yield Check("cpus", Status.OK, f"{cpus}; as many runs go side by side")
    fix = "mount -o remount,exec,size=1g /dev/shm (docker run --shm-size=1g)"
    try:
        if (place := memory_folder(MEMORY_MB)) == "/dev/shm":
            yield Check("memory", Status.OK, f"{shutil.disk_usage(place).free >> 20} MB in {place}")
        else:
            detail = f"no room for {MEMORY_MB} MB in /dev/shm, or not executable; lanes use {place}"
            yield Check("memory", Status.HINT, detail, fix)
    except LaneError as error:
        yield Check("memory", Status.BROKEN, error.detail, fix)
    yama = Path("/proc/sys/kernel/yama/ptrace_scope")
    if yama.exists() and int(yama.read_text()) > 1:
        yield Check("ptrace", Status.BROKEN, f"{yama} forbids it", "as root: sysctl kernel.yama.ptrace_scope=1")


def lane() -> Iterator[Check]:
    """Check that a lane boots and runs a program."""
    if (built := kernel.find()) is None:
        return
    heard: list[str] = []
    with scratch("doctor") as folder:
        script = Path(folder, "hello.py")
        script.write_text("print('hello')\n")
        command, listener = ["script", str(script)], Listener(line=heard.append)
        try:
            result = virtual.run(built.linux, {}, Path(folder), command, wall_limit_s=60, listener=listener)
        except (LaneError, OSError) as error:
            fix = "lanes need ptrace; in a container: --cap-add=SYS_PTRACE --security-opt seccomp=unconfined"
            yield Check("lane", Status.BROKEN, str(error), fix)
            return
    if heard == ["hello"] and result.status == 0:
        yield Check("lane", Status.OK, f"boots, runs a program and ends in {result.wall_s:.2f} s")
        around = "; ".join(result.barriers) or "none"
        if said := caution(result.barriers):
            yield Check("confinement", Status.HINT, f"{around}: {said}", "docs/confinement.md says what grants it")
        else:
            yield Check("confinement", Status.OK, around)
    else:
        yield Check("lane", Status.BROKEN, " | ".join(heard[-3:]) or f"its program ended with {result.status}")


def main(as_json: bool = False) -> int:
    """Print the findings. Return 1 if something that a run needs is missing or broken."""
    found = checks()
    if as_json:
        print(json.dumps([{**vars(check), "status": check.status.value} for check in found], indent=1))
    else:
        width = max(len(check.name) for check in found)
        for check in found:
            print(f"{check.status.value:8}{check.name:{width}}  {check.detail}")
            if check.fix:
                print(f"{'':8}{'':{width}}  -> {check.fix}")
    return 1 if any(check.status in (Status.MISSING, Status.BROKEN) for check in found) else 0


if __name__ == "__main__":
    sys.exit(main("--json" in sys.argv[1:]))
