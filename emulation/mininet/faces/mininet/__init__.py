# SPDX-License-Identifier: BSD-3-Clause
"""The name under which scripts import Mininet's words; what there is is in `emulation.mininet`."""

import sys

from emulation.mininet.absences import MININET
from emulation.mininet.words import Missing

sys.meta_path.append(Missing(__name__, MININET))
