# SPDX-License-Identifier: BSD-3-Clause
"""The API of Mininet and Mininet-WiFi over `emulation.net`, for scripts written for these.

Such a script describes a network call by call, and `build` makes it. Nodes, interfaces and links (`node`, `interface`,
`link`), `medium` and `mobility` store these calls. `lab` turns them into a network of `emulation.net` with Mininet's
names and addresses. The time from `build` to `stop` is one session, which leaves the files of a run.

`packages` has the table of what scripts import from `mn_wifi` and `mininet` (docs/mininet-wifi.md). None of this is
Mininet's code: it is written from what its users call.
"""
