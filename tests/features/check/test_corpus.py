# SPDX-License-Identifier: BSD-3-Clause
"""Settings that reached code of a module: what is kept of them, and what is believed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from emulation.features.check import corpus
from emulation.features.check.inside import reach
from emulation.lane.errors import Misuse


def test_the_latest_settings_of_each_kind_are_kept(own_cache: Path) -> None:
    assert corpus.kept() == {}
    corpus.keep("qdisc", [{"kbps": number} for number in range(corpus.MOST)])
    corpus.keep("congestion control", [{"lost": 0.3}])
    corpus.keep("qdisc", [{"kbps": 2}, {"kbps": 100}])
    found = corpus.kept()
    assert found["congestion control"] == [{"lost": 0.3}]
    assert len(found["qdisc"]) == corpus.MOST
    assert found["qdisc"][:4] == [{"kbps": 100}, {"kbps": 0}, {"kbps": 1}, {"kbps": 2}]
    assert corpus.read(own_cache / corpus.FILE) == found
    assert [file.name for file in own_cache.iterdir()] == [corpus.FILE]


@pytest.mark.parametrize("text", ["", "[]", '{"qdisc": {}}', '{"qdisc": [3]}'])
def test_what_is_no_corpus_is_refused_and_does_not_hinder(own_cache: Path, text: str) -> None:
    own_cache.mkdir()
    (own_cache / corpus.FILE).write_text(text)
    with pytest.raises(Misuse, match=corpus.FILE):
        corpus.read(own_cache / corpus.FILE)
    assert corpus.kept() == {}


def test_settings_from_elsewhere_are_what_this_program_would_choose() -> None:
    """Others, also those of another version, are the usual ones."""
    assert reach.sound({}) == reach.USUAL
    strange = {"kbps": "fast", "mtu": 576, "place": ["root"], "parameters": {"beta": 3}, "options": "0x", "more": 1}
    assert reach.sound(strange) == reach.USUAL | {"mtu": 576, "parameters": {"beta": "3"}}
    chosen = reach.USUAL | {"lost": 0.3, "options": "08000100", "changed": True}
    assert reach.sound(json.loads(json.dumps(chosen))) == chosen
