# SPDX-License-Identifier: BSD-3-Clause
"""TCP from a run's traces: senders over time, journeys of segments, and segments in flight."""
