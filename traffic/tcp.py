# SPDX-License-Identifier: BSD-3-Clause
"""Set-up of a flow's TCP: a study's name on the left, Linux's settings on the right. Pure data.

Linux has one TCP with switches, not a simulator's agents. The studies' TCP is NewReno of RFC 6582 (and before it 3782)
without later additions, so their names switch these off: SACK (RFC 2018) and D-SACK (RFC 2883), loss detection by time,
RACK and TLP (RFC 8985), F-RTO (RFC 5682), timestamps (RFC 7323) and ECN (RFC 3168). Linux's own names leave all of that
at the kernel's defaults. Linux has no Reno without the partial-ACK rule: `reno` is NewReno's window with the kernel's
own loss recovery. The module in `experiments/plain_reno` is one. Linux counts the segments that an ACK acknowledges;
`experiments/count_acks` counts ACKs.

docs/like-ns2.md, The transport, has the other differences from a simulator: those that can be set, and those that
cannot.

The variables are those of `net.ipv4` in a station's namespace: Documentation/networking/ip-sysctl.rst.

A congestion control that is not listed is named with its module, as `tcp_mine:mine`.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variant:
    """A congestion control by its name in Linux and the module that contains it ("": the kernel itself), variables of
    both ends' namespaces, and module parameters."""

    congestion: str
    module: str
    source: str
    sysctl: dict[str, str] = field(default_factory=dict)
    module_parameters: dict[str, str] = field(default_factory=dict)


# A run must not use what an earlier connection learnt about the path.
FRESH = {"net.ipv4.tcp_no_metrics_save": "1"}

CLASSIC = {
    **FRESH,
    "net.ipv4.tcp_sack": "0",
    "net.ipv4.tcp_dsack": "0",
    "net.ipv4.tcp_recovery": "0",  # RACK
    "net.ipv4.tcp_early_retrans": "0",  # TLP
    "net.ipv4.tcp_frto": "0",
    "net.ipv4.tcp_timestamps": "0",
    "net.ipv4.tcp_ecn": "0",
}

VEGAS = {"tcp_vegas.alpha": "1", "tcp_vegas.beta": "3", "tcp_vegas.gamma": "1"}

VARIANTS = {
    "newreno": Variant("reno", "", "paper 003, tables 3.6, 4.1 and A.4; RFC 6582", CLASSIC),
    "sack": Variant("reno", "", "paper 003, table 3.6: SACK on, D-SACK off", CLASSIC | {"net.ipv4.tcp_sack": "1"}),
    "vegas": Variant("vegas", "tcp_vegas", "paper 003, table 3.6: alpha 1, beta 3, gamma 1 segments", CLASSIC, VEGAS),
    "ss": Variant("ss", "tcp_sca", "paper 003, section 4.3.1: slow slow-start", CLASSIC),
    "sca": Variant("sca", "tcp_sca", "paper 003, section 4.3.2: slow congestion avoidance", CLASSIC),
    "ssca": Variant("ssca", "tcp_sca", "paper 003, section 4.3: both", CLASSIC),
    "cwl": Variant("cwl", "tcp_cwl", "paper 003, section 4.4.2: congestion window limit", CLASSIC),
    "cwl-sack": Variant(
        "cwl", "tcp_cwl", "paper 001, section 3: the same with SACK", CLASSIC | {"net.ipv4.tcp_sack": "1"}
    ),
    "dcr": Variant("dcr", "tcp_dcr", "paper 002: TCP-DCR", CLASSIC),
    "dctcp": Variant("dctcp", "tcp_dctcp", "RFC 8257; it needs ECN", FRESH | {"net.ipv4.tcp_ecn": "1"}),
    "reno": Variant("reno", "", "Linux, net/ipv4/tcp_cong.c", FRESH),
} | {
    name: Variant(name, f"tcp_{name}", f"Linux, net/ipv4/tcp_{name}.c", FRESH)
    for name in (
        *("bbr", "bic", "cdg", "cubic", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "scalable"),
        *("veno", "westwood", "yeah"),
    )
}

NAMES = tuple(VARIANTS)
# Of folders that --modules names, in experiments/, and with the studies' switches.
OF_STUDIES = {
    "tcp_plain_reno:plain_reno": Variant("plain_reno", "tcp_plain_reno", "papers 003 and 004: Reno", CLASSIC),
    "tcp_count_acks:count_acks": Variant("count_acks", "tcp_count_acks", "ns-2: growth by ACKs", CLASSIC),
}
LONGEST = 16  # TCP_CA_NAME_MAX, with its final NUL


def is_classic(name: str) -> bool:
    """Return whether a variant has only the studies' loss recovery. Raises ValueError as `find` does."""
    return find(name).sysctl.get("net.ipv4.tcp_recovery") == "0"


def find(name: str) -> Variant:
    """Return the variant with this name. Raises ValueError, which lists the names, if there is none."""
    module, colon, congestion = name.partition(":")
    if name in OF_STUDIES:
        return OF_STUDIES[name]
    if colon and module.isidentifier() and 0 < len(congestion) < LONGEST:
        return Variant(congestion, module, f"module {module}", FRESH)
    if name not in VARIANTS:
        there = ", ".join(sorted(NAMES))
        raise ValueError(f"there is no TCP {name!r}; there are: {there}, and MODULE:NAME for one of your own")
    return VARIANTS[name]
