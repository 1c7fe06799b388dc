# SPDX-License-Identifier: BSD-3-Clause
"""Inside a stock kernel, as root: one short plan in real time. Prints one JSON object.

Usage: smoke.py CHECKOUT PLAN FOLDER-OF-MODULES
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

from emulation.lane.net import Net

with open(sys.argv[2]) as file:
    plan = json.load(file)
subprocess.run(["modprobe", "mac80211_hwsim", "radios=0"], check=True)
for name in plan["modules"]:
    subprocess.run(["insmod", f"{sys.argv[3]}/{name}.ko"], check=True)
os.makedirs("/run/netns", exist_ok=True)
with tempfile.TemporaryDirectory(dir="/run") as folder:
    os.environ.update(DCFLAB_AIR=f"{sys.argv[3]}/dcf80211.ko", DCFLAB_RUN=folder)
    with Net.from_plan(plan) as net:
        net.start()
        result = net.run(plan["seconds"])
    sizes = {name: os.path.getsize(f"{folder}/{name}") for name in ("air.trace", "tcp.trace")}
for name in ("dcf80211", "tcp_tap", "sch_ackthin"):  # not tcp_sca, which a closing socket may hold for minutes
    subprocess.run(["rmmod", name], check=True)
print("\n" + json.dumps({"release": os.uname().release, "sizes": sizes, **result}))
