# SPDX-License-Identifier: BSD-3-Clause
"""Inside a stock kernel, as root: one short plan in real time. Prints one JSON object.

Usage: smoke.py CHECKOUT PLAN MODULE
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[1])

from emulation.net import Net

with open(sys.argv[2]) as file:
    plan = json.load(file)
subprocess.run(["modprobe", "mac80211_hwsim", "radios=0"], check=True)
os.makedirs("/run/netns", exist_ok=True)
with tempfile.TemporaryDirectory(dir="/run") as folder:
    os.environ.update(DCFLAB_AIR=sys.argv[3], DCFLAB_RUN=folder)
    with Net.from_plan(plan) as net:
        net.start()
        result = net.run(plan["seconds"])
    size = os.path.getsize(f"{folder}/air.trace")
subprocess.run(["rmmod", "dcf80211"], check=True)
print("\n" + json.dumps({"release": os.uname().release, "trace_bytes": size, **result}))
