# SPDX-License-Identifier: BSD-3-Clause
"""Inside the lane: what the kernel starts. It mounts the checkout at its place, and goes on there, in `guest`.

The kernel's process may not be able to reach the checkout by its path, so it starts a copy of this file.
"""

import ctypes
import os
import sys

READ_ONLY = 1
CHECKOUT = "/run/lab/checkout"

if __name__ == "__main__":
    mount = ctypes.CDLL(None).mount
    mount(b"none", b"/run", b"tmpfs", 0, None)
    os.makedirs(CHECKOUT)
    mount(b"none", CHECKOUT.encode(), b"hostfs", READ_ONLY, sys.argv[2].encode())
    sys.path[0] = CHECKOUT
    from emulation.lane import guest

    guest.main()
