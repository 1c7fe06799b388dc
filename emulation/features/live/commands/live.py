# SPDX-License-Identifier: BSD-3-Clause
"""`live TOPOLOGY`: show a running network in the browser, and change it while it runs. The session is kept like a
run, with a script that repeats it."""

import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from analysis.results.result import Script
from emulation import lanes
from emulation.cli.command import Command, lane, out, seeds
from emulation.cli.commands.view import open_in_browser
from emulation.cli.groups import TopologyCommands
from emulation.cli.options import options_of, short_help_options
from emulation.cli.script import play_in, without_topology
from emulation.features.live.play import Lanes, trace_of
from emulation.features.live.server import Server
from emulation.features.live.session import Session
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import Lane, Listener
from emulation.lanes.virtual.scratch import scratch
from emulation.play.run import Task
from emulation.play.script import SCRIPT_COPY
from emulation.play.session import new_folder, provide_for
from emulation.play.tasks import check_task, misuse, specification_for

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def command(name: str) -> click.Command:
    """Return the command of a topology, given its name or file. Raises ValueError."""

    def callback(**given: Any) -> None:
        play(Path(name).stem, name, **given)

    params = [
        *options_of(name), seeds(), out(), *lane(),
        click.Option(["--port"], type=click.IntRange(0, 65535), default=0,
                     help="the port of the page  [default: a free one]"),
        click.Option(["--no-open", "opens"], is_flag=True, flag_value=False, default=True, help="open no browser"),
        click.Option(["--json", "as_json"], is_flag=True, help="print the page's address as JSON"),
    ]  # fmt: skip
    help_ = f"Show a network of the topology {Path(name).stem} in the browser, and change it while it runs."
    examples = [f"live {name}", f"live {name} --rts full --no-open"]
    return Command(name, examples, short_help_options(name), params=params, callback=callback, help=help_)


def play(
    title: str, what: str, *, seeds: list[int], out: Path | None, lane: Lane, port: int, opens: bool,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """Serve the page of a network until it ends. Raises Misuse or Failure."""
    if lane.name != lanes.DEFAULT:  # time must be able to stop, and records must be visible at once
        raise Misuse(f"live: it works only in the lane {lanes.DEFAULT}, not in {lane.name}; leave out --lane")
    chosen = {name: value for name, value in given.items() if value is not None}
    with misuse():
        specification = without_topology(specification_for(what, {**chosen, "seed": seeds[0]}))
    if not specification.measurement.trace:
        raise Misuse("live: there is no trace to show; leave out --no-trace, and use the medium dcf80211")
    task = check_task(Task(specification))
    lab = provide_for([task], lane)
    folder = new_folder(out, title)
    session = Session(title, specification, task.plan, trace_of(folder, seeds[0]), folder / SCRIPT_COPY)
    script = Script(path=str(folder / SCRIPT_COPY), seeds=seeds[:1], modules=list(specification.kernel.modules))
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving(session, port))
        stack.enter_context(ended_from_outside(session))
        announce(server.address, folder, as_json)
        opener = stack.enter_context(door(server.address))
        if opens and not as_json:
            open_in_browser(opener)
        try:
            play_in(folder, replace(lab, lane=Lanes(lane, session)), script, title, as_json, (), Listener(line=say))
        except SystemExit as ended:
            left = f"its results are in {folder}/; for the report, run ./dcflab view {folder}"
            if not folder.exists():
                left = "no time had passed in it, so there are no results"
            session.fail(left if not ended.code else "its program failed; the terminal shows the reason")
            raise
        except BaseException as error:
            left = f"; {folder / SCRIPT_COPY} has all actions until then" if (folder / SCRIPT_COPY).exists() else ""
            session.fail((str(error) or "interrupted") + left)
            raise


@contextlib.contextmanager
def door(address: str) -> Iterator[Path]:
    """Make a private file that leads to the page: all users can read a browser's arguments (proc(5))."""
    with scratch("live") as folder:
        made = Path(folder, "open.html")
        made.write_text(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">')
        yield made


@contextlib.contextmanager
def serving(session: Session, port: int) -> Iterator[Server]:
    try:
        server = Server(session, port)
    except OSError as error:
        raise Failure(f"live: port {port}: {error.strerror}; use --port 0 for a free one") from None
    with server:
        yield server


@contextlib.contextmanager
def ended_from_outside(session: Session) -> Iterator[None]:
    """End the network in order at the first signal; at the second, end as any command does."""
    before = {number: signal.getsignal(number) for number in ENDING}

    def end(number: int, frame: Any) -> None:
        restore()
        session.end()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, end)
    try:
        yield
    finally:
        restore()


def announce(address: str, folder: Path, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"address": address, "folder": str(folder)}))
    else:
        click.echo(f"{address}\nOpen it in a browser on this machine. Ctrl-C, or the page's End, ends the network.")
    sys.stdout.flush()


def say(line: str) -> None:
    click.echo(line, err=True)


GROUP = "Run"
COMMAND = TopologyCommands(
    "live", command, subcommand_metavar="TOPOLOGY [OPTIONS]",
    help="Show a running network in the browser, down to single slots, and change it while it runs.",
    examples=["live string --stations 3", "live mesh --size 5x5 --flows 6 --rts full", "live ./ring.py --no-open"],
)  # fmt: skip
