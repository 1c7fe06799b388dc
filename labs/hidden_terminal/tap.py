# SPDX-License-Identifier: BSD-3-Clause
# How many frames of each station collided? Start it with the folder of a run:
#     ./dcflab python labs/hidden_terminal/tap.py hidden/rts-none-1
import sys
from collections import Counter

from analysis.taps.sniff import frames
from analysis.traces.trace import Outcome

counted: Counter[str] = Counter()
for frame in frames(sys.argv[1]):
    # CHANGE: count only what collided (frame.outcome is Outcome.COLLISION); frame.addr2 is the sender's address
    counted[str(frame.addr2)] += frame.outcome is Outcome.OK
print(counted)
