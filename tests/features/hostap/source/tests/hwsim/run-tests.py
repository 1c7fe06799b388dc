# SPDX-License-Identifier: BSD-3-Clause
"""A small runner of tests, with the arguments and the lines of hostap's: `run-tests.py -q --logdir FOLDER TEST...`."""

import logging
import re
import sys
import time
import traceback
from pathlib import Path

import daemons

APS = [{"ifname": f"wlan{number}", "bssid": f"02:00:00:00:0{number}:00"} for number in (3, 4)]


def find(name: str):
    for path in Path(__file__).parent.glob("test_*.py"):
        if re.search(rf"^def test_{name}\(", path.read_text(), re.MULTILINE):
            return getattr(__import__(path.stem), f"test_{name}")
    raise LookupError(name)


def main(arguments: list[str]) -> None:
    assert arguments[:2] == ["-q", "--logdir"]
    devices = [daemons.Station(f"wlan{number}") for number in range(3)]
    for count, name in enumerate(arguments[3:], 1):
        test = find(name)
        print(f"START {name} {count}/{len(arguments) - 3}", flush=True)
        began, log = time.time(), Path(arguments[2], f"{name}.log")
        parameters = {"logdir": arguments[2]}
        try:
            test(*[devices, APS, parameters][: test.__code__.co_argcount])
            result = "PASS"
        except daemons.HwsimSkip as skip:
            log.write_text(f"2026-01-01 INFO Skip test case: {skip}\n")
            result = "SKIP"
        except Exception:
            log.write_text(traceback.format_exc())
            result = "FAIL"
        daemons.reset(devices)
        print(f"{result} {name} {time.time() - began} 2026-01-01", flush=True)


if __name__ == "__main__":
    logging.basicConfig()
    main(sys.argv[1:])
