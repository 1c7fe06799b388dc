# SPDX-License-Identifier: BSD-3-Clause
"""`mn`: run a network with the options of Mininet's own `mn`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TextIO

import click

from analysis.results.result import Script
from emulation.cli.command import Command, Option, lane, out, seeds
from emulation.cli.script import play_in
from emulation.cli.terminal import terminal_listener
from emulation.features.mininet.mn import KINDS, TESTS, WIRED, WIRELESS, parts, topology
from emulation.lane.errors import Misuse
from emulation.lanes import Lane
from emulation.play.script import SCRIPT_COPY
from emulation.play.session import new_folder, provide
from emulation.setup import require_all_packages

PROGRAM = """# What `./dcflab mn` ran.
from emulation.features.mininet.mn import mn

mn(**{asked!r})
"""
LINES = click.File()
EXAMPLE = (
    ": ovsk,protocols=OpenFlow13",
    "; with --wifi",
    "",
    "; with --wifi",
    ": tc,bw=10,delay=2ms",
    ": ryu,my_app.py",
)
OPTIONS = [
    Option(["--wifi"], is_flag=True, help="with stations and access points"),
    Option(["--topo", "kind"], default="minimal", metavar="KIND[,ARGS]", show_default=True,
           help=f"{'|'.join(WIRED)}; with --wifi {'|'.join(WIRELESS)}; or one of --custom"),
    Option(["--custom", "own"], type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
           help="a file that defines topos = {'name': Class}"),
    *(Option([f"--{option}"], metavar="KIND[,NAME=VALUE]", help=f"{'|'.join(kinds)}{example}")
      for (option, kinds), example in zip(KINDS.items(), EXAMPLE, strict=True)),
    Option(["--nat"], is_flag=True, help="add a host that answers for all addresses outside the network"),
    Option(["--pre"], type=LINES, help="a file with lines for the prompt, before the test"),
    Option(["--post"], type=LINES, help="the same, after the test"),
    Option(["--mac"], is_flag=True, help="set the MAC addresses to 00:00:00:00:00:01 and following"),
    Option(["--arp"], is_flag=True, help="set all ARP entries in advance"),
    Option(["--ipbase", "ipBase"], metavar="ADDRESS/N", help="the base of the IP addresses  [default: 10.0.0.0/8]"),
    Option(["--plot"], is_flag=True, help="make a film of it, and a picture"),
    Option(["--test"], type=click.Choice(TESTS), help="run this test instead of a prompt"),
    Option(["-v", "--verbosity"], type=click.Choice(["debug", "info", "output", "warning", "error", "critical"]),
           default="info", help="the log level"),
]  # fmt: skip
NOTHING = [
    Option([flag], is_flag=True, expose_value=False, hidden=True)
    for flag in ("--position", "--innamespace", "--nolistenport", "--wait")
]  # without effect here
OTHERWISE = {
    "--listenport": "switches listen to nobody", "--cluster": "a lane is one machine",
    "--placement": "a lane is one machine",
}  # fmt: skip


def _clean(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo("dcflab: there is nothing to clean up: a network leaves nothing behind when it ends")
        context.exit()


def _otherwise(_: click.Context, parameter: click.Parameter, value: object) -> None:
    if value:
        flag = parameter.opts[-1]
        raise Misuse(f"{flag}: {OTHERWISE.get(flag, 'a lane has no windows')} here; leave it out")


ANSWERED = [
    Option(["-c", "--clean"], is_flag=True, expose_value=False, is_eager=True, callback=_clean,
           help="accepted: nothing is ever left to clean up"),
    *(Option([flag], expose_value=False, hidden=True, callback=_otherwise) for flag in OTHERWISE),
    Option(["-x", "--xterms"], is_flag=True, expose_value=False, hidden=True, callback=_otherwise),
]  # fmt: skip


def callback(
    seeds: list[int], out: Path | None, lane: Lane, own: Path | None, pre: TextIO | None, post: TextIO | None,
    **asked: Any,
) -> None:  # fmt: skip
    """Run a network with the options of Mininet's own `mn`, and open a prompt in it or run a test."""
    parts(asked["wifi"], **{option: asked[option] for option in KINDS})
    if not own:
        topology(asked["kind"], asked["wifi"])
    asked = {**asked, "own": own.read_text() if own else "", "pre": pre.read() if pre else "",
             "post": post.read() if post else ""}  # fmt: skip
    if own:
        require_all_packages()
    lab, folder = provide(lane=lane), new_folder(out, "mn")
    program = folder / SCRIPT_COPY
    program.write_text(PROGRAM.format(asked=asked))
    script = Script(path=str(program), seeds=seeds, modules=[])
    play_in(folder, lab, script, "mn", False, (), terminal_listener())


EXAMPLES = ["mn --wifi --topo single,3 --test pingall", "mn --topo linear,4 --link tc,bw=10,delay=2ms --test iperf"]
PARAMS: list[click.Parameter] = [*OPTIONS, *NOTHING, *ANSWERED, seeds(), out(), *lane()]
GROUP = "Bring your own"
COMMAND = Command("mn", EXAMPLES, params=PARAMS, callback=callback, help=callback.__doc__)
