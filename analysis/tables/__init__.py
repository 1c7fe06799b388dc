# SPDX-License-Identifier: BSD-3-Clause
"""Results for people: tables, statistics over seeds, and verdicts on claims."""
