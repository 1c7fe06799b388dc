# SPDX-License-Identifier: BSD-3-Clause
"""mediumd: wmediumd's drop-in. Our air, or wmediumd's own model, decides over the hwsim radios of this kernel.

It has wmediumd's command line and control socket (`emulation.lane.wmediumd`), stays until it is told to end, and says
`REGISTER SENT!` when the radios have their medium. docs/mediumd.md.
"""
