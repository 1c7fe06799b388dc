# SPDX-License-Identifier: BSD-3-Clause
"""The Wireshark profile, through tshark: its columns, its colours, and the filters on its buttons."""

import csv
import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sample import Sample
from test_dissect import CASES

from analysis.traces.trace import Kind, Outcome

CONFIGURATION = Path(__file__).parents[2] / "analysis/wireshark"
PROFILE = CONFIGURATION / "profiles/dcflab"
BUTTONS = {
    row[1]: re.sub(r"\\x22", '"', row[2])
    for row in csv.reader(line for line in (PROFILE / "dfilter_buttons").read_text().splitlines() if line[0] != "#")
}
pytestmark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")


def tshark(file: Path, *options: str) -> list[str]:
    """With the profile, as docs/view.md opens it; tshark reports nothing."""
    done = subprocess.run(
        ["tshark", "-C", "dcflab", "-r", file, *options], check=True, capture_output=True, text=True,
        env={**os.environ, "WIRESHARK_CONFIG_DIR": str(CONFIGURATION)},
    )  # fmt: skip
    assert [line for line in done.stderr.splitlines() if "Running as user" not in line] == []
    return done.stdout.splitlines()


NOT_TOLD_APART = {  # what tshark looks for farther in, or not as far
    "DSR in DSR", "batman-adv in batman-adv", "batman-adv broadcast", "the first fragment of batman-adv",
}  # fmt: skip


def test_segments_are_found_where_the_taps_find_them(tmp_path: Path) -> None:
    """Also inside DSR and batman-adv: the three buttons show what the counters count."""
    from scapy.utils import PcapWriter

    cases = {name: case for name, case in CASES.items() if len(case[0]) >= 24 and name not in NOT_TOLD_APART}
    with PcapWriter(str(tmp_path / "cases.pcap"), linktype=105) as file:
        for octets, _ in cases.values():
            file.write(octets)
    for label, kind in (("TCP DATA", Kind.TCP_DATA), ("TCP ACK", Kind.TCP_ACK), ("UDP", Kind.UDP)):
        seen = tshark(tmp_path / "cases.pcap", "-Y", BUTTONS[label], "-T", "fields", "-e", "frame.number")
        wanted = [str(number) for number, (_, each) in enumerate(cases.values(), 1) if each == kind]
        assert seen == wanted and len(seen) > 5


@pytest.mark.slow
def test_columns(sample: Sample, of_stations: Path) -> None:
    """Comment, interface, bad FCS and Retry bit are visible, and the duration of a frame."""
    [collided, *_] = tshark(sample.pcapng, "-Y", 'frame.comment contains "collision" && wlan.fc.retry == 1')
    assert re.search(r" air .* \d+\S*s 1 0 collision with sta\d \S", collided)
    [spoilt, *_] = tshark(of_stations, "-Y", "radiotap.flags.badfcs == 1 && tcp && wlan.fc.retry == 0")
    assert re.search(r" sta\d .* TCP .* 0 1 (collision|receiver)", spoilt)
    assert not tshark(sample.pcapng, "-Y", "tcp.analysis.retransmission")  # every hop shows a segment again


@pytest.mark.slow
def test_colours(sample: Sample, of_stations: Path) -> None:
    """Each rule colours what it is for: the first that fits."""
    colours = Counter(tshark(sample.pcapng, "--color", "-T", "fields", "-e", "frame.coloring_rule.name"))
    given_up = np.isin(sample.trace.end["reason"], (2, 3, 4))
    assert colours["given up"] == given_up.sum()
    assert set(colours) == {"given up", "collision", "weak", "retry", "RTS and CTS", "the MAC's ACK", "TCP DATA",
                            "TCP ACK", "UDP", ""}  # fmt: skip
    colours = Counter(tshark(of_stations, "--color", "-T", "fields", "-e", "frame.coloring_rule.name"))
    spoilt = np.isin(sample.trace.rx["outcome"], (Outcome.COLLISION, Outcome.OWN_TX))
    assert colours["collision"] == spoilt.sum()


@pytest.mark.parametrize(
    "label", [pytest.param(label, marks=[pytest.mark.slow] * (label != "Collisions")) for label in BUTTONS]
)
def test_buttons(sample: Sample, of_stations: Path, label: str) -> None:
    """Each shows what its label says."""
    t = sample.trace
    addressed = t.rx[t.rx["addressed"] != 0]
    bad = np.isin(t.rx["outcome"], (Outcome.COLLISION, Outcome.OWN_TX, Outcome.NOISE))
    wanted = {
        "Collisions": np.isin(addressed["outcome"], (Outcome.COLLISION, Outcome.OWN_TX)),
        "Given up": np.isin(t.end["reason"], (2, 3, 4)),
        "Retries": t.tx["attempt"] > 1,
        "RTS/CTS": np.isin(t.tx["kind"], (Kind.RTS, Kind.CTS)),
        "TCP DATA": t.tx["kind"] == Kind.TCP_DATA,
        "TCP ACK": t.tx["kind"] == Kind.TCP_ACK,
        "UDP": t.tx["kind"] == Kind.UDP,
        "Bad FCS": bad,
    }[label]
    file = of_stations if label == "Bad FCS" else sample.pcapng
    assert len(tshark(file, "-Y", BUTTONS[label])) == wanted.sum() > 0
