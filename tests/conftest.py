# SPDX-License-Identifier: BSD-3-Clause
"""What tests in several folders share: helpers, which are modules of these folders; a sample of a run; and lanes. And
which tests are run: `--quick` leaves out what is marked `slow`, `stock` or `lane`, but for what is marked `quick`, and
tries few examples of a property; `--changed` leaves out files of tests that changes cannot have touched."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from lane_bench import Bench
    from sample import Sample

    from emulation.play.lab import Lab
    from emulation.setup import Prepared

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in (".", "analysis", "core", "lane")]


LONG = ("slow", "lane", "stock")
TOUCHED = "DCFLAB_TOUCHED"  # the files that `--changed` found, for parallel processes
FOUND = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="quick tests, a few lanes, few examples of a property")
    parser.addoption("--changed", metavar="BASE", help="files of tests that changes since BASE can have touched")


def pytest_configure(config: pytest.Config) -> None:
    import properties

    if config.option.quick:
        os.environ.setdefault(properties.VARIABLE, properties.QUICK)
    properties.load()
    if config.option.changed and not hasattr(config, "workerinput"):
        import affected

        try:
            touched, config.stash[FOUND] = affected.by_changes_since(config.option.changed)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        os.environ[TOUCHED] = os.pathsep.join(touched)


def pytest_report_header(config: pytest.Config) -> str:
    return config.stash.get(FOUND, "")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.option.changed or not collection_path.name.startswith("test_"):
        return None
    return str(collection_path.relative_to(config.rootpath)) not in os.environ[TOUCHED].split(os.pathsep) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if "prepared" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.lane)
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)  # these files first, so that no process waits for one at the end
    if config.option.quick:
        left = [
            item for item in items if any(map(item.get_closest_marker, LONG)) and not item.get_closest_marker("quick")
        ]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in {*left}]


@pytest.fixture(scope="session", autouse=True)
def inner_sessions(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let tests that run pytest have another folder of sessions. When a session starts, it takes the access to that
    folder from other users, and so from the lanes of sessions that go on."""
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(tmp_path_factory.mktemp("inner"))


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """Return a sample run: six seconds of a busy string of four, stopped in the middle of traffic."""
    from sample import make_sample
    from tiny_air import busy_string

    return make_sample(busy_string(6), 6, tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="session")
def of_stations(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what its stations received, as an uncompressed pcapng."""
    path = tmp_path_factory.mktemp("stations") / "stations.pcapng"
    path.write_bytes(sample.of_stations())
    return path


@pytest.fixture(scope="session")
def prepared() -> Prepared:
    from emulation.setup import prepare

    return prepare()


@pytest.fixture(scope="session")
def lab(prepared: Prepared) -> Lab:
    from emulation.play.lab import Lab

    return Lab(prepared.kernel.linux, prepared.modules)


@pytest.fixture
def bench(prepared: Prepared, tmp_path: Path) -> Bench:
    from lane_bench import Bench

    return Bench(prepared, tmp_path)


@pytest.fixture
def new_bench(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Bench]:
    """For tests that compare run folders."""
    from lane_bench import Bench

    return lambda: Bench(prepared, tmp_path_factory.mktemp("run"))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Return where the program runs; its temporary folder is `tmp` beside it."""
    for name in ("tmp", "here"):
        (tmp_path / name).mkdir()
    return tmp_path / "here"


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache, which the test and its children use."""
    monkeypatch.setenv("DCFLAB_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
