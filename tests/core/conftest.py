# SPDX-License-Identifier: BSD-3-Clause
"""The core's tests import its binding, `dcf`, from this folder. Whichever test comes first waits for it to be built."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))
settings.register_profile("core", deadline=None)
settings.load_profile("core")
