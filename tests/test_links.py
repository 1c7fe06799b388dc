# SPDX-License-Identifier: BSD-3-Clause
"""Measured links: their files, and the resulting powers."""

from __future__ import annotations

import gzip
import json
import math
from itertools import pairwise
from pathlib import Path

import pytest

import experiments
from emulation.lane.errors import Misuse
from emulation.plan import link_table, plan
from emulation.plan.error_rates import FIRST_MDB, bit_error_rate
from emulation.specification import Specification, flatten, specify, unflatten
from emulation.specification.per import PerTable
from experiments import testbed_windows
from topologies import links, testbed

THREE = "# at night\nto, from, dbm\n\nsta2,sta1,-70\nsta1,sta2,-71.5\nsta3,sta2,-80\nsta2,sta3,-80\n"


def written(folder: Path, text: str) -> str:
    (folder / "links.csv").write_text(text)
    return str(folder / "links.csv")


def powers(file: str, **options: object) -> list[list[int | None]]:
    table = {"model": "table", "file": file, **{name: options.pop(name) for name in ("frame",) if name in options}}
    found: list[list[int | None]] = plan(
        specify("string", {"stations": 3, "propagation": table, "reception": "sinr", "unreachable": True, **options})
    )["air"]["power_mdbm"]
    return found


def test_powers_are_those_of_the_file_by_name_and_direction(tmp_path: Path) -> None:
    expected = [[None, -70000, None], [-71500, None, -80000], [None, -80000, None]]
    assert powers(written(tmp_path, THREE)) == expected
    (tmp_path / "links.csv.gz").write_bytes(gzip.compress(THREE.encode()))
    assert powers(str(tmp_path / "links.csv.gz")) == expected


def test_an_snr_is_over_the_noise(tmp_path: Path) -> None:
    file = written(tmp_path, "from,to,snr\nsta1,sta2,20\n")
    assert powers(file)[0][1] == -74000
    assert powers(file, noise_dbm=-90)[0][1] == -70000


@pytest.mark.parametrize(("snr", "basic", "near"), [(-5.2, 1.0, True), (-5.6, 1.0, False), (-0.9, 2.0, True),
                                                   (-1.3, 2.0, False)])  # fmt: skip
def test_neighbours_receive_half_of_the_short_frames(tmp_path: Path, snr: float, basic: float, near: bool) -> None:
    """In both directions: who is only sensed is none, and its answer at a start would be waited for in vain."""
    table = {"model": "table", "cca_dbm": -105.0, "file": written(
        tmp_path, f"from,to,snr\nsta1,sta2,{snr}\nsta2,sta1,20\nsta2,sta3,20\nsta3,sta2,20\n")}  # fmt: skip
    options = {"stations": 3, "propagation": table, "reception": "sinr", "noise_dbm": -94, "basic_rates": [basic]}
    made = plan(specify("string", {**options, "routing": "aodv", "unreachable": True}))
    assert [len(node["interfaces"][0]["neighbours"]) for node in made["nodes"]] == [near, 1 + near, 1]


@pytest.mark.parametrize("rate", [2.0, 5.5, 11.0])
@pytest.mark.parametrize("ratio", [0.02, 0.5, 0.9])
@pytest.mark.parametrize("frame", [134, 1536])
def test_a_delivery_ratio_is_what_the_air_makes_of_its_power(
    tmp_path: Path, rate: float, ratio: float, frame: int
) -> None:
    file = written(tmp_path, f"from,to,rate,delivery\nsta1,sta2,{rate:g},{ratio:g}\n")
    power = powers(file, frame=frame)[0][1]
    assert power is not None
    survives = (1 - float(bit_error_rate(round(rate * 10), power / 1000 + 94))) ** (8 * frame)
    assert survives == pytest.approx(ratio, abs=0.03)  # between two points of the table


def test_of_several_ratios_the_one_nearest_to_a_half_counts() -> None:
    half = link_table.sinr_of([(0.6, 11.0)], 1536)
    assert link_table.sinr_of([(1.0, 2.0), (0.6, 11.0), (0.0, 54.0)], 1536) == half
    assert link_table.sinr_of([(0.0, 2.0)], 1536) == -math.inf
    without_errors = PerTable(0.0, ((0.0,) * 12,))
    assert link_table.sinr_of([(0.5, 2.0)], 1536, per=without_errors) == FIRST_MDB / 1000
    assert link_table.sinr_of([(1.0, 2.0)], 1536) == link_table.sinr_of([(0.9999, 2.0)], 1536)
    assert link_table.sinr_of([(1.0, 11.0)], 1536) > link_table.sinr_of([(1.0, 2.0)], 1536)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the columns are from,to,dbm or"),
        ("from,to\na,b", "line 1: the columns are"),
        ("from,to,delivery\na,b,1", "line 1: the columns are"),
        ("from,to,dbm,rate\na,b,1,2", "line 1: the columns are"),
        ("from,to,dbm\na,b", "line 2: 2 fields, but there are 3 columns"),
        ("from,to,dbm\n#\na,b,loud", "line 3: 'loud' is not a number"),
        ("from,to,dbm\na,b,nan", "line 2: nan is not between"),
        ("from,to,dbm\na,b,50", "line 2: dbm: 50 is not between -200 and 40"),
        ("from,to,rate,delivery\na,b,2,50", "line 2: delivery: 50 is not between 0 and 1"),
        ("from,to,rate,delivery\na,b,3,1", "line 2: rate: a delivery ratio must be for one of 1, 2, 5.5"),
        ("from,to,dbm\na,a,-50", "line 2: from a to itself"),
        ("from,to,dbm\na,,-50", "line 2: '' is not a name of a station"),
        ("from,to,dbm\na,b,-50\nb,a,-50\na,b,-51", "line 4: from a to b is already set"),
        ("from,to,dbm\n", "links join 2 to 1000 stations, not 0"),
        ("from,to,dbm\n" + "".join(f"a,b{n},1\n" for n in range(1000)), "not 1001"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_by_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        links.read(written(tmp_path, text))


def test_a_file_without_end_is_refused(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "links.csv.gz", "wb", compresslevel=1) as file:
        file.write(b"from,to,dbm\n" + b" " * links.MOST_BYTES)
    with pytest.raises(ValueError, match="at most 8,000,000 bytes"):
        links.read(str(tmp_path / "links.csv.gz"))
    with pytest.raises(ValueError, match="there is no file"):
        links.read(str(tmp_path / "gone.csv"))


def test_links_of_strangers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"links\.csv has links of sta3; there is no such station"):
        plan(specify("string", {"stations": 2, "propagation": f"table,file={written(tmp_path, THREE)}"}))
    with pytest.raises(ValueError, match="has no distances"):
        specify("string", {"propagation": f"table,file={written(tmp_path, THREE)}", "ranges": {"transmission_m": 250}})


def test_a_specification_keeps_what_was_read(tmp_path: Path) -> None:
    """So a run folder replays without the file."""
    file = written(tmp_path, THREE)
    for made in (
        specify("string", {"stations": 3, "propagation": f"table,file={file}"}),
        specify("testbed", {"links": file, "flow": "sta1-sta2-sta3"}),
    ):
        before = plan(made)
        text, flat = json.dumps(made.model_dump(mode="json")), flatten(made)
        Path(file).unlink()
        assert plan(Specification.model_validate(json.loads(text))) == plan(unflatten(flat)) == before
        written(tmp_path, THREE)


@pytest.mark.slow
def test_the_testbed_has_the_seeds_flows_over_its_hops() -> None:
    """Each hop carries 5.5 Mb/s both ways, and no flow has a shorter path over usable links."""
    places, drawn = testbed.drawn(3.8, 6.0, 1.5, 1)
    snr = {(a, b): dbm + 94 for a, b, dbm, _ in drawn.rows}
    assert len(places) == 32 and len(snr) == 32 * 31
    for flow in testbed.FLOWS:
        path = [f"r{name}" for name in flow.split("-")]
        for a, b in pairwise(path):
            assert min(snr[a, b], snr[b, a]) > 3.99
    near = {a: {b for b in places if b != a and min(snr[a, b], snr[b, a]) > -2.49} for a in places}
    for flow, hops in (("28-34", 2), ("37-2", 2), ("5-23", 2), ("1-25", 3), ("37-23", 3), ("1-22", 3), ("1-30", 3)):
        start, end = (f"r{name}" for name in flow.split("-"))
        reached = {start}
        for _ in range(hops - 1):
            reached |= {b for a in reached for b in near[a]}
        assert end not in reached, flow
    apart = [abs(snr[a, b] - snr[b, a]) for a, b in snr]
    assert 1 < sum(apart) / len(apart) < 2.5  # 1.5 dB a direction: a mean of 1.7
    assert testbed.drawn(3.8, 6.0, 1.5, 2)[1] != drawn


def test_a_flow_of_the_testbed_is_a_path_of_its_routers() -> None:
    planned = plan(specify("testbed", {"flow": "1-23-16-13-22", "routes": "flow"}))
    hops = {node["name"]: [route["metric"] for route in node["routing"]["routes"]] for node in planned["nodes"]}
    assert {name: metrics for name, metrics in hops.items() if metrics} == {
        "r1": [4], "r23": [3], "r16": [2, 2], "r13": [3], "r22": [4],
    }  # fmt: skip
    assert planned["air"]["short_retry"] == planned["air"]["long_retry"] == 11
    for flow, said in (
        ("1", "not a path of routers"),
        ("1-1", "not a path"),
        ("1-40", "no router r?40"),
        ("1--2", "not a path"),
    ):
        with pytest.raises(ValueError, match=said):
            specify("testbed", {"flow": flow})


def test_links_without_chance_have_not_the_seeds_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testbed, "DRAWS", 2)
    with pytest.raises(ValueError, match="none of 2 draws has the paper's flows"):
        testbed.drawn(4.0, 0.0, 0.0, 1)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("sta1:sta9", "there is no node sta9"),
        ("sta1", "two nodes or more"),
        ("sta1:sta2:sta1", "each of them once"),
        ("sta1:sta3", "hop 1, counted from an end, has no link"),
        ("sta1:sta2:sta3;sta2:sta1", None),
    ],
)
def test_a_path_of_ones_own_is_checked(path: str, said: str | None) -> None:
    made = specify("string", {"stations": 3, "routing": f"static,path={path}"})
    if said is None:
        assert plan(made) == plan(specify("string", {"stations": 3}))
        return
    with pytest.raises(Misuse, match=said):
        plan(made)


def test_two_paths_do_not_part_on_their_way_to_one_node() -> None:
    """On a square whose diagonal is a link, too."""
    square = {"size": "2x2", "flows": 0, "spacing": 100}
    with pytest.raises(Misuse, match="two paths to one node diverge"):
        plan(specify("mesh", {**square, "routing": "static,path=sta1:sta2:sta4;sta2:sta3:sta4"}))


def test_the_study_has_the_testbeds_flows() -> None:
    flows = [flow for flows in testbed_windows.FLOWS.values() for flow in flows]
    assert tuple(flows) == testbed.FLOWS
    assert all(len(flow.split("-")) == hops + 1 for hops, of in testbed_windows.FLOWS.items() for flow in of)
    assert len(experiments.find("testbed-windows").cases) == 14 * 3 * 2
