# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd's command line, and our own options."""

from __future__ import annotations

import getopt
from dataclasses import dataclass

from emulation.lane.errors import Misuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Say = Callable[[int, str], None]  # severity, as in syslog; a sentence

ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6
PROGRAM = "mediumd"
HELP = """Usage: mediumd -c FILE [-x FILE] [-l LEVEL] [-s] [-p FILE] [--wmediumd-compat] [--freq MHZ] [--seed N]
       mediumd -d [-l LEVEL] [--wmediumd-compat]

A drop-in for wmediumd: decides which frames of this kernel's hwsim radios arrive, until SIGTERM.

  -c FILE             a wmediumd configuration: the radios and the links between them
  -x FILE             packet error rates by power
  -l LEVEL            which messages to print, as in syslog: 3 errors, 4 warnings, 5 events … (default 6)
  -s                  serve clients at the control socket, /var/run/wmediumd.sock
  -d                  no configuration: clients of the control socket give losses by size and rate for each link
  -p FILE             write what is on the air to a pcapng file
  --socket FILE       another path of the control socket
  --wmediumd-compat   wmediumd's own model: no collisions, no carrier sense, one frame after the other
  --freq MHZ          the channel that sets the PHY's constants (default 2412); each radio has its own channel
  --seed N            the seed of random numbers (default 1)
  -a SOCKET           with --wmediumd-compat: wmediumd's API socket, for programs that are radios themselves
  -u SOCKET           with --wmediumd-compat: serve other kernels by vhost-user, instead of this one
  -t SOCKET           with -u: keep the time of the scheduler at this socket, as time-travel=ext: of User-Mode Linux
  -n                  with -u: serve this kernel, too
  -h, -V              this help; the version
"""
SHORT = "hVc:x:l:sdp:t:u:a:n"
LONG = ["wmediumd-compat", "freq=", "seed=", "socket=", "help"]
# The attributes of options with a value; and the least and the greatest number.
TEXTS = {"-c": "config", "-x": "table", "-p": "capture", "-a": "api", "-u": "kernels", "-t": "time",
         "--socket": "socket"}  # fmt: skip
NUMBERS = {"-l": ("level", 0, 7), "--freq": ("freq", 2412, 5825), "--seed": ("seed", 0, 2**63 - 1)}


@dataclass
class Arguments:
    """The parsed command line."""

    config: str | None = None
    table: str | None = None
    level: int = 6
    serve: bool = False
    dynamic: bool = False
    capture: str | None = None
    api: str | None = None
    kernels: str | None = None
    time: str | None = None
    netlink: bool = True
    compat: bool = False
    freq: int = 2412
    seed: int = 1
    socket: str | None = None
    only: str | None = None  # "help" or "version": print only that


def parse(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises Misuse if it is wrong."""
    found = Arguments()
    try:
        options, rest = getopt.gnu_getopt(list(words), SHORT, LONG)
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    for name, value in options:
        if name in TEXTS:
            setattr(found, TEXTS[name], value)
        elif name in NUMBERS:
            attribute, least, most = NUMBERS[name]
            if not value.isdecimal() or len(value) > 20 or not least <= int(value) <= most:
                raise Misuse(f"{name} must be a number from {least} to {most}, not {value!r}")
            setattr(found, attribute, int(value))
    given = dict(options)
    found.dynamic, found.compat = "-d" in given, "--wmediumd-compat" in given
    found.serve = not given.keys().isdisjoint(("-s", "-d", "--socket"))
    found.only = "help" if "-h" in given or "--help" in given else "version" if "-V" in given else None
    if found.only:
        return found
    if rest:
        raise Misuse(f"{rest[0]!r} is not an option; give the configuration with -c")
    found.netlink = "-n" in given or not found.kernels
    if (found.api or found.kernels) and not found.compat:
        raise Misuse(
            f"{'-a' if found.api else '-u'}: our air has the radios of this kernel only; add --wmediumd-compat"
        )
    if found.time and found.netlink:
        raise Misuse("-t: this kernel's radios do not keep a scheduler's time; give -u SOCKET and leave out -n")
    if found.dynamic and found.config:
        raise Misuse("-d takes no configuration; leave out -c or -d")
    if not found.dynamic and not found.config:
        raise Misuse("no configuration; give one with -c FILE")
    return found
