# SPDX-License-Identifier: BSD-3-Clause
"""`doctor`: say what is there, what is missing, and how to mend it."""

from __future__ import annotations

import sys

from emulation.cli.command import Command, as_json
from emulation.setup import doctor

COMMAND = Command(
    "doctor", params=[as_json("the findings as JSON")], callback=lambda as_json: sys.exit(doctor.main(as_json)),
    help="What is there, what is missing, and how to mend it.",
)  # fmt: skip
