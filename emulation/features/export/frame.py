# SPDX-License-Identifier: BSD-3-Clause
"""From columns of numbers to a pandas.DataFrame with the types of `schema`.

Names are categories, whose list is the same in each piece of a table: pieces can be put together, and are as small in
memory and in Parquet as numbers. What may be missing is one of pandas' nullable integers, or NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from emulation.features.export.schema import OPTION, Column, Table, Type

if TYPE_CHECKING:
    from pandas import DataFrame


SIGNED = 1 << 63  # what integers of tables are below


def made(table: Table, columns: Mapping[str, Any], rows: int, names: Mapping[str, Sequence[str]]) -> DataFrame:
    """A table's piece of so many rows. A column is an array of numbers, of names by their place in `names`, or a list
    of values as they are, None where there is none; what is not there is missing. Options come after the keys."""
    import pandas

    found = {}
    for column in table.columns:
        values = columns.get(column.name, [None] * rows)
        found[column.name] = _series(column, values, names.get(column.name))
        if column.name == "seed":
            found |= {name: option(values) for name, values in columns.items() if name.startswith(OPTION)}
    return pandas.DataFrame(found)


def _series(column: Column, values: Any, names: Sequence[str] | None) -> Any:
    import pandas

    if column.type is Type.NAME:
        if isinstance(values, list):
            if names is None:  # as they come; what is empty is missing
                values = [str(value) if value else None for value in values]
                names = list(dict.fromkeys(filter(None, values)))
            return pandas.Categorical(values, categories=list(names))
        return pandas.Categorical.from_codes(values, categories=list(names or ()))
    if column.type is Type.TEXT:
        return pandas.array(values, dtype="str")
    if column.type is Type.NUMBER:
        return np.array(values, float)  # None is nan
    if column.type is Type.FLAG:
        return np.array(values, bool)
    if column.type is Type.INTEGER:
        return np.array(values, np.int64)
    if isinstance(values, list):
        return pandas.array(values, dtype="Int64")
    missing = np.isnan(values) if values.dtype.kind == "f" else values < 0
    return pandas.arrays.IntegerArray(np.where(missing, 0, values).astype(np.int64), missing)


def option(values: Sequence[Any]) -> Any:
    """The values of an option, as what all of them are: numbers, flags, or else text as on the command line."""
    import pandas

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool} and None not in values:
        return np.array(values, bool)
    if kinds == {int} and all(value is None or -SIGNED <= value < SIGNED for value in values):
        return pandas.array(values, dtype="Int64") if None in values else np.array(values, np.int64)
    if kinds and kinds <= {int, float}:
        return np.array(values, float)
    return pandas.array([None if value is None else said(value) for value in values], dtype="str")


def said(value: Any) -> str:
    """An option's value in words."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={said(each)}" for name, each in value.items() if each is not None)
    return ",".join(map(said, value)) if isinstance(value, list | tuple) else str(value)
