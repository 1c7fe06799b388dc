# SPDX-License-Identifier: BSD-3-Clause
"""What the author of a script can mend when Python cannot run it: its syntax, a module that is not installed, and
Python 2."""

from __future__ import annotations

import os

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
