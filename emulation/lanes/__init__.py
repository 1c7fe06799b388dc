# SPDX-License-Identifier: BSD-3-Clause
"""Lanes: a lane is a Linux kernel with mac80211_hwsim, and a clock; here is the host's side of each.

`virtual` boots User-Mode Linux in virtual time. What runs inside a lane, in whichever, is `emulation.lane`.
"""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
INSIDE = (CHECKOUT / "emulation" / "lane", CHECKOUT / "traffic")  # all that runs inside a lane
