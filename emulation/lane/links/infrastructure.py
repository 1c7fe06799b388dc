# SPDX-License-Identifier: BSD-3-Clause
"""Access points with their clients, a BSS each (IEEE 802.11-2016, 4.3.2); all have one SSID and are one network.

hostapd runs each access point. The kernel alone connects a client, or wpa_supplicant does. wpa_supplicant is used if
there is a passphrase, or if a client may have to find an access point again: because there are several, or because
stations come, go or move. Among several access points, a client scans when it receives its own below `roam_dbm`, and
changes to one that is clearly stronger.

- `security`: `open` (the default), `wpa2` (pre-shared key, CCMP), `wpa3` (SAE, protected management frames)
- `passphrase`: 8 to 63 printable characters; a station may have another, `addStation("sta2", passphrase=…)`
- `client`: `kernel`, or `wpa_supplicant`
- `roam_dbm`: power of its own access point, in whole dBm, below which a client scans once a second; by default 8 dB
  above the reception threshold
"""

from __future__ import annotations

import contextlib
import enum
import errno
import select
import time
from functools import partial

from emulation.lane import hostap, links
from emulation.lane.interfaces.radio import CCK, FREQ, IE, LEGACY, OFDM, SSID, rate_bytes
from emulation.lane.netlink import NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

CONNECT, DISCONNECT = 46, 48  # of nl80211
CONTROL, CONTROL_OF_APS = "/run/wpa_supplicant", "/run/hostapd"  # default folders of wpa_cli and hostapd_cli
ASSOCIATION_REQUEST = 13  # wpa_supplicant's number of association requests
UNSPECIFIED, ATTEMPTS = 1, 3  # the kernel's status if it finds no access point; how often to ask
RETRY_NS, RETRY_SPACING_NS = 1_000_000_000, 20_000_000  # the spacing is there because all clients have the same clock
READY_S, JOINING_S = 10.0, 20.0  # for an access point, for a client; in lane time
SHORT_SCAN_S, LONG_SCAN_S = 1, 60  # a client's scan interval if its access point is weak, or strong
OPERATING_WIDTHS = {80: 1, 160: 2}  # hostapd's numbers
ROAM_DB = 8.0  # above the reception threshold
NEVER_S = 1_000_000
PATIENT = f"disassoc_low_ack=0\nskip_inactivity_poll=1\nap_max_inactivity={NEVER_S}\n"  # no client is dropped
NO_FIXED_RATE = (
    "this kernel's mac80211 is built without debugfs, which fixes a rate that is not a basic rate: "
    "add --basic-rates {:g}, or use --lane virtual"
)


class Security(enum.StrEnum):
    """The security of the network: none, WPA2 with a pre-shared key, or WPA3 with SAE (IEEE 802.11-2016, 12.4)."""

    OPEN = "open"
    WPA2 = "wpa2"
    WPA3 = "wpa3"


class Client(enum.StrEnum):
    """What connects a client: the kernel, or wpa_supplicant."""

    KERNEL = "kernel"
    WPA_SUPPLICANT = "wpa_supplicant"


# Lines of hostapd's file, and of a network in wpa_supplicant's file.
SECURITY_LINES: dict[Security, tuple[str, str]] = {
    Security.OPEN: ("", "key_mgmt=NONE\n"),
    Security.WPA2: (
        "wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP\nwpa_passphrase={}\n",
        'key_mgmt=WPA-PSK\npsk="{}"\n',
    ),
    Security.WPA3: (
        "wpa=2\nwpa_key_mgmt=SAE\nieee80211w=2\nrsn_pairwise=CCMP\nsae_password={}\n",
        'key_mgmt=SAE\nieee80211w=2\nsae_password="{}"\n',
    ),
}
SHORTEST, LONGEST = 8, 63  # characters of a passphrase (J.4.1)
JOINED = "CTRL-EVENT-CONNECTED"
# Of WPA2; of WPA3: SAE's confirm.
WRONG_PASSPHRASE = ("reason=WRONG_KEY", "auth_type=3 auth_transaction=2 status_code=1")
RATES = {"b": CCK, "g": OFDM, "a": OFDM}  # by hostapd's hw_mode


class Link(links.Link):
    """Access points and clients of one SSID. Only wires carry frames between access points."""

    type = "managed"
    staggered = False  # hostapd's beacons begin when hostapd does
    over_ap = needs_ap = one_channel = True
    beacon_tu = 100
    settings = ("security", "passphrase", "client", "roam_dbm")
    recorders = ("associations",)

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__(plan)
        self.programs = hostap.Programs()
        self.hostapds: dict[str, hostap.Program] = {}  # by the name of an access point's interface
        self.kernel_clients: list[Interface] = []  # clients that the kernel connects
        self.watching = contextlib.ExitStack()

    @classmethod
    def check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        security = _one_of(Security, "security", settings.get("security", Security.OPEN))
        passphrase, client, roam = (settings.get(name) for name in ("passphrase", "client", "roam_dbm"))
        if (security is Security.OPEN) != (passphrase is None):
            raise ValueError(
                f"passphrase: security {security} {'has none; leave it out' if passphrase else 'needs one'}"
            )
        check_passphrase(passphrase)
        if client is not None:
            client = _one_of(Client, "client", client)
            if client is Client.KERNEL and security is not Security.OPEN:
                raise ValueError(f"client: security {security} needs {Client.WPA_SUPPLICANT}; leave out client")
        if roam is not None and (isinstance(roam, bool) or not isinstance(roam, int | float) or not -120 <= roam <= 0):
            raise ValueError(f"roam_dbm: must be from -120 to 0, not {roam!r}")
        return {"security": security, "passphrase": passphrase, "client": client, "roam_dbm": roam}

    @classmethod
    def decide(cls, plan: dict[str, Any], kinds: Collection[str], changing: bool, receive_dbm: float) -> None:
        plan["roams"] = list(kinds).count("ap") > 1
        if plan["client"] is None:
            alone = plan["security"] == Security.OPEN and not plan["roams"] and not changing
            plan["client"] = Client.KERNEL if alone else Client.WPA_SUPPLICANT
        if plan["roam_dbm"] is None:
            plan["roam_dbm"] = round(receive_dbm + ROAM_DB, 1)

    def settings_of(self, interface: Interface) -> dict[str, Any]:
        """Return the link's settings for this interface. A derived class may have several networks on one link."""
        return self.plan

    def is_ap(self, interface: Interface) -> bool:
        return interface.node.kind == "ap"

    def turn(self, interface: Interface) -> int:
        """Let access points join first."""
        return 0 if self.is_ap(interface) else 1

    def kind_of(self, interface: Interface) -> str:
        return "ap" if self.is_ap(interface) else self.type

    def switch_on(self, interface: Interface) -> None:
        """Switch an interface on. If it has a single rate, fix that rate."""
        interface.switch(on=True)
        rates, plan = interface.plan["rates"], self.settings_of(interface)
        if len(rates) == 1 and interface.supports_fixed_rate():
            interface.set_fixed_rate(rates[0])
        elif len(rates) == 1 and rates[0] not in plan["basic_rates"]:
            raise OSError(errno.EOPNOTSUPP, NO_FIXED_RATE.format(rates[0] / 10))
        elif rates:
            interface.set_rate_mask(rates, plan["freq"])

    def join(self, interface: Interface) -> None:
        if self.is_ap(interface):
            self.start_ap(interface)
        elif self.settings_of(interface)["client"] == Client.KERNEL:
            self.kernel_clients += [interface] * (interface not in self.kernel_clients)
            self.connect(interface)
        else:
            self.start_supplicant(interface)

    def start_ap(self, interface: Interface) -> None:
        """Start an access point. Raises OSError if hostapd is not ready in time."""
        plan, node = self.settings_of(interface), interface.node
        settings = (
            f"interface={interface.name}\ndriver=nl80211\nssid2={plan['ssid'].encode().hex()}\n"
            f"hw_mode={hw_mode(plan, interface)}\nchannel={channel_number(plan['freq'])}\n"
            f"beacon_int={plan['beacon_tu']}\n"
            f"supported_rates={_joined(supported_rates(plan, interface))}\nbasic_rates={_joined(plan['basic_rates'])}\n"
            + PATIENT
            + (f"bridge={node.plan['bridge']['name']}\n" if node.plan["bridge"] and not node.switch else "")
            + f"ctrl_interface={CONTROL_OF_APS}\n" * hostap.controlled
            + "wmm_enabled=1\n" * interface.plan["wmm"]
            + "".join(f"{line}\n" for line in (*ht_lines(plan, interface), *self.extra_lines(interface)))
            + self.access(interface)
        )
        program = self.hostapds[interface.name] = self.programs.start(node, "hostapd", settings)
        if not self.programs.wait(program, lambda line: "AP-ENABLED" in line, READY_S):
            last_line = program.lines[-1][1] if program.lines else "nothing"
            raise OSError(errno.ETIMEDOUT, f"{node.name}: hostapd is not ready; it said: {last_line}")
        if switch := node.switch:
            switch.ports += [port for port in self.ports(interface) if port not in switch.ports]

    def ports(self, interface: Interface) -> list[str]:
        """Return the names of an access point's networks' interfaces."""
        return [interface.name]

    def extra_lines(self, interface: Interface) -> Iterable[str]:
        """Return further lines for hostapd's file."""
        return ()

    def access(self, interface: Interface) -> str:
        """Return hostapd's lines about who may join."""
        plan = self.settings_of(interface)
        return SECURITY_LINES[Security(plan["security"])][0].format(plan["passphrase"])

    def connect(self, interface: Interface, wait: bool = True) -> None:
        """Let the kernel find an access point and connect. The kernel searches once and its probe may collide, so this
        asks several times. Raises NetlinkError if it fails."""
        wait, plan = wait and bool(interface.plan["aps"]), self.settings_of(interface)
        for last in [False] * (ATTEMPTS - 1) + [True]:
            wanted = (SSID, plan["ssid"].encode()), (FREQ, plan["freq"]), *association_elements(plan, interface)
            interface.tune(CONNECT, *wanted, what="connect")
            status = interface.wait([CONNECT], f"connect to {plan['ssid']}", JOINING_S) if wait else 0
            if last or status != UNSPECIFIED:
                break
        if status and not plan["may_fail"]:
            self.raise_refused(interface, f"status {status}")

    def start_supplicant(self, interface: Interface) -> None:
        """Let wpa_supplicant connect. Raises NetlinkError if it fails."""
        arguments = ["-i", interface.name, "-D", "nl80211", "-c"]
        networks, elements = self.networks(interface), association_elements(self.settings_of(interface), interface)
        if elements:  # it starts when it has its elements
            networks = f"ctrl_interface={CONTROL}\n" + networks.replace("network={\n", "network={\ndisabled=1\n")
        program = self.programs.start(interface.node, "wpa_supplicant", networks, arguments)
        for element in elements:
            self.wpa_cli(program, interface, f"vendor_elem_add {ASSOCIATION_REQUEST} {element[1].hex()}")
        if elements:
            self.wpa_cli(program, interface, "enable_network all")
        if not interface.plan["aps"]:
            return
        event = self.programs.wait(
            program, lambda line: next((each for each in (JOINED, *WRONG_PASSPHRASE) if each in line), ""), JOINING_S
        )
        if event != JOINED and not self.plan["may_fail"]:
            why = "its passphrase is not that of the access point" if event else f"no answer in {JOINING_S:g} s"
            self.raise_refused(interface, why)

    def wpa_cli(self, program: hostap.Program, interface: Interface, command: str) -> None:
        """Send a command to wpa_supplicant's control interface, which opens without notice. Raises OSError after
        READY_S."""
        deadline = time.monotonic() + READY_S
        while "OK" not in (output := interface.node.cmd(f"wpa_cli -s /run -p {CONTROL} -i {interface.name} {command}")):
            program.read()
            if time.monotonic() > deadline:
                raise OSError(errno.ETIMEDOUT, f"{interface.node.name}: wpa_cli {command}: {output.strip()}")

    def networks(self, interface: Interface) -> str:
        """Return the networks of wpa_supplicant's file for a client."""
        plan = self.settings_of(interface)
        lines = SECURITY_LINES[Security(plan["security"])][1]
        return network(plan, lines.format(interface.plan["passphrase"] or plan["passphrase"]))

    def raise_refused(self, interface: Interface, why: str) -> None:
        """Report that a client cannot connect. Raises NetlinkError."""
        message = f"{interface.node.name} cannot connect to {self.settings_of(interface)['ssid']}: {why}"
        raise NetlinkError(errno.EACCES, f"{message}; use unreachable to start anyway")

    def rejoin(self, interface: Interface, patient: bool = True) -> None:
        """Switch an interface on. hostapd and wpa_supplicant notice this themselves, and its rates stay set."""
        interface.switch(on=True)
        if not self.is_ap(interface) and self.settings_of(interface)["client"] == Client.KERNEL:
            self.connect(interface, wait=False)

    def watch(self, loop: Loop) -> None:
        """Read the programs' output, and reconnect the kernel's clients, which do not retry by themselves."""
        self.programs.watch(loop)
        self.watching = contextlib.ExitStack()
        self.watching.callback(self.programs.unwatch, loop)
        for interface in self.kernel_clients:
            self.watching.enter_context(interface.receiving_events())
            events = interface.events.socket.fileno()
            loop.watch(events, select.EPOLLIN, partial(self.on_event, interface, loop))
            self.watching.callback(loop.forget, events)

    def on_event(self, interface: Interface, loop: Loop) -> None:
        """Schedule a retry for a client that has lost its access point, or has found none."""
        if any(event == DISCONNECT or (event == CONNECT and status) for event, status in interface.pending_events()):
            after = RETRY_NS + RETRY_SPACING_NS * self.kernel_clients.index(interface)
            loop.at(time.monotonic_ns() + after, partial(self.reconnect, interface))

    def reconnect(self, interface: Interface) -> None:
        try:
            self.connect(interface, wait=False)
        except NetlinkError as error:
            if error.errno not in (errno.EALREADY, errno.ENETDOWN, errno.EINPROGRESS):  # is connected, or off
                raise

    def unwatch(self) -> None:
        self.watching.close()

    def stop(self) -> None:
        self.kernel_clients.clear()
        self.programs.stop()


def network(plan: dict[str, Any], access: str, freqs: Collection[int] = ()) -> str:
    """Return a network of wpa_supplicant's file, on the link's channel or on `freqs`. `access`: lines about keys.

    Several access points answer a probe request in the same instant, so the answers collide. hostapd repeats them if
    the request names the SSID.
    """
    scan = ""
    if plan["roams"]:
        short_s, dbm, long_s = plan.get("scan") or (SHORT_SCAN_S, round(plan["roam_dbm"]), LONG_SCAN_S)
        scan = f'scan_ssid=1\nbgscan="simple:{short_s}:{dbm}:{long_s}"\n'
    return (
        f"network={{\nssid={plan['ssid'].encode().hex()}\nscan_freq={_joined(freqs or [plan['freq']])}\n{scan}"
        f"{access}}}\n"
    )


def check_passphrase(passphrase: Any) -> None:
    """Check a passphrase. Raises ValueError if it is not valid for WPA (J.4.1)."""
    fits = isinstance(passphrase, str) and SHORTEST <= len(passphrase) <= LONGEST
    if passphrase is not None and not (fits and all(" " <= letter <= "~" for letter in passphrase)):
        raise ValueError(f"passphrase: must be of {SHORTEST} to {LONGEST} printable ASCII characters")


def is_80211b(plan: dict[str, Any], interface: Interface) -> bool:
    """Return whether the interface is 802.11b, on a link with 802.11b and 802.11g."""
    return "mixed" in plan and set(interface.plan["rates"]) <= set(CCK)


def hw_mode(plan: dict[str, Any], interface: Interface) -> str:
    """Return hostapd's hw_mode for the link, or for this access point of a mixed link."""
    if "mixed" in plan:
        return "b" if is_80211b(plan, interface) else "g"
    return "a" if plan["freq"] >= 5000 else "b" if plan["basic_rates"][0] in RATES["b"] else "g"


def supported_rates(plan: dict[str, Any], interface: Interface) -> tuple[int, ...]:
    found = hw_mode(plan, interface)
    return CCK + OFDM if "mixed" in plan and found == "g" else RATES[found]


def ht_lines(plan: dict[str, Any], interface: Interface) -> list[str]:
    """Return hostapd's lines for an access point of 802.11n or later; none for one with legacy rates."""
    ht = interface.plan.get("ht")
    if not ht or ht["format"] == LEGACY:
        return []
    width_mhz, centre = ht["width_mhz"], ht["centre_mhz"]
    short, above = ht["guard_ns"] == 400, channel_number(plan["freq"]) % 8 == (4 if plan["freq"] < 5500 else 5)
    if plan["freq"] < 3000:
        above = centre > plan["freq"]  # the secondary 20 MHz are above the primary
    capabilities = [f"[HT40{'+' if above else '-'}]"] * (width_mhz > 20) + ["[SHORT-GI-20]"] * short
    lines = ["ieee80211n=1", f"ht_capab={''.join(capabilities + ['[SHORT-GI-40]'] * (short and width_mhz > 20))}"]
    for amendment, name in (("ac", "vht"), ("ax", "he")):
        if ht["format"] == name or (name == "vht" and ht["format"] == "he" and plan["freq"] > 3000):
            lines += [f"ieee80211{amendment}=1", f"{name}_oper_chwidth={OPERATING_WIDTHS.get(width_mhz, 0)}"]
            lines += [f"{name}_oper_centr_freq_seg0_idx={channel_number(centre)}"] * (width_mhz in OPERATING_WIDTHS)
    if "ieee80211ac=1" in lines:
        wide = width_mhz == 160
        vht = ["[MAX-A-MPDU-LEN-EXP7]"]  # without it hostapd advertises A-MPDUs of 8191 bytes
        vht += ["[VHT160]"] * wide + ["[SHORT-GI-80]"] * short + ["[SHORT-GI-160]"] * (wide and short)
        lines.append(f"vht_capab={''.join(vht)}")
    return lines


def association_elements(plan: dict[str, Any], interface: Interface) -> list[tuple[int, bytes]]:
    """Return elements that an 802.11b client adds to its association request.

    hwsim's radios support all rates, and mac80211 announces all. Of two elements of one kind hostapd takes the later.
    These name 1, 2, 5.5 (9.4.2.3) and 11 Mb/s (9.4.2.13).
    """
    if not is_80211b(plan, interface):
        return []
    *low, high = rate_bytes(CCK)
    return [(IE, bytes([1, len(low), *low, 50, 1, high]))]


def channel_number(freq: int) -> int:
    """Return the channel number of a centre frequency in MHz (IEEE 802.11-2016, 16.3.6.3 and 17.3.8.4.2)."""
    return 14 if freq == 2484 else (freq - 2407) // 5 if freq < 3000 else (freq - 5000) // 5


def _joined(numbers: Collection[int]) -> str:
    return " ".join(map(str, numbers))


def _one_of(kinds: type[enum.StrEnum], name: str, value: Any) -> Any:
    if value not in list(kinds):
        raise ValueError(f"{name}: must be one of {', '.join(kinds)}, not {value!r}")
    return kinds(value)
