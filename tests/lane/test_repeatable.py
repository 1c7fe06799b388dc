# SPDX-License-Identifier: BSD-3-Clause
"""One specification and one seed give one trace: on any machine, for any user, after any activity in the lane."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulation.lanes import CHECKOUT
from emulation.setup import Prepared, cache

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
RUN = ["run", "string", "--stations", "4", "--seconds", "4", "--json"]
SPECIFICATIONS = (
    ["--rts", "full"],
    ["--tcp", "vegas,newreno", "--flows", "2", "--reception", "sinr"],
    ["--traffic", "iperf3", "--ackthin", "daa"],
)


def trace(checkout: Path, here: Path, *options: str, wrapper: list[str] | None = None, **environment: str) -> str:
    """Return the hash of the trace of a run from a checkout, started in the folder `here`."""
    env = {**os.environ, "PYTHONPATH": str(checkout), **environment}
    command = [*(wrapper or []), sys.executable, "-P", "-m", "emulation", *RUN, "--out", "run", *options]
    done = subprocess.run(command, cwd=here, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["flows"][0]["delivered_bytes"] > 0
    sha256: str = run["trace_sha256"]
    return sha256


@pytest.fixture(scope="session")
def expected(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The hash from this checkout."""
    return [trace(CHECKOUT, tmp_path_factory.mktemp("expected"), *options) for options in SPECIFICATIONS]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that others can enter."""
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_mode & 0o055 != 0o055:
            parent.chmod(0o755)
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def copied(to: Path) -> Path:
    """A copy of the checkout."""
    for name in ("analysis", "emulation", "experiments", "topologies", "traffic", "tc_modules", "requirements.lock"):
        copy = shutil.copytree if (CHECKOUT / name).is_dir() else shutil.copy
        copy(CHECKOUT / name, to / name)  # type: ignore[operator]
    return to


@pytest.mark.parametrize("name", ["a", "a/b/c/d/e/f/g/h", "with blanks and ümlaut", "x" * 200], ids=len)
def test_wherever_the_checkout_lies_and_whatever_it_is_called(name: str, expected: list[str], folder: Path) -> None:
    checkout = folder / name
    checkout.mkdir(parents=True)
    copied(checkout)
    for options, sha256 in zip(SPECIFICATIONS, expected, strict=True):
        here = folder / "here" / sha256[:8]
        here.mkdir(parents=True)
        assert trace(checkout, here, *options) == sha256


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_whoever_runs_it(expected: list[str], folder: Path) -> None:
    """Another user, with a checkout of another owner, without bytecode."""
    checkout, here = folder / "checkout", folder / "here"
    checkout.mkdir()
    copied(checkout)
    shutil.rmtree(checkout / "emulation" / "lane" / "__pycache__", ignore_errors=True)
    here.mkdir()
    here.chmod(0o777)
    assert trace(checkout, here, *SPECIFICATIONS[0], wrapper=NOBODY, HOME=str(here)) == expected[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="root's lanes are nobody's")
def test_where_only_root_may_go(expected: list[str], folder: Path) -> None:
    """Checkout, working directory and run folder are root's alone."""
    checkout, here = folder / "closed" / "checkout", folder / "closed" / "here"
    checkout.mkdir(parents=True)
    copied(checkout)
    here.mkdir()
    (folder / "closed").chmod(0o700)
    assert trace(checkout, here, *SPECIFICATIONS[0]) == expected[0]


def test_wherever_the_cache_is(expected: list[str], folder: Path) -> None:
    elsewhere = folder / "cache of another name"
    elsewhere.mkdir()
    for root in cache.roots():
        for entry in root.glob("[km]*-*"):
            shutil.copytree(entry, elsewhere / entry.name, symlinks=True, dirs_exist_ok=True)
    assert trace(CHECKOUT, folder, *SPECIFICATIONS[0], DCFLAB_CACHE=str(elsewhere)) == expected[0]


def test_in_whatever_environment(expected: list[str], folder: Path) -> None:
    environment = {"LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "SOMETHING": "x" * 10_000, "PYTHONHASHSEED": "7"}
    assert trace(CHECKOUT, folder, *SPECIFICATIONS[0], **environment) == expected[0]


@pytest.mark.parametrize("unused", ["tcp_bbr", "tcp_cubic,tcp_dcr,sch_ackthin", "tcp_vegas"])
def test_with_a_module_that_nobody_uses(unused: str, expected: list[str], folder: Path) -> None:
    assert trace(CHECKOUT, folder, *SPECIFICATIONS[0], "--load", unused) == expected[0]


def traces(folder: Path) -> str:
    return hashlib.sha256((folder / "air.trace").read_bytes()).hexdigest()


@pytest.mark.parametrize("features", ["-AVX2,-AVX,-ERMS,-FSRM", "-SSE4_2,-SSSE3,-AVX512F", "-AVX_Fast_Unaligned_Load"])
def test_whatever_the_cpu_can(new_bench: Callable[[], object], features: str) -> None:
    """Programs in the lane choose their routines, and the files they look for, by the CPU's features."""
    seen = []
    for arguments in ((), (f"GLIBC_TUNABLES=glibc.cpu.hwcaps={features}",)):
        bench = new_bench()
        bench.plan(stations=3, seconds=3)  # type: ignore[attr-defined]
        bench.run("plan", kernel_arguments=arguments)  # type: ignore[attr-defined]
        seen.append(traces(bench.folder))  # type: ignore[attr-defined]
    assert seen[0] == seen[1]


BEFORE = {
    "nothing": "",
    "files": "import os\nfor path, _, names in os.walk('/usr/share/doc'):\n    len(names)\n",
    "time": "import time\nfor _ in range(5000):\n    time.monotonic()\ntime.sleep(0.0123)\n",
    "randomness": "import os, secrets, tempfile\nos.urandom(1000), secrets.token_hex(), tempfile.mkdtemp()\n",
    "programs": "import subprocess\nfor _ in range(3):\n    subprocess.run(['true'])\n",
}
NETWORK = """
import os
from emulation.net import Net
net = Net(rts="full")
a, b, c = (net.addStation(f"sta{i}", position=(200.0 * i, 0, 0)) for i in (1, 2, 3))
net.addFlow(a, c)
with net:
    net.start()
    net.run(3.0)
"""


def test_whatever_a_script_did_before(new_bench: Callable[[], object]) -> None:
    """Reading files, the clock and random numbers, sleeping and starting programs do not change what follows."""
    seen = {}
    for name, text in BEFORE.items():
        bench = new_bench()
        bench.script(text + NETWORK)  # type: ignore[attr-defined]
        seen[name] = traces(bench.folder / "run1-1")  # type: ignore[attr-defined]
    assert len(set(seen.values())) == 1, seen


def test_timers_are_due_at_their_nanosecond_and_looking_at_the_clock_is_free(bench) -> None:  # type: ignore[no-untyped-def]
    lines = bench.script("""
        import select, time
        from traffic.loop import set_timer, timer
        before = time.monotonic_ns()
        assert {time.monotonic_ns() for _ in range(1000)} == {before}
        clock = timer()
        for after in (1, 7, 999, 1_000_003):
            now = time.monotonic_ns()
            set_timer(clock, now + after)
            select.select([clock], [], [])
            print(time.monotonic_ns() - now - after)
    """)
    assert lines == ["0", "0", "0", "0"]
