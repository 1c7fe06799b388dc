# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation`: the command line; `./dcflab` is the same with its set-up."""

import signal

signal.signal(signal.SIGINT, signal.SIG_DFL)  # while there is nothing to clean up

from emulation.cli import main  # noqa: E402

main()
