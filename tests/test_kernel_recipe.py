# SPDX-License-Identifier: BSD-3-Clause
"""The recipe of the lab's kernel: inputs of its name, unpacked files, and errors of a build. Nothing is built."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from emulation.lane.errors import Failure
from emulation.setup import cache, kernel, tools, uml


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
    debug.with_suffix("").mkdir()
    (debug.with_suffix("") / "another.patch").write_text("---\n")
    names.append(kernel.name((configuration, debug)))
    (tmp_path / "headers").mkdir()
    monkeypatch.setattr(uml, "HEADERS", tmp_path / "headers")
    names.append(kernel.name((configuration, debug)))
    (tmp_path / "headers" / "core.h").write_text("#include <linux/mm.h>\n")
    names.append(kernel.name((configuration, debug)))
    assert len(set(names)) == len(names)


def test_a_machine_that_cannot_build_uses_what_was_built_by_the_same_recipe(
    tmp_path: Path, kernel_inputs: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "cache"))
    archive, configuration = kernel_inputs
    name = kernel.name((configuration,))
    assert name
    entry = cache.obtain(name, lambda folder: [])
    archive.write_text("newer sources")
    assert kernel.find((configuration,)) is None  # it would be built from the newer ones
    monkeypatch.setattr(kernel, "compiler", lambda: None)
    assert kernel.find((configuration,)) == kernel.Kernel(entry)
    configuration.write_text("CONFIG_NET=n\n")
    assert kernel.find((configuration,)) is None


def test_options_that_a_kernel_does_not_have_are_found() -> None:
    asked = "# comment\nCONFIG_A=y\nCONFIG_B=y\nCONFIG_C=n\nCONFIG_D=y\nCONFIG_D=n\n"
    assert uml.missing_options(asked, "CONFIG_A=y\n# CONFIG_B is not set\n") == ["CONFIG_B"]


@pytest.mark.parametrize("file", [uml.SOURCES, uml.KEPT])
def test_comments_of_lists_are_no_patterns(file: Path) -> None:
    lines = uml.read_list(file)
    assert lines and not any(line.startswith("#") or line != line.strip() for line in lines)


def archive_of(folder: Path, names: Iterable[str]) -> Path:
    for name in names:
        file = folder / "linux-6.12" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    subprocess.run(["tar", "-C", folder, "-cJf", folder / "linux.tar.xz", "linux-6.12"], check=True)
    return folder / "linux.tar.xz"


@pytest.mark.parametrize("packed", [True, False], ids=["an archive", "a folder"])
def test_only_what_is_needed_is_unpacked(tmp_path: Path, packed: bool) -> None:
    """From a folder, without what was built in it."""
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
    if not packed:
        unwanted |= {
            "include/generated/autoconf.h",
            "net/mac80211/rx.o",
            ".config",
            "arch/um/include/generated/asm/a.h",
        }
    source, tree = archive_of(tmp_path, wanted | unwanted), tmp_path / "tree"
    tree.mkdir()
    uml.unpack(source if packed else tmp_path / "linux-6.12", tree)
    assert {str(file.relative_to(tree)) for file in tree.rglob("*") if file.is_file()} == wanted


def test_an_archive_that_was_cut_short_is_noticed(tmp_path: Path) -> None:
    source, tree = archive_of(tmp_path, ["Makefile", "net/net.c"]), tmp_path / "tree"
    tree.mkdir()
    source.write_bytes(source.read_bytes()[:-40])
    with pytest.raises(Failure, match="cannot unpack"):
        uml.unpack(source, tree)


def test_a_build_that_fails_says_first_what_is_wrong(tmp_path: Path) -> None:
    """Other jobs continue after an error, so the end of the log does not have it."""
    (tmp_path / "Makefile").write_text(
        "all:\n"
        "\t@echo 'ld: in function `open'; echo 'file.c:(.text+0x1): undefined reference to `gone'\n"
        "\t@echo 'file.c:7:1: error: expected ;'\n"
        '\t@for n in $$(seq 50); do echo "  CC      errors/error-$$n.o"; done; exit 1\n'
    )
    (tmp_path / "log").write_text("an older error: of another build\n")
    with pytest.raises(Failure) as caught:
        tools.make([], tmp_path, tmp_path / "log", "thing")
    said = str(caught.value).splitlines()
    assert said[0] == "building the thing failed"
    assert [line.removeprefix("  | ") for line in said[1:3]] == [
        "file.c:(.text+0x1): undefined reference to `gone",
        "file.c:7:1: error: expected ;",
    ]
    assert "errors/error-50.o" in "\n".join(said[4:])
    assert "an older error" not in str(caught.value)
    assert len(said) == 1 + tools.LOG_LINES
    assert "an older error" in (tmp_path / "log").read_text()
