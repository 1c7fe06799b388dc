# SPDX-License-Identifier: BSD-3-Clause
"""As a program: what wmediumd does, with its command line; this is mediumd with --wmediumd-compat."""

import sys

from emulation.features.wmediumd.inside.program import compat, main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], compat))
