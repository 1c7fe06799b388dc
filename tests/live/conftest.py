# SPDX-License-Identifier: BSD-3-Clause
"""These tests import their helpers from this folder, and the browser from that of the other pages."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "analysis")]

from browser import CHROMIUM, chromium  # noqa: E402


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One for all, a window for each."""
    if not CHROMIUM:
        pytest.skip("no browser: chromium")
    with chromium(tmp_path_factory.mktemp("browser")) as address:
        yield address
