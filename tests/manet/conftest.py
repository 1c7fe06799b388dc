# SPDX-License-Identifier: BSD-3-Clause
"""The cores' tests import their binding, `world`, from this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
