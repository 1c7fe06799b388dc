# SPDX-License-Identifier: BSD-3-Clause
"""`hostap`: play hostap's own tests in a virtual lane. Misuse is refused before anything starts."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from emulation import features
from emulation.cli.command import Command, jobs, out
from emulation.features.hostap.play import Medium, Test, as_dict, plan_radios, play
from emulation.features.hostap.source import Source
from emulation.play.session import check_programs, failures, new_folder, provide
from emulation.setup.errors import say

MEDIA = [str(each) for each in (Medium.AIR, Medium.HWSIM)]
MEDIA += [name for name in map(str, Medium) if name in features.media()]
DEFAULTS = {"mode": "ac", "width": 80, "streams": 2, "guard": 0.4}


@click.command(cls=Command, params=[jobs(), out()], examples=[
    "hostap --source ~/hostap ap_open", "hostap --source ~/hostap 'ap_wpa2_*' test_scan.py --medium hwsim",
])  # fmt: skip
@click.argument("tests", nargs=-1, metavar="[TEST]...")
@click.option("--source", required=True, type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="PATH",
              help="the root of hostap's sources")  # fmt: skip
@click.option("--medium", type=click.Choice(MEDIA), default=str(Medium.AIR), show_default=True,
              help="what carries frames: our air, hwsim itself, or wmediumd")  # fmt: skip
@click.option("--mode", type=click.Choice(["abg", "n", "ac", "ax"]),
              help="mode of the radios on the air  [default: ac, 80 MHz, 2 streams, short guard]")  # fmt: skip
@click.option("--wmediumd", metavar="PATH", help="the program of --medium wmediumd")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="seed of random numbers")
@click.option("--json", "as_json", is_flag=True, help="print the results as JSON")
def hostap(
    tests: tuple[str, ...], source: Path, medium: str, mode: str | None, wmediumd: str | None, seed: int,
    as_json: bool, jobs: int | None, out: Path | None,
) -> None:  # fmt: skip
    """Play hostap's own tests, of tests/hwsim, in a virtual lane.

    TEST is a name, such as ap_open; a pattern, such as 'ap_*'; or a file, such as test_scan.py. Without it, all tests
    are played. Exits with 1 if a test failed. docs/hostap.md says more.
    """
    chosen_medium = Medium(medium)
    if mode and chosen_medium is not Medium.AIR:
        raise click.UsageError("--mode is for --medium air; other media take what hwsim's radios send")
    if wmediumd and chosen_medium is not Medium.WMEDIUMD:
        raise click.UsageError("--wmediumd is for --medium wmediumd")
    tree = Source(source.resolve())
    chosen = tree.select(tests)
    options = options_of(chosen_medium, mode, wmediumd, seed)
    radios = plan_radios(chosen_medium, options)
    if not tree.built or chosen_medium is Medium.WMEDIUMD:
        check_programs(radios)
    if not tree.built:
        say(f"{source} is not built, so the distribution's hostapd and wpa_supplicant are tested; "
            "they lack what most tests need (docs/hostap.md)")  # fmt: skip
    lab = provide()
    folder = new_folder(out, "hostap")
    with failures():
        results = play(
            lab, tree, chosen, radios, chosen_medium, folder, jobs, lambda test: None if as_json else show(test)
        )
    found = as_dict(results, chosen_medium, options)
    (folder / "hostap.json").write_text(json.dumps(found, indent=1) + "\n")
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        click.echo(f"{found['passed']} passed, {found['failed']} failed, {found['skipped']} skipped "
                   f"on {medium}; logs: {folder}/")  # fmt: skip
    sys.exit(1 if found["failed"] else 0)


def options_of(medium: Medium, mode: str | None, wmediumd: str | None, seed: int) -> dict[str, Any]:
    options: dict[str, Any] = {"seed": seed}
    if medium is Medium.AIR:
        options |= {"mode": mode} if mode else DEFAULTS
    if wmediumd:
        options["wmediumd"] = wmediumd
    return options


def show(test: Test) -> None:
    """Print a row of the table."""
    seconds = "" if test.seconds is None else f"{test.seconds:.1f}"
    click.echo(f"{test.name:<44} {test.result:<8} {seconds:>7}  {test.why}".rstrip())


GROUP = "Bring your own"
COMMAND = hostap
