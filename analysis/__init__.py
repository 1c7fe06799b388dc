# SPDX-License-Identifier: BSD-3-Clause
"""What a run's traces say: files, taps, counters, segments in flight, tables and figures.

Everything here works on finished files (`taps` also on a live interface), imports numpy, and leaves Scapy,
matplotlib and rich to the functions that need them.
"""
