# SPDX-License-Identifier: BSD-3-Clause
"""Set-up on fake machines: an empty cache, a fake Python, missing packages. Nothing is built."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import emulation.setup
from emulation.lane.errors import Failure
from emulation.plan import plan
from emulation.play.session import check_programs
from emulation.setup import ROOT, bytecode, diagnoses, distribution, doctor, environment, kernel, modules, packages
from emulation.specification import specify


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without the packages; return the folder of its programs."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    wanting = {
        group: tuple(packages.Need(need.package, (programs / need.package).exists) for need in needs)
        for group, needs in packages.NEEDS.items()
    }
    monkeypatch.setattr(packages, "NEEDS", wanting)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return programs


def executable(file: Path, script: str) -> None:
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_without_rights_the_one_command_is_reported(bare_machine: Path) -> None:
    executable(bare_machine / "apt-get", "exit 1")
    with pytest.raises(Failure) as caught:
        packages.ensure(packages.Group.MODULE, packages.Group.BENCH)
    assert str(caught.value).splitlines()[-1].split() == [
        *["apt-get", "install", "-y", "--no-install-recommends"],
        *["gcc", "make", "libc6-dev", "ns2", "g++", "libns3-dev"],
    ]


def test_elsewhere_than_on_debian_the_packages_are_named(bare_machine: Path) -> None:
    with pytest.raises(Failure, match="please install the packages that Debian calls ns2, g"):
        packages.ensure(packages.Group.BENCH)


def test_who_has_a_kernel_builds_modules_with_a_compiler_alone(
    own_cache: Path, bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only the kernel's build needs is not required, such as its source, which Ubuntu does not package."""
    for there, wanted in ((kernel.Kernel(own_cache), False), (None, True)):
        monkeypatch.setattr(emulation.setup, "find_or_take", lambda _, there=there: there)
        with pytest.raises(Failure) as caught:
            emulation.setup.prepare()
        assert "gcc" in str(caught.value) and ("flex" in str(caught.value)) == wanted


def test_a_package_is_asked_for_once(bare_machine: Path) -> None:
    both = packages.missing(packages.Group.BUILD, packages.Group.TEST)
    assert len(both) == len(set(both)) and {"gcc", "tshark"} <= set(both)


def test_root_installs_after_fetching_lists(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first attempt fails, as on a machine that never fetched package lists."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    executable(bare_machine / "env", 'shift; exec "$@"')
    fetched = bare_machine / "fetched"
    executable(
        bare_machine / "apt-get",
        f'case "$2" in update) : > {fetched};;\n'
        f'install) [ -e {fetched} ] || exit 100; shift 4; for p; do : > "{bare_machine}/$p"; done;; esac',
    )
    packages.ensure(packages.Group.BENCH)
    assert packages.missing(packages.Group.BENCH) == []


def test_the_kernel_compiles_while_root_installs_the_rest(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the other, so that one after the other would fail."""
    compiling, installed = threading.Event(), threading.Event()
    asked: list[tuple[packages.Group, ...]] = []

    def ensure(*groups: packages.Group) -> None:
        asked.append(groups)
        if packages.Group.TEST in groups and compiling.wait(20):
            installed.set()

    def build(_: object) -> kernel.Kernel:
        compiling.set()
        assert asked[0] == (packages.Group.BUILD,) and installed.wait(20)
        return kernel.Kernel(bare_machine)

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(packages, "ensure", ensure)
    monkeypatch.setattr(kernel, "obtain", build)
    assert emulation.setup.install_and_build((), (packages.Group.TEST,)).folder == bare_machine


CALLED = [
    ("wlan", {}, ["hostapd, for access points"], ["hostapd"]),
    ("wlan", {"security": "wpa2", "passphrase": "correct horse"},
     ["hostapd, for access points", "wpa_supplicant, for clients"], ["hostapd", "wpasupplicant"]),
    ("string", {"routing": "babel", "traffic": "iperf3", "ack": "delayed"},
     ["babeld, for routing babel", "iperf3, for applications of kind iperf3"], ["babeld", "iperf3"]),
]  # fmt: skip


@pytest.mark.parametrize(("topology", "options", "said", "names"), CALLED)
def test_what_a_network_calls_is_there_before_it_starts(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, topology: str, options: dict[str, Any], said: list[str],
    names: list[str],
) -> None:  # fmt: skip
    """Root installs it; others get the command that does."""
    monkeypatch.setattr(packages, "SBIN", ())
    executable(bare_machine / "apt-get", "exit 1")
    made = plan(specify(topology, options))
    with pytest.raises(Failure) as caught:
        check_programs(made)
    first, command = str(caught.value).splitlines()
    assert first.startswith("this run needs programs that are not installed: ") and all(each in first for each in said)
    assert command == f"  apt-get install -y --no-install-recommends {' '.join(names)}"
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    executable(bare_machine / "env", 'shift; exec "$@"')
    install = f"case $p in wpasupplicant) p=wpa_supplicant;; esac; : > {bare_machine}/$p; chmod +x {bare_machine}/$p"
    executable(bare_machine / "apt-get", f"shift 4; PATH=/bin; for p; do {install}; done")
    check_programs(made)


def test_a_network_that_calls_nothing_needs_nothing(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "SBIN", ())
    check_programs(plan(specify("string", {})))


def test_an_installation_that_fails_reports_it(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    executable(bare_machine / "env", 'shift; exec "$@"')
    executable(bare_machine / "apt-get", "exit 100")
    with pytest.raises(Failure, match="apt-get failed"):
        packages.ensure(packages.Group.BENCH)


def test_a_program_of_the_administrator_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(packages, "SBIN", ("/bin",))
    assert packages.program("sh").present()
    assert not packages.program("no-such-program").present()


def test_modules_are_named_after_their_sources_and_their_kernel(tmp_path: Path) -> None:
    source = tmp_path / "module"
    (source / "core").mkdir(parents=True)
    (source / "Kbuild").write_text("obj-m := module.o\n")
    (source / "core" / "a.c").write_text("int a;\n")
    one, other = kernel.Kernel(tmp_path / "kernel-1"), kernel.Kernel(tmp_path / "kernel-2")
    names = [modules.name(source, one), modules.name(source, other)]
    (source / "core" / "a.o").write_text("not a source")
    assert modules.name(source, one) == names[0]
    (source / "core" / "a.c").rename(source / "core" / "b.c")
    names.append(modules.name(source, one))
    (source / "core" / "b.c").write_text("int b;\n")
    names.append(modules.name(source, one))
    assert len(set(names)) == len(names)


def test_bytecode_is_made_when_it_is_missing_or_old(tmp_path: Path) -> None:
    source = tmp_path / "emulation" / "lane" / "x.py"
    source.parent.mkdir(parents=True)
    source.write_text("a = 1\n")
    assert bytecode.stale(str(source))
    bytecode.refresh([tmp_path])
    assert not bytecode.stale(str(source))
    source.write_text("a = 22\n")
    assert bytecode.stale(str(source))
    source.write_text("a = (\n")
    bytecode.refresh([tmp_path])  # what does not compile fails where it is imported, not here


def test_the_lock_names_a_hash_for_each_package_and_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text()
    packages_ = [line for line in text.splitlines() if line[:1].isalnum()]
    assert packages_ and all(line.endswith("\\") and "==" in line for line in packages_)
    assert "://" not in text and "--index" not in text


def test_the_doctor_tells_a_program_what_stands_in_the_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = diagnoses.Check("memory", diagnoses.Status.HINT, "little", "buy some")
    gone = diagnoses.Check("kernel", diagnoses.Status.MISSING, "not there", "build it")
    monkeypatch.setattr(doctor, "checks", lambda: [hint])
    assert doctor.main(as_json=True) == 0
    monkeypatch.setattr(doctor, "checks", lambda: [hint, gone])
    capsys.readouterr()
    assert doctor.main(as_json=True) == 1
    assert [check["status"] for check in json.loads(capsys.readouterr().out)] == ["hint", "missing"]
    assert doctor.main() == 1
    assert "build it" in capsys.readouterr().out


def test_as_root_small_packages_are_installed_with_the_others(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """hostapd and ping are there when a WLAN or a script needs them; others are not asked."""
    asked: list[list[str]] = []
    executable(bare_machine / "apt-get", "exit 0")
    monkeypatch.setattr(packages, "install", lambda become_root, names: asked.append([*become_root, *names]))
    for user, wanted in ((1000, []), (0, [["iperf3", "hostapd", "wpasupplicant", "iw", "wireless-tools", "iproute2",
                                           "iputils-ping", "wireless-regdb"]])):  # fmt: skip
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        packages.ensure_small()
        assert asked == wanted


def test_what_no_run_needs_is_a_hint(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In `setup` and `doctor`: only some runs need babeld, Open vSwitch and so on. The tests install them."""
    executable(bare_machine / "apt-get", "exit 1")
    (bare_machine / "python3-venv").touch()
    monkeypatch.setattr(environment, "obtain", lambda lock_file: Path("python"))
    assert emulation.setup.prepare_environment() == Path("python")
    liked = ["iperf3", "babeld", "hostapd", "wpasupplicant", "openvswitch-switch"]
    liked += ["openvswitch-testcontroller", "iw", "wireless-tools", "iproute2", "iputils-ping", "wireless-regdb"]
    assert capsys.readouterr().err.split()[-len(liked) :] == liked
    found = {check.name: check for check in doctor.system_packages()}
    assert found["packages: prompt"].status is diagnoses.Status.HINT
    assert set(liked) <= set(packages.missing(packages.Group.TEST))


def test_the_doctor_examines_a_machine_where_nothing_was_set_up(own_cache: Path, bare_machine: Path) -> None:
    found = {check.name: check for check in doctor.checks()}
    assert found["kernel"].status is diagnoses.Status.MISSING
    assert found["packages: build"].status is diagnoses.Status.MISSING
    assert found["packages: bench"].status is diagnoses.Status.HINT
    assert "apt-get install" in found["packages: build"].fix
    assert not own_cache.exists()


RELEASES = {
    "Debian 12": {"ID": "debian", "VERSION_ID": "12"},
    "Debian 13": {"ID": "debian", "VERSION_ID": "13"},
    "Debian testing": {"ID": "debian"},
    "Ubuntu 22.04": {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "22.04"},
    "Ubuntu 24.04": {"ID": "ubuntu", "ID_LIKE": "debian", "VERSION_ID": "24.04"},
    "Mint": {"ID": "linuxmint", "ID_LIKE": "ubuntu debian", "VERSION_ID": "22"},
    "Fedora": {"ID": "fedora", "VERSION_ID": "43"},
}


def on(monkeypatch: pytest.MonkeyPatch, release: str) -> None:
    monkeypatch.setattr(distribution, "release", lambda: RELEASES[release])


@pytest.mark.parametrize(
    ("release", "known", "headers", "source"),
    [
        ("Debian 12", "debian 12", "linux-headers-6.12-amd64", "linux-source-6.12"),
        ("Debian 13", "debian", "linux-headers-amd64", "linux-source-6.12"),
        ("Debian testing", "debian", "linux-headers-amd64", "linux-source-6.12"),
        ("Ubuntu 22.04", "ubuntu", None, distribution.NO_SOURCE),
        ("Ubuntu 24.04", "ubuntu", None, distribution.NO_SOURCE),
        ("Mint", "ubuntu", None, distribution.NO_SOURCE),
        ("Fedora", None, "linux-headers-6.12-amd64", "linux-source-6.12"),
    ],
)
def test_packages_have_their_distributions_names(
    bare_machine: Path, monkeypatch: pytest.MonkeyPatch, release: str, known: str, headers: str | None, source: str
) -> None:
    on(monkeypatch, release)
    assert distribution.known() == known
    assert distribution.name("linux-headers-6.12-amd64") == headers
    tests = packages.missing(packages.Group.TEST)
    assert None not in tests and (headers in tests) == bool(headers)
    assert ("linux-image-generic" in tests) == (known == "ubuntu")
    assert source in packages.missing(packages.Group.BUILD)


def test_on_ubuntu_22_04_the_environments_package_is_that_of_its_python(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "Ubuntu 22.04")
    assert distribution.name("python3-venv") == f"python3.{sys.version_info[1]}-venv"
    on(monkeypatch, "Ubuntu 24.04")
    assert distribution.name("python3-venv") == "python3-venv"


def test_what_is_in_no_package_is_got_otherwise(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other packages are installed first, and no package of that name is requested."""
    on(monkeypatch, "Ubuntu 24.04")
    executable(bare_machine / "apt-get", "exit 1")
    with pytest.raises(Failure) as caught:
        packages.ensure(packages.Group.BUILD)
    apt, how = str(caught.value).splitlines()[1:]
    assert apt.split()[:2] == ["apt-get", "install"] and "gcc" in apt and "Linux" not in apt
    assert "$DCFLAB_LINUX_SOURCE" in how and "kernel.org" in how
    for need in packages.NEEDS[packages.Group.BUILD]:
        if not need.package.startswith("linux"):
            (bare_machine / need.package).touch()
    with pytest.raises(Failure, match="DCFLAB_LINUX_SOURCE") as alone:
        packages.ensure(packages.Group.BUILD)
    assert "apt-get" not in str(alone.value)


@pytest.mark.parametrize("uname", ["Darwin arm64", "Darwin x86_64", "Linux aarch64", "MINGW64_NT-10.0 x86_64"])
def test_the_launcher_says_where_no_lane_runs(tmp_path: Path, uname: str) -> None:
    executable(tmp_path / "uname", f"echo {uname}")
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([ROOT / "dcflab", "doctor"], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"dcflab: this is {uname}; lanes need Linux on x86-64 (README.md, Start)\n"
