# SPDX-License-Identifier: BSD-3-Clause
"""`run LAB.cfg`, `shell LAB.cfg`: the network of a wmediumd configuration, in any lane, under our air."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from emulation.cli import study
from emulation.cli import vary as varying
from emulation.cli.command import Command, lane, out, seeds
from emulation.cli.options import options_of, short_help_options
from emulation.cli.playing import run_options
from emulation.features.wmediumd import configured as wmediumd
from emulation.lane.errors import Misuse
from emulation.play.tasks import warn
from emulation.specification import explain

ENDINGS = (".cfg", ".conf")
KIND = "a wmediumd configuration (.cfg)"


class Flow(click.ParamType[tuple[str, str], str]):
    """`sta1,sta3`."""

    name = "flow"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        source, _, to = str(value).partition(",")
        if not (source and to):
            self.fail(f"{value}: give its source and its destination, such as sta1,sta3")
        return source, to


def command(name: str) -> click.Command:
    def play(request: wmediumd.Request, vary: tuple[varying.Varied, ...], **given: Any) -> None:
        title = Path(name).stem
        varied = varying.study_of(None, title, title, vary, given) if vary else None
        study.run(varied, title, request.network, usual=request.options, **given)

    lines = [f"run {name}", f"run {name} --flow sta1,sta3 --rts full --rate 54",
             f"run {name} --vary medium=dcf80211,wmediumd-compat"]  # fmt: skip
    return _command(name, play, lines, [*run_options(), varying.option()], "The network of a wmediumd configuration.")


def prompt(name: str) -> click.Command:
    def play(request: wmediumd.Request, **given: Any) -> None:
        from emulation.features.prompt.networks import play_network

        play_network(Path(name).stem, request.network, usual=request.options, **given)

    help_ = "A prompt inside the network of a wmediumd configuration."
    return _command(name, play, [f"shell {name}"], [seeds(), out(), *lane()], help_)


def _command(
    name: str, play: Callable[..., None], lines: Sequence[str], more: Sequence[click.Parameter], help_: str
) -> click.Command:
    def callback(flows: tuple[tuple[str, str], ...], per_file: str | None, **given: Any) -> None:
        try:
            request = wmediumd.read(name, per_file, flows or None)
        except ValueError as error:
            raise Misuse("\n       ".join(explain(error))) from None
        for sentence in request.warnings:
            warn(sentence)
        play(request, **given)

    own = [
        click.Option(["--flow", "flows"], type=Flow(), metavar="FROM,TO", multiple=True,
                     help="a flow; repeat it for several  [default: from the first station to the last]"),
        click.Option(["-x", "--per-file", "per_file"], metavar="FILE",
                     help="packet error rates by power, as wmediumd's -x"),
    ]  # fmt: skip
    params = [*own, *options_of(None, wmediumd.DEFAULT_OPTIONS), *more]
    return Command(name, lines, short_help_options(None), params=params, callback=callback, help=help_)
