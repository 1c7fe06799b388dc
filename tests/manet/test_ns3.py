# SPDX-License-Identifier: BSD-3-Clause
"""Every control packet through ns-3's own parsers: what ns-3 writes again must be the same bytes. DSR is left out, as
ns-3 has a format of its own for it."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from graphs import disc, scatter
from world import World

SOURCE = Path(__file__).with_name("ns3_parse.cc")
MODULES = ("aodv", "dsdv", "olsr", "internet", "network", "core")
PORTS = {"aodv": 654, "dsdv": 269, "olsr": 698}


@pytest.fixture(scope="module")
def parse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not shutil.which("g++") or not Path("/usr/include/ns3/olsr-header.h").exists():
        pytest.skip("ns-3's headers are not installed: libns3-dev")
    program = tmp_path_factory.mktemp("ns3") / "parse"
    libraries = [f"-lns3-{module}" for module in MODULES]
    subprocess.run(["g++", "-std=c++17", "-o", str(program), str(SOURCE), *libraries], check=True)
    return program


@pytest.mark.slow
@pytest.mark.parametrize("protocol", sorted(PORTS))
@pytest.mark.parametrize("preset", ["rfc", "thesis"])
def test_ns3_reads_what_is_sent(parse: Path, protocol: str, preset: str) -> None:
    draw = random.Random(3)
    count, port = 20, PORTS[protocol].to_bytes(2, "big")
    with World(count, protocol, preset) as world:
        pairs = disc(*scatter(count, 5, draw))
        world.links(pairs)
        for second in range(40):
            world.send(*draw.sample(range(count), 2))
            world.links(pair for pair in pairs if second < 20 or draw.random() < 0.9)
            world.run(1)
        sent = [f.bytes[28:].hex() for f in world.frames if f.bytes[9] == 17 and f.bytes[22:24] == port]
    lines = "".join(f"{protocol} {packet}\n" for packet in sent)
    read = subprocess.run([str(parse)], input=lines, check=True, capture_output=True, text=True).stdout.split()
    assert len(sent) > 40 and read == sent
