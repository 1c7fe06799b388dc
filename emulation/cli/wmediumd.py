# SPDX-License-Identifier: BSD-3-Clause
"""`run LAB.cfg`: the network of a wmediumd configuration, in any lane, under our air."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from emulation.cli import topology
from emulation.cli.command import Command
from emulation.cli.options import options_of, warn
from emulation.cli.playing import of_runs
from emulation.plan import wmediumd
from emulation.play.errors import Misuse
from emulation.specification import explain


class Flow(click.ParamType[tuple[str, str], str]):
    """`sta1,sta3`."""

    name = "flow"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        source, _, to = str(value).partition(",")
        if not (source and to):
            self.fail(f"{value}: from which station to which? sta1,sta3")
        return source, to


def command(name: str) -> click.Command:
    """The command of a configuration."""

    def callback(flows: tuple[tuple[str, str], ...], per_file: str | None, **given: Any) -> None:
        try:
            asked = wmediumd.read(name, per_file, flows or None)
        except ValueError as error:
            raise Misuse("\n       ".join(explain(error))) from None
        for sentence in asked.warnings:
            warn(sentence)
        topology.run(Path(name).stem, asked.network, usual=asked.options, **given)

    own = [
        click.Option(["--flow", "flows"], type=Flow(), metavar="FROM,TO", multiple=True,
                     help="a flow; repeat it for several  [default: from the first station to the last]"),
        click.Option(["-x", "--per-file", "per_file"], metavar="FILE",
                     help="packet error rates by power, as wmediumd's -x"),
    ]  # fmt: skip
    lines = [f"run {name}", f"run {name} --flow sta1,sta3 --rts full --rate 54"]
    params = [*own, *options_of(None, wmediumd.USUAL), *of_runs()]
    return Command(name, lines, params=params, callback=callback, help="The network of a wmediumd configuration.")
