# SPDX-License-Identifier: BSD-3-Clause
"""A talker: RTP packets of a codec (RFC 3550, RFC 3551), continuous or in talkspurts, and the quality for the listener.

The listener plays each packet `playout_s` after it was sent; a later packet is lost. So the delay from mouth to ear is
known. From it and the losses, the E-model (ITU-T G.107) computes its rating R, without echo, and from R a mean opinion
score. A conversation is two flows, one in each direction.
"""

from __future__ import annotations

import math

from traffic.applications import udp
from traffic.settings import Setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

RTP_HEADER = 12  # bytes
INTERVAL_S = 0.02  # of a packet, RFC 3551, section 4.2
EXPEDITED = 46 << 2  # EF, as RFC 4594 marks telephony
# Bytes of payload in 20 ms (RFC 3551, 4.5); look-ahead, s; Ie and Bpl of G.113, appendix I: with loss concealment, and
# for G.729 with annexes A and B.
CODECS = {"g711": (160, 0.0, 0, 25.1), "g729": (20, 0.005, 11, 19.0)}


class Application(udp.Application):
    """One direction of a conversation."""

    settings: ClassVar = {
        "codec": Setting("g711", words=tuple(CODECS)),
        "arrivals": Setting("constant", words=("constant", "onoff")),
        "on_s": Setting(1.004, 1e-3, udp.LONGEST_S),  # ITU-T P.59: talkspurts and pauses
        "off_s": Setting(1.587, 0, udp.LONGEST_S),
        "playout_s": Setting(0.06, 0, 10),
        "tos": EXPEDITED,
    }

    def prepare(self) -> None:
        payload = CODECS[self.plan["codec"]][0]
        self.plan |= {"datagram_bytes": RTP_HEADER + payload, "interval_s": INTERVAL_S, "rate_kbps": None, "burst": 1}
        self.plan |= {"batches": None, "send_buffer": None}
        super().prepare()

    def finish(self) -> dict[str, Any]:
        found, plan = super().finish(), self.plan
        if sent := found["datagrams"]["sent"]:
            played = self.datagrams.within(plan["playout_s"])
            r = rating(plan["codec"], plan["playout_s"], 100 * (sent - played) / sent)
            found["datagrams"] |= {"late": found["datagrams"]["arrived"] - played, "r": r, "mos": opinion(r)}
        return found


def rating(codec: str, playout_s: float, lost_percent: float) -> float:
    """Return the E-model's R, from 0 to 93.2, for random losses and otherwise the defaults of G.107."""
    _, lookahead_s, impairment, robustness = CODECS[codec]
    delay_ms = 1000 * (INTERVAL_S + lookahead_s + playout_s)
    equipment = impairment + (95 - impairment) * lost_percent / (lost_percent + robustness)  # equation 7-29
    return max(93.2 - too_late(delay_ms) - equipment, 0.0)


def too_late(delay_ms: float) -> float:
    """Return Idd, the reduction of R by the delay from mouth to ear (equation 7-27)."""
    if delay_ms <= 100:
        return 0.0
    x = math.log2(delay_ms / 100)
    return 25 * (math.pow(1 + x**6, 1 / 6) - 3 * math.pow(1 + (x / 3) ** 6, 1 / 6) + 2)


def opinion(r: float) -> float:
    """Return the mean opinion score of a rating, from 1 to 4.5 (G.107, annex B)."""
    return max(1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6, 1.0)
