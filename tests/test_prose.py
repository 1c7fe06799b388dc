# SPDX-License-Identifier: BSD-3-Clause
"""Prose is plain: the linter (`tests/prose.py`) finds nothing in help texts, in messages and in any page."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `prose`
import prose
from rooms import needs

LONG = "The station " + "waits for a slot and then " * 7 + "sends."


# A sentence that each rule of the vocabulary refuses, in the order of the rules.
REFUSED = """seed 003 says so
the seeds' rules hold
ask the one who steers
the kernel is told of it
the record tells of a loss
so many stations
so much traffic
to ask for the time is none
it sends without end
it mends the link
the frame is spoilt
stations in earshot
the result hangs on it
the network has none of its frames
it is none
what goes with it
it goes on with the next
see what became of it
see what comes to a frame
it shall send
the state of the moment
it knows nothing of TCP
it knows no such name
the name is there already
the name is there twice
it is not to be had
on the word of a station
be it large or small
all save for the first
it runs as it comes
two stations besides
the place whence it came
it begins anew
they have it otherwise
wait till then
nobody is told
a station of whom nothing is known
it hands over to the kernel
it takes next to nothing
for want of memory
the file at hand
it is said
a station that has not sent
as the paper has it
all but for one
it is taken for an error
it knows no way to sta3""".splitlines()


def name(path: Path) -> str:
    return str(path.relative_to(prose.ROOT))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It repeats the study of seed 003.", "'seed 003': write paper"),
        ("The seeds' simulator is ns-2.", "the papers'"),
        ("Who overhears is told of it by hand.", "told of"),
        ("To ask for the time is none.", "'To ask for time is none'".replace("for time", "for the time")),
        ("With so many stations it stops.", "so many"),
        ("How much each flow sends: without end.", "unlimited"),
        ("Doctor says how to mend it.", "'mend': write fix"),
        ("The frame is spoilt.", "corrupted"),
        ("What hangs on a result?", "depends on"),
        ("Two stations besides.", "'besides': write also"),
        ("The the frame is lost.", "lexical illusion"),
        ("It needs advance planning.", "redundancy"),
        (LONG, "a sentence of 45 words"),
    ],
)
def test_the_linter_refuses(text: str, said: str) -> None:
    found = [str(problem) for problem in prose.check([("here", text)])]
    assert any(said in one for one in found), found


@pytest.mark.parametrize(("rule", "text"), [*zip(prose.VOCABULARY.items(), REFUSED, strict=True)], ids=REFUSED)
def test_each_rule_of_the_vocabulary_refuses(rule: tuple[str, str], text: str) -> None:
    found = prose.check([("here", text)], [prose.OUR_CHECK])
    assert any(problem.said.endswith(f"write {rule[1]} ({prose.OURS})") for problem in found), found


@pytest.mark.parametrize("path", prose.KEPT)
def test_each_kept_rule_of_proselint_exists(path: str) -> None:
    assert any(check.matches_partial(path) for check in prose.CHECKS)


@pytest.mark.parametrize(
    "text",
    [
        "A station waits until the medium is idle for a DIFS. Then it counts its backoff down.",
        "The paper says 19.9 %, and the run 12.6 %.",
        "Use --seeds 1..5 for a verdict; one seed gives none.",
        LONG.replace("slot and then", "slot. Then it"),
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert prose.check([("here", text)]) == []


def test_code_and_markup_are_not_prose() -> None:
    page = (
        "<!-- so many -->\n# A title\n\nText with `so many` words, and [a link](seed-000.md).\n\n"
        "    so many = 1\n\n```python\nso_many = 'told of'\n```\n\n| a | so many |\n|---|---|\n\n- one of so many\n"
    )
    found = [(part.line, part.text) for part in prose.parts(page)]
    assert found == [(2, "A title"), (4, "Text with CODE words, and a link."), (12, "a"), (12, "so many"),
                     (15, "one of so many")]  # fmt: skip


def test_a_page_has_short_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"The word is {'x' * 140}.\n\n| A cell with {'x' * 140} |\n")
    assert [one.said for one in prose.page(page)] == ["a line of 153 characters (at most 120)"]


@pytest.mark.slow
def test_a_message_is_found_in_the_source() -> None:
    """With what is filled in, and through what joins strings."""
    said = dict(prose.messages())
    assert any("there is no topology X0; there are: X1" in text for text in said.values())
    assert len(said) > 500


@pytest.mark.slow
@needs("live", "mininet")
def test_other_strings_are_found() -> None:
    """Reasons in a table of Python, and what a page's program shows; no docstrings."""
    said = {text for _, text in prose.strings()}
    assert {"batteries are not modelled", "No frame collided in 10 s."} <= said
    assert not any("The prompt, with the commands of Mininet" in text for text in said)


@needs("live")
def test_a_pages_labels_are_found() -> None:
    assert "stations that hear each other (l)" in {text for _, text in prose.shown()}


def test_help_texts_and_messages_are_plain() -> None:
    assert [str(problem) for problem in prose.texts()] == []


@pytest.mark.parametrize("path", prose.pages(), ids=name)
def test_pages_are_plain(path: Path) -> None:
    assert [str(problem) for problem in prose.page(path)] == []
