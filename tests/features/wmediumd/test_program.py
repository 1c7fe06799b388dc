# SPDX-License-Identifier: BSD-3-Clause
"""mediumd's command line: what makes no sense is refused in a sentence before anything happens."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from emulation.features.wmediumd.daemon import main
from emulation.features.wmediumd.inside.arguments import Arguments, parse
from emulation.lanes import CHECKOUT

GOOD = 'ifaces: { ids = ["02:00:00:00:00:00"]; band = 1; };'


def test_wmediumds_command_lines_are_understood() -> None:
    assert parse(["-l", "0", "-s", "-c", "lab.cfg", "-x", "table"]) == Arguments("lab.cfg", "table", 0, serve=True)
    assert parse(["-c", "lab.cfg", "-p", "air.pcapng"]) == Arguments("lab.cfg", capture="air.pcapng")
    assert parse(["-c", "lab.cfg", "-a", "api", "--wmediumd-compat"]).api == "api"
    assert parse(["-d"]) == Arguments(serve=True, dynamic=True)
    assert parse(["-clab.cfg", "--wmediumd-compat", "--seed", "7", "--freq=5180"]) == Arguments(
        "lab.cfg", compat=True, seed=7, freq=5180
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no configuration; give one with -c FILE"),
        (["-d", "-c", "x"], "-d takes no configuration"),
        (["-c", "x", "-l", "8"], "-l must be a number from 0 to 7, not '8'"),
        (["-c", "x", "y"], "'y' is not an option"),
        (["-z"], "option -z not recognized"),
        (["-c", "x", "-t", "socket"], "-t: this kernel's radios do not keep a scheduler's time; give -u SOCKET"),
        (["-n"], "no configuration; give one with -c FILE"),
        (["-c", "x", "-u", "socket"], "-u: our air has the radios of this kernel only; add --wmediumd-compat"),
        (["-c", "x", "-u", "a", "-nt", "b", "--wmediumd-compat"], "leave out -n"),
        (["-c", "x", "-a", "socket"], "-a: our air has the radios of this kernel only; add --wmediumd-compat"),
    ],
)
def test_what_makes_no_sense_is_misuse(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_what_is_wrong_in_a_file_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config, table = tmp_path / "lab.cfg", tmp_path / "table"
    config.write_text("ifaces: {\n ids = 1; };")
    assert main(["-c", str(config)]) == 2
    assert f"{config}:2: ifaces.ids: a list" in capsys.readouterr().err
    config.write_text(GOOD)
    table.write_text("\n-90 1")
    assert main(["-c", str(config), "-x", str(table)]) == 2
    assert f"{table}:2: a row has" in capsys.readouterr().err
    assert main(["-c", str(tmp_path / "none")]) == 2
    assert "none: No such file or directory" in capsys.readouterr().err


def test_the_version_is_one_that_programs_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    """hostap's tests read the second word, without its first letter."""
    assert main(["-V"]) == 0
    assert [int(part) for part in capsys.readouterr().out.split(" ")[1][1:].split(".")] == [0, 3, 1]


def test_a_link_called_wmediumd_is_mediumd(tmp_path: Path) -> None:
    (tmp_path / "wmediumd").symlink_to(CHECKOUT / "dcflab")
    done = subprocess.run([tmp_path / "wmediumd", "-h"], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0 and done.stdout.startswith("Usage: mediumd -c FILE")


def test_only_root_is_the_medium(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (tmp_path / "lab.cfg").write_text(GOOD)
    assert main(["-c", str(tmp_path / "lab.cfg")]) == 1
    said = capsys.readouterr().err
    assert "only root" in said and "lab.cfg:1: ifaces.band has no meaning, and is ignored" in said
