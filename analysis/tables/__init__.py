# SPDX-License-Identifier: BSD-3-Clause
"""Results as people read them: tables, statistics over seeds, and whether claims hold."""
