# SPDX-License-Identifier: BSD-3-Clause
"""The claims of the seeds, tested: how many seeds one needs (`looks`), what was found of each (`record`, which is
docs/claims.json), and how that is told (`page`, which makes docs/claims.md). Nothing here runs anything.
"""
