# SPDX-License-Identifier: BSD-3-Clause
"""The prompt, as a user sees it: verbs in, lines out."""

import re


def session(bench, *typed):
    """What a session printed after its greeting."""
    bench.answers = iter(typed)
    bench.plan(stations=3)
    assert bench.run("shell").status == 0
    assert bench.lines[0] == "A network of 3 nodes. Type help for the verbs, exit to leave."
    return bench.lines[1:]


def test_what_there_is(bench):
    lines = session(bench, "nodes", "net", "intfs", "links")
    assert lines[0] == "stations: sta1 sta2 sta3"
    assert lines[2] == "sta2 sta2-wlan0: adhoc dcflab, 2412 MHz; hears sta1 sta3"
    assert lines[4] == "sta1: lo,sta1-wlan0"
    assert [line.rpartition(" -60")[0] for line in lines[7:]] == [
        "sta2 -> sta1", "sta1 -> sta2", "sta3 -> sta2", "sta2 -> sta3"
    ]  # fmt: skip


def test_ping(bench):
    lines = session(bench, "pingall", "sta1 ping -c 2 sta3", "exit", "never typed")
    assert lines[3] == "*** Results: 0% dropped (6/6 received)"
    assert lines[4] == "PING 10.0.0.3 56 bytes of data, 2 times"
    assert re.match(r"64 bytes from 10\.0\.0\.3: icmp_seq=2 ttl=63 time=\d+\.\d+ ms", lines[6])
    assert lines[7] == "2 packets transmitted, 2 received, 0% packet loss"


def test_programs_in_stations_and_names_for_addresses(bench):
    assert session(bench, "sta2 echo sta1 and sta3 &", "sta2 echo sta3", "sh echo hi")[-2:] == ["10.0.0.3", "hi"]


def test_the_clock_stands_while_the_prompt_waits(bench):
    """Between two prompts no virtual time passes, but what `wait` asks for does."""
    lines = session(bench, "py import time; t = time.monotonic()", "py time.monotonic() - t < 1e-3", "time wait 60")
    assert lines[0] == "True"
    assert re.fullmatch(r"\*\*\* Elapsed time: 60\.000\d+ s", lines[-1])


def test_iperf(bench):
    (line,) = session(bench, "iperf sta1 sta2 2")
    rate = int(re.fullmatch(r"\*\*\* Results: (\d+) kb/s from sta1 to sta2 over 2 s", line)[1])
    assert 1000 < rate < 2000


def test_mistakes_are_answered(bench):
    lines = session(bench, "", "bogus", "py 1/0", "wait long", "iperf sta1 sta9", "sta1 no-such-program")
    assert lines[0] == "*** no verb and no node: bogus (there are: sta1, sta2, sta3)"
    assert lines[1] == "ZeroDivisionError: division by zero"
    assert lines[2] == "*** wait: how many seconds?"
    assert lines[3] == "*** iperf: between which two of sta1, sta2, sta3?"
    assert lines[4].endswith("no-such-program: not found")


def test_the_network_survives_every_mistake(bench):
    """And answers the next verb."""
    typed = ["iperf sta1 sta2 soon", "iperf sta1 sta2 -1", "wait nan", "wait 1e9", "iperf x", "py raise SystemError()",
             "sta1 ping -c 1 -s 90000 sta2", "time", "time bogus", "help bogus", "wait -1", "\0"]  # fmt: skip
    lines = session(bench, *(word for mistake in typed for word in (mistake, "nodes")))
    assert lines.count("stations: sta1 sta2 sta3") == len(typed)
    assert lines[0] == lines[2] == "*** iperf: for how many seconds?"
