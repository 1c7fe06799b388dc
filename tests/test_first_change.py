# SPDX-License-Identifier: BSD-3-Clause
"""The first change in CONTRIBUTING.md: its steps run as written."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from rooms import needs

ROOT = Path(__file__).resolve().parents[1]
SECTION = (ROOT / "CONTRIBUTING.md").read_text().partition("\n## A first change")[2].partition("\n## ")[0]
STEP = re.compile(r"^```diff\n(?P<diff>.*?)^```$|^ {7}(?P<line>(\./dcflab|cut) [^\n]+)$", re.MULTILINE | re.DOTALL)
FAILS = "# fails"


@needs("export")
@pytest.mark.lane
def test_the_first_change_is_as_it_is_written(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    for name in filter(lambda name: (ROOT / name).is_file(), listed.stdout.split("\0")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    for step in STEP.finditer(SECTION):
        command = ["git", "apply", "-"] if step["diff"] else ["sh", "-c", step["line"]]
        done = subprocess.run(command, cwd=tmp_path, input=step["diff"], capture_output=True, text=True)
        assert done.returncode == (FAILS in step[0]), (step[0], done.stdout, done.stderr)
    heading, row = done.stdout.splitlines()
    assert dict(zip(heading.split(","), row.split(","), strict=True))["responses_spoilt"].isdecimal()
