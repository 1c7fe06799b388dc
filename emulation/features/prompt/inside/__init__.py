# SPDX-License-Identifier: BSD-3-Clause
"""The prompt, in the lane."""
