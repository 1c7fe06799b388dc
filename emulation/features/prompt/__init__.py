# SPDX-License-Identifier: BSD-3-Clause
"""The prompt: a started network, and who types at it."""
