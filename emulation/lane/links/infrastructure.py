# SPDX-License-Identifier: BSD-3-Clause
"""Access points with their clients, a BSS each (IEEE 802.11-2016, 4.3.2), all of one name and of one network.

An access point is hostapd. A client connects by the kernel alone, or is wpa_supplicant: it is where there is a
passphrase, and where a client may have to look for an access point again, as there are several, or stations come, go
and move. Among several it looks around when it receives its own with less than `roam_dbm`, and goes over to one that is
clearly stronger.
"""

from __future__ import annotations

import contextlib
import enum
import errno
import select
import time
from functools import partial

from emulation.lane import hostap, links
from emulation.lane.interfaces.radio import CCK, FREQ, IE, OFDM, SSID, rate_bytes
from emulation.lane.netlink import NetlinkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from emulation.lane.interfaces.radio import Interface
    from traffic.loop import Loop

CONNECT, DISCONNECT = 46, 48  # of nl80211
CONTROL = "/run/wpa_supplicant"  # where wpa_cli looks
OF_ASSOCIATION = 13  # wpa_supplicant's number of that frame
UNSPECIFIED, ATTEMPTS = 1, 3  # what the kernel says if it has found none; how often it is asked
RETRY_NS, APART_NS = 1_000_000_000, 20_000_000  # all clocks are one: who looks again at once would collide each time
READY_S, JOINING_S = 10.0, 20.0  # for an access point, for a client; in the lane's time
SHORT_SCAN_S, LONG_SCAN_S = 1, 60  # how often a client looks around that hears its access point weakly, or well
ROAM_DB = 8.0  # above what can be received at all
NEVER_S = 1_000_000
NOT_HELD = (
    "this kernel's mac80211 is built without debugfs, by which a rate is held that is none of the basic ones: "
    "add --basic-rates {:g}, or use --lane virtual"
)


class Security(enum.StrEnum):
    """How stations are let in: anybody; by WPA2 with a pre-shared key; by WPA3 with SAE (12.4)."""

    OPEN = "open"
    WPA2 = "wpa2"
    WPA3 = "wpa3"


class Client(enum.StrEnum):
    """What connects a client: the kernel, or wpa_supplicant."""

    KERNEL = "kernel"
    WPA_SUPPLICANT = "wpa_supplicant"


# Of hostapd's file, and of a network in wpa_supplicant's.
ACCESS: dict[Security, tuple[str, str]] = {
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
WRONG = ("reason=WRONG_KEY", "auth_type=3 auth_transaction=2 status_code=1")  # of WPA2; of WPA3, SAE's confirm
RATES = {"b": CCK, "g": OFDM, "a": OFDM}  # by hostapd's hw_mode


class Link(links.Link):
    """All of one name are one network; whether frames go from one access point to another is a matter of wires."""

    type = "managed"
    over_ap = needs_ap = True
    beacon_tu = 100
    settings = ("security", "passphrase", "client", "roam_dbm")
    recorders = ("associations",)

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__(plan)
        self.programs = hostap.Programs()
        self.of_kernel: list[Interface] = []  # clients
        self.watched = contextlib.ExitStack()

    @classmethod
    def check(cls, settings: dict[str, Any]) -> dict[str, Any]:
        security = _one_of(Security, "security", settings.get("security", Security.OPEN))
        passphrase, client, roam = (settings.get(name) for name in ("passphrase", "client", "roam_dbm"))
        if (security is Security.OPEN) != (passphrase is None):
            raise ValueError(f"passphrase: with security {security} there is {'none' if passphrase else 'to be one'}")
        check_passphrase(passphrase)
        if client is not None:
            client = _one_of(Client, "client", client)
            if client is Client.KERNEL and security is not Security.OPEN:
                raise ValueError(f"client: with security {security} it is {Client.WPA_SUPPLICANT}")
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

    def of(self, interface: Interface) -> dict[str, Any]:
        """What the link is to this interface; a class of a script's own may have several networks on one link."""
        return self.plan

    def is_ap(self, interface: Interface) -> bool:
        return interface.node.kind == "ap"

    def turn(self, interface: Interface) -> int:
        """First the access points."""
        return 0 if self.is_ap(interface) else 1

    def kind_of(self, interface: Interface) -> str:
        return "ap" if self.is_ap(interface) else self.type

    def switch_on(self, interface: Interface) -> None:
        """At its rate, if it has one only."""
        interface.switch(on=True)
        if len(interface.plan["rates"]) == 1 and interface.holds_rates():
            interface.hold_rate(interface.plan["rates"][0])
        elif len(interface.plan["rates"]) == 1 and interface.plan["rates"][0] not in self.of(interface)["basic_rates"]:
            raise OSError(errno.EOPNOTSUPP, NOT_HELD.format(interface.plan["rates"][0] / 10))
        elif interface.plan["rates"]:
            interface.fix_rates(interface.plan["rates"], self.of(interface)["freq"])

    def join(self, interface: Interface) -> None:
        if self.is_ap(interface):
            self.open(interface)
        elif self.of(interface)["client"] == Client.KERNEL:
            self.of_kernel.append(interface)
            self.connect(interface)
        else:
            self.supplicate(interface)

    def stagger(self, interface: Interface, number: int, count: int) -> None:
        """hostapd's beacons begin when it does."""

    def open(self, interface: Interface) -> None:
        """Let an access point begin. Raises OSError if it cannot."""
        plan, node = self.of(interface), interface.node
        settings = (
            f"interface={interface.name}\ndriver=nl80211\nssid2={plan['ssid'].encode().hex()}\n"
            f"hw_mode={mode(plan, interface)}\nchannel={channel_number(plan['freq'])}\nbeacon_int={plan['beacon_tu']}\n"
            f"supported_rates={_words(supported(plan, interface))}\nbasic_rates={_words(plan['basic_rates'])}\n"
            f"disassoc_low_ack=0\nskip_inactivity_poll=1\nap_max_inactivity={NEVER_S}\n"
            + (f"bridge={node.plan['bridge']['name']}\n" if node.plan["bridge"] else "")
            + "wmm_enabled=1\n" * interface.plan["wmm"]
            + "".join(f"{word}\n" for word in self.more(interface))
            + ACCESS[Security(plan["security"])][0].format(plan["passphrase"])
        )
        program = self.programs.start(node, "hostapd", settings)
        if not self.programs.wait(program, lambda line: "AP-ENABLED" in line, READY_S):
            said = program.said[-1][1] if program.said else "nothing"
            raise OSError(errno.ETIMEDOUT, f"{node.name}: hostapd is not ready; it said: {said}")

    def more(self, interface: Interface) -> Iterable[str]:
        """What its hostapd is told besides."""
        return ()

    def connect(self, interface: Interface, wait: bool = True) -> None:
        """Let the kernel look for an access point, and connect; it looks once, and its probe may collide. Raises
        NetlinkError."""
        wait, plan = wait and bool(interface.plan["aps"]), self.of(interface)
        for last in [False] * (ATTEMPTS - 1) + [True]:
            wanted = (SSID, plan["ssid"].encode()), (FREQ, plan["freq"]), *elements(plan, interface)
            interface.tune(CONNECT, *wanted, what="connect")
            status = interface.wait([CONNECT], f"connect to {plan['ssid']}", JOINING_S) if wait else 0
            if last or status != UNSPECIFIED:
                break
        if status and not plan["may_fail"]:
            self.refused(interface, f"status {status}")

    def supplicate(self, interface: Interface) -> None:
        """Let wpa_supplicant do so. Raises NetlinkError."""
        arguments = ["-i", interface.name, "-D", "nl80211", "-c"]
        networks, own = self.networks(interface), elements(self.of(interface), interface)
        if own:  # it begins when it has been told
            networks = f"ctrl_interface={CONTROL}\n" + networks.replace("network={\n", "network={\ndisabled=1\n")
        program = self.programs.start(interface.node, "wpa_supplicant", networks, arguments)
        for element in own:
            self.tell(program, interface, f"vendor_elem_add {OF_ASSOCIATION} {element[1].hex()}")
        if own:
            self.tell(program, interface, "enable_network all")
        if not interface.plan["aps"]:
            return
        answer = self.programs.wait(
            program, lambda line: next((word for word in (JOINED, *WRONG) if word in line), ""), JOINING_S
        )
        if answer != JOINED and not self.plan["may_fail"]:
            why = "its passphrase is not that of the access point" if answer else f"no answer in {JOINING_S:g} s"
            self.refused(interface, why)

    def tell(self, program: hostap.Program, interface: Interface, words: str) -> None:
        """Tell a wpa_supplicant something by its control interface, whose start it does not say. Raises OSError."""
        deadline = time.monotonic() + READY_S
        while "OK" not in (said := interface.node.cmd(f"wpa_cli -s /run -p {CONTROL} -i {interface.name} {words}")):
            program.read()
            if time.monotonic() > deadline:
                raise OSError(errno.ETIMEDOUT, f"{interface.node.name}: wpa_cli {words}: {said.strip()}")

    def networks(self, interface: Interface) -> str:
        """What wpa_supplicant is told of the networks that there are for a client."""
        return network(self.of(interface), interface.plan["passphrase"])

    def refused(self, interface: Interface, why: str) -> None:
        """Raises NetlinkError."""
        said = f"{interface.node.name} cannot connect to {self.of(interface)['ssid']}: {why}"
        raise NetlinkError(errno.EACCES, f"{said}; unreachable starts all the same")

    def rejoin(self, interface: Interface, patient: bool = True) -> None:
        """hostapd and wpa_supplicant see by themselves that it is on again, and its rates stand."""
        interface.switch(on=True)
        if not self.is_ap(interface) and self.of(interface)["client"] == Client.KERNEL:
            self.connect(interface, wait=False)

    def watch(self, loop: Loop) -> None:
        """Read what programs say; and let the kernel's clients ask again, which do not do so by themselves."""
        self.programs.watch(loop)
        self.watched = contextlib.ExitStack()
        self.watched.callback(self.programs.unwatch, loop)
        for interface in self.of_kernel:
            self.watched.enter_context(interface.hearing())
            events = interface.events.socket.fileno()
            loop.watch(events, select.EPOLLIN, partial(self.heard, interface, loop))
            self.watched.callback(loop.forget, events)

    def heard(self, interface: Interface, loop: Loop) -> None:
        """If a client has lost its access point, or has found none, it asks again a while later."""
        if any(event == DISCONNECT or (event == CONNECT and status) for event, status in interface.heard()):
            after = RETRY_NS + APART_NS * self.of_kernel.index(interface)
            loop.at(time.monotonic_ns() + after, partial(self.again, interface))

    def again(self, interface: Interface) -> None:
        try:
            self.connect(interface, wait=False)
        except NetlinkError as error:
            if error.errno not in (errno.EALREADY, errno.ENETDOWN, errno.EINPROGRESS):  # it is on, or switched off
                raise

    def unwatch(self) -> None:
        self.watched.close()

    def stop(self) -> None:
        self.of_kernel.clear()
        self.programs.stop()


def network(plan: dict[str, Any], passphrase: str | None = None, freqs: Collection[int] = ()) -> str:
    """A network of wpa_supplicant's file, on the link's channel or these."""
    scan = f'bgscan="simple:{SHORT_SCAN_S}:{round(plan["roam_dbm"])}:{LONG_SCAN_S}"\n' if plan["roams"] else ""
    return (
        f"network={{\nssid={plan['ssid'].encode().hex()}\nscan_freq={_words(freqs or [plan['freq']])}\n{scan}"
        + ACCESS[Security(plan["security"])][1].format(passphrase or plan["passphrase"])
        + "}\n"
    )


def check_passphrase(passphrase: Any) -> None:
    """Raises ValueError for one that no station can have."""
    fits = isinstance(passphrase, str) and SHORTEST <= len(passphrase) <= LONGEST
    if passphrase is not None and not (fits and all(" " <= letter <= "~" for letter in passphrase)):
        raise ValueError(f"passphrase: must be of {SHORTEST} to {LONGEST} printable ASCII characters")


def is_old(plan: dict[str, Any], interface: Interface) -> bool:
    """Whether the interface is of 802.11b, on a link that has both."""
    return "mixed" in plan and set(interface.plan["rates"]) <= set(CCK)


def mode(plan: dict[str, Any], interface: Interface) -> str:
    """hostapd's hw_mode of a link, or of this access point on one of both."""
    if "mixed" in plan:
        return "b" if is_old(plan, interface) else "g"
    return "a" if plan["freq"] >= 5000 else "b" if plan["basic_rates"][0] in RATES["b"] else "g"


def supported(plan: dict[str, Any], interface: Interface) -> tuple[int, ...]:
    """The rates that an access point says it has."""
    found = mode(plan, interface)
    return CCK + OFDM if "mixed" in plan and found == "g" else RATES[found]


def elements(plan: dict[str, Any], interface: Interface) -> list[tuple[int, bytes]]:
    """What a client of 802.11b says in its association request besides. hwsim's radios know all rates, and mac80211
    says so; of two elements of one kind hostapd takes the later. These say 1, 2, 5.5 (9.4.2.3), 11 Mb/s (9.4.2.13)."""
    if not is_old(plan, interface):
        return []
    *low, high = rate_bytes(CCK)
    return [(IE, bytes([1, len(low), *low, 50, 1, high]))]


def channel_number(freq: int) -> int:
    """By its centre frequency in MHz (IEEE 802.11-2016, 16.3.6.3 and 17.3.8.4.2)."""
    return 14 if freq == 2484 else (freq - 2407) // 5 if freq < 3000 else (freq - 5000) // 5


def _words(numbers: Collection[int]) -> str:
    return " ".join(map(str, numbers))


def _one_of(kinds: type[enum.StrEnum], name: str, value: Any) -> Any:
    if value not in list(kinds):
        raise ValueError(f"{name}: must be one of {', '.join(kinds)}, not {value!r}")
    return kinds(value)
