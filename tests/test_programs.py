# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the distribution: which ones a shell's line calls, to name missing ones."""

from __future__ import annotations

import pytest

from emulation.lane.programs import missing_message, programs_called


@pytest.mark.parametrize(
    ("command", "programs"),
    [
        ("nosuch > file", ["nosuch"]),
        ("2>/dev/null nosuch -a", ["nosuch"]),
        ("ping -c 1 10.0.0.2 2>&1 | grep x > y && foo", ["ping", "grep", "foo"]),
        ("A=1 foo &>x; (bar; baz) >x &", ["foo", "bar", "baz"]),
        ("! foo >x || if bar; then baz >y; fi", ["foo", "bar", "baz", "fi"]),
        ("echo 'a; b' 1 2>b", ["echo"]),
        ("bash -c 'iperf -s -p 5001;' >x", ["bash", "iperf"]),
        ("echo -c 'foo' && sh -c \"foo | bar\"", ["echo", "sh", "foo", "bar"]),
        ('$TOOL >x; "my tool" >x', []),
        ("case x in a) b >c;; esac", []),
        ("f() { foo >x; }; f", []),
        ("foo\nbar >x", []),
        ("echo 'not closed >x", []),
    ],
)
def test_what_a_line_calls(command: str, programs: list[str]) -> None:
    assert programs_called(command) == programs


def test_a_missing_program_is_said_with_its_package_or_what_does_its_work() -> None:
    for program, ends in {"nc": "install the package netcat-openbsd", "dpctl": "use ovs-ofctl"}.items():
        assert missing_message(program).endswith(ends)
