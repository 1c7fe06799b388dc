# SPDX-License-Identifier: BSD-3-Clause
"""A network that a script builds, with Mininet's names; the script runs in a lane.

    net = Net(rts="full")
    a, b = net.addStation("sta1", position=(0, 0, 0)), net.addStation("sta2", position=(200, 0, 0))
    net.addLink(a, b, cls=Adhoc, ssid="lab", freq=2412)
    net.addFlow(a, b)
    with net:
        net.start()
        print(a.cmd("ip route"))
        net.run(10)

This file is outside the wall. It makes a specification and a plan with the packages of the environment, and then runs
the plan like `emulation.lane.net`. The command line's models check each call at once. A run leaves its files in a
subfolder of the run folder, and the host makes the usual results from them (`emulation.play.script`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import topologies
from emulation import features, plan, specification
from emulation.lane import guest, links
from emulation.lane import net as lane
from emulation.lane.errors import Misuse
from emulation.lane.links.adhoc import Link as Adhoc
from emulation.lane.links.infrastructure import Link as Infrastructure
from emulation.lane.links.mesh import Link as Mesh
from emulation.lane.links.wired import Link as Wired
from emulation.lane.measurement import REQUEST_FILE, Measurement, Service
from emulation.lane.motion import Position, straight_line
from emulation.lane.node import Node
from emulation.lane.plugin_folders import extend
from emulation.lane.recorders.air_trace import Recorder
from emulation.net import stepping
from emulation.net.station import Station
from emulation.plan.air import GAIN, SENSE, TX_POWER, excess_db, gains_db, owners_of, received_powers
from emulation.plan.applications import plan_flow, resolve_flow
from emulation.plan.checks import as_misuse, check_names, find_kind
from emulation.plan.distance import Table
from emulation.plan.motion import check_extent, no_table_reason, per_radio, table_of
from emulation.plan.nodes import check_new, link_settings
from emulation.specification import Specification
from emulation.specification.medium import HOST_DELAY_US
from emulation.specification.propagation import listed
from emulation.specification.words import word_and_pairs
from topologies.files import USER
from topologies.network import WITH_RADIO
from traffic.loop import Loop

__all__ = ["CLI", "Adhoc", "Infrastructure", "Mesh", "Net", "Wired"]

HIDDEN = ("own", "topology", "parameters", "application")  # options that are the network itself
IPERF_PORT = 5200  # plus one for each flow of a prompt
PAUSE_S = 0.001  # a shorter session is not kept: no time has passed
RUN_NAME = re.compile(r"\w[\w.+]*(-[\w.+]+)*")


class Net(lane.Net):
    """Build it, `start` it, use it or `run` it, `stop` it; a `with` block always stops it.

    `options` are those of a specification: rate=2, rts="full", propagation="free-space", seed=7, plugins=["mine"] … An
    invalid one raises Misuse at once.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        check_names("Net", options, [name for name in specification.OPTIONS if name not in HIDDEN])
        if options.get("modules"):
            raise Misuse("Net: modules: a script's are named on the command line: run SCRIPT.py --modules FOLDER")
        self.options = {"seed": int(os.environ.get("DCFLAB_SEED", "1")), **options}
        with as_misuse("Net"):
            self.spec = specification.of_options(self.options)
        extend(str(Path(folder).resolve()) for folder in self.spec.kernel.plugins)
        self.members: list[tuple[type[links.Link] | str, topologies.Link]] = []
        self.flows: list[topologies.Application] = []
        self.moving: dict[str, Any] = {}  # planned motion and presence, in addition to the option `motion`
        self.planned_spec: Specification | None = None
        self.after = set[str]()  # names of features that follow each run, on the host
        self.tables: dict[tuple[Any, ...], Table | None] = {}  # by the nodes' own powers, thresholds and gains
        self.recording: tuple[Measurement, Service] | None = None  # of a session
        self.began_ns, self.done = 0, list[tuple[dict[str, Any], dict[str, Any]]]()  # of a session: flows, reports

    @classmethod
    def of(cls, spec: Specification | str, moving: bool = False) -> Net:
        """Make the network of a specification, which may be JSON.

        If `moving`, it has the motion and presence of the specification's own network, which happen in `play` and at
        a prompt.
        """
        spec = Specification.model_validate_json(spec, context=USER) if isinstance(spec, str) else spec
        options = {name: value for name, value in specification.sections(spec).items() if name not in HIDDEN}
        del options["modules"]  # loaded already
        net, network = cls(**options), spec.network.standing()
        for name, node in network.nodes.items():
            net.nodes[name] = Station(net, name, node)
        net.members = [(link.kind, link) for link in network.links]
        net.flows = list(network.applications)
        net.moving = {"motion": network.motion, "presence": network.presence} if moving else {}
        return net

    def addStation(self, name: str, position: Any = (0.0, 0.0, 0.0), **settings: Any) -> Station:
        """Add a station at a position in metres. A name has at most nine characters, as an interface's has fifteen.

        A station's own settings are `rts`, `rate`, `tx_power_dbm`, `short_retry`, `long_retry`, `antenna_gain_dbi`,
        `receive_dbm`, `sense_dbm` and `mac`; `mode` (`a`, `b`, `g`, `n`, `ac`, `ax`), `width`, `streams`, `mcs`,
        `guard` and `aggregation` (docs/ht.md); a client may have a `passphrase`.
        """
        return self.add("station", name, position, settings)

    def addAccessPoint(self, name: str, position: Any = (0.0, 0.0, 0.0), **settings: Any) -> Station:
        """Add an access point, a bridge between its clients and its wires; settings: those of a station and of a
        switch, and `channel`, by its number."""
        return self.add("ap", name, position, settings)

    def addHost(self, name: str) -> Station:
        """Add a node without a radio, for wires."""
        return self.add("host", name, (0.0, 0.0, 0.0), {})

    def addSwitch(self, name: str, **settings: Any) -> Station:
        """Add a bridge between wires: the kernel's, or with bridge="ovs" Open vSwitch.

        `stp`: with a spanning tree; `fail_mode` of Open vSwitch: `standalone`, by which it learns addresses, or
        `secure`, by which it has the flows that a controller or the script gives it.
        """
        return self.add("switch", name, (0.0, 0.0, 0.0), settings)

    def add(self, kind: str, name: str, position: Any, settings: dict[str, Any]) -> Station:
        """Add a node of this kind. Raises Misuse."""
        if name in self.nodes:
            raise Misuse(f"a {self.nodes[name].kind} {name} exists; choose another name")
        pattern, most = (topologies.NAME, "nine") if kind in WITH_RADIO else (topologies.WIRED, "ten")
        if not isinstance(name, str) or not re.fullmatch(pattern, name):
            raise Misuse(f"{name!r} is not a name for a {kind}: letters, digits, . _ and -, at most {most}")
        with as_misuse(name):
            spec = topologies.Node.model_validate({"kind": kind, "position": position, "settings": settings})
        alone = topologies.Network(nodes={name: spec})
        if "mode" in settings and "mode" not in self.options:
            nodes = {each.name: each.spec for each in self.nodes.values() if isinstance(each, Station)} | {name: spec}
            with as_misuse(name):
                found = specification.of_nodes(topologies.Network(nodes=nodes))
                self.spec = specification.of_options({**found, **self.options})
        check_new(self.spec.radio, name, spec)
        if kind in WITH_RADIO:
            excess_db(self.spec, alone), gains_db(alone)
        self.nodes[name] = made = Station(self, name, spec)
        return made

    def addLink(self, *nodes: Node, cls: type[links.Link] | str = Adhoc, **settings: Any) -> None:
        """Put nodes on one link. Radios without a link share one.

        Radios take `ssid`, `freq` (MHz) or `channel`, `width` and `beacon_tu`; access points and clients also
        `security`, `passphrase`, `client` and `roam_dbm`. A wire between two nodes takes `bw`, `delay`, `jitter`,
        `loss` and `max_queue_size`. `cls` is a link class, which may be the script's own, or the name of a kind.
        Raises Misuse.
        """
        names, kind = tuple(self.name_of(node) for node in nodes), cls if isinstance(cls, str) else links.kind_of(cls)
        if isinstance(cls, str):
            find_kind(links, cls)
        link_settings(self.spec.radio, kind, settings)
        self.members.append((cls, topologies.Link(nodes=names, kind=kind, settings=settings)))

    def addFlow(self, source: Node, destination: Node, kind: str | None = None, **settings: Any) -> None:
        """Add a flow for `run`: of the kind of `traffic` or another, with its own settings (docs/traffic.md)."""
        with as_misuse("addFlow"):
            flow = topologies.Application(
                source=self.name_of(source), destination=self.name_of(destination), kind=kind, settings=settings
            )
        resolve_flow(self.spec.transport, flow)
        self.flows.append(flow)

    def name_of(self, node: Any) -> str:
        """Return the name of a node of this network, given the node or its name. Raises Misuse."""
        name = getattr(node, "name", node)
        if name not in self.nodes:
            raise Misuse(f"there is no node {name}; there are: {', '.join(self.nodes) or 'none yet'}")
        return str(name)

    def network(self) -> topologies.Network:
        """Return the network as built so far. Raises Misuse if it is not valid."""
        with as_misuse("the network"):
            return topologies.Network(
                nodes={name: node.spec for name, node in self.nodes.items() if isinstance(node, Station)},
                links=tuple(link for _, link in self.members),
                applications=tuple(self.flows),
                **self.moving,
            )

    def build(self) -> dict[str, Any]:
        """Make the plan, unless nothing has changed since the last one. Raises Misuse."""
        if self.started:
            return self.plan
        with as_misuse("Net"):
            usual = {} if self.flows else {"host_delay_us": HOST_DELAY_US}  # it will have programs of the user's
            spec = specification.specify(self.network(), {**usual, **self.options})
        if spec != self.planned_spec:
            made = self.revised(plan.plan(spec))
            pairs = zip(made["links"], self.members, strict=False)  # the script's links come first
            self.adopt(made, {link["name"]: cls for link, (cls, _) in pairs if not isinstance(cls, str)})
            self.planned_spec = spec
        return self.plan

    def revised(self, plan: dict[str, Any]) -> dict[str, Any]:
        """Return the plan to carry out. A derived class can change it, for example to use other names."""
        return plan

    def update_air(self, node: Station, spec: topologies.Node, position: Position | None = None) -> None:
        """Apply a node's new settings or position to the air, if it runs. Raises Misuse or OSError."""
        nodes = {name: one.spec for name, one in self.nodes.items() if isinstance(one, Station)} | {node.name: spec}
        network = topologies.Network(nodes=nodes).on_air()
        there = {name: self.nodes[name].position for name in network.nodes} | (
            {node.name: position} if position else {}
        )
        now = received_powers(self.spec, network, list(there.values()))
        if self.air and self.started:
            now = now.between_radios(owners_of(self.plan["nodes"]))
            self.motion.powers(node, listed(now.power_mdbm), now.delay_ns.tolist())
            if self.motion.air_has_trajectories:
                self.motion.use_distances(self.radio_table(self.table(network)))
        node.spec = spec

    def start_move(self, node: Station, spec: topologies.Node, speed: float) -> None:
        """Start a node's move to its new position. Raises Misuse or OSError."""
        if not self.started:
            raise Misuse(f"{node.name}: move: the network has not started: net.start()")
        trajectory = straight_line(node.position, spec.position, speed, time.monotonic_ns())
        table, paths = self.table(self.network()), {one.name: one.trajectory.waypoints for one in self.nodes.values()}
        check_extent(table, {**paths, node.name: trajectory.waypoints})
        if not self.motion.air_has_trajectories:
            self.motion.use_distances(self.radio_table(table))
        self.motion.move(node, trajectory, speed)
        node.spec = spec

    def radio_table(self, table: Table) -> dict[str, Any]:
        """Return a table with an entry for each radio."""
        return per_radio(table.planned, owners_of(self.plan["nodes"]))

    def table(self, network: topologies.Network) -> Table:
        """Return the received power by distance. Raises Misuse if no table fits."""
        network = network.on_air()
        powers = tuple(tuple(map(node.settings.get, (TX_POWER, SENSE, GAIN))) for node in network.nodes.values())
        if powers not in self.tables:
            self.tables = {powers: table_of(self.spec, network)}
        if not (found := self.tables[powers]):
            raise Misuse(f"{no_table_reason(self.spec)} a distance is not enough; set positions")
        return found

    def run(self, seconds: float | None = None, progress: lane.Progress = lane.ignore_progress, name: str = "") -> Any:
        """Run the flows for `seconds` of lane time, by default the option `seconds`.

        Return the content of lane.json (docs/interfaces.md, section 2). The run's files are in the run folder under
        `name`, by default run1, run2 … Raises Misuse or OSError, and then leaves nothing.
        """
        seconds = self.spec.measurement.seconds if seconds is None else seconds
        with as_misuse("run"):
            specification.of_options({"seconds": seconds})
        if not self.started:
            raise Misuse("run: the network has not started: net.start()")
        with self.run_folder(name or "run", not name) as keep:
            result = super().run(seconds, progress)
            keep(result, seconds)
        return result

    @contextlib.contextmanager
    def run_folder(self, name: str, numbered: bool) -> Iterator[Any]:
        """Make a run's subfolder, as `folder`, and yield a function that completes it; without a call, remove it."""
        if self.recording:
            raise Misuse("run: this prompt is already part of a run")
        assert self.planned_spec
        count = 1
        if not RUN_NAME.fullmatch(name) or len(name) > 40:
            raise Misuse(
                f"run: {name!r} is not a valid name for a run: letters, digits, and . + - between them, at most 40"
            )
        ending = f"-{self.planned_spec.measurement.seed}"
        while numbered and (f"{name}{count}" in NAMES or Path(self.folder, f"{name}{count}{ending}").exists()):
            count += 1  # another process of the script may have made the folder
        name = f"{name}{count}" if numbered else name
        where = Path(self.folder, f"{name}{ending}")
        if where.exists():
            raise Misuse(f"run: a run {where.name} exists: give this one another name, or its net a seed")

        def keep(result: dict[str, Any], seconds: float, **otherwise: Any) -> None:
            spec = self.planned_spec  # nodes may have been added meanwhile
            assert spec
            measured = spec.measurement.model_copy(update={"seconds": seconds})
            specified = spec.without_files().model_copy(update={"measurement": measured}).model_dump(mode="json")
            request = {"name": name, "specification": specified, "after": sorted(self.after)}
            (where / REQUEST_FILE).write_text(json.dumps(request))
            (where / "plan.json").write_text(json.dumps({**self.plan, "seconds": seconds, **otherwise}))
            done = {"version": 3, "ok": True, "error": None, **result}
            (where / "lane.json").write_text(json.dumps(done, indent=1))
            NAMES.append(name)

        folder, self.folder = self.folder, str(where)
        try:
            where.mkdir()
            (where / REQUEST_FILE).touch()
            (where / "plan.json").write_text(json.dumps(self.plan))
            yield keep
        finally:
            self.folder = folder
            if not (where / "lane.json").exists():
                shutil.rmtree(where, ignore_errors=True)

    def start(self) -> None:
        """Make the network. Raises Misuse if another one has started, or if a module is missing; or OSError."""
        if STARTED:
            raise Misuse("start: a network has already started; stop it first")
        for module in self.build()["modules"]:
            if not Path(f"/sys/module/{module}").exists():
                raise Misuse(f"there is no kernel module {module}; run SCRIPT.py --modules FOLDER names your own")
        for name in self.plan["module_parameters"]:
            module, _, parameter = name.partition(".")
            if (there := Path(f"/sys/module/{module}/parameters")).exists() and not (there / parameter).exists():
                known_ones = ", ".join(sorted(one.name for one in there.iterdir()))
                raise Misuse(f"{module}: there is no parameter {parameter!r}; there are: {known_ones}")
        super().start()
        STARTED.append(self)
        self.cleanup.callback(STARTED.remove, self)
        guest.at_program_end.callback(self.stop)
        for node in self.nodes.values():
            if isinstance(node, Station):
                node.show_tx_power()

    def stop(self) -> None:
        """Remove the network. Under `./dcflab shell`, open a prompt first."""
        if self.started and not self.recording and "DCFLAB_PROMPT" in os.environ and sys.exc_info()[0] is None:
            CLI(self)
        super().stop()

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """Record what happens in this block, like a run; keep nothing if no time passes."""
        with self.run_folder("session", True) as keep:
            with Loop() as loop, Measurement(self, loop) as measurement:
                measurement.start()
                self.began_ns = measurement.started_ns
                self.begin(loop)
                try:
                    with Service(loop) as service:
                        self.recording = measurement, service
                        yield
                finally:
                    self.recording, self.presence.loop = None, None
                measurement.stop()
            flows, reports = [flow for flow, _ in self.done], [report for _, report in self.done]
            result = measurement.result(reports)
            self.done.clear()
            if result["air"] and result["air_s"] > PAUSE_S:  # without radios there is nothing to keep
                keep(result, result["air_s"], applications=flows)

    play, reroute = stepping.play, stepping.reroute

    def begin(self, loop: Loop) -> None:
        """Start the plan's motion and presence when a session begins."""
        self.motion.start(self.plan["motion"], loop, self.began_ns)
        self.presence.start(self.plan["presence"], loop, self.began_ns)

    def flow_between(self, source: str, destination: str, traffic: str | None = None, ahead: int = 0) -> dict[str, Any]:
        """Plan a flow of the network's kind, or as for `--traffic`, and set up its TCP at both ends.

        At a prompt, `ahead` flows have not ended yet. Raises Misuse or OSError.
        """
        assert self.planned_spec
        number, settings = len(self.done) + 1 + ahead, dict(word_and_pairs("kind", traffic or ""))
        with as_misuse("flow"):
            kind = settings.pop("kind") or None
            flow = topologies.Application(source=source, destination=destination, kind=kind, settings=settings)
        planned, variables = plan_flow(self.planned_spec.transport, flow)
        for name in (source, destination):
            with self[name]:
                for variable, value in variables.items():
                    self[name].sysctl(variable, value)
        name = f"flow{number}" if traffic else f"iperf{number}"
        return {**planned, "name": name, "port": IPERF_PORT + number}

    def add_report(self, flow: dict[str, Any], report: dict[str, Any]) -> None:
        """Add a flow and its report to the session."""
        self.done.append((flow, {**report, "name": flow["name"]}))

    def capture(self, file: str) -> None:
        """Have the host write all frames of this session so far to a pcapng file in the run folder.

        Raises Misuse if nothing is recorded.
        """
        for recorder in self.recording[0].recorders if self.recording else ():
            if isinstance(recorder, Recorder):
                with self.recording[1].paused():  # type: ignore[index]
                    recorder.copy()
                guest.report(capture=file, run=Path(self.folder).name, now_ns=time.monotonic_ns())
                return
        raise Misuse("capture: nothing is recorded here")


def CLI(net: Net) -> None:
    """Open a prompt in a started network, until exit. What happens meanwhile is kept like a run."""
    for part in features.parts("of_networks"):
        part.prompt(net)


NAMES: list[str] = []  # names of this lane's runs
STARTED: list[Net] = []  # at most one network
