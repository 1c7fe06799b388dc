# SPDX-License-Identifier: BSD-3-Clause
"""What tests in several folders share: helpers, which are modules of these folders; a sample of a run; and lanes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from emulation.setup import Prepared, prepare

if TYPE_CHECKING:
    from lane_bench import Bench
    from sample import Sample

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in ("analysis", "core", "lane")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "prepared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.lane)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Six seconds of a busy string of four, stopped in the middle of everything."""
    from sample import make_sample
    from tiny_air import busy_string

    return make_sample(busy_string(6), 6, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def of_stations(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What its stations received, as a pcapng, uncompressed."""
    path = tmp_path_factory.mktemp("stations") / "stations.pcapng"
    path.write_bytes(sample.of_stations())
    return path


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    return prepare()


@pytest.fixture
def bench(prepared: Prepared, tmp_path: Path) -> Bench:
    from lane_bench import Bench

    return Bench(prepared, tmp_path)


@pytest.fixture
def new_bench(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Bench]:
    """For tests that compare run folders."""
    from lane_bench import Bench

    return lambda: Bench(prepared, tmp_path_factory.mktemp("run"))
