# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the papers' claims: how many seeds each needs (`looks`), the results (`record`, docs/claims.json), and the
pages (`page`, docs/claims.md). Nothing in this package runs anything.
"""
