# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's congestion controls of today over several hops, beside those of the papers.

BBR, CUBIC, DCTCP and Westwood, as Linux has them, beside NewReno, Vegas, SCA(10) and CWL: strings of 1 to 8 hops over
static routes, and of 4 and 8 over ns-2's own DSR, where a flow that loses frames loses its route. Queues hold 50 frames
and mark none, so losses are the only sign of congestion that DCTCP gets. Paper 003 names Westwood as future work.
"""

from analysis.tables.claims import Claim, order
from experiments import Study, cwl, sca

GOODPUT, ENERGY = "goodput_kbps", "energy.beyond_idle_per_mb"
TCPS = {"newreno": "NewReno", "cubic": "CUBIC", "bbr": "BBR", "dctcp": "DCTCP", "westwood": "Westwood",
        "vegas": "Vegas", "sca": "SCA(10)", "cwl": "CWL"}  # fmt: skip
STATIC = [f"static {hops}" for hops in (1, 2, 4, 8)]
DSR = [f"DSR {hops}" for hops in (4, 8)]
ROUTING = {"static": "manet_static", "DSR": "dsr,preset=cmu"}

STUDY = Study(
    name="modern-tcp",
    title="Congestion controls of today over several hops (beyond the papers)",
    topology="string",
    options={"like": "ns2", "rts": "full", "seconds": 120, "trace": False},
    cases={case: {"routing": ROUTING[case.split()[0]], "stations": int(case.split()[1]) + 1} for case in STATIC + DSR},
    rows="routing, hops",
    seeds="1..5",
    variants={**{tcp: {"tcp": tcp} for tcp in TCPS}, "sca": sca(10), "cwl": cwl()},
    names=TCPS,
    quantities={
        GOODPUT: "goodput, kb/s", "flows.0.tcp.cwnd_mean": "mean cwnd, segments", "flows.0.tcp.srtt_ms": "SRTT, ms",
        "flows.0.tcp.rtos": "timeouts", ENERGY: "J/MB beyond idling",
    },
    claims=[
        Claim("BBR", "BBR has more goodput than CUBIC over 4 hops and more",
              order(GOODPUT, "bbr", "cubic", cases=[*STATIC[2:], *DSR])),
        Claim("CUBIC", "CUBIC has more goodput than NewReno", order(GOODPUT, "cubic", "newreno", cases=STATIC)),
        Claim("Vegas", "none of today's has more than Vegas over DSR", [
            check for tcp in ("cubic", "bbr", "dctcp", "westwood")
            for check in order(GOODPUT, "vegas", tcp, cases=DSR)]),
    ],
)  # fmt: skip
