# SPDX-License-Identifier: BSD-3-Clause
"""Results as tables for people.

A quantity is named by its path in a `Run`: `col.rtscts`, `flows.0.tcp.rtos`, `goodput_kbps`. Rows of tables, a paper's
numbers and the checks of claims (`tables.claims`) all use these names, so a study is data and needs no code. A study
has one or several cases, and in each case variants; the first variant is the reference of the others. Several seeds are
shown as the mean ± half-width of the 95 % confidence interval; changes are computed seed by seed. Published counts are
for the paper's duration; `scaled` converts them.
"""

import math
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel

from analysis.results.result import Run
from analysis.tables import statistics
from analysis.tables.quantities import (
    COUNTS,
    OF_AGGREGATES,
    OF_AIR,
    OF_CATEGORY,
    OF_ROUTING,
    OF_RUNS,
    PARTS,
    QUANTITIES,
    SECTIONS,
)

if TYPE_CHECKING:
    from rich.table import Table

Published = Mapping[str, Mapping[str, Mapping[str, float]]]  # case -> variant -> path -> number
Groups = dict[str, dict[str, list[Run]]]  # case -> variant -> runs, by seed

RANGE = re.compile(r"(\d+)-(\d+)")  # a range of list indices
COMPACT = 6  # with up to this many columns, cells have a value and its change; with more, the change only


def of_runs(runs: Sequence[Run]) -> dict[str, str]:
    """Return the quantities of runs outside of studies. EDCA adds those of access categories; a routing protocol adds
    those of routing, with the packets it dropped, by reason."""
    routing = [run.routing for run in runs if run.routing]
    reasons = dict.fromkeys(reason for each in routing for reason in each.dropped or ())
    dropped = {f"routing.dropped.{reason}": f"dropped: {reason.replace('_', ' ')}" for reason in reasons}
    present = dict.fromkeys(name for run in runs for name in run.categories)
    of_categories = {
        f"categories.{name}.{what}": f"AC_{name}, {said}" for name in present for what, said in OF_CATEGORY.items()
    }
    aggregates = OF_AGGREGATES if any(run.aggregates for run in runs) else {}
    return OF_RUNS | of_categories | aggregates | (OF_ROUTING | dropped if routing else {})


def shown(quantities: Mapping[str, str], runs: Sequence[Run], published: Published | None = None) -> dict[str, str]:
    """Return those of the quantities that tables show: without kinds of frames that no run counted, and without
    segments in flight if there were none, unless they were published."""
    theirs = {path for variants in (published or {}).values() for numbers in variants.values() for path in numbers}
    return {
        path: label
        for path, label in quantities.items()
        if path in theirs or not PARTS.fullmatch(path) or any(of(run, path) for run in runs)
    }


def value(run: Run, path: str) -> float:
    """Return a quantity of a run by its path; nan if the run lacks it, 0 for a name that it did not count. Numbers in
    the path are list indices from 0; 0-4 means the mean of the first five. Raises AttributeError for an unknown path.
    """
    return of(run, path) if run.counted or not OF_AIR.fullmatch(path) else math.nan


@cache
def is_path(path: str) -> bool:
    """Return whether a path leads to a field of a run, as far as that does not depend on the run."""
    model: Any = Run
    for name in path.split("."):
        if name not in model.model_fields:
            return hasattr(model, name)
        kind = model.model_fields[name].annotation
        kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
        if model is None:  # a number, or several by name
            return True
    return True


def of(found: object, path: str) -> float:
    """Return the quantity at a path of any part of a run; `value` has the rules."""
    names = path.split(".")
    for at, name in enumerate(names):
        if isinstance(found, list) and name.isdecimal():
            found = found[int(name)] if int(name) < len(found) else None
        elif isinstance(found, list) and (several := RANGE.fullmatch(name)):
            some = found[int(several[1]) : int(several[2]) + 1]
            return sum(of(each, ".".join(names[at + 1 :])) for each in some) / len(some) if some else math.nan
        elif isinstance(found, dict):
            if name not in found:
                return 0.0
            found = found[name]
        else:
            found = getattr(found, name)
        if found is None:
            return math.nan
    return float(found)  # type: ignore[arg-type]


def by_case(runs: Sequence[Run]) -> Groups:
    """Group runs by case and variant, each in order of first occurrence, sorted by seed."""
    groups: Groups = {}
    for run in runs:
        groups.setdefault(run.case, {}).setdefault(run.variant, []).append(run)
    for variants in groups.values():
        for group in variants.values():
            group.sort(key=lambda run: run.seed)
    return groups


def values(runs: Sequence[Run], path: str) -> dict[str, dict[str, list[float]]]:
    """Return a quantity of all runs, by case and variant, in the order of seeds."""
    groups = by_case(runs)
    return {
        case: {variant: [value(run, path) for run in group] for variant, group in variants.items()}
        for case, variants in groups.items()
    }


def of_quantity(published: Published, path: str) -> dict[str, dict[str, float]]:
    return {
        case: {variant: numbers[path] for variant, numbers in variants.items() if path in numbers}
        for case, variants in published.items()
    }


def study_tables(
    title: str, runs: Sequence[Run], *, published: Published | None = None, names: Mapping[str, str] | None = None,
    rows: str = "", quantities: Mapping[str, str] | None = None,
) -> "list[Table]":  # fmt: skip
    """Return the tables of a study. With one case: one table under `title`, a row for each quantity, a column for each
    variant. With several cases: a table for each quantity, with a row for each case. A paper's numbers have their own
    columns. Only quantities that are `shown` appear.

    `names`: of variants and cases. `rows`: what the cases are. `quantities`: paths and their labels. Raises ValueError
    if variants ran with different seeds.
    """
    published, names, quantities = published or {}, names or {}, QUANTITIES if quantities is None else quantities
    rules = quantities.keys() >= QUANTITIES.keys()
    groups, quantities = by_case(runs), shown(quantities, runs, published)
    if len(groups) == 1:
        [(case, variants)] = groups.items()
        one = _one_case(title, variants, published.get(case, {}), names, quantities, rules)
        return [one] if quantities else []
    draw = _compact if len({run.variant for run in runs}) > COMPACT else _cases
    return [draw(label, groups, path, published, names, rows) for path, label in quantities.items()]


def _one_case(
    title: str, variants: Mapping[str, list[Run]], published: Mapping[str, Mapping[str, float]],
    names: Mapping[str, str], quantities: Mapping[str, str], rules: bool,
) -> "Table":  # fmt: skip
    """Return a table with a row per quantity, and one for the change of goodput; `rules` adds lines after SECTIONS."""
    table = _table(title, "", variants, names, published)
    for path, label in quantities.items():
        cells = []
        for variant, group in variants.items():
            cells.append(number(_mean(group, path)))
            if variant in published:
                cells.append(number(published[variant].get(path)))
        table.add_row(label, *cells, end_section=rules and path in SECTIONS)
    goodput = next((path for path in ("goodput_segments", "goodput_kbps") if path in quantities), None)
    if goodput and len(variants) > 1:
        first = next(iter(variants))
        changes = _changes(variants, published, goodput)
        table.add_row(f"goodput against {names.get(first, first)}", *changes)
    return table


def _changes(
    variants: Mapping[str, list[Run]], published: Mapping[str, Mapping[str, float]], path: str
) -> list[str]:  # fmt: skip
    """Return the cells of a row: each variant's change against the first, measured and published."""
    first, cells = next(iter(variants)), []
    for variant, group in variants.items():
        cells.append(percent(change_of(group, variants[first], path)) if variant != first else "")
        if variant in published:
            cells.append(_published_change(published, variant, first, path))
    return cells


def _cases(
    title: str, groups: Groups, path: str, published: Published, names: Mapping[str, str], rows: str
) -> "Table":  # fmt: skip
    """Return a table with a row per case; each cell has a variant's value and its change against the first variant."""
    variants = _variants(groups)
    beside = {variant for of in published.values() for variant, numbers in of.items() if path in numbers}
    table = _table(title, rows, variants, names, beside)
    between = "  " if len(variants) + len(beside) <= COMPACT else "\n"
    for case, group in groups.items():
        cells, theirs = [], published.get(case, {})
        for variant in variants:
            runs, bases = group.get(variant, []), group.get(variants[0], [])
            change = percent(change_of(runs, bases, path)) if variant != variants[0] else ""
            cells.append(f"{number(_mean(runs, path))}{between}{change}".strip())
            if variant in beside:
                published_change = _published_change(theirs, variant, variants[0], path)
                cells.append(f"{number(theirs.get(variant, {}).get(path))}{between}{published_change}".strip())
        table.add_row(names.get(case, case), *cells)
    return table


def _compact(
    title: str, groups: Groups, path: str, published: Published, names: Mapping[str, str], rows: str
) -> "Table":  # fmt: skip
    """Return a table with a row per case: the first variant's value, and the changes of the others against it."""
    variants = _variants(groups)
    first, widest = variants[0], 0.0
    table = _table(f"{title}; beside {names.get(first, first)}: change against it", rows, variants, names)
    for case, group in groups.items():
        cells = [number(_mean(group.get(first, []), path))]
        for variant in variants[1:]:
            change = change_of(group.get(variant, []), group.get(first, []), path)
            cells.append(f"{change.mean * 100:+.0f} %" if change else "")
            widest = max(widest, 0.0 if change is None or math.isnan(change.half_width) else change.half_width)
        table.add_row(names.get(case, case), *cells)
    table.caption = f"the widest 95 % confidence interval is ± {widest * 100:.1f} %" if widest else None
    return table


def _table(
    title: str, rows: str, variants: Iterable[str], names: Mapping[str, str], beside: Collection[str] = ()
) -> "Table":  # fmt: skip
    """Return an empty table with a column per variant; variants in `beside` also have one for published values."""
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", caption_justify="left")
    table.add_column(rows)
    for variant in variants:
        table.add_column(names.get(variant, variant), justify="right")
        if variant in beside:
            table.add_column("paper", justify="right", style="dim")
    return table


def _variants(groups: Groups) -> list[str]:
    """Return the variants of all cases, in order of first occurrence."""
    return list(dict.fromkeys(variant for group in groups.values() for variant in group))


def _mean(runs: Sequence[Run], path: str) -> statistics.Estimate | None:
    return statistics.mean([value(run, path) for run in runs]) if runs else None


def change_of(runs: Sequence[Run], bases: Sequence[Run], path: str) -> statistics.Estimate | None:
    """Return the relative change of a quantity; None if there is nothing to compare with."""
    values, base = [value(run, path) for run in runs], [value(run, path) for run in bases]
    known = values and all(base) and not any(map(math.isnan, [*values, *base]))
    return statistics.relative_change(values, base) if base and known else None


def _published_change(published: Mapping[str, Mapping[str, float]], variant: str, first: str, path: str) -> str:
    theirs, base = published.get(variant, {}).get(path), published.get(first, {}).get(path)
    return percent(statistics.mean([theirs / base - 1])) if theirs and base and variant != first else ""


def case_name(case: str, names: Mapping[str, str], rows: str) -> str:
    return names.get(case, f"{case} {rows}".strip())


def number(of: statistics.Estimate | float | None) -> str:
    """Format a number for a table: without decimals from 100 on, or if it is whole; otherwise with two. The half-width
    behind ± follows the magnitude of the mean."""
    if of is None:
        return ""
    if isinstance(of, statistics.Estimate):
        half = f"{of.half_width:,.0f}" if abs(of.mean) >= 100 else number(of.half_width)
        return number(of.mean) + ("" if math.isnan(of.half_width) else f" ± {half}")
    if math.isnan(of):
        return "-"
    return f"{of:,.0f}" if abs(of) >= 100 or of == int(of) else f"{of:.2f}"


def percent(of: statistics.Estimate | None) -> str:
    if of is None:
        return ""
    spread = "" if math.isnan(of.half_width) else f" ± {of.half_width * 100:.1f}"
    return f"{of.mean * 100:+.1f}{spread} %"


def scaled(published: Published, factor: float) -> Published:
    """Return a paper's numbers, with counts scaled as if its runs had lasted `factor` times as long."""
    return {
        case: {
            variant: {path: of * factor if COUNTS.fullmatch(path) else of for path, of in numbers.items()}
            for variant, numbers in variants.items()
        }
        for case, variants in published.items()
    }


def conditions(runs: Sequence[Run], options: Mapping[str, object]) -> str:
    """Return the conditions of runs, for titles and figures: seeds, duration, and the options that were given."""
    seeds = sorted({run.seed for run in runs})
    if len(seeds) > 1 and seeds == list(range(seeds[0], seeds[-1] + 1)):
        said = f"seeds {seeds[0]}..{seeds[-1]}"
    else:
        said = f"seed{'s' if len(seeds) > 1 else ''} {','.join(map(str, seeds))}"
    said += ", mean ± 95 % confidence" if len(seeds) > 1 else ""
    lasted = sorted({round(run.air_s, 3) for run in runs})
    said += f"; {'..'.join(f'{s:g}' for s in dict.fromkeys((lasted[0], lasted[-1])))} s"
    return "; ".join(filter(None, [said, flags(options)]))


def flags(options: Mapping[str, object]) -> str:
    """Return options as on a command line."""
    words = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{flag}")
        elif value is not None:
            several = isinstance(value, tuple) and any("," in str(each) for each in value)  # of an option that repeats
            words += [f"--{flag} {shlex.quote(_word(each))}" for each in (value if several else (value,))]  # type: ignore[attr-defined]
    return " ".join(words)


def _word(value: object) -> str:
    """Return an option's value as on a command line."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={_word(each)}" for name, each in value.items())
    return ",".join(map(_word, value)) if isinstance(value, tuple | list) else str(value)
