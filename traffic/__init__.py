# SPDX-License-Identifier: BSD-3-Clause
"""Traffic: who sends what to whom, what arrived, and how TCP is set up for it.

An application runs between two hosts; its kinds are the files of `traffic.applications`, and all of a run share one
event loop (`traffic.loop`). Nothing here knows what a host is made of: `traffic.host` says what is asked of one.
"""
