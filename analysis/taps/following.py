# SPDX-License-Identifier: BSD-3-Clause
"""Which frames a station notices that begin after its own, with reception by SINR: a second implementation of
docs/reception.md.

The station follows the first frame that begins while it follows none. A stronger frame takes over until the preamble of
the followed one has been heard. The station keeps following it if it is then strong enough against the sum of all
others.
"""

import numpy as np

from analysis.taps.phy import Medium, at, detect_ns, is_ofdm
from analysis.taps.transmissions import Sent
from analysis.traces.trace import Array


def noticed(station: int, since_ns: int, stop_ns: int, freq: int, medium: Medium, sent: Sent) -> Array:
    """Return the frames that a station, idle at `since_ns`, notices from then to the stop. The columns are the row in
    `sent`, the start and the end of arrival."""
    assert medium.detection is not None
    there = (sent.station >= 0) & (sent.station != station) & (sent.end + medium.links.longest_ns > since_ns)
    row = np.flatnonzero(there & (sent.freq == freq))
    power, delay = medium.links.arriving(sent.station[row], np.array(station), sent.time[row], sent.number[row])
    order = np.lexsort((-power, sent.time[row] + delay))
    row, power, begin = row[order], power[order], (sent.time[row] + delay)[order]
    over, decided = begin + sent.airtime[row], begin + detect_ns(sent.rate[row])
    ratio = np.where(is_ofdm(sent.rate[row]), *medium.detection)
    frame = (begin >= since_ns) & (power >= at(medium.receive_aw, np.array(station), sent.time[row]))

    def is_noticed(one: int) -> bool:
        then = int(decided[one])
        others = power[(begin < then) & (over > then)].sum() - power[one]
        return bool(then <= stop_ns and power[one] >= ratio[one] * others)

    found: list[int] = []
    followed = -1
    for one in np.flatnonzero(frame & (begin <= stop_ns)).tolist():
        if followed >= 0 and begin[one] < decided[followed]:
            if power[one] > power[followed]:
                followed = one
            continue
        if followed >= 0 and followed not in found[-1:] and is_noticed(followed):
            found.append(followed)
        if followed not in found[-1:] or begin[one] >= over[followed]:
            followed = one
    if followed >= 0 and followed not in found[-1:] and is_noticed(followed):
        found.append(followed)
    return np.stack([row, begin, over])[:, found].T
