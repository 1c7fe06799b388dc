# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of access points and stations as lines of hostapd's and wpa_supplicant's files: `config`, which has such
lines; who may join, by address (`acl_mode`, `mac_acl`) or by keys of their own (`wpa_psk_file`); WPS."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from emulation.features.mininet.refusals import note
from emulation.lane.errors import Misuse
from emulation.lane.netlink import NetlinkError
from emulation.lane.rtnetlink import hardware_address

DATED = ("tls_flags", "phase1")  # lines of a script that decides by itself
GROUP = 1  # in the first byte of a hardware address
AS_THEY_ARE = ("max_num_sta", "macaddr_acl")  # keywords that are lines
WHO = {  # by `acl_mode`, with its other names: hostapd's number, and the line that names the file
    **dict.fromkeys(("1", "accept", "allow", "allowed", "whitelist"), (1, "accept_mac_file")),
    **dict.fromkeys(("0", "deny", "denied", "blacklist"), (0, "deny_mac_file")),
}


def mac_of(call: str, mac: str | None) -> str | None:
    """Return a hardware address in its usual form. One that no interface can have is left out, as by Mininet."""
    said = ":".join(part.zfill(2) for part in str(mac or "").lower().split(":"))
    with contextlib.suppress(NetlinkError):
        if mac and any(found := hardware_address(said)) and not found[0] & GROUP:
            return said
    if mac:
        note(f"{call}: {mac!r} is no address of an interface, like 00:00:00:00:00:01: it keeps its own")
    return None


def lines_of(name: str, said: Mapping[str, Any]) -> list[str]:
    """Return the lines that the keywords of a node mean for its interface of this name. Raises Misuse."""
    config = said.get("config")
    given = config.split(",") if isinstance(config, str) else config or ()
    lines = [str(line).strip() for line in given if str(line).strip()]
    if wrong := next((line for line in lines if "=" not in line), None):
        raise Misuse(f"{name}: config: {wrong!r} is not a line like 'wpa=2'; for values with commas, give a list")
    lines += undated(lines)
    lines += [f"{keyword}={said[keyword]}" for keyword in AS_THEY_ARE if said.get(keyword)]
    if (addresses := said.get("mac_acl")) is not None:
        lines += who_joins(name, str(said.get("acl_mode", "accept")).lower(), addresses)
    if keys := said.get("wpa_psk_file"):
        own = ["wpa=2", "wpa_key_mgmt=WPA-PSK", "rsn_pairwise=CCMP"] * (not said.get("passwd"))
        lines += [*own, f"wpa_psk_file={keys}"]
    if state := said.get("wps_state"):
        methods = said.get("config_methods") or "label display push_button keypad"
        lines += [f"wps_state={state}", "eap_server=1", f"config_methods={methods}", "ap_setup_locked=0"]
    return lines


def undated(lines: Sequence[str]) -> list[str]:
    """Return the line that lets certificates be valid at any time, where such lines name some: in a lane it is always
    the same day, before most are made."""
    names = {line.partition("=")[0] for line in lines}
    if "ca_cert" not in names or not names.isdisjoint(DATED):
        return []
    note("certificates are valid at any time: a lane's date is 2026-01-01")
    return ["tls_flags=[DISABLE-TIME-CHECKS]" if "eap_server" in names else 'phase1="tls_disable_time_checks=1"']


def who_joins(name: str, mode: str, addresses: Any) -> list[str]:
    """Return the lines that accept only these stations, or all but these: hardware addresses, or a file with them.
    Raises Misuse."""
    if mode not in WHO:
        raise Misuse(f"{name}: acl_mode={mode!r}: there are: accept, deny")
    number, keyword = WHO[mode]
    there = addresses.replace(",", " ").split() if isinstance(addresses, str) else [str(each) for each in addresses]
    if not all(":" in each for each in there):  # its file
        return [f"macaddr_acl={number}", f"{keyword}={addresses}"]
    file = f"/run/{name}.{mode}"
    with open(file, "w") as listed:
        listed.writelines(f"{mac_of(f'{name}: mac_acl', each)}\n" for each in there)
    return [f"macaddr_acl={number}", f"{keyword}={file}"]
