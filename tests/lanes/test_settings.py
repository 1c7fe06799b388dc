# SPDX-License-Identifier: BSD-3-Clause
"""What lanes of a distribution's kernel decide before they start: QEMU's arguments, a program's environment, whether
KVM is usable, and which modules are unloaded."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from rooms import needs

from emulation.lane import syscalls
from emulation.lane.errors import Misuse
from emulation.lanes import CHECKOUT, Clock
from emulation.lanes.host import loading
from emulation.lanes.virtual.confine import cell
from emulation.lanes.virtual.machine import Wires
from emulation.lanes.vm import boot, kvm
from emulation.plan import plan
from emulation.play.lab import Lab
from emulation.specification import specify


def line(folder: Path, clock: Clock, accelerator: str = boot.EMULATION) -> str:
    kernel = folder / "linux"
    kernel.touch()
    with cell([kernel], [folder]) as around:
        words = boot.command_line(
            Path("/usr/bin/qemu"), kernel, "/private", folder, {}, 7, 512, clock, accelerator, Wires(0, 1, 2, 3), around
        )
    return " ".join(words)


def test_only_virtual_time_counts_instructions(tmp_path: Path) -> None:
    assert "-icount shift=0,sleep=off" in line(tmp_path, Clock.VIRTUAL)
    assert "clock=vm" in line(tmp_path, Clock.VIRTUAL) and "-seed 7" in line(tmp_path, Clock.VIRTUAL)
    real = line(tmp_path, Clock.REAL, boot.KVM)
    assert "-icount" not in real and "-accel kvm" in real and "-cpu host" in real


def test_an_older_kernel_has_no_radios_of_80211n(tmp_path: Path) -> None:
    (release := tmp_path / "include/config/kernel.release").parent.mkdir(parents=True)
    made = plan(specify("string", {"stations": 2, "mode": "n"}))
    for version, refused in (("6.12.117", False), ("6.1.0-56-amd64", True)):
        release.write_text(version)
        lab = Lab(tmp_path / "linux", dict.fromkeys(made["modules"], tmp_path))
        with pytest.raises(Misuse, match=r"802\.11n .* is 6\.1\.0-56-amd64") if refused else nullcontext():
            lab.check(made)


@needs("check")
def test_a_second_boot_in_a_folder_does_not_get_the_log_of_the_first(tmp_path: Path) -> None:
    """The lane would have to write it back, and may not."""
    program = CHECKOUT / "emulation/features/check/inside/smp.py"
    run, kernel = tmp_path / "run", tmp_path / "linux"
    run.mkdir()
    (run / "job.json").write_text("the job")
    (run / "console.log").write_text("the first boot")
    (tmp_path / boot.ROOT).write_bytes(b"")
    boot.write_initrd(str(tmp_path), kernel, run, {}, ["script", str(program)], (), {}, 1, Clock.REAL)
    packed = (tmp_path / boot.INITRD).read_bytes()
    assert b"the job" in packed and b"the first boot" not in packed


@needs("check")
def test_a_users_script_sees_the_host_and_our_programs_do_not(tmp_path: Path) -> None:
    ours = ["script", str(CHECKOUT / "emulation/features/check/inside/workout.py"), "word"]
    assert not boot.shares_host(["plan"]) and not boot.shares_host(ours)
    assert boot.in_lane(ours) == ["script", "/run/lab/checkout/emulation/features/check/inside/workout.py", "word"]
    assert boot.shared_folders(ours) == {}
    theirs = ["shell", str(tmp_path / "mine.py")]
    assert boot.in_lane(theirs) == theirs
    assert list(boot.shared_folders(theirs).values())[:2] == [Path("/"), CHECKOUT]


@pytest.mark.parametrize(
    ("program", "said"),
    [("exit 0", ""), ("echo it is no use >&2; exit 1", "it is no use"), ("exit 3", "QEMU ends with status 3"),
     ("exec sleep 60", "a kernel that is tried in it gets nowhere in 0.2 s")],
)  # fmt: skip
def test_kvm_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, said: str) -> None:
    monkeypatch.setattr(kvm, "DEVICE", "/dev/null")
    monkeypatch.setattr(kvm, "LIMIT_S", 0.2 if said.endswith("0.2 s") else 20.0)
    qemu = tmp_path / "qemu"
    qemu.write_text(f"#!/bin/sh\n{program}\n")
    qemu.chmod(0o755)
    assert kvm.unusable_reason(str(qemu), tmp_path) == said


def test_without_kvm_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kvm, "DEVICE", str(tmp_path / "kvm"))
    assert kvm.unusable_reason("qemu", tmp_path).endswith("does not exist, or you may not use it")


def test_only_the_loading_that_is_written_down_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unloaded: list[str] = []
    now = {"first": 1, "second": 2, "again": 33}
    monkeypatch.setattr(loading, "NOTE", tmp_path / "note.json")
    monkeypatch.setattr(loading, "number_of", now.get)

    def unload(name: str) -> None:
        if name == "first":
            raise BlockingIOError
        unloaded.append(name)

    monkeypatch.setattr(syscalls, "unload_module", unload)
    loading.write_note([["first", 1], ["second", 2], ["again", 3], ["gone", 4]])
    loading.unload_noted()
    assert unloaded == ["second"]
    assert json.loads(loading.NOTE.read_text()) == [["first", 1]]  # in use: for the next one


def test_others_radios_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "RADIOS", tmp_path)
    assert loading.others_radios() == ""
    (tmp_path / "hwsim0").mkdir()
    assert "others use mac80211_hwsim on this machine (hwsim0)" in loading.others_radios()
