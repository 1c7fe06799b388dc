# SPDX-License-Identifier: BSD-3-Clause
"""Studies: each file is one, as data. `./dcflab run NAME` runs it and prints its table beside what was published."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.table import Claim, Published


@dataclass(frozen=True)
class Study:
    """Variants of one specification, compared.

    `options` are those of the topology's command line, `variants` what each strategy changes; `published` the numbers
    of the publication by strategy, with the paths of `analysis.table`; `names` what to call the strategies.
    """

    name: str
    title: str
    topology: str
    options: Mapping[str, object]
    variants: Mapping[str, Mapping[str, object]]
    names: Mapping[str, str]
    published: Published
    claims: Sequence[Claim]


def known() -> list[str]:
    """The names of all studies, as on the command line."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def find(name: str) -> Study:
    """A study by its name. Raises KeyError."""
    if name not in known():
        raise KeyError(name)
    study: Study = importlib.import_module(f"{__name__}.{name.replace('-', '_')}").STUDY
    return study
