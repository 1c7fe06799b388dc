# SPDX-License-Identifier: BSD-3-Clause
"""Names of Mininet and Mininet-WiFi that do not exist here, with what to do instead; and those that can be imported,
but raise Misuse on use."""

from __future__ import annotations

from typing import Any

from emulation.features.mininet.interface import Intf
from emulation.features.mininet.refusals import note, refuse

LOW_POWER = "802.15.4 is not supported: the air is 802.11's"
NO_TRACI = "SUMO only writes a trace here; use useExternalProgram(program=sumo), with sumo of mn_wifi.sumo.runner"
NO_P4 = "switches and access points are Open vSwitch with OpenFlow"
OUTSIDE = "addNAT() makes a host that answers pings to addresses outside"
NO_HARDWARE = "the whole air is emulated; use mesh or adhoc"
MININET = {"examples": "copy the example beside the script; those of clusters need several machines, and a lane is one"}
MN_WIFI = {
    "sixLoWPAN": LOW_POWER, "btvirt": "Bluetooth is not supported", "wwan": "WWAN is not supported",
    "energy": "batteries are not modelled", "bmv2": NO_P4, "examples": "copy the example beside the script",
    "module": "the lab has its own radios",
    "devices": "use txpower and antennaGain, as the device's power is not known",
    "frequency": "the mode decides which channels exist", "data": "the lab's air has its own error tables",
}  # fmt: skip
NO_CONTAINERS = "nodes are network namespaces, not containers"
ANY_PROGRAM = "use Controller('c0', command='…', cargs='…'), which runs any program"
NODES = {
    "IVSSwitch": NO_P4, "NOX": ANY_PROGRAM, "OVSSwitchONOS": NO_P4,
    "Docker": NO_CONTAINERS, "Sensor": LOW_POWER, "OVSSensor": LOW_POWER, "APSensor": LOW_POWER,
    "LowPANNode": LOW_POWER, "BTNode": "Bluetooth is not supported", "physicalAP": NO_HARDWARE,
    "P4Switch": NO_P4, "P4AP": NO_P4, "P4Host": NO_P4,
}  # fmt: skip
LINKS = {
    "physicalMesh": NO_HARDWARE, "PhysicalWifiDirectLink": NO_HARDWARE,
    "LoWPAN": LOW_POWER, "LowPANLink": LOW_POWER, "WWANLink": "WWAN is not supported",
    "HostapdConfig": "use the keywords of addAccessPoint", "Association": "use setAssociation()",
    "master": "use addAccessPoint", "managed": "stations are managed unless they have a link",
}  # fmt: skip
MINIEDIT = dict.fromkeys(
    ("netParse", "moduleDeps"), "MiniEdit draws windows, and a lane has none: run the Level 2 script that it exports"
)
VANET = {"vanet": "use mobility() or setMobilityModel() of the network"}
PROPAGATION = dict.fromkeys(("PropagationModel", "propagationModel"), "use net.setPropagationModel()")
MOBILITY = dict.fromkeys(
    ("Mobility", "mobility", "ConfigMobility", "ConfigMobLinks", "model", "Tracked"),
    "use net.mobility() or net.setMobilityModel()",
)
INSTEAD = {  # by module and missing name: what to do instead
    "mininet": MININET, "mininet.util": MINIEDIT, "mininet.moduledeps": MINIEDIT,
    "mininet.node": NODES, "mininet.nodelib": NODES,
    "mn_wifi": MN_WIFI, "mn_wifi.node": NODES, "mn_wifi.link": LINKS, "mn_wifi.mobility": MOBILITY,
    "mn_wifi.sumo": dict.fromkeys(("traci", "function", "sumolib", "controller", "invoker"), NO_TRACI),
    "mn_wifi.propagationModels": PROPAGATION, "mn_wifi.vanet": VANET,
}  # fmt: skip


class HardwareIntf(Intf):
    """A hardware interface of the machine, which a lane lacks: its node goes without."""

    def __init__(self, name: str, node: Any = None, **_: Any) -> None:
        if node is None:
            instead = "a lane has no interfaces of the machine; use addLink, which makes those of nodes"
            refuse(f"Intf({name!r})", instead)
        super().__init__(name, node)
        note(f"Intf({name!r}): a lane has no interfaces of the machine, so {node} has none; {OUTSIDE}")


class snr:
    """A mode of wmediumd."""


interference, error_prob, spec_prob = (type(name, (snr,), {}) for name in ("interference", "error_prob", "spec_prob"))
