# SPDX-License-Identifier: BSD-3-Clause
# The longest silence at sta5, in ms. Start it with the folder of a run:
#     ./dcflab python labs/a_route_breaks/silence.py breaks/routing-aodv-1
import sys
from itertools import pairwise

from analysis.taps.sniff import frames
from analysis.traces.trace import Kind, Outcome

STA5 = "02:00:00:00:00:05"
# CHANGE: only datagrams (frame.kind is Kind.UDP) to STA5 (frame.addr1) that arrived (frame.outcome is Outcome.OK)
times = [float(frame.time) for frame in frames(sys.argv[1]) if (frame.kind, frame.outcome) != (Kind.ACK, Outcome.OK)]
print(round(1000 * max(after - before for before, after in pairwise(times))))
