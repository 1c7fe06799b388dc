# SPDX-License-Identifier: BSD-3-Clause
"""`module`: check a kernel module, or start a new one from a template."""

from pathlib import Path

from emulation.cli.groups import FileCommands

GROUP = "Check modules"
COMMAND = FileCommands(
    {file.stem: str(file) for file in Path(__file__).parent.glob("[!_]*.py")}, name="module",
    help="Check a kernel module (a congestion control, a qdisc, any other), or start a new one from a template.",
    examples=["module new mine", "module check mine", "module check --help"],
)  # fmt: skip
