# SPDX-License-Identifier: BSD-3-Clause
"""KTAP as the kernel's debugfs shows it."""

from emulation.features.check.inside import kunit

KTAP = """\
KTAP version 1
1..1
    KTAP version 1
    # Subtest: window
    # module: tcp_mine
    1..6
    ok 1 window_grows
    # window_halves: EXPECTATION FAILED at /somewhere/mine.c:16
    Expected half(10) == 5, but
        half(10) == 3 (0x3)
    not ok 2 window_halves
        KTAP version 1
        # Subtest: window_sizes
        # window_sizes: EXPECTATION FAILED at /somewhere/mine.c:30
        Expected size > 0, but
            size == 0 (0x0)
        not ok 1 none
        ok 2 one
    # window_sizes: pass:1 fail:1 skip:0 total:2
    not ok 3 window_sizes
    ok 4 window_later # SKIP not written yet
    not ok 5 window_silent
    # window_expanded: EXPECTATION FAILED at /somewhere/mine.c:40
    Expected LONG == 1, but
    not ok 6 window_expanded
# window: pass:1 fail:4 skip:1 total:6
# Totals: pass:2 fail:4 skip:1 total:7
not ok 1 window
"""


def test_each_test_of_a_suite_is_read():
    assert dict(kunit.read(KTAP)) == {
        "window_grows": None,
        "window_halves": "EXPECTATION FAILED at /somewhere/mine.c:16 Expected half(10) == 5, but half(10) == 3 (0x3)",
        "window_sizes": "EXPECTATION FAILED at /somewhere/mine.c:30 Expected size > 0, but size == 0 (0x0)",
        "window_silent": "",
        "window_expanded": "EXPECTATION FAILED at /somewhere/mine.c:40 Expected LONG == 1, but",
    }
    assert dict(kunit.read("")) == {}


def test_expanded_macros_are_cut():
    """The kernel takes no record of more than 1024 bytes in its log."""
    said = dict(kunit.read(KTAP.replace("LONG", "container_of " * 100)))["window_expanded"]
    assert said.startswith("EXPECTATION FAILED at /somewhere/mine.c:40 Expected container_of") and len(said) < 450
