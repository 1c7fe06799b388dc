# SPDX-License-Identifier: BSD-3-Clause
"""These tests import their helpers from this folder, and the browser from that of the other pages."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulation.setup import Prepared, prepare

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "analysis")]

from browser import CHROMIUM, chromium  # noqa: E402
from table import Table  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and "prepared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.lane)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One for all, a window for each."""
    if not CHROMIUM:
        pytest.skip("no browser: chromium")
    with chromium(tmp_path_factory.mktemp("browser")) as address:
        yield address


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    return prepare()


@pytest.fixture
def table(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Table]:
    """A network of a topology, with options, to sit at; each in a run folder of its own."""
    return lambda topology="string", **options: Table(prepared, tmp_path_factory.mktemp("run"), topology, options)
