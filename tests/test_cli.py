# SPDX-License-Identifier: BSD-3-Clause
"""The command line from outside: misuse gives a message before anything starts, and no run leaves a process or
temporary file, however it ends."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import (
    assert_answered_with_help,
    assert_interrupted,
    assert_nothing_left,
    assert_refused,
    dcflab,
    environment,
    obeyed,
    processes,
    started,
    wait_for,
)
from rooms import needs

from emulation.setup import prepare

LONG = ["run", "string", "--seconds", "20000"]
SHORT = ["run", "string", "--stations", "3", "--seconds", "2"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.fixture(scope="session")
def kernel() -> None:
    """Build what lanes need before the tests, else the first one would."""
    prepare()


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ("rum", "'rum'"),
        ("run ring", "'ring'; there are: "),
        ("run rts", "'rts'"),
        ("run nowhere.py", "nowhere.py"),
        ("run string --stations 0", "stations"),
        ("run string --stations 1", "stations"),
        ("run string --stations 500", "stations"),
        ("run string --stations abc", "stations"),
        ("run string --rate 3", "rate: 3 Mb/s is not possible"),
        ("run string --spacing -5", "spacing"),
        ("run string --spacing 0", "spacing"),
        ("run string --seconds 0", "seconds"),
        ("run string --seconds -1", "seconds"),
        ("run string --seconds nan", "seconds"),
        ("run string --seeds 5..1", "5..1"),
        ("run string --seeds x", "'--seeds'"),
        ("run string --seeds 1..99999", "between 1 and 10000 seeds"),
        ("run string --seeds 0..99999999999999999", "between 1 and 10000 seeds"),
        ("run string --seed 9223372036854775808", "below 2^63"),
        ("run string --thresholds 1,2,3,4", "thresholds: at most"),
        ("run string --tcp tahoe", "tahoe"),
        ("run string --jobs 0", "--jobs"),
        ("run string --lane moon", "there is no lane 'moon'; there are: host, virtual, vm"),
        ("run string --lane moon.py", "there is no file moon.py"),
        ("run string --stationz 3", "--stationz"),
        ("run string --spacing 400", "no path"),
        ("run rts-cts --rts none", "--rts"),
        ("run rts-cts --stations 1", "stations"),
        ("run rts-cts --variant some", "some"),
        ("run rts-cts --resume nowhere", "nowhere"),
        ("run rts-cts --resume . --out run", "--out"),
        ("run string --resume . --out run", "--out"),
        ("run string --vary rate", "write NAME=A,B"),
        ("run string --vary rate=2,2", "values that differ"),
        ("run string --vary rate=2,3", "rate: 3 Mb/s is not possible"),
        ("run string --vary rate=2,11 --rate 2", "leave out --rate"),
        ("run string --vary rate=2,11 --vary rate=1", "rate is given twice"),
        ("run string --vary seed=1,2", "--seeds"),
        ("replay nowhere", "nowhere"),
        ("replay .", "result.json"),
        ("taps nowhere", "nowhere"),
        ("bench memory", "there is no benchmark 'memory'; there are: speed, routing"),
    ],
)
def test_misuse_is_refused(here: Path, arguments: str, culprit: str) -> None:
    assert_refused(obeyed(here, *arguments.split()), culprit)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(("arguments", "culprit"), [("rum", "'rum'"), ("run string --stations 0", "stations")])
def test_misuse_of_the_program_is_refused(here: Path, arguments: str, culprit: str) -> None:
    """Other tests run in this process; this one starts another."""
    assert_refused(dcflab(here, *arguments.split()), culprit)
    assert list(here.iterdir()) == []


@pytest.mark.parametrize("arguments", [[], ["run"]], ids=str)
def test_nothing_said_is_answered_with_help(here: Path, arguments: list[str]) -> None:
    assert_answered_with_help(dcflab(here, *arguments))


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[]", b'{"version": 1}'])
def test_a_broken_result_is_not_replayed(here: Path, content: bytes) -> None:
    (here / "result.json").write_bytes(content)
    assert_refused(obeyed(here, "replay", "."), "this version of dcflab cannot read that result")


def test_a_result_of_another_version_is_not_replayed(here: Path) -> None:
    (here / "result.json").write_text('{"version": 1}')
    assert_refused(obeyed(here, "replay", "."), "result.json: it has version 1; this program reads version 3")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["run", pytest.param("shell", marks=needs("prompt"))])
def test_a_program_that_an_application_needs_is_there(here: Path, what: str) -> None:
    """Else nothing starts, and the message says how to install it; here apt-get is missing, too."""
    hidden = dcflab(here, what, "string", "--traffic", "iperf3", wrapper=["env", "PATH=/nowhere"])
    assert (hidden.returncode, hidden.stdout) == (1, "")
    assert hidden.stderr.splitlines() == [
        "dcflab: this run needs programs that are not installed: iperf3, for applications of kind iperf3; please "
        "install the packages that Debian calls iperf3"
    ]
    assert list(here.iterdir()) == []


def test_a_result_without_runs_is_not_identical_to_anything(here: Path) -> None:
    from analysis.results.result import Host, Result
    from emulation.specification import Specification

    specification, host = Specification().model_dump(mode="json"), Host(lane="virtual", kernel="")
    result = Result(experiment="none", specification=specification, runs=[], host=host)
    (here / "result.json").write_text(result.model_dump_json())
    assert_refused(obeyed(here, "replay", "."), "result.json has no runs")


@pytest.mark.slow
def test_a_run_folder_is_empty_and_a_folder(here: Path) -> None:
    (here / "file").touch()
    (here / "full").mkdir()
    (here / "full" / "precious").touch()
    for out in ("file", "full", "file/below"):
        assert_refused(dcflab(here, "run", "string", "--out", out), out)


def test_a_run_folder_is_writable(here: Path) -> None:
    wrapper = NOBODY if os.geteuid() == 0 else []
    here.chmod(0o555)
    here.parent.chmod(0o755)
    if wrapper and dcflab(here, "--help", wrapper=wrapper).returncode:
        pytest.skip("an unprivileged user cannot run Python here")
    assert_refused(dcflab(here, "run", "string", "--out", "run", wrapper=wrapper), "run: ")


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
def test_two_runs_at_once(here: Path) -> None:
    """One prints only JSON. Both have the same seed and result; also without a trace."""
    (here / "other").mkdir()
    with started(here, *SHORT, "--json") as one, started(here / "other", *SHORT, "--no-trace") as two:
        (text, one_said), (table, two_said) = one.communicate(timeout=60), two.communicate(timeout=60)
    assert (one.returncode, two.returncode) == (0, 0), one_said + two_said
    result = json.loads(text)
    other = json.loads((here / "other/run/result.json").read_text())
    assert result == json.loads((here / "run/result.json").read_text())
    assert result["runs"][0]["stations"] == other["runs"][0]["stations"]
    assert "goodput" in table
    assert_nothing_left(here)


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("when", ["start", "traffic"])
def test_an_interrupted_run_leaves_nothing(here: Path, number: signal.Signals, when: str) -> None:
    """Interrupted as soon as the run folder exists, or during traffic, with two lanes in parallel."""
    trace = here / "run/none-1/air.trace"
    with started(here, *LONG, "--seeds", "1..3", "--jobs", "2") as run:
        wait_for((here / "run").exists if when == "start" else lambda: trace.exists() and trace.stat().st_size)
        run.send_signal(number)
        out, err = run.communicate(timeout=60)
    to_continue = f"to continue: ./dcflab {shlex.join(LONG)} --seeds 1..3 --jobs 2 --resume run\n"
    assert_interrupted(run.returncode, out, err, to_continue if to_continue in err else "")
    assert when == "start" or to_continue in err  # else there may have been nothing to continue yet
    assert_nothing_left(here)


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
def test_ctrl_c_reaches_everyone(here: Path) -> None:
    """A terminal sends SIGINT to the whole foreground group."""
    program = f"import os, runpy, sys; os.setpgid(0, 0); sys.argv = {['dcflab', *LONG, '--out', 'run']!r}\n"
    program += "runpy.run_module('emulation', run_name='__main__')"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen([sys.executable, "-c", program], cwd=here, env=environment(here), **pipes)  # type: ignore[call-overload]
    wait_for((here / "run/none-1/air.trace").exists)
    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert_interrupted(run.returncode, out, err)
    assert_nothing_left(here)


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
def test_a_killed_kernel_is_reported(here: Path) -> None:
    with started(here, *LONG, "--seeds", "1,2") as run:
        wait_for((here / "run/none-1/air.trace").exists)
        os.kill(processes(here)[0], signal.SIGKILL)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (1, "")
    first, second, *_ = (
        line for line in err.splitlines() if not line.startswith("dcflab: 0 of 2 runs are done, about ")
    )
    assert first.startswith("to continue: ./dcflab") and first.endswith("--resume run")
    assert second.startswith("dcflab: the lane's kernel was killed: by SIGKILL")
    assert "Traceback" not in err
    assert_nothing_left(here)


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
def test_nothing_outlives_a_killed_program(here: Path) -> None:
    """SIGKILL leaves no time to clean up, but its workers notice and clean up."""
    with started(here, *LONG) as run:
        wait_for((here / "run/none-1/air.trace").exists)
        run.kill()
        run.wait()
        wait_for(lambda: not processes(here))


@pytest.mark.lane
@pytest.mark.usefixtures("kernel")
def test_a_full_disk_is_reported(here: Path) -> None:
    """The run folder is in a file system of 256 kB, in a mount namespace of its own."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this user may not make mount namespaces")
    mounted = [*unshare, "sh", "-c", 'mount -t tmpfs -o size=256k none . && cd "$PWD" && exec "$0" "$@"']
    done = dcflab(here, "run", "string", "--seconds", "20", "--out", "run", wrapper=mounted)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert "disk is full" in done.stderr or "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    assert_nothing_left(here)
