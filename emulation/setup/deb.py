# SPDX-License-Identifier: BSD-3-Clause
"""Build a Debian package with all that a run needs, for machines that should not build or fetch anything, as in a
classroom.

It contains the program as git has it, without tests, and the folder `cache` with entries of this machine's cache: the
Python environment, the kernel, its modules and the library. `setup.cache` and the launcher look there first. Times are
whole seconds, as archives store them, so that manifests stay valid.
"""

import json
import shutil
from pathlib import Path

from emulation import features
from emulation.setup import LOCK_FILE, ROOT, Group, cache, distribution, environment, packages, prebuilt, sources
from emulation.setup.errors import say
from emulation.setup.sources import Contents, copy_checkout, run, whole_seconds

HOME = "usr/lib/dcflab"  # in the package
TOOLS = ("dpkg-deb",)
QUICK = ("-Zzstd", "-z9")  # a tenth of the time of xz; dpkg reads it since Debian 12 and Ubuntu 18.04
CONTROL = """Package: dcflab
Version: {version}
Architecture: amd64
Section: net
Priority: optional
Maintainer: dcflab <dcflab@localhost>
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: {recommends}
Suggests: {suggests}
Description: 802.11 labs on the real Linux stack, in virtual time
 Emulated stations on mac80211_hwsim run the real Linux TCP stack; the air is a
 kernel module with an exact model of the DCF. A lab is one unprivileged
 process, and the same for the same seed. Nothing is built or fetched.
"""


def build(contents: Contents, folder: Path) -> Path:
    """Build the package in a folder and return its path. Raises SetupError if that fails."""
    environments = environment.obtain(LOCK_FILE).parents[1]
    with cache.scratch(folder, "package") as staged:
        home = staged / HOME
        copy_checkout(ROOT, home)
        (home / prebuilt.NOTE).write_text(sources.note(contents))
        for entry in (environments, *contents.entries()):
            copy_entry(entry, home / "cache", f"/{HOME}/cache")
        (staged / "usr/bin").mkdir()
        (staged / "usr/bin/dcflab").symlink_to(f"../{HOME.removeprefix('usr/')}/dcflab")
        (staged / "DEBIAN").mkdir()
        (staged / "DEBIAN/control").write_text(control(contents.version, home))
        say(f"packing {sum(1 for _ in staged.rglob('*'))} files")
        built = folder / f"dcflab_{contents.version}_amd64.deb"
        run("dpkg-deb", "--root-owner-group", *QUICK, "--build", str(staged), str(built))
    return built


def copy_entry(entry: Path, into: Path, there: str) -> None:
    """Copy an entry of the cache into a folder that will be installed as `there`."""
    into.mkdir(exist_ok=True)
    manifest = json.loads((entry / cache.MANIFEST).read_text())
    with cache.scratch(into, "entry") as unfinished:
        folder = unfinished / "copy"
        shutil.copytree(entry, folder, symlinks=True)
        environment.move(folder, entry, Path(there, entry.name))
        whole_seconds(folder)
        cache.place(folder, into / entry.name, [*manifest["files"], *manifest.get("programs", ())])


def control(version: str, home: Path) -> str:
    """Return the control file. The interpreter is the one that the environment links to."""
    suggested = [group for part in features.parts("of_setup") for group in part.GROUPS if group.suggested]
    [python] = home.glob("cache/venv-*/bin/python3.*")
    size = sum(file.lstat().st_size for file in home.rglob("*") if file.is_file())
    return CONTROL.format(
        version=version, kilobytes=size >> 10, depends=f"{python.name}, libc6",
        recommends=", ".join(names(Group.PROMPT)), suggests=", ".join([*names(Group.MODULE, *suggested), "wireshark"]),
    )  # fmt: skip


def names(*groups: packages.AnyGroup) -> list[str]:
    """Return the packages that these groups need, by their names in this distribution."""
    found = (distribution.name(need.package) for group in groups for need in group.needs)
    return list(dict.fromkeys(name for name in found if name))
