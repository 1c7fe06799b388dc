# SPDX-License-Identifier: BSD-3-Clause
"""`doctor`: show what is installed, what is missing, and how to fix it."""

import sys

from emulation.cli.command import Command, as_json
from emulation.setup import doctor

GROUP = "Administer"
COMMAND = Command(
    "doctor", ["doctor", "doctor --json"], params=[as_json("the findings as JSON")],
    callback=lambda as_json: sys.exit(doctor.main(as_json)),
    help="Show what is installed, what is missing, and how to fix it.",
)  # fmt: skip
