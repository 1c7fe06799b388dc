# SPDX-License-Identifier: BSD-3-Clause
"""ackthin's tables: those in C and in Python agree, and parameters and statistics are packed and read by name."""

from __future__ import annotations

import ctypes as c
import struct

import pytest
from thinning import Config, Flow, Parsed, library

from emulation.lane import ackthin


def test_tables_agree() -> None:
    """The structures, attributes, reasons and policies here, in C and in emulation/lane/ackthin.py."""
    sizes = list((c.c_uint64 * 7).in_dll(library(), "sizes"))
    assert sizes == [c.sizeof(Config), c.sizeof(Parsed), c.sizeof(Flow), ackthin.LAYOUT.size,
                     len(ackthin.PARAMETERS), len(ackthin.REASONS), len(ackthin.POLICIES) - 1]  # fmt: skip


def test_pack_and_unpack() -> None:
    wanted = {"policy": "daa", "timeout_us": 7, "alpha": 0}
    assert ackthin.unpack(ackthin.pack(wanted)) == wanted


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"colour": 1}, "there is no parameter 'colour' of ackthin; there are: policy, limit"),
        ({"policy": "fast"}, "there is no policy 'fast' of ackthin; there are: plain, delayed, skip, daa, dynamic"),
        ({"count": 0}, "count is from 1 to 255, not 0"),
        ({"timeout_us": "soon"}, "timeout_us is from 0 to 10000000, not 'soon'"),
    ],
)
def test_a_wrong_parameter_is_named(options: dict[str, int | str], said: str) -> None:
    with pytest.raises(ValueError) as caught:
        ackthin.pack(options)
    assert said in str(caught.value)


def test_statistics_by_name() -> None:
    found = ackthin.statistics(struct.pack("=18Q6I", *range(24)) + b"more")
    assert found["passed"] == dict(zip(ackthin.REASONS, range(15), strict=True))
    assert [found[name] for name in ackthin.STATISTICS] == list(range(15, 24))
