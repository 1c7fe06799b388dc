# SPDX-License-Identifier: BSD-3-Clause
"""The prompt as a user sees it: commands in, lines out."""

import functools
import json
import os
import re
import signal
from pathlib import Path

import pytest
from command_line import assert_answered_with_help, assert_refused, obeyed

from analysis.results import flow_series
from analysis.results.result import from_lane
from analysis.taps import compare, phy
from analysis.traces import pcapng, trace
from emulation.lanes import LaneError, Reason
from emulation.specification import specify
from traffic import tcp

NETWORK = "from emulation.net import Net\nwith Net.of({asked!r}) as net:\n    net.start()\n"


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ("shell ring", "there is no topology 'ring'; there are: mesh, mobile, random, route-break, string"),
        ("shell string --stations 0", "stations"),
        ("shell string --colour red", "--colour"),
    ],
)
def test_misuse_is_refused(here: Path, arguments: str, culprit: str) -> None:
    assert_refused(obeyed(here, *arguments.split()), culprit)
    assert list(here.iterdir()) == []


def test_nothing_said_is_answered_with_help(here: Path) -> None:
    assert_answered_with_help(obeyed(here, "shell"))


def session(bench, *typed, **options):
    """Return the output of a session after its greeting."""
    asked = specify("string", {"stations": 3, **options}).model_dump_json()
    bench.answers = iter(typed)
    assert bench.prompt(NETWORK.format(asked=asked)).status == 0
    assert bench.lines[0] == "A network of 3 nodes. Type help for the commands, exit to leave."
    return bench.lines[1:]


def told_to_end():
    """A listener that types nothing more."""
    os.kill(os.getpid(), signal.SIGTERM)
    yield ""


def test_stations_move_while_the_prompt_waits(bench):
    """As in a run, until a command moves them."""
    where = "py tuple(map(round, net['sta3'].position))"
    typed = [where, "wait 20", where, "links", "move sta3 400,50", "wait 100", where]
    start, later, *between, end = session(bench, *typed, motion="line,node=sta3,speed=5", seconds=30)
    assert (start, later, end) == ("(400, 0, 0)", "(500, 0, 0)", "(400, 50, 0)")
    assert {line[:12] for line in between if "->" in line} == {"sta1 -> sta2", "sta2 -> sta1"}


def test_what_ends_a_program_ends_the_prompt(bench):
    """But Ctrl-C ends only a command."""
    bench.answers = told_to_end()
    with pytest.raises(LaneError) as caught:
        bench.prompt(NETWORK.format(asked=specify("string", {"stations": 2}).model_dump_json()))
    assert caught.value.reason is Reason.INTERRUPTED


def press(bench, *lines):
    """Press Ctrl-C the first time that each of these lines is printed, while the host handles it."""

    def at(line):
        bench.at.pop(line)
        os.kill(os.getpid(), signal.SIGINT)

    bench.at = {line: functools.partial(at, line) for line in lines}


DEAF = "sta1 trap '' INT; echo deaf; while :; do sleep 1; done"
VERB = "py import time; print('verb', flush=True); any(time.sleep(1) for _ in iter(int, 1))"


@pytest.mark.parametrize(("command", "said"), [("sta1 yes", "y"), (DEAF, "deaf"), (VERB, "verb")])
def test_ctrl_c_ends_what_runs_and_nothing_else(command, said, bench):
    """Background programs and the network continue; all output precedes the next line."""
    press(bench, said)
    lines = session(bench, "sta2 sleep 1000 &", command, "sh pgrep -fxc 'sleep 1000'", "sta1 ping -c 1 sta3")
    assert bench.at == {} and lines.index("interrupted") == lines.index("1") - 1
    assert lines[-2] == "1 packets transmitted, 1 received, 0% packet loss"


def test_ctrl_c_leaves_programs_that_a_network_needs(bench):
    asked = specify("wlan", {"stations": 1, "security": "wpa2", "passphrase": "correct horse"}).model_dump_json()
    press(bench, "y")
    bench.answers = iter(["sta1 yes", "wait 5", "sta1 ping -c 1 ap1", "clients"])
    assert bench.prompt(NETWORK.format(asked=asked)).status == 0
    assert bench.at == {} and "1 packets transmitted, 1 received, 0% packet loss" in bench.lines
    assert bench.lines[-1] == "ap1: sta1"


def test_ctrl_c_in_a_prompt_of_mininets(bench):
    """It ends a node's program, but not its shell."""
    text = """
        from mininet.cli import CLI
        from mininet.net import Mininet
        from mininet.topo import SingleSwitchTopo
        net = Mininet(SingleSwitchTopo(2))
        net.start()
        CLI(net)
        net.stop()
    """
    press(bench, "y")
    bench.answers = iter(["h1 mine=still", "h1 yes", "h1 echo $mine here"])
    bench.script(text)
    assert bench.at == {} and bench.lines[-1] == "still here"


def test_what_there_is(bench):
    lines = session(bench, "nodes", "net", "intfs", "links")
    assert lines[0] == "stations: sta1 sta2 sta3"
    assert lines[2] == "sta2 sta2-wlan0: adhoc dcflab, 2412 MHz; hears sta1 sta3"
    assert lines[4] == "sta1: lo,sta1-wlan0"
    assert [line.rpartition(" -60")[0] for line in lines[7:]] == [
        "sta2 -> sta1", "sta1 -> sta2", "sta3 -> sta2", "sta2 -> sta3"
    ]  # fmt: skip


@pytest.mark.quick
def test_ping(bench):
    lines = session(bench, "pingall", "sta1 ping -c 2 sta3", "exit", "never typed")
    assert lines[3] == "*** Results: 0% dropped (6/6 received)"
    assert lines[4] == "PING 10.0.0.3 56 bytes of data, 2 times"
    assert re.match(r"64 bytes from 10\.0\.0\.3: icmp_seq=2 ttl=63 time=\d+\.\d+ ms", lines[6])
    assert lines[7] == "2 packets transmitted, 2 received, 0% packet loss"


def test_programs_in_stations_and_names_for_addresses(bench):
    assert session(bench, "sta2 echo sta1 and sta3 &", "sta2 echo sta3", "sh echo hi")[-2:] == ["10.0.0.3", "hi"]


def test_the_clock_stands_while_the_prompt_waits(bench):
    """Between two prompts no virtual time passes, except in `wait`."""
    lines = session(bench, "py import time; t = time.monotonic()", "py time.monotonic() - t < 1e-3", "time wait 60")
    assert lines[0] == "True"
    assert re.fullmatch(r"\*\*\* Elapsed time: 60\.000\d+ s", lines[-1])


def test_iperf(bench):
    (line,) = session(bench, "iperf sta1 sta2 2")
    rate = int(re.fullmatch(r"\*\*\* Results: (\d+) kb/s from sta1 to sta2 over 2 s, reno", line)[1])
    assert 1000 < rate < 2000


def test_flows_of_any_kinds_side_by_side(bench):
    """Each has its line, its place in the session and its samples. Start and stop count from now."""
    lines = session(bench, "wait 2", "flow 3 sta1 sta3 voice,codec=g729,start_s=1,stop_s=2 sta3 sta1 web,think_s=0.1",
                    "flow soon sta1 sta3 voice", "flow 3", "flow 1 sta1 sta3", "flow 1 sta1 sta9 udp",
                    "flow 1 sta1 sta1 udp", "flow 1 sta1 sta3 ftp", "flow 1 sta1 sta3 voice,codec=g728")  # fmt: skip
    told = re.fullmatch(
        r".* flow1, voice from sta1 to sta3: (\d+) kb/s; \d+ of 50 datagrams; delay .* ms; MOS .*", lines[0]
    )
    assert re.fullmatch(
        r".* flow2, web from sta3 to sta1: \d+ kb/s; \d+ of \d+ transactions; .* s, 95 % .* s", lines[1]
    )
    nobody = "*** there is no node sta9; there are: sta1, sta2, sta3"
    how = "*** flow: give the seconds, and then for each flow: A B KIND[,NAME=VALUE...]"
    assert lines[2:6] == ["*** flow: give the seconds: above 0, at most 100,000; not soon", how, how, nobody]
    assert lines[6:8] == ["*** flow: sta1 is both source and destination; name two different nodes", NO_FTP]
    assert lines[8] == "*** flow sta1 -> sta3: codec: must be 'g711' or 'g729', not 'g728'"
    where = bench.folder / "session1-1"
    plan, lane = (json.loads((where / f"{name}.json").read_text()) for name in ("plan", "lane"))
    voice, web = from_lane(plan, lane, wall_s=1).flows
    assert voice.datagrams.sent == 50 and voice.goodput_kbps == pytest.approx(32 * voice.datagrams.arrived * 8 / 1000)
    assert int(told[1]) == round(voice.goodput_kbps)  # over its second
    assert web.transactions.completed > 3
    assert flow_series.read(where / "flows.csv")["flow1"]["time_s"].tolist() == pytest.approx([4], abs=0.1)


NO_FTP = "*** there is no application 'ftp'; there are: bulk, iperf3, request, udp, voice, web"


def test_mistakes_are_answered(bench):
    lines = session(bench, "", "bogus", "py 1/0", "wait long", "iperf sta1 sta9", "sta1 no-such-program")
    assert lines[0] == "*** neither a command nor a node: bogus (nodes: sta1, sta2, sta3; help lists the commands)"
    assert lines[1] == "ZeroDivisionError: division by zero"
    assert lines[2] == "*** wait: give the seconds: above 0, at most 100,000; not long"
    assert lines[3] == "*** iperf: between which two of sta1, sta2, sta3?"
    assert lines[4].endswith("no-such-program: not found")


def test_the_network_survives_every_mistake(bench):
    """The next command works."""
    typed = ["iperf sta1 sta2 soon", "iperf sta1 sta2 -1", "wait nan", "wait 1e9", "iperf x", "py raise SystemError()",
             "sta1 ping -c 1 -s 90000 sta2", "time", "time bogus", "help bogus", "wait -1", "\0",
             "py raise SystemExit", "power sta1 loud", "power sta9 1", "move sta1", "move sta1 here", "rts often",
             "retry", "thresholds sta1 -90 -80",
             "move sta1 9,9 fast", "rts", "rts sta1 sometimes", "counters sta9", "capture", "capture ../x",
             "routes sta9", "py net.run(1)", "py net.stop"]  # fmt: skip
    lines = session(bench, *(word for mistake in typed for word in (mistake, "nodes")))
    assert lines.count("stations: sta1 sta2 sta3") == len(typed)
    assert lines[0] == "*** iperf: give the seconds: above 0, at most 100,000; not soon"
    assert "*** wait: give the seconds: above 0, at most 100,000; not 1e9" in lines
    assert lines.count("*** move: give X,Y or X,Y,Z, in metres") == 1


def test_iperf_is_of_the_tcp_that_was_asked_for_and_as_often_as_one_likes(bench):
    """Its settings apply at both ends of the flow."""
    lines = session(
        bench, *["iperf sta1 sta3 2"] * 2, "iperf sta2 sta1 1", "sta2 sysctl -n net.ipv4.tcp_sack", tcp="vegas"
    )
    assert [line.rpartition(", ")[2] for line in lines[:3]] == ["vegas"] * 3
    assert tcp.find("vegas").sysctl["net.ipv4.tcp_sack"] == lines[3] == "0"


def test_the_air_says_what_stations_are_doing(bench):
    """When idle, and in the middle of a flow."""
    lines = session(bench, "air", "iperf sta1 sta3 1", "air", "air sta2", "air sta9")
    assert lines[0].split() == ["does", "for,", "us", "holds", "NAV,", "us", "CW", "slots"]
    assert [line.split() for line in lines[1:4]] == [[f"sta{n}", "idle", "-", "0", "-", "31", "-"] for n in (1, 2, 3)]
    busy = {line.split()[0]: line.split()[1:] for line in lines[6:9]}
    (sender,) = (name for name, (does, *_) in busy.items() if does == "send")
    assert int(busy[sender][2]) > 0 and 0 < float(busy[sender][1]) < 20_000
    assert lines[10].split() == ["sta2", *busy["sta2"]]
    assert lines[11] == "*** there is no node sta9; there are: sta1, sta2, sta3"


def test_things_are_changed_and_seen_at_work(bench):
    lines = session(bench, "rts sta2 full", "rts", "power sta1 5", "power sta1 24", "move sta3 700,0", "links",
                    "move sta3 400,0", "routes sta3", "counters sta9", "move sta3 500,0 20", "wait 2", "links",
                    "wait 1", "links", "switch sta2", "switch sta2 off", "sta1 ip -o link show up", "switch sta2 off",
                    "sta1 ping -c 1 sta2", "switch sta2 on", "wait 1",
                    "sta1 ping -c 1 sta2")  # fmt: skip
    assert lines[:4] == ["sta2: full", "sta1: none", "sta2: full", "sta3: none"]
    assert lines[4:6] == ["sta1 at 0,0,0: heard by nobody", "sta1 at 0,0,0: heard by sta2"]
    assert lines[6] == "sta3 at 700,0,0: heard by nobody"
    assert [line.rpartition(" -")[0] for line in lines[7:9]] == ["sta2 -> sta1", "sta1 -> sta2"]
    assert lines[9] == "sta3 at 400,0,0: heard by sta2"
    assert lines[12].startswith("    10.0.0.1 via 10.0.0.2")
    after = lines.index("*** there is no node sta9; there are: sta1, sta2, sta3") + 1
    assert lines[after] == "sta3 at 400,0,0: heard by sta2"
    assert [len(line.split("->")) for line in lines[after + 1 : after + 7]] == [2] * (4 + 2)  # at 440 m, and at 460 m
    moves = json.loads((bench.folder / "session1-1" / "lane.json").read_text())["moves"]
    assert [(move["node"], move["to"], move["speed"]) for move in moves] == [
        ("sta3", [700.0, 0.0, 0.0], None), ("sta3", [400.0, 0.0, 0.0], None), ("sta3", [500.0, 0.0, 0.0], 20.0)
    ]  # fmt: skip
    assert lines[after + 7] == "*** switch: give a node, and on or off"
    assert [line for line in lines if "packets transmitted" in line] == [
        "1 packets transmitted, 0 received, 100% packet loss", "1 packets transmitted, 1 received, 0% packet loss"
    ]  # fmt: skip


def test_ears_and_patience_are_changed_and_the_taps_follow(bench):
    """Retry limits and thresholds take effect at once; records have them, and counters agree."""
    lines = session(bench, "retry sta2", "iperf sta1 sta3 2", "retry sta2 1", "iperf sta1 sta3 2", "retry sta2 5 3",
                    "thresholds sta3 -85 -95", "iperf sta1 sta3 2", "thresholds sta3 -60", "thresholds sta1 0 1",
                    "retry sta2 0", "retry sta1 a", "net", rts="partial")  # fmt: skip
    assert lines[0] == "sta2: short_retry 7, long_retry 4" and lines[2] == "sta2: short_retry 1, long_retry 4"
    assert lines[4:6] == ["sta2: short_retry 5, long_retry 3", "sta3: receive_dbm -85, sense_dbm -95"]
    assert lines[7] == "sta3: receive_dbm -60, sense_dbm -95"
    assert lines[8].startswith("*** sta1: thresholds of 0 dBm to receive, 1 dBm to sense")
    assert lines[9:11] == ["*** sta2: short_retry: must be at least 1, not 0",
                           "*** retry: NODE, and at most two numbers: short_retry, long_retry"]  # fmt: skip
    assert [line.rpartition("hears ")[2] for line in lines[11:]] == ["sta2", "sta1 sta3", "nobody"]
    where = bench.folder / "session1-1"
    plan, lane = (json.loads((where / f"{name}.json").read_text()) for name in ("plan", "lane"))
    assert next(change["own"] for change in lane["changes"] if "own" in change) == {"short_retry": 1}
    pcapng.write(trace.read(where / "air.trace"), phy.radios(plan), where)
    found = compare.counters(where / pcapng.AIR, plan, lane["changes"])
    module = [station["counters"] for station in lane["air"]["stations"]]
    assert compare.differences(found, module) == []
    assert any(reason.endswith("_LIMIT") for ends in module[1]["end"].values() for reason in ends)


def test_what_happened_is_kept_as_a_run_is(bench):
    """The trace is readable meanwhile, and a folder is writable."""
    lines = session(
        bench, "iperf sta1 sta3 2", "capture now.pcapng", "wait 5", "counters sta1", "sh echo mine > note; ls"
    )
    assert lines[-1].split() == ["console.log", "note", "script.py", "session1-1"]
    where = bench.folder / "session1-1"
    plan, lane = (json.loads((where / f"{name}.json").read_text()) for name in ("plan", "lane"))
    run = from_lane(plan, lane, wall_s=1)
    assert 7 < run.air_s < 7.01 and [flow.source for flow in run.flows] == ["sta1"]
    assert int(lines[2].split()[1]) == sum(run.stations[0].counters["tx"].values())
    assert run.flows[0].goodput_segments > 50 and (where / "air.trace").stat().st_size > 100_000


def test_a_session_in_which_no_time_passed_leaves_nothing(bench):
    session(bench, "nodes")
    assert not list(bench.folder.glob("session*"))


def test_iw_finds_a_radio_by_the_name_that_it_prints(bench):
    lines = session(bench, "sta2 iw phy | head -1", "sta2 iw phy sta2-wlan0 info | head -1")
    assert lines == ["Wiphy sta2-wlan0"] * 2


def test_help_describes_each_command_with_an_example(bench):
    lines = session(bench, "help", "help iperf", "help sta1")
    assert any(line.startswith("    iperf [A B [SECONDS]]") for line in lines)
    assert "    iperf sta1 sta3 20" in lines
    listed = lines[: next(number for number, line in enumerate(lines) if line.startswith("    help COMMAND"))]
    assert all(line.endswith((".", "]")) for line in listed[1:])  # a whole sentence, or a usage with one below
    assert lines[-3:] == ["    sta1 ping -c 2 sta3", "    sta2 ip route", "    sta3 iperf3 -s &"]
    assert bench.words["rts"] == ["sta1", "sta2", "sta3", "full", "partial", "none"]
    assert {"iperf", "sta3", "help"} <= set(bench.words[""])


def test_a_script_has_prompts_too(bench):
    """At CLI(), and under `shell` before its network stops, however it ends."""
    text = """
        from emulation.net import CLI, Net
        net = Net()
        a, b = net.addStation("a"), net.addStation("b", position="100,0,0")
        net.start()
        {}
    """
    bench.answers = iter(["nodes", "exit", "nodes"])
    bench.script(text.format("CLI(net); print('on'); net.stop()"))
    assert bench.lines[1:] == ["stations: a b", "on"]
    bench.answers = iter(["nodes"])
    assert bench.prompt(text.format("print('on')"), seed=2).status == 0
    assert bench.lines == ["on", "A network of 2 nodes. Type help for the commands, exit to leave.", "stations: a b"]
