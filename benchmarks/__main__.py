# SPDX-License-Identifier: BSD-3-Clause
"""`python -m benchmarks MODULE ARGUMENTS`: run a benchmark, which a module is; `./dcflab bench` sets up what it
needs."""

import sys
from importlib import import_module

from benchmarks import main

sys.exit(main(import_module(sys.argv.pop(1))))
