# SPDX-License-Identifier: BSD-3-Clause
"""The live network, in the lane."""
