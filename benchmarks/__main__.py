# SPDX-License-Identifier: BSD-3-Clause
"""`python -m benchmarks NAME ARGUMENTS`: run a benchmark by the name of its file; `./dcflab bench` sets up what it
needs."""

import sys
from importlib import import_module

from benchmarks import main

sys.exit(main(import_module(f"benchmarks.{sys.argv.pop(1)}")))
