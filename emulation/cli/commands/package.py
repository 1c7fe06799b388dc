# SPDX-License-Identifier: BSD-3-Clause
"""`package`: pack what this machine has built, for others that build nothing."""

from collections.abc import Sequence
from pathlib import Path

import click

from emulation import features
from emulation.cli.command import Command
from emulation.setup import cache
from emulation.setup.package import Kind, package

KERNELS = {name: kernel for part in features.parts("of_setup") for name, kernel in part.KERNELS.items()}


def callback(out: Path, kinds: Sequence[str], **wanted: bool) -> None:
    """Pack what this machine has built, for machines that build nothing.

    \b
    deb      a Debian package of the program and of all that it needs
    wheel    the same for pip, pipx and uv; Python's packages come from where these find them
    kernel   the kernel and its modules, which a checkout takes from $DCFLAB_KERNEL
    sources  the sources of the other three, which you must pass on with them
    """
    made = package(out, [Kind(kind) for kind in kinds or Kind], [KERNELS[name][0] for name in wanted if wanted[name]])
    for file in made:
        click.echo(f"{file}: {file.stat().st_size / 1e6:.1f} MB, SHA-256 {cache.digest(file)}")


GROUP = "Administer"
COMMAND = Command(
    "package",
    ["package", "package --kind wheel --kind sources", *(f"package --kind deb --{name} --out out" for name in KERNELS)],
    params=[
        click.Option(["--out"], type=click.Path(path_type=Path, file_okay=False), default=Path("."), metavar="FOLDER",
                     help="the folder to write to  [default: the current one]"),
        click.Option(["--kind", "kinds"], type=click.Choice([kind.value for kind in Kind]), multiple=True,
                     help="only this; repeat it for several  [default: all]"),
        *(click.Option([f"--{name}"], is_flag=True, help=help_) for name, (_, help_) in KERNELS.items()),
    ],
    callback=callback, help=callback.__doc__,
)  # fmt: skip
