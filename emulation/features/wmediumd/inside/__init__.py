# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's interface: its configuration files, its control socket, and its model of the medium.

`libconfig` parses the grammar of its files, `configuration` their meaning; `formula` has error rates. `Stations` has
all that a medium knows about links. The control socket changes it (`control`: bytes; `server`: the socket). `model` is
wmediumd's own model, with time passed in, and `hwsim` connects it to radios: those of this kernel, of other kernels
(`vhost`, in a scheduler's time: `calendar`), and of programs (`api`). Our own air under these configurations is
`emulation.features.wmediumd.daemon` (docs/mediumd.md).

All of it is made from wmediumd's known behaviour, and nothing from its source text.
"""
