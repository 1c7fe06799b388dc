# SPDX-License-Identifier: BSD-3-Clause
"""Names of Mininet and Mininet-WiFi that do not exist here, with what to do instead; and those that can be imported,
but raise Misuse on use."""

from __future__ import annotations

from typing import Any

from emulation.features.mininet.interface import Intf
from emulation.features.mininet.refusals import refuse

LOW_POWER = "802.15.4 is not supported: the air is 802.11's"
NO_SUMO = "there is no SUMO here: ReplayingMobility plays its FCD or trace, or mobility() and models"
NO_P4 = "switches and access points are Open vSwitch's, with OpenFlow"
NO_HARDWARE = "the air is emulated, all of it: write mesh or adhoc"
MININET = {"examples": "copy the example beside the script; those of clusters need several machines, and a lane is one"}
MN_WIFI = {
    "sixLoWPAN": LOW_POWER, "btvirt": "Bluetooth is not supported", "wwan": "WWAN is not supported", "sumo": NO_SUMO,
    "energy": "nothing uses up a battery", "bmv2": NO_P4, "examples": "copy the example beside the script",
    "plot": "plotGraph() of the network draws", "module": "the lab has its own radios",
    "frequency": "channels are those of mode", "data": "the lab's air has its own error tables",
}  # fmt: skip
NODES = {
    "IVSSwitch": NO_P4, "NOX": "Controller('c0', command='…', cargs='…') runs any program", "OVSSwitchONOS": NO_P4,
    "Docker": "nodes are namespaces", "Sensor": LOW_POWER, "OVSSensor": LOW_POWER, "APSensor": LOW_POWER,
    "LowPANNode": LOW_POWER, "BTNode": "Bluetooth is not supported", "physicalAP": NO_HARDWARE,
    "Aircraft": "addStation with a position in three numbers", "Satellite": "addStation with mobility()",
    "P4Switch": NO_P4, "P4AP": NO_P4, "P4Host": NO_P4,
}  # fmt: skip
LINKS = {
    "physicalMesh": NO_HARDWARE, "PhysicalWifiDirectLink": NO_HARDWARE,
    **dict.fromkeys(("WifiDirectLink", "wifiDirectLink"), "Wi-Fi Direct is not supported"),
    "LoWPAN": LOW_POWER, "LowPANLink": LOW_POWER, "WWANLink": "WWAN is not supported",
    "HostapdConfig": "addAccessPoint says what an access point is", "Association": "setAssociation() does it",
    "master": "a station is no access point: addAccessPoint", "managed": "stations are that, unless they have a link",
}  # fmt: skip
MINIEDIT = dict.fromkeys(
    ("netParse", "moduleDeps"), "MiniEdit draws windows, and a lane has none: run the Level 2 script that it exports"
)
VANET = {"vanet": NO_SUMO}
PROPAGATION = dict.fromkeys(("PropagationModel", "propagationModel"), "setPropagationModel of the network sets it")
MOBILITY = dict.fromkeys(
    ("Mobility", "mobility", "ConfigMobility", "ConfigMobLinks", "model", "Tracked"),
    "mobility() and setMobilityModel() of the network set it",
)
INSTEAD = {  # by module and missing name: what to do instead
    "mininet": MININET, "mininet.util": MINIEDIT, "mininet.moduledeps": MINIEDIT,
    "mininet.node": NODES, "mininet.nodelib": NODES,
    "mn_wifi": MN_WIFI, "mn_wifi.node": NODES, "mn_wifi.link": LINKS, "mn_wifi.mobility": MOBILITY,
    "mn_wifi.propagationModels": PROPAGATION, "mn_wifi.vanet": VANET,
}  # fmt: skip


class HardwareIntf(Intf):
    """A hardware interface of the machine, which a lane lacks."""

    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        refuse(f"Intf({name!r})", "a lane has no interfaces of the machine; addLink makes those of nodes")


class snr:
    """A mode of wmediumd."""


interference, error_prob, spec_prob = (type(name, (snr,), {}) for name in ("interference", "error_prob", "spec_prob"))
