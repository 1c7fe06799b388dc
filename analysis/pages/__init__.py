# SPDX-License-Identifier: BSD-3-Clause
"""Pages for the browser: the report, the timeline, and what they share."""
