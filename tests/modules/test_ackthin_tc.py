# SPDX-License-Identifier: BSD-3-Clause
"""ackthin with tc: the plug-in, as users of the command line use it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import pytest
from output import MODULE, NAMES, Script

from emulation.lane import ackthin

pytestmark = pytest.mark.lane
PLUGIN = Path(__file__).parents[2] / "tc_modules" / "tc"


@pytest.mark.skipif(not shutil.which("tc", path="/sbin:/usr/sbin:/bin:/usr/bin"), reason="no tc")
def test_tc_sets_and_shows(script: Script, tmp_path: Path) -> None:
    """The plug-in, with the tc of this machine's iproute2: what it accepts, prints and refuses."""
    shutil.copytree(PLUGIN, tmp_path / "modules" / "tc")
    shutil.copy(PLUGIN.parent / "pkt_ackthin.h", tmp_path / "modules")
    subprocess.run(["make", "-s", "CFLAGS=-Werror"], cwd=tmp_path / "modules" / "tc", check=True)
    lines = script(
        NAMES
        + textwrap.dedent(f"""
        from subprocess import run
        os.environ["TC_LIB_DIR"] = {str(tmp_path / "modules" / "tc")!r}

        def tc(text):
            done = run(["tc", *text.split()], capture_output=True, text=True)
            print(json.dumps([done.returncode, done.stdout + done.stderr]))

        wire = Wire()
        tc("qdisc replace dev wire0 root ackthin delayed count 3 timeout 40ms granularity 10ms limit 77")
        flow = wire.accept()
        for n in range(6):
            flow.send(payload=bytes(1000))
        tc("-s qdisc show dev wire0")
        tc("-j -s qdisc show dev wire0")
        tc("qdisc change dev wire0 root ackthin daa dwin_max 3 alpha 800")
        tc("qdisc show dev wire0")
        for wrong in ("daa dwin_min 9", "count 256", "timeout 11s", "interval 1us", "count", "timeout soon", "fast"):
            tc(f"qdisc change dev wire0 root ackthin {{wrong}}")
        tc("qdisc change dev wire0 root ackthin dynamic")
        tc("qdisc del dev wire0 root")
        tc("qdisc add dev wire0 root ackthin")
        tc("qdisc show dev wire0")
        """),
        MODULE,
    )
    said = [json.loads(line) for line in lines]
    assert said[0] == [0, ""]
    text = said[1][1]
    assert "delayed limit 77 count 3 timeout 40ms granularity 10ms \n" in text
    assert re.search(r"acks 6 thinned 3 held 2? ?", text), text
    assert "passed:" in text
    [shown] = json.loads(said[2][1])
    assert shown["options"] | {"policy": "delayed", "limit": 77, "count": 3, "timeout_us": 40_000} == shown["options"]
    assert set(shown["options"]) == set(ackthin.PARAMETERS)
    assert set(shown["passed"]) == set(ackthin.REASONS)
    assert said[3] == [0, ""]
    assert "daa limit 77 timeout 40ms granularity 10ms dwin_min 2 dwin_max 3 alpha 800 kappa 200 mu 300" in said[4][1]
    assert [code for code, _ in said[5:12]] == [2, 1, 1, 1, 1, 1, 1]
    for (_, text), words in zip(said[5:12], ("dwin_min must not be above dwin_max", '"count" is from 1 to 255, not 256',
                                '"timeout" is from 0us to 10s, not 11s', '"interval" is from 1ms to 60s',
                                '"count" needs a number', '"timeout" needs a time, not soon', 'what is "fast"?'),
                                strict=True):  # fmt: skip
        assert words in text
    assert said[12] == [0, "Warning: sch_ackthin: this is no wireless device of cfg80211's: nothing is skipped.\n"]
    assert said[13:15] == [[0, ""], [0, ""]]
    assert "delayed limit 500 count 2 timeout 100ms granularity 0us" in said[15][1]
