# SPDX-License-Identifier: BSD-3-Clause
"""The prompt of a started network."""
