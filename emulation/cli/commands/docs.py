# SPDX-License-Identifier: BSD-3-Clause
"""`docs`: build the documentation as a web site with search. Sphinx builds it (docs/site) in an
environment of its own, which the first use makes."""

import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

import click

from emulation.cli.command import Command, as_json
from emulation.cli.commands.view import open_in_browser
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import CHECKOUT

START, BUILT = "index.html", ".buildinfo"  # files of Sphinx
SHOWN = 20  # lines of errors


def callback(out: Path, opens: bool, as_json: bool) -> None:
    """Build the documentation as a web site with search. A browser reads it from the disk, without a server."""
    if out.exists() and not (out / BUILT).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise Misuse(f"{out} exists and is not a site; give another folder with --out")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
        made = Path(scratch, "site")
        build(made, Path(scratch, "doctrees"))
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)
    start = out / START
    shown = opens and not as_json and open_in_browser(start)
    pages = sum(1 for _ in out.rglob("*.html"))
    if as_json:
        click.echo(json.dumps({"file": str(start), "pages": pages}))
    else:
        click.echo(f"{start}: {pages} pages" + "; open it in a browser" * (opens and not shown))


def build(folder: Path, doctrees: Path) -> None:
    """Run Sphinx; a warning is an error. Raises Failure with its output."""
    from emulation.setup import prepare_docs

    python = prepare_docs()
    # Sphinx imports our modules for their docstrings; their imports are in the program's environment.
    paths = os.pathsep.join([str(CHECKOUT), sysconfig.get_path("purelib")])
    command = [str(python), "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"]
    command += ["-c", str(CHECKOUT / "docs/site"), "-d", str(doctrees), str(CHECKOUT), str(folder)]
    env = {**os.environ, "PYTHONPATH": paths, "NO_COLOR": "1"}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        lines = [line.replace(f"{CHECKOUT}/", "") for line in done.stderr.splitlines() if line.strip()]
        raise Failure("\n  | ".join(["the docs cannot be built:", *lines[:SHOWN]]))


GROUP = "Administer"
COMMAND = Command(
    "docs", ["docs", "docs --out /srv/lab/docs --no-open"],
    params=[
        click.Option(["--out"], type=click.Path(path_type=Path), default=Path("site"), metavar="FOLDER",
                     show_default=True, help="the folder to write the site to"),
        click.Option(["--open/--no-open", "opens"], default=True, help="open it in the browser  [default: --open]"),
        as_json("its path and number of pages as JSON"),
    ],
    callback=callback, help=callback.__doc__,
)  # fmt: skip
