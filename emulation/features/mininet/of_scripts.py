# SPDX-License-Identifier: BSD-3-Clause
"""`--controller`: what controls switches whose RemoteController runs nowhere."""

from emulation.cli.command import Option

OPTIONS = [
    Option(["--controller"], metavar="PROGRAM|learning|none",
           help="what a script's RemoteController is, if nothing answers at its address: a program, as 'osken-manager "
                "my_app.py', or switches that learn  [default: learning]"),
]  # fmt: skip
