# SPDX-License-Identifier: BSD-3-Clause
"""`taps RUN`: count the frames of a trace, and compare with the air's counters."""

import sys
from pathlib import Path

import click

from emulation.cli.command import Command, as_json


def callback(run_folder: Path, as_json: bool, scapy: bool) -> None:
    """Count the frames of a run's trace with the taps, and compare with the air's counters."""
    from analysis.taps import compare

    sys.exit(compare.run([str(run_folder), *["--json"] * as_json, *["--scapy"] * scapy]))


FOLDER = click.Argument(["run_folder"], type=click.Path(exists=True, path_type=Path))
SCAPY = click.Option(["--scapy"], is_flag=True, help="also count with Scapy, at about a thousand packets a second")
GROUP = "Look"
COMMAND = Command("taps", ["taps runs/string-…", "taps runs/string-… --scapy --json"], callback=callback,
                  params=[FOLDER, SCAPY, as_json("the counters as JSON")], help=callback.__doc__)  # fmt: skip
