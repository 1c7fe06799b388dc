# SPDX-License-Identifier: BSD-3-Clause
"""A script's runs leave what all runs leave: traces, counters, and a result that can be replayed."""

import re
import textwrap
from pathlib import Path

import pytest
from scapy.utils import PcapNgReader

from analysis.load import load
from analysis.results import result
from analysis.results.result import Script
from analysis.taps import compare
from emulation.lane.errors import Failure, Misuse
from emulation.lanes import Listener, Reason
from emulation.play.lab import Lab
from emulation.play.replay import replay
from emulation.play.script import play_script
from emulation.play.tasks import tasks_again

PAIR = """
from emulation.net import Net
net = Net(rts="full")
a, b = (net.addStation(name, position=(x, 0, 0)) for name, x in (("a", 0), ("b", 200)))
net.addFlow(a, b)
"""
TWICE = PAIR + "with net:\n    net.start()\n    net.run(2)\n    a.rts = 'none'\n    net.run(2, name='bare')\n"


class Stage:
    """Scripts, and the folder where they run."""

    def __init__(self, prepared, folder):
        self.lab, self.place, self.lines = Lab(prepared.kernel.linux, prepared.modules), folder, []
        self.folder = folder / "run"

    def play(self, text, *arguments, seeds=(1,), typed=None):
        """Run a script in a new folder, with lines for its prompt."""
        self.folder.mkdir()
        path = self.place / "mine.py"
        path.write_text(textwrap.dedent(text))
        script = Script(path=str(path), arguments=arguments, seeds=seeds, shell=typed is not None)
        answers = iter(typed or ())
        listener = Listener(line=self.lines.append, ask=lambda prompt: next(answers, None))
        return play_script(self.lab, script, self.folder, listener)


@pytest.fixture
def stage(prepared, tmp_path):
    return Stage(prepared, tmp_path)


def test_its_runs_leave_what_all_runs_leave(stage):
    """They replay to the byte, even if the script has changed since: the folder has a copy."""
    found = stage.play(TWICE, seeds=(1, 2))
    assert (found.status, found.error) == (0, None)
    read = result.read(stage.folder / "result.json")
    assert read == found.result
    assert [(run.variant, run.seed, run.trace) for run in read.runs] == [
        ("run1", 1, "run1-1/air.pcapng.gz"), ("bare", 1, "bare-1/air.pcapng.gz"),
        ("run1", 2, "run1-2/air.pcapng.gz"), ("bare", 2, "bare-2/air.pcapng.gz"),
    ]  # fmt: skip
    assert all(run.goodput_segments > 100 and run.flows[0].tcp and run.in_flight for run in read.runs)
    assert (read.runs[0].stations[0].counters["tx"]["rts"] > 100) and "rts" not in read.runs[1].stations[0].counters[
        "tx"
    ]
    assert compare.main([str(stage.folder)]) == 0
    loaded = load(stage.folder)
    one = loaded["bare-2"]
    assert (loaded.result, one.result, [run.folder.name for run in loaded.runs][2]) == (read, read.runs[3], "run1-2")
    assert one.flows["flow1"].summary() == one.result.flows[0].tcp
    assert one.flight.means() == one.result.in_flight
    assert one.observation.counters()[0]["tx"]["tcp_data"] == one.result.stations[0].counters["tx"]["tcp_data"]
    assert next(one.frames()).sniffed_on == "air"
    with pytest.raises(KeyError, match="there is no run full-1; there are: run1-1, bare-1"):
        loaded["full-1"]
    (stage.place / "mine.py").write_text("raise SystemExit(1)")
    again = replay(stage.folder)
    assert (again.differences, again.changed) == ([], [])


def test_what_a_run_leaves_behind_does_not_reach_the_next(stage):
    """The second run sends nothing of the first, and can use its port."""
    found = stage.play(TWICE.replace("'none'", "'full'"))
    first, second = (outcome.run for outcome in found.outcomes)
    assert second.flows[0].delivered_bytes == pytest.approx(first.flows[0].delivered_bytes, rel=0.1)
    sent = [run.stations[1].counters["tx"]["tcp_ack"] for run in (first, second)]
    assert sent[1] == pytest.approx(sent[0], rel=0.1)


WIRED = """
from emulation.net import Net
with Net() as net:
    net.addLink(net.addHost("h1"), net.addHost("h2"), cls="wired", delay="7ms")
    for kind in "bulk", "udp":
        net.addFlow("h1", "h2", kind=kind)
    net.start()
    net.run(1.0)
"""


def test_a_network_without_radios_has_results(stage):
    (run,) = stage.play(WIRED).result.runs
    assert [flow.outcome for flow in run.flows] == ["ran", "ran"] and run.flows[0].tcp and not run.stations
    assert "flow2" in {flow.name for flow in load(stage.folder).runs[0].result.flows}


@pytest.mark.quick
def test_of_a_script_that_fails_the_finished_runs_are_kept(stage):
    """The unfinished one leaves nothing."""
    found = stage.play(
        TWICE.replace("    a.rts = 'none'", "    with b: import socket; s = socket.create_server(('', 5001))")
    )
    assert isinstance(found.error, Failure)
    assert str(found.error) == f"{Reason.PROGRAM.value}: Address already in use"
    assert [run.variant for run in result.read(stage.folder / "result.json").runs] == ["run1"]
    assert {file.name for file in stage.folder.iterdir()} == {"run1-1", "result.json", "script.py", "console.log"}


def test_of_a_script_without_runs_nothing_is_left_but_its_files(stage):
    found = stage.play("import os; open(os.environ['DCFLAB_RUN'] + '/mine.txt', 'w').close()")
    assert (found.error, found.result) == (None, None)
    assert (stage.folder / "mine.txt").exists()


def test_a_mistake_is_reported_with_its_place_and_leaves_nothing(stage):
    found = stage.play(PAIR + "net.addFlow(a, b, kind='ftp')\n")
    assert isinstance(found.error, Misuse)
    assert (
        str(found.error)
        == "mine.py, line 6: there is no application 'ftp'; there are: bulk, iperf3, request, udp, voice, web"
    )
    assert stage.lines == []
    assert not stage.folder.exists()
    found = stage.play("import json\nimport no_such_thing\n")
    assert isinstance(found.error, Misuse) and stage.lines == []
    assert str(found.error).startswith("mine.py, line 2: there is no Python module no_such_thing: install it")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("rts='full'", "mine.py, line 6: start: a network has already started; stop it first"),
        ("tcp='mine:mine'", "mine.py, line 6: there is no kernel module mine; run SCRIPT.py --modules FOLDER"),
        ("module_parameters='tcp_vegas.alfa=3'", "tcp_vegas: there is no parameter 'alfa'; there are: alpha"),
    ],
)
def test_what_cannot_be_started_is_reported_before_anything_starts(stage, options, says):
    error = stage.play(PAIR.replace('rts="full"', options) + "net.start(); net.start()").error
    assert isinstance(error, Misuse) and says in str(error)
    assert stage.lines == [] and not stage.folder.exists()


def test_files_beside_a_script_do_not_take_the_place_of_ours(stage):
    (stage.place / "traffic.py").write_text("raise SystemExit('the wrong one')")
    (stage.place / "helper.py").write_text("HELP = 'the right one'")
    stage.play("import traffic, helper; print(traffic.__file__.count('checkout'), helper.HELP)")
    assert stage.lines == ["1 the right one"]


def test_a_prompts_trace_can_be_looked_at_meanwhile_and_its_run_is_not_played_again(stage):
    found = stage.play(PAIR + "net.start()\n", typed=["iperf a b 1", "capture now.pcapng", "capture now.pcapng"])
    (run,) = found.result.runs
    assert (run.variant, run.flows[0].name, found.error) == ("session1", "iperf1", None)
    frames = int(re.match(r"\*\*\* (\d+) frames in .*/now.pcapng", stage.lines[3])[1])
    with PcapNgReader(str(stage.folder / "now.pcapng")) as packets:
        assert sum(1 for _ in packets) == frames > 300
    with pytest.raises(Misuse, match="a person typed the input"):
        replay(stage.folder)


THEIRS = """
from pathlib import Path
from topologies.mobility.line import Parameters, move
from topologies.string import layout
Path(__file__).with_name("ran").touch()
"""
FORGED = """
import json, os
from pathlib import Path
with net:
    net.start()
    net.run(1)
here = Path(os.environ["DCFLAB_RUN"])
(here / "theirs.py").write_text({theirs!r})
asked = json.loads((here / "run1-1/asked.json").read_text())
asked["specification"]["network"].update({named!r})
(here / "run1-1/asked.json").write_text(json.dumps(asked))
"""


@pytest.mark.parametrize("field", ["motion", "topology"])
def test_what_a_script_writes_of_its_runs_runs_nothing_here(stage, field):
    """A file that it wrote, and names as part of its run, does not run on the host."""
    file = str(stage.folder / "theirs.py")
    named = {"motion": {"motion": {"model": file}}, "topology": {"topology": file, "own": None}}[field]
    error = stage.play(PAIR + FORGED.format(theirs=THEIRS, named=named)).error
    assert isinstance(error, Failure) and "is a program that a file from somebody else names" in str(error)
    assert (stage.folder / "theirs.py").exists() and not (stage.folder / "ran").exists()


def test_a_model_of_ones_own_moves_a_scripts_network(stage):
    """The model runs in the lane. The run has the resulting motion, so its reader does not need the file."""
    wander = Path(__file__).parents[1] / "plugins/mobility/wander.py"
    (stage.place / "wander.py").write_text(wander.read_text())
    model = "Net(motion=__file__.replace('mine.py', 'wander.py') + ',step=3', "
    found = stage.play(PAIR.replace("Net(", model) + "with net:\n    net.start()\n    net.run(2)\n")
    assert found.error is None
    (run,) = tasks_again(result.read(stage.folder / "result.json"), stage.folder)
    assert len(run.specification.network.own.motion["a"]) > 2
    assert replay(stage.folder).differences == []


def test_a_program_that_is_not_there_is_said(stage):
    """Once for each program, even if the shell's message is redirected; with the package that has it."""
    said = (
        "a.cmd('PATH=/none ping -c 1 10.0.0.2'); a.cmd('PATH=/none ping 1; nosuchprogram | cat; echo x: not found'); "
        "a.cmd('cd / && nosuchone >/dev/null 2>&1; echo >/dev/null'); "
        "a.cmd('export A=1 2>/dev/null; cat /proc/1/comm >/dev/null')"
    )
    found = stage.play(f"{PAIR}with net:\n    net.start()\n    {said}\n")
    assert found.error is None
    assert stage.lines == [
        "*** a: there is no ping on this machine: install the package iputils-ping",
        "*** a: there is no nosuchprogram on this machine: install the package nosuchprogram",
        "*** a: there is no nosuchone on this machine: install the package nosuchone",
    ]
