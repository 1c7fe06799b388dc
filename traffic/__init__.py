# SPDX-License-Identifier: BSD-3-Clause
"""Traffic: what hosts send to each other, what arrived, and how TCP is set up for it.

An application runs between two hosts. Its kinds are the files of `traffic.applications`; all applications of a run
share one event loop (`traffic.loop`). Hosts are known only by their interface, `traffic.host`.
"""
