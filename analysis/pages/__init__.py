# SPDX-License-Identifier: BSD-3-Clause
"""What a browser shows: the report, the timeline, and what their pages have in common."""
