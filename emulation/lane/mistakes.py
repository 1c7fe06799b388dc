# SPDX-License-Identifier: BSD-3-Clause
"""What users can mend: when Python cannot run a script, its syntax, a module that is not installed, and Python 2; and
mistakes in plug-ins."""

from __future__ import annotations

import os

from emulation.lane.errors import Misuse
from emulation.lane.guest import CHECKOUT

OF_PYTHON_2 = ("BaseHTTPServer", "ConfigParser", "Queue", "SimpleHTTPServer", "SocketServer", "StringIO", "__builtin__",
               "cPickle", "commands", "httplib", "thread", "urllib2", "urlparse")  # fmt: skip
FEATURES = "emulation.features."
TO_3 = "it is of Python 2, and scripts run with Python 3"


def sentence(error: BaseException) -> str:
    """Return what is wrong and what to do, or nothing if the error is another."""
    if isinstance(error, SyntaxError) and error.filename:
        old = f": {TO_3}" if "print" in str(error.msg) else ""
        return f"{os.path.basename(error.filename)}, line {error.lineno}: {error.msg}{old}"
    if isinstance(error, ModuleNotFoundError) and error.name:
        if error.name in OF_PYTHON_2:
            return f"import {error.name}: {TO_3}"
        if error.name.startswith(FEATURES):
            name = error.name.removeprefix(FEATURES).partition(".")[0]
            return f"this needs the feature {name}, but the folder emulation/features/{name} is not here"
        return f"there is no Python module {error.name}: install it with pip, or put it beside the script"
    return ""


def of_plugin(error: BaseException) -> str:
    """Return what went wrong in a user's plug-in, with file and line; nothing if it went wrong elsewhere: also if code
    of ours that a plug-in calls reports a failure."""
    import traceback

    from emulation.lane.plugin_folders import own

    frames, folders = traceback.extract_tb(error.__traceback__), tuple(f"{folder}/" for folder in own())
    theirs = [place for place, frame in enumerate(frames) if frame.filename.startswith(folders)]
    if not theirs or isinstance(error, Misuse):
        return ""
    ours = any(frame.filename.startswith(f"{CHECKOUT}/") for frame in frames[theirs[-1] :])
    if ours and isinstance(error, OSError):
        return ""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, ModuleNotFoundError):
        said = (
            f"there is no Python module {error.name} in a lane: plug-ins have the standard library, emulation.lane and "
            "traffic there"
        )
    return f"{os.path.basename(frames[theirs[-1]].filename)}, line {frames[theirs[-1]].lineno}: {said}"


def no_json(found: object, path: str = "") -> str:
    """Return which part of this cannot be written as JSON, and what it is; nothing if all can."""
    if isinstance(found, dict | list | tuple):
        parts = found.items() if isinstance(found, dict) else enumerate(found)
        return next(filter(None, (no_json(part, f"{path}.{name}") for name, part in parts)), "")
    known = found is None or isinstance(found, str | int | float)
    return "" if known else f"what a plug-in reports is not JSON: {path[1:]}: {found!r}"
