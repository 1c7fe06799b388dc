# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation.features.wmediumd.daemon`; `./dcflab mediumd` is the same."""

import sys

from emulation.features.wmediumd.daemon import main

sys.exit(main(sys.argv[1:]))
