# SPDX-License-Identifier: BSD-3-Clause
"""Students' programs, in the lane."""
