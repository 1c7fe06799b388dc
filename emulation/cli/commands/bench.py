# SPDX-License-Identifier: BSD-3-Clause
"""`bench`: compare with ns-2 and ns-3, and test `module check`. It sets up what the benchmarks need, and starts one."""

from collections.abc import Sequence

import click

from emulation.cli.command import Command, exec_program
from emulation.lane.errors import Misuse
from emulation.setup import Group

BENCHMARKS = {
    "speed": "compare", "routing": "routing", "like-ns2": "like_ns2", "tcp-like": "tcp_like", "mobile": "mobile",
    "manet": "manet", "aodv": "aodv", "wlan": "wlan", "aggregates": "aggregates", "ht": "ht", "scale": "scale",
    "mutants": "mutants", "faults": "faults", "intree": "intree",
}  # fmt: skip
ALONE = ("mutants", "faults", "intree")  # these need no other simulator


def callback(arguments: Sequence[str]) -> None:
    """Compare with ns-2 and ns-3 on this machine. ARGUMENTS are one of these, and options.

    \b
    speed     time and memory of the same networks (the default)
    scale     how time and memory grow with the network; dcflab alone
    mobile    time for moving stations
    manet     what moving stations deliver
    routing   gains of slow congestion avoidance, by routing
    aodv      why ns-2's AODV loses more
    like-ns2  goodput under --like ns2
    tcp-like  goodput under --tcp-like ns2
    wlan      shares of a WLAN
    aggregates  saturated 802.11n, ac and ax in the core
    ht        WLANs of 802.11n, ac and ax: throughput and time
    mutants   mistakes that `module check` finds; --count N, --minutes M, --seed S, --out FOLDER
    faults    mistakes in copies of the kernel's modules that `module check` finds; --smp, --only TEXT
    intree    copies of the kernel's modules in `module check`, for false findings; --only TEXT

    --json prints the figures as JSON. --repeats N sets how often each is timed, or the number of seeds.
    """
    what = "speed"
    if arguments and not arguments[0].startswith("-"):
        what, *arguments = arguments
    if what not in BENCHMARKS:
        raise Misuse(f"there is no benchmark {what!r}; there are: {', '.join(BENCHMARKS)}")
    from emulation.play.session import provide

    provide(*([Group.BENCH] if what not in ALONE else []))
    exec_program("benchmarks", BENCHMARKS[what], *arguments)


GROUP = "Administer"
COMMAND = Command(
    "bench", ["bench", "bench speed --json"],
    params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED,
                           metavar=f"[{'|'.join(BENCHMARKS)}] [ARGUMENTS]...")],
    callback=callback, help=callback.__doc__, context_settings={"ignore_unknown_options": True},
)  # fmt: skip
