# SPDX-License-Identifier: BSD-3-Clause
"""ns-2's rules (docs/like-ns2.md), each by hand and alone: its effect, against the same frames without it.

Stations 0 and 1 are near each other. Station 2 is sensed by 1 alone, 20 dB weaker than 0: it loses to capture.
"""

import pytest
from dcf import US, Core, mutual, tcp

STRONG, WEAK = 1000, 10  # attowatts; reception from 100, carrier sense from 10
LONG, SHORT = tcp(1460), tcp(0)  # 6336 and 496 us at 2 Mb/s, 12,480 us at 1 Mb/s


@pytest.mark.parametrize(("rules", "answered"), [((), True), (("nav_on_capture",), False)])
def test_a_signal_captured_away_sets_the_nav(rules: tuple[str, ...], answered: bool) -> None:
    """1 captures 0's first frame over 2's longer one, and then learns of that from the NAV: the RTS gets no CTS."""
    air = Core(mutual(4, {(0, 1): STRONG, (1, 2): WEAK, (2, 3): STRONG}), short=1, rules=rules)
    air.send(0, 1, SHORT, at=1000 * US)
    air.send(2, 3, LONG, at=1100 * US)
    air.send(0, 1, SHORT, at=2000 * US, rts=True)
    air.run(5000 * US)
    assert [t.kind for t in air.tx if t.station == 1] == ["ack", "cts", "ack"][: 3 if answered else 1]
    air.run(20_000 * US)
    air.stop()
    end = next(t.end for t in air.tx if t.station == 2) + 364 * US
    assert air.counters(1).nav_ns == (0 if answered else end - 1100 * US)
