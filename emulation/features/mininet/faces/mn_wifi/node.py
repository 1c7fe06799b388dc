# SPDX-License-Identifier: BSD-3-Clause
"""Mininet-WiFi's nodes: every access point is hostapd and a bridge of the kernel's."""

from emulation.features.mininet.absences import NODES, RemoteController
from emulation.features.mininet.node import Host, Node
from emulation.features.mininet.roles import AP, Car, Controller, Station, Switch
from emulation.features.mininet.words import absent

OVSAP = OVSKernelAP = OVSBridgeAP = UserAP = AP
Node_wifi = Station
OVSSwitch = OVSKernelSwitch = OVSBridge = UserSwitch = Switch

__getattr__ = absent("mn_wifi.node", NODES)

__all__ = [
    "AP",
    "OVSAP",
    "Car",
    "Controller",
    "Host",
    "Node",
    "Node_wifi",
    "OVSBridge",
    "OVSBridgeAP",
    "OVSKernelAP",
    "OVSKernelSwitch",
    "OVSSwitch",
    "RemoteController",
    "Station",
    "Switch",
    "UserAP",
    "UserSwitch",
]
