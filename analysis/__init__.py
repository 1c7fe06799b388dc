# SPDX-License-Identifier: BSD-3-Clause
"""Read what runs leave: files, taps, counters, segments in flight, tables and figures.

Everything here works on finished files; `taps` also works on a live interface. The packages import numpy. Only the
functions that need Scapy, matplotlib or rich import them.
"""
