# SPDX-License-Identifier: BSD-3-Clause
"""Recorders outside a lane: a pipe as the channel, an almost full disk, and a loop that the test drives."""

import io
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from emulation.lane.recorders import Relay


class AlmostFull(io.FileIO):
    """A file that takes only part of what is written."""

    def write(self, data: Any) -> int:
        return super().write(bytes(data)[:1000])


def test_a_channel_is_copied_whole(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "channel")
    writer = os.open(tmp_path / "channel", os.O_RDWR)
    net: Any = SimpleNamespace(folder=tmp_path)
    relay = Relay({}, net)
    relay.channel, relay.file = str(tmp_path / "channel"), "copy"
    watched: dict[int, Any] = {}
    loop: Any = SimpleNamespace(watch=lambda at, _, call: watched.update({at: call}), forget=watched.pop)
    relay.source = os.open(relay.channel, os.O_RDONLY | os.O_NONBLOCK)
    relay.loop, relay.copied = loop, AlmostFull(tmp_path / "copy", "wb")
    loop.watch(relay.source, 0, relay.copy)
    said = os.urandom(5000)
    os.write(writer, said)
    os.close(writer)
    [copy] = watched.values()
    copy()
    assert (tmp_path / "copy").read_bytes() == said
    relay.stop()
    assert not watched
