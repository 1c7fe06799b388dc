# SPDX-License-Identifier: BSD-3-Clause
"""The virtual lane as a machine: it boots, is repeatable, ends well or says why not, and leaves no process."""

import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from emulation.lane.userland import DATE_S
from emulation.lanes import Listener
from emulation.lanes.virtual import LaneError, Reason, machine
from emulation.lanes.virtual.machine import CTRL_C_LIMIT, Machine

WAIT = "import signal; signal.pause()"
SPIN = "while True: pass"


def test_the_program_sees_this_machine_and_a_fixed_clock(bench):
    """The same root file system, PID 1 as parent, and a date of scripts that begins at its first second."""
    lines = bench.script("import os, time; print(os.getppid(), int(time.time()), os.path.exists(__file__))")
    assert lines == [f"1 {DATE_S + 1} True"]


@pytest.mark.quick
def test_only_the_run_folder_is_writable(bench):
    """Files beside the run folder cannot be changed."""
    lines = bench.script(f"""
        import os
        open(os.environ["DCFLAB_RUN"] + "/mine", "w").write("kept")
        for folder in ({str(bench.folder)!r}, {str(bench.folder.parent)!r}, "/run/lab/checkout"):
            try:
                open(folder + "/theirs", "w")
            except OSError as error:
                print(error.strerror)
    """)
    assert lines == ["Read-only file system"] * 3
    assert (bench.folder / "mine").read_text() == "kept"
    assert not (bench.folder.parent / "theirs").exists()


def test_no_folder_of_modules_is_taken_for_missing(bench):
    """Python caches missing folders; that of the checkout exists only after it is mounted."""
    lines = bench.script("""
        import os, sys
        import topologies
        print([path for path in sys.path if os.path.isdir(path) and not sys.path_importer_cache.get(path, True)])
    """)
    assert lines == ["[]"]


@pytest.mark.quick
def test_randomness_comes_from_the_seed(new_bench):
    """All randomness of the guest repeats with the seed, in any run folder; another seed gives another."""
    text = "import os, random; print(os.urandom(16).hex(), hash('a'), random.random(), id(object()))"
    seen = [new_bench().script(text, seed=seed) for seed in (1, 1, 2)]
    assert seen[0] == seen[1] != seen[2]


def test_waiting_takes_no_time(bench):
    """An hour of virtual time passes at once, and is exact to the millisecond."""
    lines = bench.script("import time; t = time.monotonic(); time.sleep(3600); print(round(time.monotonic() - t, 3))")
    assert lines == ["3600.0"]


def test_the_exit_status_is_passed_on(bench):
    (bench.folder / "script.py").write_text("import sys; sys.exit(3)")
    assert bench.run("script", str(bench.folder / "script.py")).status == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("open('/none')", "No such file or directory"),
        ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
        ("import sys; sys.exit('enough')", "enough"),
        ("import ctypes; ctypes.CDLL(None).reboot(0x01234567)", "a program rebooted it"),
        ("import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)", "a program powered it off"),
        ("open('/dev/tty2', 'w').write('hello\\n'); import time; time.sleep(1)", "a program wrote to /dev/tty2"),
        ("open('/dev/tty2', 'w').write('[]\\n'); import time; time.sleep(1)", "a program wrote to /dev/tty2"),
        ("open('/dev/tty2', 'w').write('{\"progress\": 1}\\n'); import time; time.sleep(1)", "a program wrote to"),
    ],
)
def test_a_failing_program_says_why(bench, text, said):
    with pytest.raises(LaneError, match=said) as caught:
        bench.script(text)
    assert caught.value.reason is Reason.PROGRAM


@pytest.mark.parametrize(
    ("text", "said"), [(SPIN, "python3.* was running"), (WAIT, "every program in it was waiting")], ids=["spin", "wait"]
)
def test_the_wall_clock_limit_names_the_culprit(bench, text, said):
    with pytest.raises(LaneError, match=said) as caught:
        bench.script(text, wall_limit_s=1.5)
    assert caught.value.reason is Reason.WALL_LIMIT


def test_ctrl_c_names_the_line_of_a_script_that_waits_for_nothing(bench, monkeypatch):
    """Taking a lock reads the clock, so the loop takes none."""
    text = "import threading\ndone = []\nthreading.Timer(1, done.append, [0]).start()\nprint('began', flush=True)\n"
    loop = "while not done:\n    pass\n"

    def heard(line):
        if line == "began":
            monkeypatch.setattr(machine, "CHECK_S", 0.1)
            monkeypatch.setattr(machine, "STILL_CHECKS", 2)
        else:
            assert line == machine.MAY_STAND
            raise KeyboardInterrupt

    monkeypatch.setattr(bench, "heard", heard)
    with pytest.raises(LaneError, match=r"never waits at script\.py, line [56]\.") as caught:
        bench.script(text + loop)
    assert caught.value.reason is Reason.STILL


def test_a_missing_kernel_is_an_error_of_its_own(bench, tmp_path):
    bench.prepared = type(bench.prepared)(type(bench.prepared.kernel)(tmp_path / "none"), {})
    with pytest.raises(LaneError, match="no kernel at") as caught:
        bench.run("plan")
    assert caught.value.reason is Reason.NOT_STARTED


@contextlib.contextmanager
def background(bench, text, listener="Listener()"):
    """Run a lane in a separate Python program; yield it and the kernel's process id, once the guest runs."""
    (bench.folder / "script.py").write_text(f"print('up', flush=True)\n{text}")
    program = f"""
import sys
from pathlib import Path
from emulation.lanes.virtual import LaneError, Listener, run
try:
    run(Path({str(bench.prepared.kernel.linux)!r}), {{}}, Path({str(bench.folder)!r}),
        ["script", {str(bench.folder / "script.py")!r}], listener={listener})
except LaneError as error:
    sys.exit(error.reason.name)
"""
    command = [sys.executable, "-u", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout.readline() == "up\n"
            children = Path(f"/proc/{host.pid}/task/{host.pid}/children").read_text().split()
            yield host, int(children[0])
        finally:
            host.kill()


def processes_of(group):
    """Return the processes that live in a process group."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state != "Z":
                found.append(stat.parent.name)
    return found


def assert_gone(group):
    """Wait for killed processes to disappear."""
    deadline = time.monotonic() + 10
    while processes_of(group) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes_of(group) == []


@pytest.mark.parametrize(
    ("number", "reason"),
    [(signal.SIGKILL, "KILLED"), (signal.SIGTERM, "KILLED"), (signal.SIGSEGV, "CRASHED")],
)
def test_the_kernels_death_is_reported(bench, number, reason):
    with background(bench, WAIT) as (host, kernel):
        os.kill(kernel, number)
        assert host.communicate()[1].strip() == reason
    assert_gone(kernel)


def test_nobody_is_asked_what_a_dead_kernel_is_to_do(tmp_path):
    """It was killed after its question, and the answer may never come."""
    asked = []
    machine = Machine(tmp_path, Listener(ask=lambda prompt: str(asked.append(prompt))), None, "shell")
    machine.process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, machine.process.pid, os.WEXITED | os.WNOWAIT)
    machine.answer("what is to be done?")
    assert not asked


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_run(bench, number):
    with background(bench, WAIT) as (host, kernel):
        host.send_signal(number)
        assert host.communicate()[1].strip() == "INTERRUPTED"
    assert_gone(kernel)


ASK = """
import os, signal
signal.signal(signal.SIGINT, lambda *_: print("ignored", flush=True))
with open("/dev/tty2", "w") as reports:
    reports.write('{"prompt": "> "}\\n')
print("asked", os.read(0, 100), flush=True)
while True:
    signal.pause()
"""


def test_where_nobody_is_asked_a_question_keeps_no_interrupt(bench):
    with background(bench, ASK) as (host, kernel):
        assert host.stdout.readline() == "asked b''\n"
        host.send_signal(signal.SIGINT)
        assert host.communicate()[1].strip() == "INTERRUPTED"
    assert_gone(kernel)


def test_a_program_that_ignores_interrupts_is_ended_by_some_in_a_row(bench):
    with background(bench, ASK, "Listener(ask=lambda prompt: 'typed')") as (host, kernel):
        assert host.stdout.readline() == "asked b'typed\\n'\n"
        for _ in range(CTRL_C_LIMIT - 1):
            host.send_signal(signal.SIGINT)
            assert host.stdout.readline() == "ignored\n"
        host.send_signal(signal.SIGINT)
        assert host.communicate()[1].strip() == "INTERRUPTED"
    assert_gone(kernel)


def test_who_asks_on_and_on_without_reading_is_ended(bench):
    bench.answers = itertools.repeat("typed" * 200)
    with pytest.raises(LaneError, match="asks on and on"):
        bench.prompt("""
            with open("/dev/tty2", "w", buffering=1) as reports:
                while True:
                    reports.write('{"prompt": "> "}\\n')
        """)


def test_an_interrupt_while_the_kernel_is_being_started_leaves_none(bench):
    """It comes when the kernel's process exists, but is not recorded yet."""
    (bench.folder / "script.py").write_text(WAIT)
    program = f"""
import os, signal
from pathlib import Path
from emulation.lanes.virtual import LaneError, boot, run
prepare = boot.prepare
def interrupted(cpu, parent, *more):
    os.kill(parent, signal.SIGINT)
    prepare(cpu, parent, *more)
boot.prepare = interrupted
try:
    run(Path({str(bench.prepared.kernel.linux)!r}), {{}}, Path({str(bench.folder)!r}),
        ["script", {str(bench.folder / "script.py")!r}])
except LaneError as error:
    print(error.reason.name)
print(Path(f"/proc/self/task/{{os.getpid()}}/children").read_text().split())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["INTERRUPTED", "[]"], done.stderr


def test_nothing_outlives_a_killed_program(bench):
    with background(bench, SPIN) as (host, kernel):
        host.kill()
    assert_gone(kernel)


def test_a_full_disk_is_an_error_of_its_own(bench):
    """The run folder is a file system of 256 kB in its own mount namespace."""
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True).returncode:
        pytest.skip("this user may not make mount namespaces")
    inside = f"""
import sys
from pathlib import Path
from emulation.lanes.virtual import LaneError, run
(Path({str(bench.folder)!r}) / "script.py").write_text(
    "import os; open(os.environ['DCFLAB_RUN'] + '/big', 'wb').write(bytes(1 << 20))")
try:
    run(Path({str(bench.prepared.kernel.linux)!r}), {{}}, Path({str(bench.folder)!r}),
        ["script", {str(bench.folder / "script.py")!r}])
except LaneError as error:
    print(error.reason.name)
"""
    mount = f'mount -t tmpfs -o size=256k none {bench.folder} && exec {sys.executable} -c "$0"'
    done = subprocess.run([*unshare, "sh", "-c", mount, inside], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["DISK_FULL"], done.stderr


def test_qdiscs_and_congestion_controls_are_loaded_when_they_are_asked_for(bench):
    """By the kernel, as on any Linux, for any program, with their dependencies. An unknown kind is an error."""
    bench.prepared = replace(bench.prepared, modules={})
    lines = bench.script("""
        import os, socket
        from emulation.lane.netlink import NetlinkError
        from emulation.lane.rtnetlink import Route
        def modules():
            return {line.split()[0] for line in open("/proc/modules")}
        print(sorted(modules()))
        route = Route()
        index = socket.if_nametoindex("lo")
        for kind in ("sfq", "fq_codel", "sfb"):
            try:
                route.replace_qdisc(index, kind)
            except NetlinkError as error:
                print(kind, error.strerror)
        with socket.socket() as tcp:
            tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"yeah")
        print(sorted(modules()))
    """)
    assert lines[0] == "[]"
    assert lines[1].startswith("sfb ")
    assert lines[2] == "['sch_fq_codel', 'sch_sfq', 'tcp_vegas', 'tcp_yeah']"
