# SPDX-License-Identifier: BSD-3-Clause
"""Set-up on invented machines: an empty cache, a fake Python, packages that are not there. Nothing is built."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from emulation import doctor
from emulation.setup import ROOT, SetupError, bytecode, cache, environment, kernel, modules, packages, uml
from emulation.setup.cache import State


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("DCFLAB_CACHE", str(folder))
    return folder


def writes(text: str) -> cache.Build:
    """A build that makes one file."""

    def build(folder: Path) -> Iterable[str]:
        (folder / "file").write_text(text)
        return ["file"]

    return build


def never(folder: Path) -> Iterable[str]:
    raise AssertionError("built what is there already")


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.name != cache.LOCK)


def test_a_key_depends_on_each_part_and_where_it_ends() -> None:
    keys = {
        cache.key("ab", "c"),
        cache.key("a", "bc"),
        cache.key("abc"),
        cache.key("c", "ab"),
        cache.key(b"ab", "c", ""),
    }
    assert len(keys) == 5
    assert cache.key("ab", b"c") == cache.key(b"ab", "c")


def test_an_entry_is_built_once(root: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    assert (entry / "file").read_text() == "made"
    assert cache.obtain("thing-1", never) == entry
    assert left(root) == ["thing-1"]


def test_everyone_may_read_what_one_built(root: Path) -> None:
    before = os.umask(0o077)
    try:
        entry = cache.obtain("thing-1", writes("made"))
    finally:
        os.umask(before)
    assert entry.stat().st_mode & 0o777 == 0o755
    assert (entry / "file").stat().st_mode & 0o044 == 0o044


@pytest.mark.parametrize("failure", [SetupError("no"), KeyboardInterrupt()])
def test_a_build_that_ends_early_leaves_nothing(root: Path, failure: BaseException) -> None:
    def build(folder: Path) -> Iterable[str]:
        (folder / "half").touch()
        raise failure

    with pytest.raises(type(failure)):
        cache.obtain("thing-1", build)
    assert left(root) == []


def test_what_a_killed_builder_left_is_swept_up(root: Path) -> None:
    def killed(folder: Path) -> Iterable[str]:
        (folder / "half").touch()
        os.kill(os.getpid(), 9)
        return []

    process = multiprocessing.get_context("fork").Process(target=cache.obtain, args=("thing-1", killed))
    process.start()
    process.join()
    assert process.exitcode == -9
    assert len(left(root)) == 1
    cache.obtain("thing-1", writes("made"))
    assert left(root) == ["thing-1"]


def test_two_at_once_build_once(root: Path) -> None:
    context = multiprocessing.get_context("fork")
    both, count = context.Barrier(2), context.Value("i", 0)

    def build(folder: Path) -> Iterable[str]:
        with count.get_lock():
            count.value += 1
        return writes("made")(folder)

    def first_use() -> None:
        both.wait()
        cache.obtain("thing-1", build)

    processes = [context.Process(target=first_use) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert count.value == 1


def cut(entry: Path) -> None:
    (entry / "file").write_text("mad")


def change(entry: Path) -> None:
    (entry / "file").write_text("evil")
    os.utime(entry / "file", ns=(1, 1))


def remove(entry: Path) -> None:
    (entry / "file").unlink()


def lose_manifest(entry: Path) -> None:
    (entry / cache.MANIFEST).unlink()


def spoil_manifest(entry: Path) -> None:
    (entry / cache.MANIFEST).write_text('{"files": [')


def empty_manifest(entry: Path) -> None:
    (entry / cache.MANIFEST).write_text("[]")


@pytest.mark.parametrize("damage", [cut, change, remove, lose_manifest, spoil_manifest, empty_manifest])
def test_damage_is_noticed_and_mended(
    root: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    damage(entry)
    assert cache.inspect(entry)[0] is State.DAMAGED
    assert (cache.obtain("thing-1", writes("made")) / "file").read_text() == "made"
    assert f"{entry} is damaged" in capsys.readouterr().err
    assert left(root) == ["thing-1"]


def test_a_thorough_look_sees_more_than_the_key_files(root: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    (entry / "__pycache__").mkdir()
    (entry / "__pycache__" / "x.pyc").touch()
    assert cache.inspect(entry, thoroughly=True) == (State.SOUND, "")
    (entry / "other").touch()
    assert cache.inspect(entry) == (State.SOUND, "")
    assert cache.inspect(entry, thoroughly=True)[0] is State.DAMAGED


def test_touching_a_file_is_no_damage(root: Path) -> None:
    entry = cache.obtain("thing-1", writes("made"))
    os.utime(entry / "file")
    assert cache.inspect(entry) == (State.SOUND, "")


def test_a_user_uses_what_root_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DCFLAB_CACHE", raising=False)
    monkeypatch.setattr(cache, "SYSTEM", tmp_path / "system")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    by_root = cache.obtain("thing-1", writes("root's"))
    assert by_root == tmp_path / "system" / "thing-1"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cache.obtain("thing-1", never) == by_root
    remove(by_root)
    assert cache.obtain("thing-1", writes("user's")) == tmp_path / "user" / "dcflab" / "thing-1"


def test_a_cache_that_cannot_be_written_says_where_else(root: Path) -> None:
    root.write_text("a file")
    with pytest.raises(SetupError, match=r"cannot build thing-1: .*DCFLAB_CACHE"):
        cache.obtain("thing-1", never)


def test_a_full_disk_is_noticed_before_a_build(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: type("usage", (), {"free": 1 << 20}))
    with pytest.raises(SetupError, match="has 1 MB left"):
        cache.obtain("thing-1", never)


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any of the packages; returns where its programs are."""
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


def test_without_rights_the_one_command_is_said(bare_machine: Path) -> None:
    executable(bare_machine / "apt-get", "exit 1")
    with pytest.raises(SetupError) as caught:
        packages.ensure(packages.Group.RUN)
    assert str(caught.value).splitlines()[-1].split() == [
        *["apt-get", "install", "-y", "--no-install-recommends"],
        *["iperf3", "iw", "iproute2", "iputils-ping", "wireless-regdb"],
    ]


def test_elsewhere_than_on_debian_the_packages_are_named(bare_machine: Path) -> None:
    with pytest.raises(SetupError, match="please install what Debian calls iperf3, iw"):
        packages.ensure(packages.Group.RUN)


def test_a_package_is_asked_for_once(bare_machine: Path) -> None:
    both = packages.missing(packages.Group.BUILD, packages.Group.TEST)
    assert len(both) == len(set(both)) and {"gcc", "tshark"} <= set(both)


def test_root_installs_after_fetching_lists(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first try fails, as on a machine whose package lists were never fetched."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    executable(bare_machine / "env", 'shift; exec "$@"')
    fetched = bare_machine / "fetched"
    executable(
        bare_machine / "apt-get",
        f'case "$2" in update) : > {fetched};;\n'
        f'install) [ -e {fetched} ] || exit 100; shift 4; for p; do : > "{bare_machine}/$p"; done;; esac',
    )
    packages.ensure(packages.Group.RUN)
    assert packages.missing(packages.Group.RUN) == []


def test_an_installation_that_fails_says_so(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    executable(bare_machine / "env", 'shift; exec "$@"')
    executable(bare_machine / "apt-get", "exit 100")
    with pytest.raises(SetupError, match="apt-get failed"):
        packages.ensure(packages.Group.RUN)


def test_a_program_of_the_administrator_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(packages, "SBIN", ("/bin",))
    assert packages.program("sh").present()
    assert not packages.program("no-such-program").present()


@pytest.fixture
def kernel_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An archive of sources and a configuration."""
    archive, configuration = tmp_path / "linux.tar.xz", tmp_path / "uml.config"
    archive.write_text("sources")
    configuration.write_text("CONFIG_NET=y\n")
    monkeypatch.setenv("DCFLAB_LINUX_SOURCE", str(archive))
    monkeypatch.setattr(kernel, "compiler", lambda: "gcc-12 1 1")
    return archive, configuration


def test_a_kernels_name_follows_all_that_it_is_built_from(
    kernel_inputs: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, configuration = kernel_inputs
    names = [kernel.name((configuration,))]
    archive.write_text("newer sources")
    names.append(kernel.name((configuration,)))
    configuration.write_text("CONFIG_NET=n\n")
    names.append(kernel.name((configuration,)))
    debug = tmp_path / "debug.config"
    debug.write_text("CONFIG_KASAN=y\n")
    names.append(kernel.name((configuration, debug)))
    monkeypatch.setattr(kernel, "compiler", lambda: "gcc-13 1 1")
    names.append(kernel.name((configuration, debug)))
    patch = tmp_path / "another.patch"
    patch.write_text("---\n")
    monkeypatch.setattr(uml, "PATCHES", (patch,))
    names.append(kernel.name((configuration, debug)))
    assert len(set(names)) == len(names)


def test_a_machine_that_cannot_build_uses_what_was_built_by_the_same_recipe(
    root: Path, kernel_inputs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    archive, configuration = kernel_inputs
    name = kernel.name((configuration,))
    assert name
    entry = cache.obtain(name, writes("kernel"))
    archive.write_text("newer sources")
    assert kernel.find((configuration,)) is None  # it would be built from the newer ones
    monkeypatch.setattr(kernel, "compiler", lambda: None)
    assert kernel.find((configuration,)) == kernel.Kernel(entry)
    configuration.write_text("CONFIG_NET=n\n")
    assert kernel.find((configuration,)) is None


def test_options_that_a_kernel_does_not_have_are_found() -> None:
    asked = "# comment\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\nCONFIG_D=y\nCONFIG_D=n\n"
    assert uml.unmet(asked, "CONFIG_A=y\n# CONFIG_B is not set\n") == ["CONFIG_B"]


@pytest.mark.parametrize("file", [uml.SOURCES, uml.KEPT])
def test_comments_of_lists_are_no_patterns(file: Path) -> None:
    lines = uml.listed(file)
    assert lines and not any(line.startswith("#") or line != line.strip() for line in lines)


def archive_of(folder: Path, names: Iterable[str]) -> Path:
    for name in names:
        file = folder / "linux-6.12" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    subprocess.run(["tar", "-C", folder, "-cJf", folder / "linux.tar.xz", "linux-6.12"], check=True)
    return folder / "linux.tar.xz"


def test_only_what_is_needed_is_unpacked(tmp_path: Path) -> None:
    wanted = {
        *("Kconfig", "Makefile", "Documentation/Kconfig", "drivers/gpu/drm/amd/Kconfig", "drivers/net/tun.c"),
        *("arch/um/kernel/time.c", "net/mac80211/rx.c", "include/linux/types.h", "arch/x86/kernel/module.c"),
    }
    unwanted = {
        "drivers/gpu/drm/drm.c",
        "drivers/net/ethernet/e.c",
        "tools/Makefile",
        "include/drm/drm.h",
        "arch/arm/a.c",
    }
    source, tree = archive_of(tmp_path, wanted | unwanted), tmp_path / "tree"
    tree.mkdir()
    uml.unpack(source, tree)
    assert {str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file()} == wanted


def test_an_archive_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    source, tree = archive_of(tmp_path, ["Makefile", "net/net.c"]), tmp_path / "tree"
    tree.mkdir()
    source.write_bytes(source.read_bytes()[:-40])
    with pytest.raises(SetupError, match="cannot unpack"):
        uml.unpack(source, tree)


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
    bytecode.refresh(tmp_path)
    assert not bytecode.stale(str(source))
    source.write_text("a = 22\n")
    assert bytecode.stale(str(source))
    source.write_text("a = (\n")
    bytecode.refresh(tmp_path)  # what does not compile fails where it is imported, not here


def checkout(folder: Path, cached: bool) -> dict[str, str]:
    """A checkout that holds nothing but the launcher, and its environment: a Python that says how it was called."""
    folder.mkdir()
    shutil.copy(ROOT / "dcflab", folder / "dcflab")
    (folder / "requirements.lock").write_text("nothing==1\n")
    if cached:
        key = hashlib.sha256(b"nothing==1\n").hexdigest()[:16]
        python = folder / "cache" / f"venv-python3.11-{key}" / "bin" / "python"
        python.parent.mkdir(parents=True)
        executable(python, 'echo "$PYTHONPATH"; for a; do echo "$a"; done')
    return {**os.environ, "DCFLAB_CACHE": str(folder / "cache"), "PYTHONPATH": ""}


def test_the_launcher_finds_the_environment_and_hands_arguments_on(tmp_path: Path) -> None:
    variables = checkout(tmp_path / "a b", cached=True)
    (tmp_path / "link").symlink_to(tmp_path / "a b" / "dcflab")
    said = subprocess.run(
        [tmp_path / "link", "run", "it's one"], env=variables, capture_output=True, text=True, cwd="/"
    )
    assert said.stdout.splitlines() == [str(tmp_path / "a b"), "-P", "-m", "emulation", "run", "it's one"]


def test_the_launcher_and_set_up_agree_on_the_environments_name() -> None:
    key = hashlib.sha256((ROOT / "requirements.lock").read_bytes()).hexdigest()[:16]
    assert environment.name(ROOT / "requirements.lock").endswith(f"-{key}")


def test_the_launcher_asks_set_up_for_an_environment(tmp_path: Path) -> None:
    variables = checkout(tmp_path / "a", cached=False)
    setup = tmp_path / "a" / "emulation" / "setup"
    setup.mkdir(parents=True)
    made = tmp_path / "python"
    executable(made, 'echo "made $*"')
    (setup / "__main__.py").write_text(f"print({str(made)!r})\n")
    said = subprocess.run([tmp_path / "a" / "dcflab", "test"], env=variables, capture_output=True, text=True)
    assert said.stdout == "made -P -m emulation test\n"
    (setup / "__main__.py").write_text("import sys; sys.exit(3)\n")
    said = subprocess.run([tmp_path / "a" / "dcflab", "test"], env=variables, capture_output=True, text=True)
    assert (said.returncode, said.stdout) == (3, "")


def test_the_lock_names_a_hash_for_each_package_and_no_index() -> None:
    text = (ROOT / "requirements.lock").read_text()
    packages_ = [line for line in text.splitlines() if line[:1].isalnum()]
    assert packages_ and all(line.endswith("\\") and "==" in line for line in packages_)
    assert "://" not in text and "--index" not in text


def test_the_doctor_tells_a_program_what_stands_in_the_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hint = doctor.Check("memory", doctor.Status.HINT, "little", "buy some")
    gone = doctor.Check("kernel", doctor.Status.MISSING, "not there", "build it")
    monkeypatch.setattr(doctor, "checks", lambda: [hint])
    assert doctor.main(as_json=True) == 0
    monkeypatch.setattr(doctor, "checks", lambda: [hint, gone])
    capsys.readouterr()
    assert doctor.main(as_json=True) == 1
    assert [check["status"] for check in json.loads(capsys.readouterr().out)] == ["hint", "missing"]
    assert doctor.main() == 1
    assert "build it" in capsys.readouterr().out


def test_the_doctor_examines_a_machine_where_nothing_was_set_up(root: Path, bare_machine: Path) -> None:
    found = {check.name: check for check in doctor.checks()}
    assert found["kernel"].status is doctor.Status.MISSING
    assert found["packages: run"].status is doctor.Status.MISSING
    assert found["packages: bench"].status is doctor.Status.HINT
    assert "apt-get install" in found["packages: build"].mend
    assert not root.exists()
