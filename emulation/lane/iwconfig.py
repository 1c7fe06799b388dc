# SPDX-License-Identifier: BSD-3-Clause
"""`iwconfig` by way of `iw`, for scripts that still use it: it prints the state of wireless interfaces, and sets their
network, channel and power. What it prints has the form of wireless-tools 30."""

from __future__ import annotations

import re
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MODES = {"managed": "Managed", "IBSS": "Ad-Hoc", "AP": "Master", "monitor": "Monitor"}
TYPES = {"managed": "managed", "ad-hoc": "ibss", "monitor": "monitor"}
BEST, WORST = -40, -110  # dBm: cfg80211's quality of 70, and of 0
ABSENT = "iwconfig: {} is not supported: use iw"


def iw(*words: str) -> str:
    """Run iw and return its output. Raises OSError with its message."""
    done = subprocess.run(["iw", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError((done.stderr or done.stdout).strip())
    return done.stdout


def field(pattern: str, output: str) -> str:
    """Return the first group of a pattern, or an empty string."""
    found = re.search(pattern, output, re.MULTILINE)
    return found[1].strip() if found else ""


def lines_of(name: str, info: str, link: str) -> Iterator[str]:
    """Yield the lines about an interface, from the output of `iw dev NAME info` and `link`."""
    ssid = field(r"^\s*ssid (.*)", info) or field(r"^\s*SSID: (.*)", link)
    kind, mhz = field(r"^\s*type (\S+)", info), field(r"^\s*channel \d+ \((\d+)", info)
    bssid = field(r"^(?:Connected to|Joined IBSS) (\S+)", link) or (kind == "AP" and field(r"^\s*addr (\S+)", info))
    network = f'"{ssid}"' if ssid else "off/any"
    yield f"{name:8}  IEEE 802.11  ESSID:{network}  "
    frequency = f"Frequency:{int(mhz) / 1000:g} GHz  " if mhz else ""
    at = str(bssid).upper() if bssid else "Not-Associated   "
    yield f"          Mode:{MODES.get(kind, 'Auto')}  {frequency}Access Point: {at}   "
    rate, power = field(r"^\s*tx bitrate: ([\d.]+)", link), field(r"^\s*txpower ([\d.]+)", info)
    yield f"          {f'Bit Rate={float(rate):g} Mb/s   ' if rate else ''}Tx-Power={float(power or 0):g} dBm   "
    if signal := field(r"^\s*signal: (-?\d+)", link):
        quality = min(max(int(signal), WORST), BEST) - WORST
        yield f"          Link Quality={quality}/{BEST - WORST}  Signal level={signal} dBm  "
    yield ""


def show(names: list[str]) -> int:
    """Print the state of interfaces, by default of all. Return the exit status."""
    known = re.findall(r"^\s*Interface (\S+)", iw("dev"), re.MULTILINE)
    with open("/proc/net/dev") as devices:
        others = re.findall(r"^\s*(\S+):", devices.read(), re.MULTILINE)
    for name in names or others:
        if name in known:
            print("\n".join(lines_of(name, iw("dev", name, "info"), iw("dev", name, "link"))))
        elif name in others:
            print(f"{name:8}  no wireless extensions.\n", file=sys.stderr)
        else:
            print(f"{name:8}  No such device\n", file=sys.stderr)
            return 1
    return 0


def change(name: str, words: list[str]) -> None:
    """Carry out settings, as essid NAME channel 1. Raises OSError or ValueError."""
    given: dict[str, str] = {}
    while words:
        word = words.pop(0).lower()
        if word == "commit":
            continue
        if word not in ("essid", "mode", "channel", "freq", "ap", "txpower", "rts", "frag") or not words:
            raise ValueError(ABSENT.format(word))
        given[word] = words.pop(0)
    mhz = frequency(given)
    if mode := given.get("mode", "").lower():
        if mode not in TYPES:
            raise ValueError(ABSENT.format(f"mode {mode}"))
        subprocess.run(["ip", "link", "set", name, "down"], check=False)
        iw("dev", name, "set", "type", TYPES[mode])
        subprocess.run(["ip", "link", "set", name, "up"], check=False)
    if "txpower" in given:
        iw("dev", name, "set", "txpower", "fixed", str(round(100 * float(given["txpower"].removesuffix("dBm")))))
    for word in {"rts", "frag"} & given.keys():
        radio = field(r"^\s*wiphy (\d+)", iw("dev", name, "info"))
        iw("phy", f"phy{radio}", "set", word, given[word])
    if "essid" in given:
        join(name, given["essid"], mhz, given.get("ap", "any"))
    elif mhz:
        iw("dev", name, "set", "freq", mhz)


def frequency(given: dict[str, str]) -> str:
    """Return the frequency that is given, in MHz."""
    said = given.get("freq", given.get("channel", ""))
    if re.fullmatch(r"\d+", said):
        number = int(said)
        return str(2484 if number == 14 else 2407 + 5 * number if number < 14 else 5000 + 5 * number)
    if found := re.fullmatch(r"([\d.]+)([GM])", said):
        return str(round(float(found[1]) * (1000 if found[2] == "G" else 1)))
    return ""


def join(name: str, ssid: str, mhz: str, bssid: str) -> None:
    """Join a network, or leave it. Raises OSError or ValueError."""
    info, link = iw("dev", name, "info"), iw("dev", name, "link")
    if field(r"^\s*SSID: (.*)", link) == ssid and not mhz and bssid == "any":
        return
    if field(r"^\s*type (\S+)", info) == "IBSS":
        if not (mhz := mhz or field(r"^\s*channel \d+ \((\d+)", info)):
            raise ValueError("iwconfig: give essid and channel in one command")
        iw("dev", name, "ibss", "join", ssid, mhz)
        return
    if "Not connected" not in link:
        iw("dev", name, "disconnect")
    if ssid not in ("any", "off"):
        iw("dev", name, "connect", ssid, *filter(None, (mhz, "" if bssid == "any" else bssid)))


def main(words: list[str]) -> int:
    try:
        if len(words) < 2:
            return show([word for word in words if word != "--all"])
        change(words[0], words[1:])
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
