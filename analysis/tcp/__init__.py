# SPDX-License-Identifier: BSD-3-Clause
"""TCP from a run's traces: its senders over time, the journeys of its segments, and how many are in flight."""
