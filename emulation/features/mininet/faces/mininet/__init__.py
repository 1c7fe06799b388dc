# SPDX-License-Identifier: BSD-3-Clause
"""The name under which scripts import Mininet's words; what there is is in `emulation.features.mininet`."""

import sys

from emulation.features.mininet.absences import MININET
from emulation.features.mininet.words import Missing

sys.meta_path.append(Missing(__name__, MININET))
