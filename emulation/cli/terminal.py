# SPDX-License-Identifier: BSD-3-Clause
"""Read answers to a prompt: from a terminal, or else from standard input."""

import contextlib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from emulation.lanes import Listener


def terminal_listener() -> Listener:
    """Return a listener that asks at the terminal, with line editing, history and completion if Python has readline."""
    readline: Any = None
    words: dict[str, Sequence[str]] = {}
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            readline = importlib.import_module("readline")

    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dcflab"

    def complete(text: str, number: int) -> str | None:
        first, space, _ = readline.get_line_buffer().lstrip().partition(" ")
        matching = [word for word in words.get(first if space else "", ()) if word.startswith(text)]
        return f"{matching[number]} " if number < len(matching) else None

    def read_line(prompt: str) -> str | None:
        try:
            line = input(prompt)
        except (EOFError, RuntimeError):  # end of input, or no input
            return None
        if readline and line:
            with contextlib.suppress(OSError):
                state.mkdir(parents=True, exist_ok=True)
                readline.write_history_file(state / "history")
        return line

    if readline:
        with contextlib.suppress(OSError):
            readline.read_history_file(state / "history")
        readline.set_history_length(1000)
        readline.set_completer_delims(" ")
        readline.set_completer(complete)
        readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    return Listener(line=click.echo, ask=read_line, words=words.update)
