# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps on other machines: runs are tasks of a Dask scheduler, and its workers play them.

A worker is this program on another machine (`./dcflab dask worker ADDRESS`). It has its own kernel and modules, so it
compares a run's inputs with the requested ones, and refuses a run that would differ. Dask gives the runs of a lost
worker to others. A lane needs a main thread, but Dask's worker uses threads. So the worker first makes `players`,
processes that wait for runs, and each of its threads uses one.

Only this file uses Dask; it is imported on demand.
"""

import asyncio
import contextlib
import logging
import os
import queue
import signal
import threading
from collections.abc import Sequence
from functools import partial
from typing import Any

from emulation import lanes
from emulation.features.sweeps.sweep import Failed, OnDone, OnProgress, Outcome, killed, play_into
from emulation.lane.errors import Failure, Misuse
from emulation.lanes.virtual.scratch import scratch
from emulation.play import traces
from emulation.play.lab import Lab
from emulation.play.processes import Child, Killed, Message, Parent, run_all
from emulation.play.run import Task
from emulation.play.session import provide
from emulation.play.store import Store
from emulation.setup.errors import say

CONNECT_S = 5
NO_PAGE = "127.0.0.1:0"  # address of Dask's own page, which this program does not use: only local, on any port
players: queue.SimpleQueue[Child[None]] = queue.SimpleQueue()  # of this worker, idle
leaving = threading.Event()  # this worker's players are about to end


class DaskWorkers:
    """The workers of a scheduler. Raises Failure if there is no scheduler at this address."""

    def __init__(self, address: str) -> None:
        from distributed import Client

        try:
            self.client: Any = Client(address, timeout=CONNECT_S)  # type: ignore[no-untyped-call]
        except (OSError, ValueError) as error:  # includes TimeoutError
            why = str(error) or "it does not answer"
            raise Failure(f"there is no Dask scheduler at {address}: {why}; start ./dcflab dask scheduler") from None
        self.address = address
        if not self.jobs:
            say(f"the scheduler has no workers yet, so this waits: start one with ./dcflab dask worker {address}")

    @property
    def jobs(self) -> int:
        return sum(self.client.nthreads().values())

    def __call__(self, lab: Lab, tasks: Sequence[Task], store: Store, on_done: OnDone, on_progress: OnProgress) -> None:
        from distributed import as_completed

        check(lab, tasks)
        wanted = lab.sha256
        futures = {self.client.submit(play_on_worker, task, wanted, pure=False): n for n, task in enumerate(tasks)}
        try:
            for future in as_completed(futures):  # type: ignore[no-untyped-call]
                found = self._found(future)
                if not isinstance(found, Failed):
                    store.put(found)
                on_done(futures[future], found)
        finally:
            with contextlib.suppress(Exception):  # the scheduler is gone, or the user does not want to wait for it
                self.client.cancel(list(futures), force=True)

    def _found(self, future: Any) -> Outcome:
        """Return the result of a run. Raises Failure if the scheduler is gone."""
        from distributed.scheduler import KilledWorker

        if future.status in ("cancelled", "lost"):
            raise Failure(f"the scheduler at {self.address} is gone; run the same command to continue")
        try:
            found: Outcome = future.result()
        except KilledWorker:
            return Failed("each worker that played it was killed; if memory was short, --jobs 1 of a worker takes less")
        except Exception as error:  # of Dask, in transit
            return Failed(f"{type(error).__name__}: {error}")
        return found

    def close(self) -> None:
        self.client.close(timeout=CONNECT_S)


def check(lab: Lab, tasks: Sequence[Task]) -> None:
    """Raises Misuse for runs that workers cannot play."""
    if lab.lane.name != lanes.DEFAULT:
        raise Misuse(f"--dask: workers play in the lane {lanes.DEFAULT}, not in {lab.lane.name}")
    if any(task.specification.kernel.modules for task in tasks):
        raise Misuse("--dask: workers cannot load your own modules; leave out --modules")


def play_on_worker(task: Task, wanted: dict[str, str]) -> Outcome:
    """Runs in a thread of a worker: have a player play the run."""
    player = players.get()
    try:
        player.send((task, wanted))
        while True:
            kind, value = player.receive()
            if kind is Message.PROGRESS:
                outcome: Outcome = value
                players.put(player)
                return outcome
    except Killed:  # a worker without its player is useless: it ends, and others get its runs
        if not leaving.is_set():
            os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()  # an exception here would become the run's failure
        raise


def serve_threads(lab: Lab, store: Store, parent: Parent) -> None:
    """A player: play requested runs, one after the other, each in its own process."""
    traces.load()
    with contextlib.suppress(EOFError):
        while True:
            task, wanted = parent.receive()
            if other := sorted(name for name in wanted if wanted[name] != lab.sha256.get(name)):
                what = f"this worker has another {', '.join(other)}: it needs the same checkout or package, and kernel"
                parent.report(Failed(f"{what} (docs/sweeps.md)"))
            else:
                [found] = run_all([partial(play_into, store, lab, task)], replacement=killed)
                parent.report(found)


def worker(address: str, jobs: int, host: str | None) -> None:
    """Play for a scheduler until it ends. Raises Failure if there is none, or KeyboardInterrupt."""
    lab, store = provide(), Store()
    lab.sha256  # noqa: B018  # once, and not in every player
    with contextlib.ExitStack() as stack:
        for _ in range(jobs):
            players.put(stack.enter_context(Child(partial(serve_threads, lab, store), daemon=False)))
        asyncio.run(_worker(address, jobs, host, stack.enter_context(scratch("dask"))))


async def _worker(address: str, jobs: int, host: str | None, folder: str) -> None:
    from distributed import Worker

    silence_dask()
    options: dict[str, Any] = {"nthreads": jobs, "memory_limit": 0, "local_directory": folder}
    options |= {"host": host, "dashboard_address": NO_PAGE}
    try:
        async with Worker(address, **options) as working:
            say(f"{working.address} plays {jobs} runs side by side for {address}")
            if stopped := await wait_for_end(working):
                leaving.set()
                await working.close(executor_wait=False)
    except (OSError, ValueError) as error:
        raise Failure(f"no scheduler at {address}: {error or 'it does not answer'}") from None
    if stopped:
        raise KeyboardInterrupt
    say(f"the scheduler at {address} is gone")


def scheduler(host: str, port: int) -> None:
    """Run a scheduler until the program is ended. Raises Failure if it cannot listen, or KeyboardInterrupt."""
    asyncio.run(_scheduler(host, port))


async def _scheduler(host: str, port: int) -> None:
    from distributed import Scheduler

    silence_dask()
    try:
        async with Scheduler(host=host, port=port, dashboard_address=NO_PAGE) as scheduling:
            say(f"the scheduler is at {scheduling.address}")
            await wait_for_end(scheduling)
    except OSError as error:
        raise Failure(f"cannot listen at {host}:{port}: {error.strerror or error}") from None
    raise KeyboardInterrupt


def silence_dask() -> None:
    """Silence Dask, which logs each step, failed attempts and its own end."""
    import distributed

    logging.getLogger(distributed.__name__).setLevel(logging.CRITICAL)


async def wait_for_end(server: Any) -> bool:
    """Wait until the server is closed remotely, or a signal ends this program. Return whether it was a signal."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    waits = [asyncio.ensure_future(each) for each in (server.finished(), stopped.wait())]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for each in waits:
        each.cancel()
    return stopped.is_set()
