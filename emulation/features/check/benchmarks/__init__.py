# SPDX-License-Identifier: BSD-3-Clause
"""How much `module check` finds: mistakes planted in our own modules and in the kernel's, and modules without one."""
