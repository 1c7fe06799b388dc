# SPDX-License-Identifier: BSD-3-Clause
"""The packages `mininet` and `mn_wifi` that scripts import. They have no files: a table has the names of each of their
modules, and the module here that defines them. A module is loaded when a script imports it."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from emulation.features.mininet.refusals import PAGE, Absent, refuse
from emulation.lane.errors import Misuse

NEW, OLD = "mn_wifi", "mininet.wifi"  # the package, and its name before 2019
HERE = __name__.rpartition(".")[0]
IMPORT = re.compile(rb"^\s*(from|import)\s+(mn_wifi|mininet)\b", re.MULTILINE)
UTIL = {
    "util": "buildTopo custom decode dumpNetConnections dumpNodeConnections dumpNodes dumpPorts ensureRoot errRun "
    "ipAdd ipNum ipParse ipStr irange macColonHex makeNumeric=number natural naturalSeq netParse numCores pmonitor "
    "quietRun splitArgs waitListening"
}
SWITCHES = "Switch OVSSwitch=Switch OVSKernelSwitch=Switch UserSwitch=Switch OVSBridge LinuxBridge"
CONTROLLERS = "Controller DefaultController=Controller OVSController=Controller NullController RemoteController Ryu"
REPLAYING = ("ReplayingBandwidth", "ReplayingMobility", "ReplayingNetworkConditions", "ReplayingRSSI")  # older: r…
# By their module: names, by our module. THEIRS=OURS if the names differ.
MODULES: dict[str, dict[str, str]] = {
    "mininet": {},
    "mininet.clean": {"util": "Cleanup cleanup"},
    "mininet.cli": {"cli": "CLI"},
    "mininet.link": {
        "absences": "Intf=HardwareIntf TCIntf=HardwareIntf OVSIntf=HardwareIntf",
        "link": "Link TCLink OVSLink=Link TCULink=Link",
    },
    "mininet.log": {"log": "critical debug error info lg output setLogLevel warn warning"},
    "mininet.moduledeps": {"util": "pathCheck"},
    "mininet.net": {"wifi": "Mininet MininetWithControlNet=Mininet", "util": "VERSION"},
    "mininet.node": {"controllers": CONTROLLERS, "node": "CPULimitedHost Host Node", "roles": SWITCHES},
    "mininet.nodelib": {"roles": "LinuxBridge NAT"},
    "mininet.term": {"util": "cleanUpScreens makeTerm makeTerms runX11 tunnelX11"},
    "mininet.topo": {"topo": "LinearTopo MinimalTopo SingleSwitchReversedTopo SingleSwitchTopo Topo"},
    "mininet.topolib": {"mn": "TreeNet", "net": "Mininet", "topo": "TorusTopo TreeTopo"},
    "mininet.util": UTIL,
    "mn_wifi": {},
    "mn_wifi.associationControl": {"association": "AssociationControl associationControl=AssociationControl"},
    "mn_wifi.clean": {"util": "Cleanup cleanup"},
    "mn_wifi.cli": {"cli": "CLI CLI_wifi=CLI"},
    "mn_wifi.link": {
        "absences": "Intf=HardwareIntf",
        "interface": "WIntf IntfWireless=WIntf",
        "link": "_4address ITSLink Link TCLink WifiDirectLink wifiDirectLink=WifiDirectLink WirelessLink "
        "TCWirelessLink=WirelessLink wtc=WirelessLink adhoc mesh wmediumd Wmediumd=wmediumd",
    },
    "mn_wifi.manetRoutingProtocols": {"manet": "aodv babel batman_adv batmand manetProtocols olsrd olsrd2"},
    "mn_wifi.mobility": {},
    "mn_wifi.net": {"wifi": "Mininet_wifi MininetWithControlWNet=Mininet_wifi"},
    "mn_wifi.node": {
        "controllers": CONTROLLERS,
        "node": "Host Node",
        "roles": f"{SWITCHES} AP OVSAP=AP OVSKernelAP=AP OVSBridgeAP UserAP=AP Car Station "
        "Node_wifi=Station Aircraft=Station Satellite=Station",
    },
    "mn_wifi.plot": {"util": "Plot2D=plot Plot3D=plot PlotGraph=plot"},
    "mn_wifi.propagationModels": {},
    "mn_wifi.replaying": {"replaying": " ".join(f"{each} {each[0].lower()}{each[1:]}={each}" for each in REPLAYING)},
    "mn_wifi.sumo": {},
    "mn_wifi.sumo.runner": {"sumo": "sumo"},
    "mn_wifi.telemetry": {"telemetry": "telemetry Telemetry=telemetry"},
    "mn_wifi.topo": {"topo": "LinearWirelessTopo MinimalWirelessTopo SingleAPTopo Topo Topo_WiFi=Topo"},
    "mn_wifi.util": UTIL,
    "mn_wifi.vanet": {},
    "mn_wifi.wmediumdConnector": {
        "absences": "error_prob interference snr spec_prob SNRLink=snr Interference=interference"
    },
}
MODULES |= {f"{OLD}{name.removeprefix(NEW)}": there for name, there in MODULES.items() if name.startswith(NEW)}


WINDOWS = ("tkinter", "Tkinter")
UNUSED = {"turtle": "a lane has no windows"}  # that editors add to scripts: `from turtle import position`


class NoModule(Misuse, ImportError):
    """A missing module, also for `except ImportError`."""


class Finder:
    """Finds these modules for Python. An unknown module or name raises an error that names it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        top = name.replace(OLD, NEW).partition(".")[0]
        if name == "matplotlib.pyplot" and "MPLBACKEND" not in os.environ:
            from emulation.features.mininet.drawing import BACKEND

            sys.modules["matplotlib"].rcParams["backend"] = BACKEND
        if name in WINDOWS:
            raise NoModule(f"{name}: a lane has no windows: leave out what draws, and use CLI(net) and plotGraph()")
        if name in UNUSED:
            return ModuleSpec(name, self, origin=__file__)  # type: ignore[arg-type]
        if name in MODULES:
            nested = any(each.startswith(f"{name}.") for each in MODULES)
            return ModuleSpec(name, self, origin=__file__, is_package=nested)  # type: ignore[arg-type]
        if top in MODULES:
            if _why_not(name):
                return ModuleSpec(name, self, origin=__file__, is_package=True)  # type: ignore[arg-type]
            refuse(f"the module {name}", f"{PAGE} has what there is")
        return None

    def create_module(self, spec: ModuleSpec) -> None: ...

    def exec_module(self, module: ModuleType) -> None:
        from emulation.features.mininet.place import move_to_run_folder

        own = module.__name__
        module.__file__ = __file__  # Flask("mininet") looks for files beside it
        move_to_run_folder()
        if own not in MODULES:
            module.__getattr__ = partial(_absent_in, own)  # type: ignore[method-assign]
            return
        for source, names in MODULES[own].items():
            ours = import_module(f"{HERE}.{source}")
            for name in names.split():
                theirs, _, known = name.partition("=")
                setattr(module, theirs, getattr(ours, known or theirs))
        if "." in own:
            module.__getattr__ = partial(_elsewhere, own)  # type: ignore[method-assign]


def _elsewhere(own: str, name: str) -> Any:
    """Return what another module of these packages defines, as a script may import it from one that imports it; or
    Absent for a name of which is known why it does not exist. Raises Misuse for any other."""
    if name.startswith("__"):
        raise AttributeError(name)
    if why := _instead(own).get(name):
        return Absent(f"{own}.{name}", why)
    for module in sorted(MODULES, key=lambda each: each.partition(".")[0] != own.partition(".")[0]):
        names = [each.partition("=")[0] for listed in MODULES[module].values() for each in listed.split()]
        if name in names:
            return getattr(import_module(module), name)
    refuse(f"{own}.{name}", f"{PAGE} has what there is")


def _why_not(module: str) -> str | None:
    """Return why a module does not exist here, if it is known."""
    if module in UNUSED:
        return UNUSED[module]
    parent, _, last = module.rpartition(".")
    return parent and (_instead(parent).get(last) or _why_not(parent))


def _absent_in(module: str, name: str) -> Absent:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"{module}.{name}", str(_why_not(module)))


def _instead(name: str) -> dict[str, str]:
    from emulation.features.mininet.absences import INSTEAD

    return INSTEAD.get(name.replace(OLD, NEW), {})


def install() -> None:
    """Make this program import these packages, even if others of these names are installed. A script that names them
    is in the run folder from its first line."""
    sys.meta_path.insert(0, Finder())
    script = Path(sys.argv[0])
    if script.is_file() and IMPORT.search(script.read_bytes()):
        import_module(f"{HERE}.place").move_to_run_folder()
