# SPDX-License-Identifier: BSD-3-Clause
"""Make a pandas.DataFrame with the types of `schema` from columns of numbers.

Names are categories, with the same list in each piece of a table. So pieces can be concatenated, and are as small as
numbers in memory and in Parquet. Values that may be missing are pandas' nullable integers, or NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from emulation.features.export.schema import OPTION, Column, Table, Type

if TYPE_CHECKING:
    from pandas import DataFrame


SIGNED = 1 << 63  # integers of tables are below it


def data_frame(table: Table, columns: Mapping[str, Any], rows: int, names: Mapping[str, Sequence[str]]) -> DataFrame:
    """Return a piece of a table with this many rows. A column is an array of numbers; an array of indices into `names`;
    or a list of values, None if missing. An absent column is missing. Options come after the keys."""
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
            if names is None:  # in order of occurrence; empty means missing
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
    """Return the values of an option with their common type: numbers, flags, or else text as on the command line."""
    import pandas

    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool} and None not in values:
        return np.array(values, bool)
    if kinds == {int} and all(value is None or -SIGNED <= value < SIGNED for value in values):
        return pandas.array(values, dtype="Int64") if None in values else np.array(values, np.int64)
    if kinds and kinds <= {int, float}:
        return np.array(values, float)
    return pandas.array([None if value is None else as_text(value) for value in values], dtype="str")


def as_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ",".join(f"{name}={as_text(each)}" for name, each in value.items() if each is not None)
    return ",".join(map(as_text, value)) if isinstance(value, list | tuple) else str(value)
