# SPDX-License-Identifier: BSD-3-Clause
"""`python -m emulation.mediumd`; `./dcflab mediumd` is the same."""

import sys

from emulation.mediumd import main

sys.exit(main(sys.argv[1:]))
