# SPDX-License-Identifier: BSD-3-Clause
"""What programs in scripts expect of a machine."""

import sys
from pathlib import Path

import pytest

from emulation.lanes import Listener, virtual
from emulation.play.lab import Lab


@pytest.fixture
def stage(prepared, tmp_path):
    """Run lines as a script, and return its output."""

    def play(text):
        lab, lines, script = Lab(prepared.kernel.linux, prepared.modules), [], tmp_path / "mine.py"
        script.write_text(text)
        (tmp_path / "run").mkdir()
        done = virtual.run(lab.kernel, lab.modules, tmp_path / "run", ["script", str(script)],
                           listener=Listener(line=lines.append))  # fmt: skip
        assert done.status == 0, lines
        return lines

    return play


FIRST_NAMESPACE = """
import subprocess, time
def run(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
print("year", time.gmtime().tm_year)
print("lo", "LOOPBACK,UP" in run("ip link show lo")[1])
for command in ("ps aux", "top -bn1", "vmstat"):
    status, said = run(command)
    print(command, status, "python" in said or "swpd" in said)
run("ip link add v0 type veth peer v1; ip link set v0 up; ip addr add 10.9.9.9/8 dev v0")
subprocess.run(["ip", "-b", "-"], input="".join(
    f"neigh add 10.9.{i // 250}.{1 + i % 250} lladdr 02:00:00:00:00:01 nud reachable dev v0\\n" for i in range(1500)
), text=True)
print("neighbours", run("ip neigh show dev v0")[1].count("lladdr"))
"""


def test_the_first_namespace_is_like_a_machine(stage):
    """It has a date, an interface lo, processes that ps shows, and room for the neighbours of 39 stations."""
    assert stage(FIRST_NAMESPACE) == [
        "year 2026", "lo True", "ps aux 0 True", "top -bn1 0 True", "vmstat 0 True", "neighbours 1500",
    ]  # fmt: skip


NODE = """
import mine_alone, mine_too
from emulation.net import Infrastructure, Net
net = Net()
a, ap = net.addStation("a"), net.addAccessPoint("ap")
net.addLink(ap, a, cls=Infrastructure)
with net:
    net.start()
    for line in ("import mine_alone; print(mine_alone.__name__)", "import scapy; print(scapy.__name__)"):
        print(a.cmd(["python3", "-c", line]).strip())
    print(ap.cmd("hostapd_cli status | grep state").strip())
    for power in (500, 1000):
        a.cmd(f"iw dev a-wlan0 set txpower fixed {power}")
        print(a.cmd("iw dev a-wlan0 info | grep -o 'txpower.*'").strip(), a.tx_power_dbm, net.heard_by(ap))
    for name in ("vegas", "cubic"):
        print(a.cmd(f"sysctl -w net.ipv4.tcp_congestion_control={name}").strip())
"""


def test_a_node_has_the_users_packages_a_power_that_iw_sets_and_any_congestion_control(stage, tmp_path, monkeypatch):
    """Packages of $PYTHONPATH and of the active virtual environment, under names that the lab does not have."""
    venv = tmp_path / "venv"
    packages = venv / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    packages.mkdir(parents=True)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "mine_alone.py").touch()
    (packages / "mine_too.py").touch()
    monkeypatch.setenv("VIRTUAL_ENV", str(venv))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'folder'}:{Path.cwd()}")
    vegas, cubic = (f"net.ipv4.tcp_congestion_control = {name}" for name in ("vegas", "cubic"))
    powers = [f"txpower {dbm}.00 dBm {dbm}.0 [('a', {dbm}.0)]" for dbm in (5, 10)]
    assert stage(NODE) == ["mine_alone", "scapy", "state=ENABLED", *powers, vegas, cubic]
