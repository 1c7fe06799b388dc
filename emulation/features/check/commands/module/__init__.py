# SPDX-License-Identifier: BSD-3-Clause
"""`module`: check a kernel module: a congestion control, a qdisc, any other; or begin one."""

from pathlib import Path

from emulation.cli.groups import Files

COMMAND = Files(
    {file.stem: str(file) for file in Path(__file__).parent.glob("[!_]*.py")}, name="module",
    help="Check a kernel module: a congestion control, a qdisc, any other; or begin one.",
    examples=["module new mine", "module check mine", "module check --help"],
)  # fmt: skip
