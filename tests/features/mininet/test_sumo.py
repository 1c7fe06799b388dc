# SPDX-License-Identifier: BSD-3-Clause
"""SUMO moves the cars of a script. A stand-in for the program writes the trace that SUMO would."""

import pytest

from emulation.features.mininet import sumo
from emulation.lane import programs
from emulation.lane.errors import Misuse

SCRIPT = '''
import os
from mn_wifi.net import Mininet_wifi
from mn_wifi.sumo.runner import sumo

with open("sumo", "w") as file:
    file.write("""#!/bin/sh
while [ "$1" != --fcd-output ]; do shift; done
cat > "$2" << END
<fcd-export>
<timestep time="0.00"><vehicle id="1" x="10" y="0"/></timestep>
<timestep time="4.00"><vehicle id="1" x="50" y="0"/><vehicle id="0" x="5" y="7"/></timestep>
<timestep time="8.00"><vehicle id="0" x="45" y="7"/><vehicle id="2" x="0" y="0"/></timestep>
</fcd-export>
END
""")
os.chmod("sumo", 0o755)
open("map.sumocfg", "w").close()
os.environ["PATH"] = f"{os.getcwd()}:{os.environ['PATH']}"  # before a real one
net = Mininet_wifi()
cars = [net.addCar(f"car{number}") for number in (1, 2)]
net.useExternalProgram(program=sumo, port=8813, config_file="map.sumocfg", extra_params=["--start --delay 100"])
net.build()
import time
time.sleep(2)
print([car.position[0] for car in cars])
time.sleep(4)
print([car.position[0] for car in cars])
net.stop()
'''


def test_cars_follow_the_vehicles_with_their_numbers(stage):
    lines = stage.play(SCRIPT)
    said, *positions = lines
    assert said == "*** dcflab: map.sumocfg has 3 vehicles, and the network 2 cars: the first ones move"
    assert [eval(line) for line in positions] == [
        [pytest.approx(5), pytest.approx(30, abs=0.1)], [pytest.approx(25, abs=0.1), pytest.approx(50)],
    ]  # fmt: skip


def test_options_of_the_window_are_left_out():
    assert sumo.options(["--start", "--delay 1000 --seed 5", "-S", "--delay=7"]) == ["--seed", "5"]


def test_names_of_vehicles_are_numbers_or_in_order():
    assert [car for car, _ in sumo.numbered(["4", "0"], {"4": [], "0": []})] == [4, 0]
    assert [car for car, _ in sumo.numbered(["taxi", "0"], {"taxi": [], "0": []})] == [0, 1]


def test_what_is_missing_is_named(monkeypatch):
    with pytest.raises(Misuse, match=r"there is no map\.sumocfg; copy it beside the script"):
        sumo.find("map.sumocfg")
    monkeypatch.setattr(programs, "path_of", lambda name: None)
    with pytest.raises(Misuse, match="install the package sumo"):
        sumo.sumo(None)
