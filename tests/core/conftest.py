# SPDX-License-Identifier: BSD-3-Clause
"""The core's tests import its binding, `dcf`, from this folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
