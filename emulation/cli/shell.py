# SPDX-License-Identifier: BSD-3-Clause
"""`shell TOPOLOGY`: a prompt inside a running network."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from emulation.cli.command import Command, lane, seeds
from emulation.cli.options import options_of, specification_of
from emulation.lanes import Lane, Listener
from emulation.plan import plan
from emulation.play.session import failures, provide


def command(name: str) -> click.Command:
    """The command of a topology, by its name or in a file of the user's own. Raises ValueError."""

    def callback(seeds: list[int], lane: Lane, **given: Any) -> None:
        specification = specification_of(name, given | {"seed": seeds[0]})
        made, lab = plan(specification), provide(folders=specification.kernel.modules, lane=lane)
        with failures(), tempfile.TemporaryDirectory(prefix="dcflab-shell-") as folder:
            lab.check(made)
            (Path(folder) / "plan.json").write_text(json.dumps(made))
            status = lane.run(
                lab.kernel, lab.modules, Path(folder), ["shell"], seed=seeds[0],
                listener=Listener(line=click.echo, ask=typed), plugins=[Path(own) for own in made["plugins"]],
            ).status  # fmt: skip
        sys.exit(status)

    help_ = f"A prompt inside a running {Path(name).stem}."
    examples = [f"shell {name}", f"shell {name} --rts full --tcp cubic"]
    return Command(name, examples, params=[*options_of(name), seeds(), lane()], callback=callback, help=help_)


def typed(prompt: str) -> str | None:
    """A line typed at this terminal; None at its end."""
    try:
        return input(prompt)
    except EOFError:
        return None
