# SPDX-License-Identifier: BSD-3-Clause
"""Stations whose access point a jump takes out of range, or one of which it brings into range: as in Mininet-WiFi they
leave the old one at once, without waiting for lost beacons, and join one there before the script goes on. And stations
that a script's `iw … connect` controls from then on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from emulation.features.mininet.access import MANAGED, MASTER
from emulation.features.mininet.interface import WIntf
from emulation.lane.clock import wait_until
from emulation.lane.links.infrastructure import CONTROL, Client, Security
from emulation.lane.links.wlan import IDLE, leave

if TYPE_CHECKING:
    from emulation.features.mininet.net import Mininet

REJOINED_S = 3.0  # the most that a script waits for stations to join, in lane time


def is_client(intf: WIntf) -> bool:
    """Return whether an interface of the running network joins access points."""
    return intf.role in ("", MANAGED) and bool(intf.lane) and known(intf).get("client", IDLE) != IDLE


def known(intf: WIntf) -> dict[str, Any]:
    found: dict[str, Any] = intf.on_air.plan.get("wlan", {})
    return found


def reachable(intf: WIntf) -> bool:
    """Return whether a station is in the range of an access point whose network it knows."""
    medium, names = intf.node.net.medium, {one["ssid"] for one in known(intf)["networks"]}
    masters = [each for each in medium.radios() if each.role == MASTER and not names.isdisjoint(named(each))]
    return any(not medium.is_too_far(each.node, intf.node) for each in masters)


def named(ap: WIntf) -> list[str]:
    """Return the networks of an access point's radio."""
    return [each.ssid for each in (ap, *ap.more)]


@contextlib.contextmanager
def rejoining(net: Mininet, clients: Sequence[WIntf]) -> Iterator[None]:
    """Put nodes elsewhere in this block; these are the stations that it concerns. Raises OSError or NetlinkError."""
    lonely = [intf for intf in clients if not reachable(intf)]
    yield
    joining = []
    for intf in clients:
        lost = bool(intf.associatedTo) and not served(intf)
        if lost or (intf in lonely and not intf.associatedTo):
            look(net, intf, lost)
            joining += [intf] * reachable(intf)
        elif not intf.associatedTo and known(intf)["client"] == Client.KERNEL:
            look(net, intf, lost)
    if joining and threading.current_thread() is threading.main_thread():
        wait_until(lambda: all(map(served, joining)), REJOINED_S)


def served(intf: WIntf) -> bool:
    """Return whether a station has an access point, in range."""
    ap = intf.associatedTo
    return isinstance(ap, WIntf) and not intf.node.net.medium.is_too_far(ap.node, intf.node)


def look(net: Mininet, intf: WIntf, lost: bool) -> None:
    """Let a station look for an access point; if its own is `lost`, it leaves that first, and forgets what it heard."""
    if known(intf)["client"] == Client.KERNEL:
        if lost:
            leave(intf.on_air)
        link: Any = net.lab.link_of(intf.on_air)  # type: ignore[union-attr]
        link.reconnect(intf.on_air)
        return
    for command in ("disconnect", "bss_flush 0", "reconnect") if lost else ("reassociate",):
        wpa_cli(intf, command)


def hand_over(intf: WIntf, ssid: str) -> None:
    """Before `iw … connect`, end what else connects a station, and let it hear the access points of this network: the
    kernel's own scan of all channels takes some 9 s. Encrypted networks are wpa_supplicant's. Raises OSError."""
    net, mine = intf.node.net, known(intf)
    aps = [ap for ap in net.medium.radios() if ap.role == MASTER and ssid in named(ap)]
    if not (mine and aps) or getattr(intf.associatedTo, "ssid", "") == ssid:
        return
    theirs = known(aps[0])
    if theirs["security"] != Security.OPEN:
        return
    with net.lab.halted() as loop:
        net.lab.link_of(intf.on_air).release(intf.on_air, loop)
    freqs = sorted({str(round(1000 * ap.freq)) for ap in aps})
    mine.update(client=Client.KERNEL, ssid=ssid, freq=theirs["freq"], security=Security.OPEN)
    intf.on_air.node.cmd(["iw", "dev", intf.name, "scan", "freq", *freqs, "ssid", ssid])


def wpa_cli(intf: WIntf, command: str) -> None:
    intf.on_air.node.cmd(["wpa_cli", "-s", CONTROL, "-p", CONTROL, "-i", intf.name, *command.split()])
