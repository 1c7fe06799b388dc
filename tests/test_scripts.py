# SPDX-License-Identifier: BSD-3-Clause
"""Scripts' calls before anything starts: Mininet's names, and errors in one message."""

import re
import subprocess
import sys
from unittest import mock

import pytest

from emulation.cli.script import use_environment
from emulation.lane.errors import Misuse
from emulation.lane.mistakes import sentence
from emulation.lanes import CHECKOUT
from emulation.lanes.virtual.boot import packages, packages_of
from emulation.net import Mesh, Net
from tests.command_line import obeyed


@pytest.fixture
def net():
    made = Net(rts="full", seconds=3)
    for number in range(3):
        made.addStation(f"sta{number + 1}", position=(200.0 * number, 0, 0))
    return made


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rtss": "full"}, "Net: there is no setting rtss; there are: link, routing, "),
        ({"modules": "mine"}, "Net: modules: a script's are named on the command line: run SCRIPT.py --modules FOLDER"),
        ({"rts": "ful"}, "Net: rts: must be 'full', 'partial' or 'none', not 'ful'"),
        ({"rate": 3}, "Net: rate: 3 Mb/s is not possible; there are: 1, 2"),
        ({"tcp": "newrino"}, "Net: tcp: there is no TCP 'newrino'"),
        ({"tcp": ["newreno", "newrino"]}, "Net: tcp: there is no TCP 'newrino'"),
        ({"propagation": {"model": "magic"}}, "Net: propagation: "),
        ({"seconds": -1, "seed": "x"}, "Net: seconds: must be above 0, not -1; Net: seed: must be a valid integer"),
    ],
)
def test_options_are_checked_at_once(options, says):
    with pytest.raises(Misuse, match=re.escape(says)) as refused:
        Net(**options)
    assert "pydantic" not in str(refused.value)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda net: net.addStation("sta1"), "a station sta1 exists; choose another name"),
        (lambda net: net.addStation("a station"), "'a station' is not a name for a station: letters"),
        (lambda net: net.addHost("thermostat") and net.addStation("thermosta2"), "'thermosta2' is not a name for a s"),
        (lambda net: net.addHost("thermostats"), "'thermostats' is not a name for a host: letters, digits, . _ and -"),
        (lambda net: net.addStation("b", position="10,20"), "b: position: a position is three numbers, in metres"),
        (lambda net: net.addStation("b", colour="red"), "b: there is no setting colour; there are: rate, rts"),
        (lambda net: net.addStation("b", tx_power_dbm=99), "b: tx_power_dbm: must be from -140 to 40, not 99"),
        (lambda net: net.addLink("sta1", sssid="x"), "link adhoc: there is no setting sssid; there are: ssid, freq"),
        (lambda net: net.addLink("sta1", cls="meshed"), "there is no link 'meshed'; there are: adhoc, infra"),
        (lambda net: net.addLink("sta9", cls=Mesh), "there is no node sta9; there are: sta1, sta2, sta3"),
        (lambda net: net.addFlow("sta1", "sta3", kind="ftp"), "there is no application 'ftp'; there are: "),
        (lambda net: net.addFlow("sta1", "sta3", tcp="x"), "flow sta1 -> sta3: tcp: there is no TCP 'x'"),
        (lambda net: net.addFlow("sta1", "sta3", byte=1), "flow sta1 -> sta3: there is no setting byte; there"),
        (lambda net: setattr(net["sta1"], "txpower", 5), "sta1 has no txpower; what can be set is position, tx"),
        (lambda net: setattr(net["sta1"], "position", "here"), "sta1: position: a position is three numbers"),
        (lambda net: setattr(net["sta1"], "rts", "often"), "sta1: rts: must be 'full', 'partial' or 'none', not"),
        (lambda net: net.run(3), "run: the network has not started: net.start()"),
        (lambda net: net.run(-3), "run: seconds: must be above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_at_once(net, ask, says):
    with pytest.raises(Misuse, match=re.escape(says)):
        ask(net)


def test_what_is_set_before_the_start_is_planned(net):
    """A position by Mininet-WiFi's name, and changes after a first plan."""
    net.addFlow("sta1", "sta3", congestion="sca")
    first = net.build()
    assert (first["applications"][0]["congestion"], first["modules"]) == ("sca", ["tcp_tap", "tcp_sca"])
    assert net.build() is first
    net["sta3"].position, net["sta2"].rts = "380,0,0", "none"
    net["sta1"].tx_power_dbm = 24.4
    again = net.build()
    assert [node["position"][0] for node in again["nodes"]] == [0.0, 200.0, 380.0]
    assert [node["interfaces"][0]["rts_threshold"] for node in again["nodes"]] == [0, None, 0]
    assert again["air"]["power_mdbm"][0][1] < first["air"]["power_mdbm"][0][1] == again["air"]["power_mdbm"][1][0]


@pytest.mark.parametrize(("options", "flows", "delay_ns"), [
    ({}, 0, 25_000), ({}, 1, 0), ({"host_delay_us": 0}, 0, 0), ({"host_delay_us": 10}, 1, 10_000),
])  # fmt: skip
def test_hosts_have_delays_where_programs_of_the_users_run(options, flows, delay_ns):
    made = Net(**options)
    pair = [made.addStation(name) for name in ("a", "b")]
    for _ in range(flows):
        made.addFlow(*pair)
    assert made.build()["air"]["host_delay_ns"] == delay_ns


def test_what_is_refused_later_leaves_all_as_it_was():
    net = Net(propagation="free-space")
    net.addStation("a")
    b = net.addStation("b", position=(400, 0, 0))
    with pytest.raises(Misuse, match=r"a and b hear each other over 12\.0 km"):
        b.position = (12_000, 0, 0)
    assert b.position == (400.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("print 'x'", "mine.py, line 1: Missing parentheses in call to 'print'. Did you mean print(...)?: it is of Py"),
        ("import thread", "import thread: it is of Python 2, and scripts run with Python 3"),
        ("import no_such_thing", "there is no Python module no_such_thing: install it with pip, or put it beside"),
        ("1 +", "mine.py, line 1: invalid syntax"),
        ("1 / 0", ""),
    ],
)
def test_what_python_cannot_run_is_said_in_a_sentence(line, says):
    with pytest.raises(Exception) as caught:
        exec(compile(line, "/there/mine.py", "exec"), {})
    assert sentence(caught.value)[: len(says)] == says and bool(says) == bool(sentence(caught.value))


def test_the_seed_is_that_of_the_lane_unless_the_script_has_its_own(monkeypatch):
    monkeypatch.setenv("DCFLAB_SEED", "7")
    assert (Net().spec.measurement.seed, Net(seed=3).spec.measurement.seed) == (7, 3)


def test_python_is_the_one_that_has_our_packages(tmp_path):
    """From any folder, with any arguments."""
    program = "import sys, analysis.load; print(sys.argv, sys.executable)"
    command = [CHECKOUT / "dcflab", "python", "-W", "error", "-c", program, "-x", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == f"['-c', '-x', '--help'] {sys.executable}"


def test_an_option_names_a_virtual_environment_or_its_python(tmp_path, monkeypatch):
    packages_of(tmp_path).mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").touch()
    for named in (tmp_path, tmp_path / "bin/python"):
        monkeypatch.setenv("VIRTUAL_ENV", "elsewhere")
        use_environment(mock.Mock(), mock.Mock(), str(named))
        assert str(packages_of(tmp_path)) in packages(("script", "mine.py"))
    found = obeyed(tmp_path, "run", "mine.py", "--python", "nothing")
    assert found.returncode == 2 and "--python': nothing is no virtual environment" in found.stderr
