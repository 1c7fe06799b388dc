# SPDX-License-Identifier: BSD-3-Clause
"""Another medium for a lane: what it is told, what it cannot do, and that nothing is said of what nobody counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from analysis.tables.table import number, value
from emulation.cli.main import cli
from emulation.features.wmediumd.inside.configuration import parse
from emulation.features.wmediumd.inside.medium import Medium
from emulation.lane.errors import Misuse
from emulation.lane.per_tables import parse as parse_table
from emulation.plan import plan
from emulation.play.session import check_programs
from emulation.specification import specify
from emulation.specification.per import PerTable


def planned(**options: Any) -> dict[str, Any]:
    return plan(specify("string", {"stations": 3, "spacing": 200.0, "medium": "wmediumd-compat", **options}))


def test_our_air_is_the_medium_and_plans_are_as_ever() -> None:
    assert "medium" not in planned(medium="dcf80211")


def test_wmediumd_is_told_the_airs_powers_in_its_own_grammar() -> None:
    made = planned()
    found = parse(made["medium"]["config"])
    assert not found.warnings
    assert [one.address.hex(":") for one in found.stations.all] == [f"02:00:00:00:00:0{n}" for n in (1, 2, 3)]
    snrs = [[found.stations.link_snr(a, b) for b in found.stations.all if b is not a] for a in found.stations.all]
    powers = [[p and round(p / 1000 + 91) for p in row] for row in made["air"]["power_mdbm"]]
    assert snrs == [[p for p in row if p is not None] for row in powers]
    assert made["medium"]["program"] is None and made["medium"]["table"] is None
    assert planned(medium="wmediumd", wmediumd="mine")["medium"]["program"] == "mine"


def test_what_does_not_arrive_has_no_snr_to_speak_of() -> None:
    found = parse(planned(propagation={"model": "disc"})["medium"]["config"])
    assert found.stations.link_snr(found.stations.all[0], found.stations.all[2]) == -100


def test_tables_and_fading_are_told() -> None:
    per = PerTable(1.0, ((1.0,) * 12, (0.25,) * 12))
    made = planned(reception="sinr", per=per, fading={"model": "lognormal", "sigma": 3})["medium"]
    assert parse(made["config"]).stations.fading_db == 3
    table = parse_table(made["table"])
    assert (table.first_dbm, table.rows) == (-90, per.rows)


def test_nobody_keeps_a_trace() -> None:
    made = planned()
    assert not made["air"]["trace"] and "air_trace" not in [each["kind"] for each in made["recorders"]]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"motion": "line,node=sta1,speed=1"}, "leave out motion"),
        ({"fading": "rayleigh"}, "wmediumd has no rayleigh fading"),
        ({"fading": "lognormal,coherence_ms=20"}, "leave out coherence_ms"),
    ],
)
def test_what_wmediumd_cannot_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(Misuse, match=said):
        planned(**options)


def test_a_program_that_is_not_there_is_said() -> None:
    done = CliRunner().invoke(cli, ["run", "string", "--medium", "wmediumd", "--wmediumd", "nosuchmediumd"])
    assert done.exit_code != 0 and "there is no program nosuchmediumd" in str(done.exception)
    check_programs(planned())


PUBLISHED = """#!/bin/sh
while [ "$1" != -l ]; do shift; done
[ "$2" -ge 5 ] && echo "REGISTER SENT!"
head -c 1000000 /dev/zero
"""


def test_the_program_may_print_what_it_likes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """wmediumd prints that it is ready at level 5 and above. What it prints afterwards does not stop it."""
    program = tmp_path / "published"
    program.write_text(PUBLISHED)
    program.chmod(0o755)
    monkeypatch.setenv("DCFLAB_RUN", str(tmp_path))
    medium = Medium()
    medium.configure(planned(medium="wmediumd", wmediumd=str(program)))
    assert medium.process and medium.process.wait(60) == 0
    medium.close()


def test_what_nobody_counted_is_not_reported_as_none() -> None:
    class Uncounted:
        counted = False
        queue_drops, goodput_kbps = 0, 12.0

    run: Any = Uncounted()
    assert number(value(run, "queue_drops")) == "-" and number(value(run, "goodput_kbps")) == "12"
    run.counted = True
    assert number(value(run, "queue_drops")) == "0"
