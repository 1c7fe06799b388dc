# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's face: its configuration files, its control socket, and its model of the medium.

`libconfig` reads the grammar that its files are written in, `configuration` what they say; `formula` has error rates.
`Stations` is all that a medium knows of who hears whom, and what its control socket changes of it (`control`, bytes;
`server`, the socket). `model` is wmediumd's own idea of a medium, time passed in, and `daemon` that model under hwsim;
our own air under these configurations is `emulation.features.wmediumd.daemon` (docs/mediumd.md).

All of it is made from what is known of wmediumd's behaviour, and nothing of it from its text.
"""
