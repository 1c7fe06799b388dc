# SPDX-License-Identifier: BSD-3-Clause
"""A distribution's unmodified kernel, prepared for the lane `vm`, in the cache like everything that is built.

The image is unpacked here, because in an emulated processor that takes longer than the rest of the boot. Everything
that its programs need is in one archive, which it unpacks as its root: network modules, Python and its library. So a
lane reads nothing while it runs, which would take time that no seed determines.
"""

import fnmatch
import glob
import importlib.util
import lzma
import marshal
import os
import re
import shutil
import struct
import subprocess
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path

from emulation.lanes.virtual.boot import PYTHON
from emulation.lanes.vm import host_programs
from emulation.lanes.vm.cpio import CONSOLE, Archive, into_usr
from emulation.setup import cache, packages
from emulation.setup.errors import SetupError, say
from emulation.setup.tools import fingerprint

LINUX, ROOT, RELEASE = "linux", "root.cpio", "include/config/kernel.release"  # in the cache
IMAGES = "/boot/vmlinuz-*"
HWSIM = "mac80211_hwsim"
MODULES = (
    *(HWSIM, "virtio_mmio", "virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay", "veth", "bridge"),
    *("br_netfilter", "8021q", "bonding", "dummy", "ifb", "tun", "macvlan", "batman-adv", "openvswitch"),
    *("ipip", "ip_gre", "sit", "vxlan"),
    *("tcp_*", "sch_*", "cls_*", "act_*", "em_*", "nf_*", "nft_*", "xt_*", "ip_tables", "iptable_*", "nfnetlink*"),
    *("ccm", "gcm", "cmac", "ctr", "ghash*", "aes_generic", "arc4", "michael_mic", "inet_diag", "tcp_diag", "udp_diag"),
    *("packet_diag", "netlink_diag", "unix_diag", "af_packet", "llc", "stp", "crc32c_generic", "libcrc32c"),
)  # with their dependencies, as far as they exist
OF_NETWORKS = ("tcp_", "sch_", "batman")
PROGRAMS = ("modprobe", "sh")
NOT_IN_LANES = ("test", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "distutils", "pydoc_data",
                "site-packages", "dist-packages", "__pycache__")  # fmt: skip
FIRMWARE = ("regulatory.db", "regulatory.db.p7s")
UNPACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"\xfd7zXZ\0": lambda packed: lzma.LZMADecompressor().decompress(packed),
    b"\x1f\x8b": lambda packed: zlib.decompressobj(31).decompress(packed),
    b"\x28\xb5\x2f\xfd": lambda packed: piped(["zstd", "-dc"], packed),
    b"\x04\x22\x4d\x18": lambda packed: piped(["lz4", "-dc"], packed),
    b"\x02\x21\x4c\x18": lambda packed: piped(["lz4", "-dc"], packed),
}
ELF = b"\x7fELF"
SETUP_SECTORS, PAYLOAD = 0x1F1, 0x248  # Documentation/arch/x86/boot.rst


@dataclass(frozen=True)
class Installed:
    """A distribution's kernel whose headers are installed."""

    release: str
    builders = packages.Group.VM  # the packages that building for it needs

    @property
    def headers(self) -> Path:
        """The headers, against which modules are built. Raises SetupError if they are missing."""
        folder = modules_of(self.release) / "build"
        if not (folder / "Makefile").is_file():
            raise SetupError(f"the headers of {self.release} are not installed. As root:\n"
                             f"  apt-get install -y linux-headers-{self.release}")  # fmt: skip
        return folder

    @property
    def linux(self) -> Path:
        """A file that distinguishes it from other kernels: its symbol versions."""
        return self.headers / "Module.symvers"

    @property
    def key(self) -> str:
        """What distinguishes it from other kernels, for things that are built for it."""
        return f"{self.release} {fingerprint(self.headers / 'Module.symvers')}"

    @property
    def make(self) -> tuple[str, ...]:
        return ("-C", str(self.headers))

    @property
    def modules(self) -> dict[str, Path]:
        """Its own network modules, by name; a built-in one has the kernel as its file."""
        found = {name: self.linux for name in built_in(self.release) if name.startswith(OF_NETWORKS)}
        paths = {module_name(path): modules_of(self.release) / path for path in dependencies(self.release)}
        return found | {name: path for name, path in paths.items() if name.startswith(OF_NETWORKS)}


@dataclass(frozen=True)
class Stock(Installed):
    """An installed kernel in the cache, ready to boot, in `folder`."""

    folder: Path

    @property
    def linux(self) -> Path:
        return self.folder / LINUX

    @property
    def modules(self) -> dict[str, Path]:
        found = {name: self.linux for name in built_in(self.release) if name.startswith(OF_NETWORKS)}
        return found | {file.stem: file for file in sorted(self.folder.glob("net/*.ko"))}


def running() -> Installed:
    """Return this machine's kernel. Raises SetupError if it has no radios without hardware."""
    release = os.uname().release
    if not path_of(HWSIM, release) and HWSIM not in built_in(release):
        raise SetupError(f"this machine's kernel, {release}, has no {HWSIM}; Debian's linux-image-amd64 has it, "
                         "but its cloud flavour does not")  # fmt: skip
    return Installed(release)


def installed() -> list[Path]:
    """Return the images of kernels that have radios without hardware, oldest first."""
    images = [Path(path) for path in glob.glob(IMAGES) if os.access(path, os.R_OK)]
    found = [image for image in images if path_of(HWSIM, release_of(image))]
    return sorted(found, key=lambda image: [int(part) for part in re.findall(r"\d+", image.name)])


def find(wanted: str) -> Path:
    """Return the image with this path or release, or the latest whose release begins so; for "" the latest. Raises
    SetupError if there is none."""
    if "/" in wanted:
        image = Path(wanted).resolve()
        if not os.access(image, os.R_OK) or not image.is_file():
            raise SetupError(f"there is no kernel {wanted}, or you cannot read it")
        if not path_of(HWSIM, release_of(image)):
            raise SetupError(f"{wanted} is Linux {release_of(image)}, but {modules_of(release_of(image))} has no "
                             f"{HWSIM}: are its modules installed?")  # fmt: skip
        return image
    there = installed()
    begin = (f"{wanted}.", f"{wanted}-") if wanted else ""
    fit = [image for image in there if f"{release_of(image)}.".startswith(begin)]
    if not fit:
        names = ", ".join(map(release_of, there)) or "none; as root: apt-get install -y linux-image-amd64"
        if closed := [path for path in glob.glob(IMAGES) if wanted in path and not os.access(path, os.R_OK)]:
            raise SetupError(f"only root can read {', '.join(closed)}. As root:\n  chmod a+r {' '.join(closed)}")
        raise SetupError(f"there is no kernel {wanted or 'of the distribution'} with {HWSIM}; there are: {names}")
    return fit[-1]


def obtain(wanted: str) -> Stock:
    """Return the kernel that `find` finds; prepare it if it is not in the cache. Raises SetupError if that fails."""
    image = find(wanted)
    release = release_of(image)
    files = [image, modules_of(release) / "modules.dep", PYTHON, *map(program_path, PROGRAMS)]
    name = f"stock-{cache.key(Path(__file__).read_bytes(), *map(fingerprint, files))}"
    if not cache.find(name):
        say(f"making {release} ready for lanes; this happens once and takes some seconds")
    return Stock(release, cache.obtain(name, lambda folder: build(folder, image)))


def build(folder: Path, image: Path) -> Iterable[str]:
    """Fill a folder with what a lane boots. Return its key files. Raises SetupError if that fails."""
    release = release_of(image)
    (folder / LINUX).write_bytes(unpacked(image))
    (folder / LINUX).chmod(0o755)
    (folder / RELEASE).parent.mkdir(parents=True)
    (folder / RELEASE).write_text(f"{release}\n")
    (folder / ROOT).write_bytes(root(release, unpack_modules(release, folder)))
    return [LINUX, ROOT, RELEASE]


def root(release: str, modules: Iterable[tuple[bytes, str]]) -> bytes:
    """Return the archive that a kernel unpacks as its root: Python, and files below the folder of its modules."""
    root = Archive()
    for top, target in into_usr().items():
        root.link(top, target)
    for path in ("dev", "proc", "sys", "tmp", "run", "etc"):
        root.folder(path)
    root.device("/dev/console", CONSOLE)
    for module, path in modules:
        root.file(f"/lib/modules/{release}/{path}", module)
    for name in FIRMWARE:
        if (file := Path("/lib/firmware") / name).is_file():
            root.file(f"/lib/firmware/{name}", file.read_bytes())
    for program in [PYTHON, *map(program_path, PROGRAMS)]:
        host_programs.add(root, program)
    for file, data in library():
        root.file(str(file), data)
    return root.whole()


def unpacked(image: Path) -> bytes:
    """Return the kernel that is packed in an image. Raises SetupError if it cannot be unpacked."""
    data = image.read_bytes()
    if data.startswith(ELF):
        return data
    start, size = struct.unpack_from("<II", data, PAYLOAD)
    start += 512 * ((data[SETUP_SECTORS] or 4) + 1)
    packed = data[start : start + size]
    for magic, unpack in UNPACKERS.items():
        if packed.startswith(magic) and (found := unpack(packed)).startswith(ELF):
            return found
    raise SetupError(f"{image} is not a kernel that this program can unpack")


def unpacked_module(file: Path) -> bytes:
    """Return the contents of a module's file, compressed or not."""
    packed = file.read_bytes()
    return next((unpack(packed) for magic, unpack in UNPACKERS.items() if packed.startswith(magic)), packed)


def piped(command: Sequence[str], data: bytes) -> bytes:
    try:  # data after the kernel in the image is no error
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except FileNotFoundError:
        raise SetupError(f"the kernel's image is packed with {command[0]}, which is not installed") from None


def release_of(image: Path) -> str:
    """Return the release that a kernel image contains, or else the one in its name."""
    with image.open("rb") as file:
        head = file.read(1 << 16)
    (at,) = struct.unpack_from("<H", head, 0x20E)
    if head[0x202:0x206] == b"HdrS" and at:
        return head[at + 0x200 :].partition(b"\0")[0].split()[0].decode()
    return image.name.partition("-")[2]


def modules_of(release: str) -> Path:
    return Path("/lib/modules", release)


def module_name(path: str) -> str:
    return os.path.basename(path).partition(".ko")[0]


def dependencies(release: str) -> dict[str, list[str]]:
    """Return for each module, by its path below the kernel's folder, the modules that it needs."""
    try:
        lines = (modules_of(release) / "modules.dep").read_text().splitlines()
    except OSError:
        return {}
    return {path: needed.split() for path, _, needed in (line.partition(":") for line in lines)}


def path_of(name: str, release: str) -> str | None:
    return next((path for path in dependencies(release) if module_name(path) == name), None)


def built_in(release: str) -> list[str]:
    try:
        return [module_name(line) for line in (modules_of(release) / "modules.builtin").read_text().splitlines()]
    except OSError:
        return []


def unpack_modules(release: str, folder: Path) -> Iterator[tuple[bytes, str]]:
    """Yield a lane's modules, uncompressed, and their indices, with their paths below the kernel's folder. Also leave
    the network's modules in `folder`."""
    needs = dependencies(release)
    wanted = [path for path in needs if any(fnmatch.fnmatch(module_name(path), name) for name in MODULES)]
    wanted = sorted({*wanted, *(each for path in wanted for each in needs[path])})
    place = folder / "tree/lib/modules" / release
    (folder / "net").mkdir()
    for path in wanted:
        data = unpacked_module(modules_of(release) / path)
        target = place / f"{path.partition('.ko')[0]}.ko"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if target.is_relative_to(place / "kernel/net"):
            shutil.copyfile(target, folder / "net" / target.name)
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copyfile(modules_of(release) / name, place / name)
    subprocess.run([str(program_path("depmod")), "-b", str(folder / "tree"), release], check=True)
    for file in sorted(place.rglob("*")):
        if file.is_file():
            yield file.read_bytes(), str(file.relative_to(place))
    shutil.rmtree(folder / "tree")


def program_path(name: str) -> Path:
    """Return the path of a program of the distribution. Raises SetupError if it is missing."""
    if not (found := host_programs.find(name)):
        raise SetupError(f"{name} is not installed")
    return found


def library() -> Iterator[tuple[Path, bytes]]:
    """Yield Python's library: compiled modules at the place of their sources, and C extensions with what they need."""
    top = Path(os.__file__).parent
    for folder, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in NOT_IN_LANES and not name.startswith("config-"))
        for file in sorted(Path(folder, name) for name in files):
            if file.suffix == ".py":
                yield file.with_suffix(".pyc"), compiled(file)
            elif file.suffix == ".so":
                yield file, file.read_bytes()
                yield from ((needed, needed.read_bytes()) for needed in host_programs.libraries(file))


def compiled(source: Path) -> bytes:
    """Return a module's bytecode file, in the form that is never checked for being out of date."""
    code = SourceFileLoader(source.stem, str(source)).get_code(source.stem)
    return importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, 0, 0) + marshal.dumps(code)
