# SPDX-License-Identifier: BSD-3-Clause
"""The lane `host` inside a distribution's kernel, as root: run, killed, run again, and refused.

Prints JSON, a line each. Usage: on_host.py CHECKOUT KERNEL NAME=MODULE…
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

if sys.flags.no_site:  # the lane's own Python, which has its library elsewhere
    os.execv(sys.executable, [sys.executable, __file__, *sys.argv[1:]])
sys.path.insert(0, sys.argv[1])

from emulation.lanes import Listener, find
from emulation.lanes.host.loading import NOTE, RADIOS
from emulation.setup import AIR, cache, modules, stock

KERNEL, MODULES = Path(sys.argv[2]), {name: Path(path) for name, path in (word.split("=") for word in sys.argv[3:])}
RUN = Path(os.environ["DCFLAB_RUN"])
PATIENCE_S = 2000.0  # of virtual time, which advances far while files come from the host on a busy machine


def play(name: str) -> None:
    """Run the plan in a folder of its own."""
    folder = RUN / name
    folder.mkdir()
    shutil.copy(RUN / f"{name}.json", folder / "plan.json")
    find("host").run(KERNEL, MODULES, folder, ["plan"])


def there() -> dict[str, list[str]]:
    """Return what a lane makes: radios, modules, names of nodes, processes."""
    loaded = {line.split()[0] for line in Path("/proc/modules").read_text().splitlines()}
    return {
        "radios": sorted(path.name for path in RADIOS.glob("*")),
        "modules": sorted(loaded & {*MODULES, "mac80211_hwsim"}),
        "names": sorted(path.name for path in Path("/run/netns").glob("*")),
        "processes": [pid.name for pid in Path("/proc").glob("[0-9]*") if b"/init.py\0" in words(pid)],
    }


def words(process: Path) -> bytes:
    """Return the command line of a process; empty if it has ended."""
    try:
        return b"" if process.name == "1" else (process / "cmdline").read_bytes()
    except OSError:
        return b""


def wait_for(radios: bool) -> None:
    until = time.monotonic() + PATIENCE_S
    while bool(there()["radios"]) != radios and time.monotonic() < until:
        time.sleep(1)


def tell(**what: object) -> None:
    print(json.dumps(what))


RELEASE = os.uname().release
own = stock.modules_of(RELEASE)
layers = [f"/run/over/{name}" for name in ("upper", "work")]
for layer in layers:
    os.makedirs(layer)
over = "lowerdir={},upperdir={},workdir={}".format(own, *layers)
subprocess.run(["mount", "-t", "overlay", "-o", over, "none", own], check=True)
(own / "updates/dkms").mkdir(parents=True)
shutil.copy(MODULES["dcf80211"], own / "updates/dkms")  # as DKMS does, and depmod
with (own / "modules.dep").open("a") as index:
    index.write("updates/dkms/dcf80211.ko: kernel/net/mac80211/mac80211.ko\n")
os.environ["DCFLAB_CACHE"], cache.SPACE = "/run/cache", 0
MODULES |= (taken := modules.installed(AIR, stock.Installed(RELEASE)))
tell(taken=sorted(map(str, taken.values())))

subprocess.run(["rmmod", "mac80211_hwsim"], check=True)
before = there()
play("short")
tell(after_a_run=there(), before=before, result=json.loads((RUN / "short/lane.json").read_text())["applications"][0])

said: list[str] = []
(RUN / "finds.py").write_text("import shutil; print([shutil.which(name) is not None for name in ('ping', 'sysctl')])")
ended = find("host").run(KERNEL, {}, RUN / "short", ["script", str(RUN / "finds.py")], listener=Listener(said.append))
tell(status=ended.status, finds=said)

if (child := os.fork()) == 0:
    play("long")
    os._exit(0)
wait_for(radios=True)
during = there()
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
wait_for(radios=False)
tell(during=during, after_a_kill=there(), note=NOTE.exists())
shutil.rmtree(RUN / "short")
play("short")
tell(after_the_next=there(), note=NOTE.exists())

subprocess.run(["modprobe", "mac80211_hwsim", "radios=1"], check=True)
tell(refused=find("host").refusal(), radios=there()["radios"])
