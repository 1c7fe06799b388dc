# SPDX-License-Identifier: BSD-3-Clause
"""Tests that play scripts boot lanes."""

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "stage" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.lane)
