# SPDX-License-Identifier: BSD-3-Clause
"""`bench`: compare with ns-2 and ns-3, and run the features' benchmarks. It sets up what one needs, and starts it."""

from collections.abc import Sequence

import click

from emulation import features
from emulation.cli.command import Command, exec_program
from emulation.lane.errors import Misuse
from emulation.setup import Group

# The modules of benchmarks, and what is said of them.
BESIDE = {
    "speed": ("compare", "time and memory of the same networks (the default)"),
    "routing": ("routing", "gains of slow congestion avoidance, by routing"),
    "scale": ("scale", "how time and memory grow with the network; dcflab alone"),
    "mobile": ("mobile", "time for moving stations"),
    "manet": ("manet", "what moving stations deliver"),
    "aodv": ("aodv", "why ns-2's AODV loses more"),
    "like-ns2": ("like_ns2", "goodput under --like ns2"),
    "tcp-like": ("tcp_like", "goodput under --tcp-like ns2"),
    "wlan": ("wlan", "shares of a WLAN"),
    "aggregates": ("aggregates", "saturated 802.11n, ac and ax in the core"),
    "ht": ("ht", "WLANs of 802.11n, ac and ax: throughput and time"),
}
BENCHMARKS = {name: (f"benchmarks.{module}", text) for name, (module, text) in BESIDE.items()}
for part in features.parts("of_benchmarks"):
    BENCHMARKS |= {name: (f"{part.__package__}.benchmarks.{name}", text) for name, text in part.BENCHMARKS.items()}
LINES = "\n".join(f"{name:10}  {text}" for name, (_, text) in BENCHMARKS.items())
HELP = f"""\
Compare with ns-2 and ns-3 on this machine. ARGUMENTS are one of these, and options.

\b
{LINES}

--json prints the figures as JSON. --repeats N sets how often each is timed, or the number of seeds.
"""


def callback(arguments: Sequence[str]) -> None:
    what = "speed"
    if arguments and not arguments[0].startswith("-"):
        what, *arguments = arguments
    if what not in BENCHMARKS:
        raise Misuse(f"there is no benchmark {what!r}; there are: {', '.join(BENCHMARKS)}")
    from emulation.play.session import provide

    provide(*([Group.BENCH] if what in BESIDE else []))
    exec_program("benchmarks", BENCHMARKS[what][0], *arguments)


GROUP = "Administer"
COMMAND = Command(
    "bench", ["bench", "bench speed --json"],
    params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED,
                           metavar=f"[{'|'.join(BENCHMARKS)}] [ARGUMENTS]...")],
    callback=callback, help=HELP, context_settings={"ignore_unknown_options": True},
)  # fmt: skip
