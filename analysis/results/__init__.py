# SPDX-License-Identifier: BSD-3-Clause
"""Results of runs as data: `result.json`, what it is made from, and its schema."""
