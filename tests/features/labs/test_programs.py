# SPDX-License-Identifier: BSD-3-Clause
"""Students' programs run in lanes: right ones pass; failure, a hang or an escape gives a message."""

from __future__ import annotations

from pathlib import Path

import pytest
from played import Played

from emulation.features.labs import programs
from emulation.features.labs.judge import State, compare
from emulation.features.labs.sheet import Sheet
from emulation.play.lab import Lab

COUNTS = """import sys
from collections import Counter
from analysis.taps.sniff import frames
from analysis.traces.trace import Outcome
print(Counter(frame.addr2 for frame in frames(sys.argv[1]) if frame.outcome is Outcome.{}))
"""


def tried(lab: Lab, played: Played, place: Path, text: str) -> tuple[State, str]:
    """Return the message about a tap."""
    found, who, runs = played("hidden-terminal")
    (place / "tap.py").write_text(text)
    marked = compare(lab, found, Sheet(who, {}, place), runs, place / "tried")
    return next((answer.state, answer.hint) for answer in marked.answers if answer.question == "tap")


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (COUNTS.format("COLLISION"), State.RIGHT, ""),
        (COUNTS.format("OK"), State.NOT_YET, "other numbers"),
        ("\nprint(1 / 0)", State.NOT_YET, "tap.py, line 2: ZeroDivisionError: division by zero"),
        ("def tap(:", State.NOT_YET, "tap.py, line 1: SyntaxError"),
        ("", State.NOT_YET, "prints nothing"),
        ("print(*range(5000))", State.NOT_YET, "5000 words"),
        ("import time; time.sleep(1e6)", State.NOT_YET, "it sleeps"),
        ("open('/etc/of-the-lab', 'w')", State.NOT_YET, "Read-only file system"),
        ("x = 'x' * (1 << 40)", State.NOT_YET, "MemoryError"),
        ("import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)", State.NOT_YET, "tap.py failed"),
    ],
    ids=["right", "wrong", "raises", "no Python", "empty", "floods", "sleeps", "writes", "eats memory", "powers off"],
)
def test_a_tap_is_judged_by_what_it_prints(
    text: str, state: State, said: str, lab: Lab, played: Played, tmp_path: Path
) -> None:
    found, hint = tried(lab, played, tmp_path, text)
    assert found is state and said in hint


def test_one_that_does_not_end_is_ended(
    lab: Lab, played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "TAP_LIMIT_S", 2.0)
    state, hint = tried(lab, played, tmp_path, "while True: pass")
    assert state is State.NOT_YET and "did not end" in hint


@pytest.mark.quick
def test_a_link_is_not_followed(lab: Lab, played: Played, tmp_path: Path) -> None:
    found, who, runs = played("hidden-terminal")
    (tmp_path / "tap.py").symlink_to("/etc/passwd")
    marked = compare(lab, found, Sheet(who, {}, tmp_path), runs, tmp_path / "tried")
    assert [answer.hint for answer in marked.answers if "it is a link" in answer.hint]


LIMITED = """
	struct tcp_sock *tp = tcp_sk(sk);

	tp->snd_cwnd_clamp = 3;
	tcp_snd_cwnd_set(tp, 2);
"""


@pytest.mark.parametrize(
    ("begins", "points", "said"),
    [
        (LIMITED, 4, ""),
        ("", 1, "four hops: not yet"),
        ("oops", 0, "mine.c does not build: mine.c, line 21: "),
        ("*(volatile int *)8 = 1;", 0, "mine.c brought the kernel down"),
    ],
    ids=["holds the window", "Reno", "no C", "crashes"],
)
def test_a_congestion_control_is_judged_by_what_it_does(
    begins: str, points: int, said: str, lab: Lab, played: Played, tmp_path: Path
) -> None:
    found, who, runs = played("own-congestion-control")
    given = (found.folder / "mine.c").read_text()
    (tmp_path / "mine.c").write_text(
        given.replace("mine_init(struct sock *sk)\n{\n", f"mine_init(struct sock *sk)\n{{\n{begins}")
    )
    marked = compare(lab, found, Sheet(who, {}, tmp_path), runs, tmp_path / "tried")
    answer = next(answer for answer in marked.answers if answer.question == "mine")
    assert (answer.points, answer.of) == (points, 4) and said in answer.hint
