# SPDX-License-Identifier: BSD-3-Clause
"""The tests in `source` are not pytest's: a runner of theirs plays them in a lane."""

collect_ignore = ["source"]
