# SPDX-License-Identifier: BSD-3-Clause
"""The name under which scripts import Mininet-WiFi's words; what there is is in `emulation.features.mininet`."""

import sys

from emulation.features.mininet.absences import MN_WIFI
from emulation.features.mininet.words import Missing

sys.meta_path.append(Missing(__name__, MN_WIFI))
