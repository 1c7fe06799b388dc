# SPDX-License-Identifier: BSD-3-Clause
"""End-to-end tests: each boots a virtual lane, runs some Python in it, and checks the output."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.lane)
