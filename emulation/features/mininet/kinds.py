# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of networks and nodes: those that have an effect, those that only cause a note, and those that raise Misuse;
and the classes that scripts name."""

from __future__ import annotations

from functools import partial
from typing import Any

from emulation.features.mininet.modes import WIDTH
from emulation.features.mininet.node import FREE, Node
from emulation.features.mininet.refusals import Absent, numeric
from emulation.lane.errors import Misuse

DATAPATH = "the kernel's datapath of Open vSwitch forwards"
OF_SWITCH = ("dpid", "failMode", "protocols", "stp", "inband", "listenPort")
OWN_SPACE = "each node has a network namespace of its own; its name in `ip netns` is the node's"
OF_ALL = ("ssid", "mode", "channel", "encrypt", "passwd", "freq", "ieee80211w", *WIDTH)  # of a network, for all radios
OF_RADIO = (*OF_ALL, "range", "txpower", "antennaGain", "antennaHeight")

NET_TAKEN = ("ipBase", "listenPort", "autoSetMacs", "autoStaticArp", "autoSetIP6", "noise_th", "cca_th", "fading_cof",
             "ac_method", "autoAssociation", "allAutoAssociation", "plot", "client_isolation", "autoSetPositions",
             "set_socket_ip", "set_socket_port", "waitConnected", "roads", *OF_ALL)  # fmt: skip
OLDER = {"fading_coefficient": "fading_cof", "noise_threshold": "noise_th", "cca_threshold": "cca_th",
         "AC": "ac_method", "startTime": "time", "stop_time": "time", "repetitions": "mob_rep",
         "mobility_model": "model"}  # fmt: skip
NET_NOTED = {
    **dict.fromkeys(("config4addr", "configure4addr"), "addLink(ap1, ap2, cls=_4address) makes such a link"),
    **dict.fromkeys(("configWiFiDirect", "configureWiFiDirect"), "addLink(sta1, cls=WifiDirectLink) makes such a link"),
    **dict.fromkeys(("enable_interference", "enable_wmediumd"), "the air has interference"),
    "inNamespace": OWN_SPACE,
    "autoPinCpus": "a lane has one CPU, and computing takes no time", "cleanup": "a lane leaves nothing behind",
    "disable_tcp_checksum": "checksums are correct", "rec_rssi": "telemetry(data_type='rssi') writes them",
    "set_tc_params": "the air decides what arrives", "iot_module": "the lab has its own radios",
    "ifb": "the air decides what arrives", "wwan_module": "the lab has its own radios",
}  # fmt: skip
NET_REFUSED = {
    "xterms": "a lane has no terminals: CLI(net), or run programs by cmd and popen",
    **dict.fromkeys(("docker", "container", "ssh_user"), "nodes are network namespaces, not containers"),
    "driver": "hostapd has one driver here, nl80211, and CAPWAP is not supported",
    "json_file": "write the network as Python",
    "plot3d": "plotGraph(max_x=…, max_y=…) draws the plane",
}  # fmt: skip

NODE_TAKEN: dict[str, tuple[str, ...]] = {
    "host": ("ip", "ip6", "mac", "defaultRoute", "position", "privateDirs"),
    "switch": ("ip", "mac", "position", *OF_SWITCH),
    "ap": ("ip", "mac", "position", "wlans", *OF_SWITCH, "client_isolation", "isolate_clients", "authmode", "vssids",
           "_4addr", "config", "config_methods", "max_num_sta", "wps_state", "macaddr_acl", "acl_mode", "mac_acl",
           "wpa_psk_file", *OF_RADIO),
    "station": ("ip", "ip6", "mac", "defaultRoute", "position", "privateDirs", "radius_identity", "radius_passwd",
                "config", "wpasup_globals", "wlans", "nvif", "min_x", "max_x", "min_y", "max_y", "min_v", "max_v",
                "min_wt", "max_wt", "speed", "constantVelocity", "constantDistance", "s_inverval", "bgscan_threshold",
                "l_interval", "min_speed", "max_speed", *OF_RADIO),
    "controller": ("ip", "port", "protocol", "command", "cargs", "cdir"),
}  # fmt: skip
AUTHENTICATES = "hostapd of the access point authenticates by itself"
NO_TRANSITION = "there is no fast transition: a station that changes its access point authenticates again"
SCANS = "stations scan only channels that have access points"
PLANE = "motion is in the plane"
NODE_NOTED = {
    "datapath": DATAPATH, "opts": DATAPATH, "dpopts": DATAPATH, "inNamespace": OWN_SPACE,
    "reconnectms": "it is 1000", "batch": "switches start one after the other", "verbose": "",
    **dict.fromkeys(("cpu", "cores", "sched", "period_us"), FREE),
    **dict.fromkeys(("subnet", "localIntf", "flush"), "it is a host here"),
    **dict.fromkeys(("radius_server", "shared_secret", "eap_server"), AUTHENTICATES),
    **dict.fromkeys(("model", "equipmentModel"), "the powers of devices are not known; set txpower and antennaGain"),
    "bssid_list": "stations look for all access points", "hostname": "nodes have the machine's name",
    **dict.fromkeys(("ieee80211r", "mobility_domain"), NO_TRANSITION),
    "beacon_int": "beacons come every 100 TU", "country_code": "the mode decides which channels exist",
    **dict.fromkeys(("active_scan", "passive_scan", "scan_freq", "freq_list"), SCANS),
    "bgscan_module": "bgscan is the module simple", "bgscan": "use bgscan_threshold, s_inverval and l_interval",
    "min_z": PLANE, "max_z": PLANE, "color": "pictures have colours of their own",
    **dict.fromkeys(("hostapd_flags", "wpasup_flags"), "flags are the lab's, which reads what the programs print"),
}  # fmt: skip
NODE_REFUSED = {
    "phywlan": "the whole air is emulated",
    "battery_capacity": "batteries are not modelled", "voltage": "batteries are not modelled",
}  # fmt: skip

CALLS = {
    **dict.fromkeys(("carsSW", "carsSTA"), "cars have no nodes inside: wlans=2, and addLink(car1, cls=mesh) for one"),
    "wifiDirect": "use addLink(sta1, cls=WifiDirectLink)",
    "setModule": "the lab has its own radios, and its own air",
    "addSensor": "802.15.4 is not supported: the air is 802.11's", "addAPSensor": "802.15.4 is not supported",
    "setChannelRange": "the mode decides which channels exist",
    "addModem": "WWAN is not supported", "addBTDevice": "Bluetooth is not supported", "addWAN": "WWAN is not supported",
    "setChannelEquation": "use setPropagationModel", "plotEnergyMonitor": "batteries are not modelled",
    "addDocker": "nodes are network namespaces, not containers", "addPhysicalBaseStation": "the whole air is emulated",
}  # fmt: skip
PLOT_TAKEN = ("min_x", "min_y", "min_z", "max_x", "max_y", "max_z")
PLOT_NOTED = {"image": "films have no picture behind them"}
OWN = "is the lab's module manet, one for all stations (docs/routing.md)"
OLSRD = {"-hint": "hello_interval_ms", "-tcint": "tc_interval_ms", "-hvtime": "neighbour_hold_ms",
         "-tvtime": "topology_hold_ms"}  # fmt: skip
ROUTINGS = {
    "olsrd": ("olsr", f"OLSR {OWN}"), "olsr": ("olsr", f"OLSR {OWN}"), "olsrd2": ("olsr", f"OLSR of RFC 3626 {OWN}"),
    "aodv": ("aodv", f"AODV {OWN}"), "dsr": ("dsr", f"DSR {OWN}"), "dsdv": ("dsdv", f"DSDV {OWN}"),
    "batman_adv": ("batman-adv", "batman-adv is the kernel's, one for all stations, under the stations' addresses"),
    "batmand": ("batman-adv", "batmand is not supported: batman-adv, the kernel's, is its successor"),
    "babel": ("babel", "babeld runs at all stations"),
}  # fmt: skip


def routing_arguments(call: str, routing: str, said: str) -> str:
    """Return olsrd's options as parameters of the lab's OLSR: times in seconds. Raises Misuse."""
    words = said.split()
    pairs = dict(zip(words[::2], words[1::2], strict=False))
    if said and (routing != "olsr" or len(words) % 2 or not pairs.keys() <= OLSRD.keys()):
        there = ", ".join(OLSRD)
        raise Misuse(f"{call}: proto_args={said!r}: {routing} is the lab's own (docs/routing.md); olsr has {there}")
    return "".join(f",{OLSRD[word]}={1000 * numeric(f'{call}: {word}', value):.0f}" for word, value in pairs.items())


def newer(said: dict[str, Any]) -> dict[str, Any]:
    """Rename keywords of older versions of Mininet-WiFi to the current ones."""
    if said.get("disableAutoAssociation"):
        said = {**said, "disableAutoAssociation": None, "autoAssociation": False}
    return {OLDER.get(name, name): value for name, value in said.items()}


MODES = ("snr", "error_prob", "interference", "spec_prob")


def wmediumd_mode(mode: Any) -> str | None:
    """Return the name of a mode, which scripts give as a class. Raises Misuse."""
    if mode is None:
        return None
    name = mode if isinstance(mode, str) else getattr(mode, "__name__", str(mode))
    if name not in MODES:
        raise Misuse(f"wmediumd_mode: there is no mode {name}; there are: {', '.join(MODES)}")
    return name


def class_of(name: str, cls: Any, usual: type[Node]) -> tuple[Any, dict[str, Any]]:
    """Return a class, and the keywords fixed by `partial` or `custom`. Raises Misuse."""
    fixed: dict[str, Any] = {}
    while isinstance(cls, partial):
        fixed, cls = {**cls.keywords, **fixed}, cls.func
    cls = cls or usual
    if isinstance(cls, Absent):
        cls.refuse()
    if not (isinstance(cls, type) and issubclass(cls, Node)):
        raise Misuse(f"{name}: {cls!r} is not a class of nodes")
    return cls, fixed
