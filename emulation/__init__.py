# SPDX-License-Identifier: BSD-3-Clause
"""Stations, radios, links, the air, and the lanes they run in."""


def version() -> str:
    """The program's version, which pyproject.toml has."""
    import tomllib
    from pathlib import Path

    said: str = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["version"]
    return said
