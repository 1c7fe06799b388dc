# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's nodes: every switch is a bridge of the kernel's, no controller controls."""

from emulation.features.mininet.absences import NODES, RemoteController
from emulation.features.mininet.node import CPULimitedHost, Host, Node
from emulation.features.mininet.roles import Controller, Switch
from emulation.features.mininet.words import absent

OVSSwitch = OVSKernelSwitch = OVSBridge = LinuxBridge = UserSwitch = Switch
DefaultController = OVSController = NullController = Controller

__getattr__ = absent("mininet.node", NODES)

__all__ = [
    "CPULimitedHost",
    "Controller",
    "DefaultController",
    "Host",
    "LinuxBridge",
    "Node",
    "NullController",
    "OVSBridge",
    "OVSController",
    "OVSKernelSwitch",
    "OVSSwitch",
    "RemoteController",
    "Switch",
    "UserSwitch",
]
