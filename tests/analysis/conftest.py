# SPDX-License-Identifier: BSD-3-Clause
"""These tests import their helpers from this folder, and the core's binding from its own."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "core")]

from sample import Sample, make_sample  # noqa: E402
from tiny_air import busy_string  # noqa: E402


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Six seconds of a busy string of four, stopped in the middle of everything."""
    return make_sample(busy_string(6), 6, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def of_stations(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What its stations received, as a pcapng, uncompressed."""
    path = tmp_path_factory.mktemp("stations") / "stations.pcapng"
    path.write_bytes(sample.of_stations())
    return path
