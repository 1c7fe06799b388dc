# SPDX-License-Identifier: BSD-3-Clause
"""`dask`: start a Dask scheduler or workers, for sweeps on many machines."""

import os

import click

from emulation.cli.command import Command
from emulation.cli.groups import Group

PORT = 8786  # Dask's own


def start_scheduler(host: str, port: int) -> None:
    """Run a Dask scheduler, to which workers and sweeps connect.

    Anyone who can connect to it can run any program on its workers: let it listen only where you alone can connect.
    """
    from emulation.features.sweeps.workers import scheduler

    scheduler(host, port)


def start_worker(address: str, jobs: int | None, host: str | None) -> None:
    """Play the runs of sweeps for the Dask scheduler at ADDRESS, until it ends."""
    from emulation.features.sweeps.workers import worker

    worker(address, jobs or len(os.sched_getaffinity(0)), host)


SCHEDULER = Command(
    "scheduler", ["dask scheduler", "dask scheduler --host 10.1.0.7"],
    params=[
        click.Option(["--host"], default="127.0.0.1", show_default=True, help="the address at which to listen"),
        click.Option(["--port"], type=click.IntRange(0, 65535), default=PORT, show_default=True,
                     help="the port; 0 takes a free one"),
    ],
    callback=start_scheduler, help=start_scheduler.__doc__,
)  # fmt: skip
WORKER = Command(
    "worker", [f"dask worker tcp://lab7:{PORT}"],
    params=[
        click.Argument(["address"]),
        click.Option(["--jobs"], type=click.IntRange(1, 256),
                     help="number of lanes in parallel  [default: one per CPU]"),
        click.Option(["--host"], help="the address at which to listen  [default: the one that reaches the scheduler]"),
    ],
    callback=start_worker, help=start_worker.__doc__,
)  # fmt: skip
GROUP = "Administer"
COMMAND = Group("dask", [*SCHEDULER.examples, *WORKER.examples], commands=[SCHEDULER, WORKER],
                help="Start a Dask scheduler or workers, for sweeps on many machines.")  # fmt: skip
