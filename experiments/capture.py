# SPDX-License-Identifier: BSD-3-Clause
"""One of two nearby flows starves the other: paper 003, section 1.1.1 (claim C82).

Six stations 200 m apart at 2 Mb/s, for 100 s; the second flow starts 10 s after the first. Paper 003 says that the
earlier or the shorter of two nearby flows starves the other. The cases:

- `alike`: two flows of one hop that face each other, sta1 to sta2 and sta4 to sta3. Each sender is hidden from the
  other, and corrupts frames at the other's receiver.
- `shorter`: a flow of two hops, sta6 to sta4, beside one of one hop, sta2 to sta3, as in Xu and Saadawi (IEEE
  Communications Magazine, 2001).
- `apart`, a control: two flows of one hop whose senders hear each other, sta2 to sta1 and sta4 to sta5.
"""

from analysis.tables.claims import MOSTLY, Check, Claim, Most, Of
from experiments import NS2, RTS_PHRASES, Column, Options, Study

FIRST, SECOND = "flows.0.goodput_kbps", "flows.1.goodput_kbps"


def flows(first: tuple[str, str], second: tuple[str, str]) -> Options:
    both = zip((first, second), (0, 10), strict=True)
    return {"application": tuple(f"bulk,from={a},to={b},start_s={start}" for (a, b), start in both)}


def both(rts: str) -> tuple[Of, ...]:
    return Of(rts, FIRST, "alike"), Of(rts, SECOND, "alike")


STUDY = Study(
    name="capture",
    title="One of two nearby flows starves the other (paper 003, section 1.1.1)",
    topology="string",
    options={"stations": 6, "flows": 0, "window_limit": 64, "seconds": 100, "trace": False, "tcp_trace": False},
    cases={
        "alike": flows(("sta1", "sta2"), ("sta4", "sta3")),
        "shorter": flows(("sta6", "sta4"), ("sta2", "sta3")),
        "apart": flows(("sta2", "sta1"), ("sta4", "sta5")),
    },
    rows="flows",
    seeds="1..20",
    variants={"full": {"rts": "full"}, "none": {"rts": "none"}},
    phrases=RTS_PHRASES,
    names={
        "full": "Full", "none": "No", "alike": "one hop, facing each other", "shorter": "two hops, then one",
        "apart": "one hop, senders within range of each other",
    },
    quantities={
        FIRST: "the first, kb/s", SECOND: "the second, 10 s later, kb/s", "flows.0.share": "share of the first",
    },
    core_s=0.4,
    also={Column.PUBLISHED: NS2},
    claims=[
        Claim("C82, shorter", "one hop starves two, although these began earlier: less than a tenth",
              [Check(Of(rts, FIRST, "shorter"), "<", Of(rts, SECOND, "shorter"), 0.1) for rts in ("full", "none")]),
        Claim("C82, starves", "of two of one hop one has more than twice as much as the other",
              [Check(Most(both(rts), "the one"), ">>", Most(both(rts), "the other", least=True),
                     group=f"one over the other, {rts}") for rts in ("full", "none")]),
        Claim("C82, earlier", "and in most seeds that is the earlier one",
              [Check(Of(rts, FIRST, "alike"), MOSTLY, Of(rts, SECOND, "alike")) for rts in ("full", "none")]),
        Claim("who hears the other shares", "senders within range: within a quarter of each other",
              [Check(Of(rts, FIRST, "apart"), "~", Of(rts, SECOND, "apart")) for rts in ("full", "none")], of=()),
    ],
)  # fmt: skip
