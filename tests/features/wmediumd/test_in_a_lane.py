# SPDX-License-Identifier: BSD-3-Clause
"""mediumd as a program on a running kernel: radios that are there already have it for their medium, and a client of its
control socket changes what arrives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from scapy.layers.dot11 import Dot11
from scapy.layers.inet import ICMP
from scapy.utils import rdpcap

from emulation.lane import guest
from emulation.lanes import LaneError

LAB = """
    import os, signal, socket, struct, subprocess, sys
    module = os.environ.pop("DCFLAB_AIR")  # the network has no air: mediumd brings one
    from emulation.net import Net
    from emulation.lane.guest import CHECKOUT
    from traffic.ping import ping

    MACS = ["02:00:00:00:00:0a", "02:00:00:00:00:0b"]
    net = Net(rate=54, rate_control="minstrel", seed=3)
    a, b = (net.addStation(f"sta{i + 1}", mac=mac) for i, mac in enumerate(MACS))

    def start(config, *arguments):
        with open("/run/lab.cfg", "w") as file:
            file.write(config)
        config = ["-c", "/run/lab.cfg"] if config else []
        command = [sys.executable, "-P", "-m", "emulation.features.wmediumd.daemon", *config, "-l", "4", *arguments]
        env = {**os.environ, "DCFLAB_AIR": module, "PYTHONPATH": CHECKOUT}
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        assert program.stdout.readline() == "REGISTER SENT!\\n"
        return program

    def end(program):
        program.terminate()
        return program.wait()

    def got(source=a, to="10.0.0.2", count=100, size=1000):
        return sum(rtt is not None for _, _, rtt in ping(source, to, count, 0.02, size, 0.2))

    def ask(client, message, size):
        client.sendall(message)
        return client.recv(size, socket.MSG_WAITALL)

    def connect():
        client = socket.socket(socket.AF_UNIX)
        client.connect("/var/run/wmediumd.sock")
        return client

    def mac(number):
        return bytes.fromhex(MACS[number].replace(":", ""))
    IDS = "ifaces: { ids = [" + ", ".join(f'"{each}"' for each in MACS) + "]; };"
"""


Script = Callable[[str], list[str]]


@pytest.fixture
def script(bench: Any) -> Script:
    """Return a function that runs a script, which begins with the lab, and returns its lines."""
    return lambda text: list(bench.script(LAB + text))


COMPAT = pytest.mark.parametrize("how", ["", '"--wmediumd-compat"'], ids=["air", "compat"])


@pytest.mark.parametrize(
    "how", ["", pytest.param('"--wmediumd-compat"', marks=pytest.mark.quick)], ids=["air", "compat"]
)
def test_a_client_changes_an_snr_and_less_arrives(script: Script, how: str) -> None:
    lines = script(f"""
    with net:
        net.start()
        before = got()
        program = start(IDS, "-s", {how})
        good = got()
        with connect() as client:
            message = b"\\x01" + mac(0) + mac(1) + struct.pack(">i", -10)
            answer = ask(client, message, 19)
            assert answer == b"\\x02" + message + b"\\0", answer
            none = got(count=10)
            ask(client, b"\\x01" + mac(0) + mac(1) + struct.pack(">i", 30), 19)
            again = got()
            client.sendall(b"\\0")
        print(before, good, none, again, program.wait(), os.path.exists("/var/run/wmediumd.sock"))
        print(got())
    """)
    assert lines == ["100 100 0 100 0 False", "100"]


def test_wmediumds_socket_has_room_for_some_frames(script: Script) -> None:
    """hwsim drops the rest of a burst, as with libnl's buffer of 32 KiB."""
    said, arrived = script("""
    with net:
        net.start()
        program = start(IDS, "--wmediumd-compat")
        got(count=1)
        with a:
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with b:
            receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        receiver.bind(("", 5000))
        receiver.settimeout(0.2)
        program.send_signal(signal.SIGSTOP)
        for _ in range(60):
            sender.sendto(bytes(1400), ("10.0.0.2", 5000))
        program.send_signal(signal.SIGCONT)
        arrived = 0
        try:
            while receiver.recv(2000):
                arrived += 1
        except TimeoutError:
            print(arrived)
    """)
    assert said.startswith("mediumd: frames were lost") and int(arrived) == 28


def test_a_radio_is_known_by_the_address_that_it_was_given(script: Script) -> None:
    """hwsim calls it by its own second one, which nobody else can know."""
    assert script("""
    from emulation.lane import interfaces
    from emulation.lane.interfaces import radio
    from emulation.lane.netlink import DUMP, number
    from emulation.lane.rtnetlink import IFLA_ADDRESS, LINK, RTM_SETLINK, Route, build

    def make(self, owner):
        before = {number(i[radio.IFINDEX]) for i in owner.command("nl80211", radio.GET_INTERFACE, flags=DUMP)}
        owner.command("MAC80211_HWSIM", radio.NEW_RADIO, [(radio.DESTROY_ON_CLOSE, b"")])
        made = next(i for i in owner.command("nl80211", radio.GET_INTERFACE, flags=DUMP)
                    if number(i[radio.IFINDEX]) not in before)
        self.wiphy, self.index = number(made[radio.WIPHY]), number(made[radio.IFINDEX])
        with Route() as route:
            route.set_link(self.index, name=self.name)
            mac = bytes.fromhex(self.plan["address"].replace(":", ""))
            route.request(RTM_SETLINK, LINK.pack(0, 0, self.index, 0, 0) + build([(IFLA_ADDRESS, mac)]))
    radio.Interface.make = make
    with net:
        net.start()
        program = start(IDS, "-s")
        print(got(count=1), got(b, "10.0.0.1", count=1))  # by these they are known
        print(a.MAC(), got(), got(b, "10.0.0.1"))
        print(end(program))
    """) == ["0 1", "02:00:00:00:00:0a 100 100", "0"]


def test_the_medium_goes_with_the_program_however_it_ends(script: Script) -> None:
    """And the next one starts where it left its socket."""
    assert script("""
    with net:
        net.start()
        program = start(IDS + 'model: { type = "prob"; default_prob = 1.0; };', "-s")
        print(got(count=3))
        second = subprocess.run([*program.args, "--socket", "/run/other"], env={**os.environ, "DCFLAB_AIR": module,
            "PYTHONPATH": CHECKOUT}, capture_output=True, text=True)
        print(second.returncode, second.stderr.strip())
        program.kill()
        program.wait()
        print(got(count=3), os.path.exists("/var/run/wmediumd.sock"))
        program = start(IDS, "-s")
        print(got(count=3))
        program.send_signal(signal.SIGINT)
        print(program.wait(), os.path.exists("/var/run/wmediumd.sock"))
    """) == ["0", "1 mediumd: the air: set-up: Device or resource busy: there is an air already: one a kernel",
             "3 True", "3", "0 False"]  # fmt: skip


def test_stations_come_and_go_and_move(script: Script) -> None:
    """log_distance with an exponent of 4 and 15 dBm: -81 dBm at 25 m, -105 dBm at 100 m."""
    assert script("""
    with net:
        net.start()
        model = 'type = "path_loss"; positions = ((0.0, 0.0), (25.0, 0.0)); tx_powers = (15.0, 15.0);'
        program = start(IDS + "model: {" + model + 'model_name = "log_distance"; path_loss_exp = 4.0; };', "-s")
        with connect() as client:
            print(got(count=10))
            print(ask(client, b"\\x0d" + mac(1) + struct.pack(">fff", 100, 0, 0), 21)[-1], got(count=10))
            print(ask(client, b"\\x0f" + mac(0) + struct.pack(">i", 35), 13)[-1],
                  ask(client, b"\\x11" + mac(1) + struct.pack(">i", 20), 13)[-1], got(count=10))
            print(ask(client, b"\\x03" + mac(1), 9)[-1], got(count=10))
            print(ask(client, b"\\x07" + mac(1), 13)[-5:].hex(), got(count=10))
        end(program)
    """) == ["10", "0 0", "0 0 10", "0 0", "0000000100 10"]


def test_directions_take_stations_away(script: Script) -> None:
    """1 m/s from 25 m on: at 45 m, 20 s later, -91.3 dBm arrive."""
    assert script("""
    with net:
        net.start()
        model = 'type = "path_loss"; positions = ((0.0, 0.0), (25.0, 0.0)); tx_powers = (15.0, 15.0);'
        model += 'directions = ((0.0, 0.0), (3.0, 0.0));'
        program = start(IDS + "model: {" + model + 'model_name = "log_distance"; path_loss_exp = 4.0; };')
        print(got(count=10))
        import time; time.sleep(20)
        print(got(count=10))
        end(program)
    """) == ["10", "0"]


def test_a_kernel_without_the_module_reports_it(script: Script) -> None:
    lines = script("""
    with open("/run/lab.cfg", "w") as file:
        file.write(IDS)
    env = {**os.environ, "PYTHONPATH": CHECKOUT}
    command = [sys.executable, "-P", "-m", "emulation.features.wmediumd.daemon", "-c", "/run/lab.cfg"]
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    print(done.returncode, done.stderr)
    """)
    assert lines[0].startswith("1 mediumd: this kernel has no module dcf80211: install it by DKMS")


def test_another_medium_carries_a_run(bench: Any) -> None:
    """wmediumd's model as the medium of a plan: hidden stations cost nothing in it; and one seed gives one run."""
    goodput: dict[str, int] = {}
    for medium in ("dcf80211", "wmediumd-compat", "wmediumd-compat"):
        bench.plan(stations=4, rate=11, seconds=2, medium=medium)
        assert bench.run("plan").status == 0
        result = bench.result()
        delivered = result["applications"][0]["delivered_bytes"]
        assert goodput.setdefault(medium, delivered) == delivered
        assert [one["name"] for one in result["air"]["stations"]] == ["sta1", "sta2", "sta3", "sta4"]
        assert result["air"].get("counted", True) == (medium == "dcf80211")
    assert goodput["wmediumd-compat"] > 1.3 * goodput["dcf80211"] > 0


FAKE = """#!/bin/sh
PYTHONPATH={checkout} exec {python} -P -m emulation.features.wmediumd.inside "$@"
"""


def test_a_program_called_wmediumd_is_the_medium(bench: Any) -> None:
    """mediumd is one, as it is a drop-in; and if it ends, so does the run."""
    program = bench.folder / "wmediumd"
    program.write_text(FAKE.format(checkout=guest.CHECKOUT, python=sys.executable))
    program.chmod(0o755)
    bench.plan(stations=2, seconds=1, medium="wmediumd", wmediumd=f"{guest.RUN}/wmediumd")
    assert bench.run("plan").status == 0
    assert bench.result()["applications"][0]["delivered_bytes"] > 100_000
    program.write_text("#!/bin/sh\necho 'no such option: -c' >&2\nexit 3\n")
    with pytest.raises(LaneError, match=r"wmediumd has ended, with status 3\. Its last output: no such option: -c"):
        bench.run("plan")
    program.write_text("#!/bin/sh\necho 'REGISTER SENT!'\necho 'enough' >&2\n")
    with pytest.raises(LaneError, match=r"wmediumd has ended, with status 0\. Its last output: enough"):
        bench.run("plan")


COUNT = """
    def arrived(count, size):
        with a:
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        with b:
            receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            receiver.bind(("", 5000))
            receiver.settimeout(0.05)
        with a, sender, receiver:
            found = 0
            for _ in range(count):
                sender.sendto(bytes(size), ("10.0.0.255", 5000))
                try:
                    found += len(receiver.recv(2000)) == size
                except TimeoutError:
                    pass
            return found
"""


@COMPAT
def test_a_probability_is_that_of_a_frame(script: Script, how: str) -> None:
    """Of 400 to everybody, which have one attempt, of 1500 bytes with all headers; short ones are lost less by our air,
    as they are in fact, and not by wmediumd's model."""
    big, small = map(int, script(COUNT + f"""
    with net:
        net.start()
        program = start(IDS + 'model: {{ type = "prob"; default_prob = 0.3; }};', {how})
        got(count=3)
        print(*(arrived(400, size) for size in (1436, 100)))
        end(program)
    """)[0].split())  # fmt: skip
    assert 240 < big < 320
    assert (370 < small < 400) if not how else 240 < small < 320


@COMPAT
def test_without_a_configuration_all_is_told(script: Script, how: str) -> None:
    """-d: stations, and losses by size and rate."""
    assert script(f"""
    with net:
        net.start()
        program = start("", "-d", {how})
        with connect() as client:
            print([ask(client, b"\\x07" + mac(n), 13)[-5:].hex() for n in (0, 1)], got(count=3))
            for one, other in ((0, 1), (1, 0)):
                print(ask(client, b"\\x0b" + mac(one) + mac(other) + bytes(576), 14)[-1])
            print(got(count=10))
            print(ask(client, b"\\x01" + mac(0) + mac(1) + bytes(4), 19)[-1])
        print(end(program))
    """) == ["['0000000000', '0000000100'] 0", "0", "0", "10", "3", "0"]


@COMPAT
def test_what_is_on_the_air_is_written(bench: Any, script: Script, how: str) -> None:
    """Each ping there and back, and its ACKs, for any reader of pcapng."""
    script(f"""
    with net:
        net.start()
        program = start(IDS, "-p", os.environ["DCFLAB_RUN"] + "/air.pcapng", {how})
        assert got(count=22) == 22
        assert end(program) == 0
    """)
    packets = rdpcap(str(bench.folder / "air.pcapng"))
    pings = [one for one in packets if one.haslayer(ICMP)]
    acks = [one for one in packets if one.haslayer(Dot11) and (one[Dot11].type, one[Dot11].subtype) == (1, 13)]
    assert len(pings) >= 40 and len(acks) >= 40
    assert {one[Dot11].addr2 for one in pings} == {"02:00:00:00:00:0a", "02:00:00:00:00:0b"}
    assert [one.time for one in packets] == sorted(one.time for one in packets)
    assert [one.name for one in bench.folder.iterdir() if one.name.startswith(".air")] == []


@COMPAT
def test_clients_find_their_access_point_under_it(script: Script, how: str) -> None:
    """It is there before the radios are, as Mininet-WiFi starts wmediumd, and WPA2's handshake goes over it."""
    lines = script(f"""
    net = Net(rate=54, rate_control="minstrel", seed=3)
    ap, a, b = (add(name, mac=f"02:00:00:00:0{{n}}:00") for n, (add, name) in enumerate(
        [(net.addAccessPoint, "ap1"), (net.addStation, "sta1"), (net.addStation, "sta2")]))
    net.addLink(ap, a, b, cls="infrastructure", ssid="lab", security="wpa2", passphrase="correct horse")
    MACS = [one.spec.settings["mac"] for one in (ap, a, b)]
    program = start("ifaces: {{ ids = [" + ", ".join(f'"{{each}}"' for each in MACS) + "]; }};", {how})
    with net:
        net.start()
        print(got(a, "10.0.0.3", 10) >= 9)
    print(end(program))
    """)
    assert lines == ["True", "0"]
