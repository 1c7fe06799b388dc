# SPDX-License-Identifier: BSD-3-Clause
"""These tests import their helpers from this folder."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulation.setup import Prepared

sys.path.insert(0, str(Path(__file__).parent))

from browser import CHROMIUM, chromium
from table import Table


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One browser for all tests, with a window for each."""
    if not CHROMIUM:
        pytest.skip("no browser: chromium")
    with chromium(tmp_path_factory.mktemp("browser")) as address:
        yield address


@pytest.fixture
def table(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Table]:
    """Make a network of a topology with options, and a user at its page; each in its own run folder."""
    return lambda topology="string", **options: Table(prepared, tmp_path_factory.mktemp("run"), topology, options)
