# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation`: the command line; `./dcflab` is the same with its set-up."""

from emulation.cli import main

main()
