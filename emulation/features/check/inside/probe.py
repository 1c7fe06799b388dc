# SPDX-License-Identifier: BSD-3-Clause
"""Inside the lane: load a module, and print the congestion controls that it provides, as JSON."""

from __future__ import annotations

import json
import sys

from emulation.features.check.inside.tested_module import Module

if __name__ == "__main__":
    module = Module(*sys.argv[1:])
    module.load()
    print(json.dumps(module.controls))
