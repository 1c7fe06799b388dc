# SPDX-License-Identifier: BSD-3-Clause
"""Modules with a planted mistake each, and two without one, in the debug kernel: what is found, and no more."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import once
import pytest

from analysis.traces.capture import read
from emulation.features.check import Finding, Name, Report, Stage, build, gdb, moment, subject
from emulation.features.check.corpus import Search
from emulation.features.check.exercise import debug_kernel, exercise, found_already
from emulation.features.check.exercise import read as read_folder
from emulation.features.check.subject import Module, examine, find
from emulation.play import processes
from emulation.setup import Prepared, cache

pytestmark = pytest.mark.lane

HERE, TC_MODULES = Path(__file__).parent, Path(__file__).parents[3] / "tc_modules"
BROKEN = HERE / "broken"
CYCLES, MANY = 30, 200  # with many, leaked pages stand out
FEW_ROUNDS, NO_ROUNDS = Search(4), Search(0)

# folder: what is found first, and in which function
PLANTED = {
    "leak": (Name.LEAK, "hoard_init [tcp_hoard]"),
    "atomic_sleep": (Name.ATOMIC_SLEEP, "diary_set_state [tcp_diary]"),
    "use_after_free": (Name.USE_AFTER_FREE, "peers_cong_avoid [tcp_peers]"),
    "lock_inversion": (Name.LOCK_INVERSION, "reset_set [tcp_ledger]"),
    "division": (Name.DIVISION_BY_ZERO, "ratio_cong_avoid [tcp_ratio]"),
    "refused_unload": (Name.REFUSED_UNLOAD, ""),
    "refused_load": (Name.REFUSED_LOAD, ""),
    "beyond_private": (Name.OUT_OF_BOUNDS, "brim_set_state [tcp_brim]"),
    "late_timer": (Name.USE_AFTER_FREE, "pulse_release [tcp_pulse]"),
    "late_callback": (Name.USE_AFTER_FREE, "heir_bury [tcp_heir]"),
    "forgotten_unlock": (Name.RCU_MISUSE, "ceiling_cong_avoid [tcp_ceiling]"),
    "zero_threshold": (Name.WRONG_WINDOW, "steep_ssthresh [tcp_steep]"),
    "high_threshold": (Name.WRONG_WINDOW, "abrupt_ssthresh [tcp_abrupt]"),
    "no_recovery": (Name.WRONG_WINDOW, ""),
    "lost_packet": (Name.WRONG_COUNT, "newest_enqueue [sch_newest]"),
    "spoilt_peek": (Name.WRONG_COUNT, "pocket_peek [sch_pocket]"),
    "early_free": (Name.RCU_MISUSE, "guests_release [tcp_guests]"),
    "unlocked": (Name.DATA_RACE, "roster_init [tcp_roster]"),
    "last_user": (Name.DATA_RACE, "lodgers_ssthresh [tcp_lodgers]"),
    "hollow": (Name.EMPTY_LOAD, ""),
    "stub": (Name.STALLED_TRAFFIC, ""),
    "untrue": (Name.FAILED_TEST, ""),
    "endless": (Name.HANG, "spiral_enqueue [sch_spiral]"),
    "restless": (Name.HANG, "restless_tick [tcp_restless]"),
}
# Found in the first phases. Their workouts end there; those of the others show that nothing else is found.
EARLY = {"beyond_private", "early_free", "endless", "forgotten_unlock", "high_threshold", "no_recovery", "restless",
         "stub", "unlocked", "untrue"}  # fmt: skip
SILENT = (
    Name.REFUSED_UNLOAD,
    Name.REFUSED_LOAD,
    Name.EMPTY_LOAD,
    Name.STALLED_TRAFFIC,
    Name.FAILED_TEST,
)  # of which the kernel says nothing
# What follows from it, or is planted besides.
BESIDES = {
    "atomic_sleep": {Name.LOCK_MISUSE, Name.WRONG_WINDOW},
    "use_after_free": {Name.DATA_RACE, Name.NULL_POINTER, Name.OOPS},
    "leak": {Name.NULL_POINTER, Name.RCU_MISUSE, Name.WRONG_COUNT},
    "lock_inversion": {Name.WRONG_WINDOW, Name.DATA_RACE},
    "lost_packet": {Name.DATA_RACE, Name.USE_AFTER_FREE, Name.WRONG_OPTION},
    "zero_threshold": {Name.KERNEL_WARNING, Name.DIVISION_BY_ZERO, Name.STALLED_TRAFFIC, Name.LEAK},
    "high_threshold": {Name.KERNEL_WARNING},
    "spoilt_peek": {Name.DATA_RACE, Name.WRONG_OPTION},
}
SUITES = Path(__file__).parents[2] / "modules" / "kunit"
GROWING = {"zero_threshold", "tcp_sca"}
TWICE = "use_after_free"
SOUND = {"tcp_sca": "switches", "sch_ackthin": "qdiscs"}  # ours; and what only their kind goes through


@dataclass
class Seen:
    """A workout, and where it left its files."""

    module: Module
    folder: Path
    reports: list[Report]

    def findings(self) -> list[Finding]:
        return [finding for report in self.reports for finding in report.findings]

    def saw(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.folder / "workout.json").read_text())
        return found


@pytest.fixture(scope="session")
def debug() -> Prepared:
    return debug_kernel()


def built_once(debug: Prepared, source: Path) -> dict[str, Path]:
    """Return the modules of a folder, by name, built for the debug kernel."""
    target = build.debug_target(debug.kernel)

    def fill(folder: Path) -> list[str]:
        whole = subject.with_suites(find(source), SUITES) if source == TC_MODULES else find(source)
        modules = build.build(whole, [target], folder).data["modules"][build.DEBUG]
        return [str(Path(path).relative_to(folder)) for path in modules.values()]

    program = once.contents(build.ORACLE_FOLDER, Path(build.__file__), Path(subject.__file__))
    parts = [debug.kernel.key, *once.programs("gcc"), *program, *once.contents(source, SUITES)]
    kept = once.obtain(f"debug.{source.name}", fill, *parts)
    return {name: Path(path) for name, path in build.modules_in(kept).items()}


def built(debug: Prepared, name: str) -> Module:
    if name in SOUND:
        return examine(built_once(debug, TC_MODULES)[name])
    source = HERE / "sound" if name == "tcp_steps" else BROKEN / name
    [path] = built_once(debug, source).values()
    return examine(path, source.glob("*.c"))


@dataclass
class Workouts:
    """The workouts of all modules, one of them twice. Each is played for the first test that needs it, in whichever of
    pytest's processes, and kept in a folder that they share."""

    debug: Prepared
    shared: Path

    def __getitem__(self, name: str) -> Seen:
        return self.all(name)[0]

    def all(self, name: str) -> list[Seen]:
        kept = self.shared / f"workout-{name}"
        with cache.lock(kept.with_suffix(".lock")):
            if not kept.exists():
                module = built(self.debug, name)
                folders = [self.shared / f"{name}-{number}" for number in range(1 + (name == TWICE))]
                reports = processes.run_all([partial(self.play, name, module, folder) for folder in folders])
                kept.write_bytes(pickle.dumps([Seen(module, *played) for played in zip(folders, reports, strict=True)]))
            found: list[Seen] = pickle.loads(kept.read_bytes())
        return found

    def play(self, name: str, module: Module, folder: Path, parent: processes.Parent) -> list[Report]:
        folder.mkdir()
        return exercise(
            self.debug,
            module,
            folder,
            cycles=MANY if name in GROWING else CYCLES,
            progress=parent.report,
            one_is_enough=name in EARLY,
            search=FEW_ROUNDS if name in SOUND else NO_ROUNDS,
        )


@pytest.fixture(scope="session")
def seen(debug: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Workouts:
    own = tmp_path_factory.getbasetemp()
    return Workouts(debug, own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


def places(folder: str, *statements: str) -> list[str]:
    """Return file and line of each of these in the source of a folder."""
    (source,) = (BROKEN / folder).glob("*.c")
    lines = source.read_text().splitlines()
    return [f"{source.name}:{number}" for text in statements for number, line in enumerate(lines, 1) if text in line]


@pytest.mark.parametrize(
    "folder", [pytest.param(name, marks=[pytest.mark.quick] * (name == "beyond_private")) for name in PLANTED]
)
def test_a_planted_mistake_is_caught_and_named(seen, folder):
    """With the function that made it, the seed that shows it again, and what the kernel said."""
    name, where = PLANTED[folder]
    found = seen[folder].findings()
    caught = next(finding for finding in found if finding.name is name)
    assert (caught.where, caught.seed) == (where, 1)
    assert bool(caught.console) == (name not in SILENT and folder != "no_recovery")
    assert {finding.name for finding in found} <= {name, *BESIDES.get(folder, ())}


@pytest.mark.parametrize(
    ("folder", "statement"),
    [
        ("use_after_free", "->acked += acked"),
        ("division", "/ divisor"),
        ("beyond_private", "losses++]"),
        ("forgotten_unlock", "rcu_read_lock();"),
        ("unlocked", "opened_broken++;"),
        ("early_free", "kfree(connection->broken)"),
    ],
)
def test_a_finding_names_its_file_and_line(seen, folder, statement):
    """Without gdb; and so do the frames of the module in the stack."""
    (place,) = places(folder, statement)
    found = seen[folder].findings()[0]
    assert found.place.endswith(place)
    assert any(line.endswith(f"({found.place})") for line in found.console)


@pytest.mark.parametrize("folder", ["early_free"])
def test_a_list_that_ends_for_its_readers_is_found(seen, folder):
    """Beside a list whose objects are freed too early, and one that is right."""
    (place,) = places(folder, "\tlist_del(")
    early, ended = seen[folder].findings()
    assert "kfree_rcu()" in early.text and "list_del_rcu()" in ended.text
    assert (ended.name, ended.where) == (Name.RCU_MISUSE, "part [tcp_guests]")
    assert ended.place.endswith(place)


@pytest.mark.parametrize("folder", ["forgotten_unlock"])
def test_what_is_found_in_a_stage_that_was_not_heard_of_is_kept(debug, seen, folder):
    """A busy host can hear of no stage but the first before it ends a workout that has found something."""
    heard = {Stage.LOAD: 1.0}
    load, workout = read_folder(debug, seen[folder].folder, seen[folder].module, 1, heard)
    assert not load.findings and list(workout.findings) == seen[folder].findings()


def test_a_beginning_that_cannot_fail_is_caught(seen):
    """When a second copy finds its name taken; and when there is no memory for it."""
    (note,) = (note for report in seen["atomic_sleep"].reports for note in report.notes if "init" in note)
    assert note == "its init function does not check whether registering failed: the name may be taken"
    (found,) = (finding for finding in seen["leak"].findings() if finding.stage is Stage.CYCLES)
    assert (found.name, found.where) == (Name.NULL_POINTER, "hoard_load [tcp_hoard]")


def test_what_was_on_the_air_before_is_shown_once_more(debug, seen, tmp_path):
    """To the frames that were on their way when it happened, and nothing of what came after."""
    first = seen["use_after_free"]
    finding = moment.of(first.findings())
    assert finding == first.findings()[0]
    found = read(moment.record(debug, first.module, tmp_path, finding, CYCLES, NO_ROUNDS))
    assert 0 < 1e9 * finding.time_s - found.stop_ns < 10_000
    assert 0 < found.stop_ns - found.time_ns.max() < 5_000_000
    assert found.time_ns.min() - found.start_ns < 5_000_000
    assert found.stop_ns - found.start_ns == pytest.approx(1e9, abs=20_000)


def test_a_name_that_is_taken_is_said_to_be(seen):
    assert "File exists: the kernel has built in what goes by the same name" in seen["refused_load"].findings()[0].text


@pytest.mark.parametrize("folder", ["division"])
def test_cycles_come_in_another_kernel_if_the_workout_broke_one(seen, folder):
    *_, cycles = reports = seen[folder].reports
    assert [report.stage for report in reports] == [Stage.LOAD, Stage.WORKOUT, Stage.CYCLES]
    assert (cycles.findings, cycles.data) == ((), {"cycles": CYCLES})


def test_a_division_by_zero_names_the_parameter(seen):
    assert "divisor = '0'" in seen["division"].findings()[0].text


def test_a_finding_says_what_led_to_it(seen):
    """Where the kernel notices it much later, and names only itself."""
    (unlock,) = seen["forgotten_unlock"].findings()
    assert unlock.text.startswith("ceiling_cong_avoid [tcp_ceiling] returned with rcu_read_lock held, taken at ")
    assert any("tcp_steep: ssthresh() returned 0" in one.text for one in seen["zero_threshold"].findings())


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("zero_threshold", r"steep_ssthresh \[tcp_steep\] returned 0 at a congestion window of \d+ segments; 2 is "),
        (
            "high_threshold",
            r"abrupt_ssthresh \[tcp_abrupt\] returned 42949672\d\d as the threshold after a loss, above ",
        ),
        ("no_recovery", r"meek's congestion window stays below [2-4] segments for 2.4 s after timeouts"),
        (
            "lost_packet",
            r"newest_enqueue \[sch_newest\] changed qlen from (\d+) to \1 and drops by 0; the sum .* be 1 ",
        ),
        ("spoilt_peek", r"pocket_peek \[sch_pocket\] changed qlen from 1 to 0 and drops by 0; the sum .* be 0 "),
    ],
)
def test_what_a_module_does_wrong_is_a_sentence(seen, folder, said):
    """Of which the kernel says nothing, or something else: its function, the numbers, the flow or the interface."""
    assert any(re.match(said, finding.text) for finding in seen[folder].findings()[:2])


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        ("hollow", r"it loads, but registers no qdisc"),
        ("restless", r"restless_tick \[tcp_restless\] is called again and again: \d+ calls of the module while no "),
        ("endless", r"spiral_enqueue \[sch_spiral\] is in a loop without an end: 8 million accesses to memory "),
        ("untrue", r"untrue.untrue_halves of KUnit: EXPECTATION FAILED at \S*untrue.c:16 Expected .* == 3 \(0x3\)"),
        ("stub", r"stub at sta1 holds \d+ packets for 1 s on an idle link"),
        ("leak", r"/sys/kernel/debug/hoard shows 'connections -1': -1 was counted down below 0"),
        ("lock_inversion", r"ledger_ssthresh \[tcp_ledger\] left tp->reordering 0; the kernel's least is 3 "),
        ("lock_inversion", r"ledger_cong_avoid \[tcp_ledger\] raised the window in none of the \d+ calls "),
        ("lock_inversion", r"ledger_undo_cwnd \[tcp_ledger\] returned 0 to undo a reduction that an earlier "),
        ("atomic_sleep", r"diary_cong_avoid \[tcp_diary\] raised the window in \d+ calls in which the flow used less "),
        ("leak", r"hoard_event \[tcp_hoard\] reads what was found under rcu_read_lock\(\), after rcu_read_unlock\(\)"),
        ("lock_inversion", r"ledger_\w+ \[tcp_ledger\] .*writes? open_marked.*; updates may be lost"),
        ("lost_packet", r"newest_change \[sch_newest\] changed qlen from \d+ to [1-3]; parents count 0 for the packet"),
        ("lost_packet", r"newest_enqueue \[sch_newest\] reads byte \d+ of the qdisc's own state, and newest_tick "),
        (
            "lost_packet",
            r"newest_free \[sch_newest\] frees what newest_tick \[sch_newest\] uses, and newest_destroy ",
        ),
        ("last_user", r"lodgers_ssthresh .* reads byte 0 of 8 allocated by agree .*, and agree .* may write it "),
        ("last_user", r"take .* takes a reference of what it found under rcu_read_lock\(\), and move_out "),
        ("lost_packet", r"newest_destroy \[sch_newest\] stops a timer in the memory of the qdisc that it destroys"),
        ("lost_packet", r"byte 8 of the options of newest shows another value if it is made with "),
        ("spoilt_peek", r"option 1 of pocket has 4 bytes, and is accepted without any"),
    ],
)
def test_what_else_a_module_does_wrong_is_a_sentence(seen, folder, said):
    assert any(re.match(said, finding.text) for finding in seen[folder].findings())


@pytest.mark.parametrize(
    ("folder", "variable", "one", "other"),
    [
        ("unlocked", "writes broken,", "list_del(&roster->entry->broken)", "list_add(&roster->entry->broken"),
        ("unlocked", "and writes opened_broken:", "opened_broken++", ""),
        ("unlocked", "and writes opened_marked:", "opened_marked + 1", ""),
        ("spoilt_peek", "writes byte 12 of the qdisc's own state", "nla_get_u32(tb[POCKET_SMALLEST])", "->smallest ||"),
        ("spoilt_peek", "changes calls of its CPU", "raw_cpu_ptr(&calls) += 1", "++*raw_cpu_ptr(&calls)"),
    ],
)
def test_a_race_names_both_accesses(seen, folder, variable, one, other):
    """With file and line; and no variable that has a lock or a safe function, or is pr_info_once()'s."""
    both = places(folder, *filter(None, (one, other)))
    races = [found.text for found in seen[folder].findings() if found.name is Name.DATA_RACE]
    assert any(variable in race and race.endswith(f"({' and '.join(both)})") for race in races)
    none = (
        r" (sound|opened|opened_here|opened_locked|__already_done)[,:]|byte (8|16) of the qdisc|"
        r"byte (?!16 |24 )\d+ of \d+ allocated by"
    )  # bytes 16 and 24 are of the list that lacks its lock
    assert not any(re.search(none, race) for race in races)


def test_a_refused_unload_counts_the_references(seen):
    """The module takes one a qdisc and never gives it back; that no connection and no qdisc is left, is said."""
    (found,) = seen["refused_unload"].findings()
    assert "references are left; no connection and no qdisc uses it" in found.text
    assert [report.stage for report in seen["refused_unload"].reports] == [Stage.LOAD, Stage.WORKOUT]


def test_growth_in_steps_and_a_timer_that_uses_its_socket_are_sound(seen):
    assert seen["tcp_steps"].findings() == []


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_module_has_no_findings(seen, name):
    """And all of the workout happened to it."""
    assert seen[name].findings() == []
    assert [report.stage for report in seen[name].reports] == [Stage.LOAD, Stage.WORKOUT, Stage.CYCLES]
    saw = seen[name].saw()
    assert saw["cycles"] == (MANY if name in GROWING else CYCLES)
    assert sum(saw["short"].values()) >= 300
    assert len(saw["short"]) == 6
    assert all(saw["alone"].values())
    assert saw["second copy"] is False
    assert saw["allocations"] > 3
    assert saw["kunit"]["passed"] == saw["kunit"]["tests"] > 8
    assert saw["reach"]["rounds"] == FEW_ROUNDS.rounds
    assert saw["reach"]["bytes"] > 10_000
    log = (seen[name].folder / "console.log").read_text()
    phases = ("contention", "reroutes", "outage", "short connections", "unload in use", "wind down", "reach")
    for phase in (*phases, SOUND[name]):
        assert f"dcflab: phase {phase}\n" in log


def test_pages_that_are_not_freed_are_missed(seen):
    """Of which kmemleak knows nothing. A sound module leaves none behind."""
    [leak] = [finding for finding in seen["zero_threshold"].findings() if finding.name is Name.LEAK]
    grown, loaded = map(int, re.match(r"(\d+) kB more .* unloaded (\d+) times", leak.text).groups())
    assert loaded == MANY // 2 and grown == pytest.approx(16 * loaded, rel=0.25)
    assert abs(seen["tcp_sca"].saw()["grown_kb"]) < 128


def test_every_parameter_is_tried(seen):
    """All five of sca; each takes some values and refuses others."""
    tried = seen["tcp_sca"].saw()["parameters"]
    assert len(tried) == 5
    log = (seen["tcp_sca"].folder / "console.log").read_text()
    for name, accepted in tried.items():
        assert accepted
        assert re.search(rf"dcflab: {name} = '.*': (Invalid argument|Numerical result out of range)", log)


def test_options_of_a_qdisc_are_found_out(seen):
    """All fifteen that ackthin has; the workout does not know them."""
    assert list(seen["sch_ackthin"].saw()["options"]) == [str(number) for number in range(1, 16)]


def test_the_same_seed_does_the_same(seen):
    """Line by line, with the times: what the workout did, and what the kernel said, to the last address; those of the
    programs hang also on how many files the checkout has, so both begin first, at once."""
    first, again = seen.all(TWICE)
    logs = [(one.folder / "console.log").read_text().partition("dcflab: stage load\n") for one in (first, again)]
    assert logs[0][2].count("\n") > 100
    assert logs[0][2] == logs[1][2]
    assert again.findings() == first.findings()


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb")
@pytest.mark.parametrize(
    ("folder", "statement", "caller"),
    [("use_after_free", "->acked += acked", "tcp_cong_avoid"),
     ("atomic_sleep", "kmalloc(sizeof(*entry), GFP_KERNEL)", "tcp_set_ca_state"),
     ("unlocked", "opened_broken++;", "tcp_init_congestion_control")],
    ids=lambda text: text,
)  # fmt: skip
def test_gdb_stops_where_it_happens(debug, seen, tmp_path, folder, statement, caller):
    """On the stack is the function of the finding, with its file and line, and who called it."""
    first = seen[folder]
    finding = first.findings()[0]
    said = gdb.debug(
        debug,
        first.module,
        tmp_path,
        gdb.sections_of(first.folder),
        finding=finding,
        cycles=CYCLES,
        batch=True,
        search=NO_ROUNDS,
    )
    (place,) = places(folder, statement)
    (stack,) = re.findall(r"^#0 .*^#\d+ [^\n]* in \?\? \(\)$", said, re.MULTILINE | re.DOTALL)
    function = finding.where.partition(" ")[0]
    assert re.search(rf" {function}\b.*/{place}$", stack, re.MULTILINE)
    assert re.search(rf" {caller} \(.*/tcp_\w+.c:\d+$", stack, re.MULTILINE)


def test_a_workout_ends_between_two_phases(tmp_path):
    """With all findings of a phase, however late the host hears of it."""
    console = tmp_path / "console.log"
    said = "[ 1.0] dcflab: stage workout\n[ 2.0] dcflab: phase outage\n[ 3.0] dcflab: finding: leak: 1 kB\n"
    console.write_text(said)
    assert not found_already(tmp_path)
    console.write_text(f"{said}[ 4.0] dcflab: phase wind down\n")
    assert found_already(tmp_path)
