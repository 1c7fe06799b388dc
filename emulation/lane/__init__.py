# SPDX-License-Identifier: BSD-3-Clause
"""Lanes: a lane is a Linux kernel with mac80211_hwsim, and a clock.

`virtual` is the host's side of the virtual lane: it boots User-Mode Linux in virtual time. `guest` is the first program
inside it. What runs in a lane does not know which lane it is.
"""
