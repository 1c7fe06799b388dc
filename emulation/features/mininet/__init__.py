# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's and Mininet-WiFi's words over `emulation.net`, for scripts that were written for these.

Such a script builds a network call by call, then `build` makes it. Here calls are noted in nodes, interfaces and links
(`node`, `interface`, `link`), `medium` and `mobility`; `lab` makes of them what `emulation.net` is asked for, and is
the network then, with Mininet's names and addresses. From `build` to `stop` all is one session, which leaves what a run
leaves.

`faces` has the table of what scripts import from `mn_wifi` and `mininet` (docs/mininet-wifi.md). None of this is
Mininet's code: it is written from what its users call.
"""
