# SPDX-License-Identifier: BSD-3-Clause
"""Formats are documented as they are: trace records to the byte, and each key of plans and results.

`./dcflab python tests/test_documented_formats.py` makes docs/result.md again from the models of `result.json`, and
docs/records.md from the layouts of records, and docs/plan.md from `analysis/results/fields.py`.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel
from rooms import needs

from analysis.results import fields
from analysis.results.result import Result
from analysis.results.shapes import Counters
from analysis.routes import routes
from analysis.tcp import senders
from analysis.traces import modes, pcapng, remarks, trace, views
from emulation.plan import plan
from emulation.specification import specify

DOCS = Path(__file__).resolve().parents[1] / "docs"
RESULT = DOCS / "result.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Fields of result.json

Made from the models in `analysis/results`, of which `Result` is the whole file:

    ./dcflab python tests/test_documented_formats.py

[file-formats.md](file-formats.md#resultjson) says how to read the file.
A field with a default may be missing.
"""
RECORDS = DOCS / "records.md"
RECORDS_HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Trace records and counters

The binary records that kernel modules write, and the counters of the air.
Made from `analysis/traces/trace.py`, `analysis/tcp/senders.py`, `analysis/routes/routes.py` and
`analysis/results/shapes.py`:

    ./dcflab python tests/test_documented_formats.py

Section numbers continue [interfaces.md](interfaces.md).
A recorder copies the records from a relay channel in debugfs;
the host turns them into the [files of a run](file-formats.md).

All records are little-endian; types are as in numpy (`u2`: unsigned, 2 bytes).
Times are nanoseconds of the lane's CLOCK_MONOTONIC.
`0xffff` as a station means none.
"""
AIR = """## 3. Records of the air

`air.trace`, from `dcf80211`.
Each record is a multiple of 8 bytes, starts with its size, and is written in the order of events.
Records and counters cover exactly the transmissions that begin between the marks.
A transmission without an outcome was still open at the stop.
"""
COUNTERS = """## 4. Counters

`counters` of each station in `lane.json` and `result.json`.
Kinds and access categories are those of section 3, kinds in lower case.
"""
SUMS = """The tables are sums over stations (`analysis/results/result.py`):

- `COL_x` = COLLISION + OWN_TX of `addressed`; `COL_ANY_x` the same of `rx`.
  RTS/CTS adds both kinds, DATA and ACK are `tcp_data` and `tcp_ack`, MAC_ACK is `ack`.
- `FAIL_RTS/CTS` = RTS_LIMIT over all kinds; `FAIL_x` = RTS_LIMIT + SHORT_LIMIT + LONG_LIMIT + STAGES of a kind.
- A `TOTAL` is the sum of RTS/CTS, DATA, ACK, UDP, OTHER and ENCRYPTED.
"""
TCP = """## 8. Records of TCP

`tcp.trace`, from `tcp_tap.ko` (`emulation/tcp_tap/`): one record for each event of a socket that sends,
in any namespace.
`tcp_tap/lost` in debugfs counts records for which there was no room.

ACK and TIMER are written before the kernel acts, so their values have held since the socket's previous record.
STATE and RETRANSMIT are written while it acts: on entry into Loss, window and threshold are new;
on entry into Recovery or CWR, the threshold only.
STATE with Loss is one expiry of the retransmission timer, STATE with Recovery one fast recovery.
The values after the last record are in `tcp_info`.
Segments that arrive after the application has shut its side are not seen, as tcp_probe covers ESTABLISHED only.
"""
PHASES = """`analysis.tcp.senders.flows(path, plan, lane)` returns each flow as step functions,
from its start to its end or the run's.
Four phases share a flow's time without gap or overlap:

- `rto_s`: from the last segment that came or was sent before an expiry, to the expiry;
- `recovery_s`: the rest in Recovery or CWR;
- `slow_start_s`: the rest while cwnd < ssthresh;
- `congestion_avoidance_s`: all other time.
"""
ROUTING = """## 9. Records of routing

`manet.trace`, from `manet.ko`. Addresses are IPv4's.
A flow's source reports the routes that it finds, changes and loses from the start of the measurement on.
Its first report tells what it knew before: one that finds a route had none, one that changes or loses it had one.
If no report comes and packets arrive, there was a route.
"""
PLAN = DOCS / "plan.md"
PLAN_HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Fields of plan.json and lane.json

Made from `analysis/results/fields.py`, with examples from plans:

    ./dcflab python tests/test_documented_formats.py

[interfaces.md](interfaces.md) says what these files are.
`[]` is each of a list, `*` each name, number or address.
Plug-ins define further fields of objects with a `kind`.
"""
LAYOUT = DOCS / "trace-layout.md"
LAYOUT_HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Layout of traces

`air.pcapng.gz` and `views.gz` of a run to the byte; [traces.md](traces.md) says how to read them.
Made from the docstrings of `analysis/traces`:

    ./dcflab python tests/test_documented_formats.py
"""
LONGEST = 32  # characters of an example
ASKED: list[tuple[str, dict[str, Any]]] = [
    ("string", {"stations": 3, "reception": "sinr", "edca": "standard", "fading": "rayleigh", "ackthin": "daa"}),
    ("mobile", {"stations": 5}),
    ("mesh", {"routing": "aodv", "medium": "wmediumd-compat"}),
    ("wlan", {"security": "wpa2", "passphrase": "correct horse"}),
    ("string", {"stations": 2, "mode": "n"}),
]


def layout(module: ModuleType, name: str, title: str) -> str:
    """A table of a record's fields, from the text of which the module makes its dtype."""
    [text] = [
        ast.literal_eval(each.value.args[0])
        for each in ast.parse(inspect.getsource(module)).body
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == name and isinstance(each.value, ast.Call)
    ]
    places = getattr(module, name).fields
    lines = [f"### {title}\n", "| byte | type | field | |", "|---|---|---|---|"]
    for line in text.strip().splitlines():
        field, _, said = line.strip().partition(" ")
        kind, at = places[field.partition(":")[0]][:2]
        lines.append(f"| {at} | {kind.str[1:]} | `{field.partition(':')[0]}` | {said} |")
    return "\n".join([*lines, ""])


def values(*enums: type[IntEnum]) -> str:
    """A table of these enums' names, with the comments after them."""
    lines = ["### Values\n", "| | value | name | |", "|---|---|---|---|"]
    for enum in enums:
        said = dict(re.findall(r"^    (\w+) = \d+  # (.+)$", inspect.getsource(enum), re.MULTILINE))
        lines += [f"| {enum.__name__} | {one.value} | {one.name} | {said.get(one.name, '')} |" for one in enum]
    return "\n".join([*lines, ""])


def untyped(row: str) -> str:
    """A row of a table without its second cell."""
    name, _, said = row.split(" | ")
    return f"{name} | {said}"


def records() -> str:
    return "\n".join([
        RECORDS_HEAD,
        AIR,
        layout(trace, "TX", "TX: at the start of each transmission, which is a PPDU"),
        layout(trace, "MPDU", "MPDU: within TX, each MPDU of a PPDU after the first"),
        "\n".join(["### Modes\n", *(inspect.getdoc(modes) or "").splitlines()[2:-3]]),
        layout(trace, "RX", "RX: at the end of an arrival at or above the reception threshold, or for the station"),
        layout(trace, "END", "END: when a station is done with a frame"),
        layout(trace, "MARK", "MARK: the start and the stop of the measurement"),
        values(trace.Kind, trace.Outcome, trace.Reason),
        COUNTERS,
        "\n".join(["| counter | |", "|---|---|", *(untyped(row) for row in rows(Counters)), ""]),
        SUMS,
        TCP,
        layout(senders, "RECORD", "The record"),
        values(senders.Event, senders.State),
        PHASES,
        ROUTING,
        layout(routes, "RECORD", "The record of routing"),
        values(routes.Event, routes.Packet, routes.DropReason),
    ])  # fmt: skip


def test_the_page_has_each_field_of_a_record() -> None:
    assert RECORDS.read_text() == records(), f"{RECORDS} is not up to date; it says how to make it again"


def examples() -> dict[str, Any]:
    """A value of each field, from the plans that set one."""
    found: dict[str, Any] = {}
    for topology, options in ASKED:
        for path, value in fields.leaves(plan(specify(topology, options))):
            if value is not None and len(json.dumps(value)) <= LONGEST:
                found.setdefault(path, value)
    return found


def section(title: str, meanings: Mapping[str, str], shown: Mapping[str, Any]) -> str:
    """Tables of fields, one for each object."""

    def of(path: str) -> str:
        return path.split(".")[0] if "." in path else ""

    parts = [f"## {title}\n"]
    for group in dict.fromkeys(map(of, meanings)):
        lines = [*([f"### `{group}`\n"] if group else []), "| field | example | |", "|---|---|---|"]
        for path, said in meanings.items():
            if of(path) == group:
                name, example = path.removeprefix(f"{group}."), json.dumps(shown[path]) if path in shown else ""
                lines.append(f"| `{name}` | {f'`{example}`' if example else ''} | {said} |")
        parts.append("\n".join([*lines, ""]))
    return "\n".join(parts)


def plan_page() -> str:
    return "\n".join([PLAN_HEAD, section("plan.json", fields.PLAN, examples()), section("lane.json", fields.LANE, {})])


@needs("wmediumd")
def test_the_page_has_each_field_of_plans_and_reports() -> None:
    assert PLAN.read_text() == plan_page(), f"{PLAN} is not up to date; it says how to make it again"


def layouts() -> str:
    modules = {"air.pcapng.gz": pcapng, "Comments": remarks, "views.gz": views}
    parts = [(f"## {title}", inspect.getdoc(module) or "") for title, module in modules.items()]
    return "\n\n".join([LAYOUT_HEAD.strip(), *(text for part in parts for text in part), ""]).rstrip() + "\n"


def test_the_page_has_the_layout_of_traces() -> None:
    assert LAYOUT.read_text() == layouts(), f"{LAYOUT} is not up to date; it says how to make it again"


@pytest.mark.parametrize(
    ("topology", "options"),
    [pytest.param(*each, marks=needs("wmediumd") if "medium" in each[1] else ()) for each in ASKED],
)
def test_the_page_has_each_key_of_a_plan(topology: str, options: dict[str, Any]) -> None:
    """Those that a kind adds are on its own page."""
    assert fields.unknown(plan(specify(topology, options)), fields.PLAN) == set()
    assert fields.unknown({"nodes": [{"new": 1}], "air": {"slot": 2}}, fields.PLAN) == {"nodes[].new", "air.slot"}


@pytest.mark.lane
def test_the_page_has_each_key_that_a_lane_leaves(bench: Any) -> None:
    bench.plan("string", stations=3, seconds=1)
    assert bench.run("plan").status == 0
    assert fields.unknown(bench.result(), fields.LANE) == set()


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """It, and the models in its fields, in their order."""
    yield model
    for field in model.model_fields.values():
        waiting = [field.annotation]
        for kind in waiting:
            waiting += getattr(kind, "__args__", ())
            if inspect.isclass(kind) and issubclass(kind, BaseModel):
                yield from models(kind)


def rows(model: type[BaseModel]) -> Iterator[str]:
    """A line of a table for each field that it declares: the text below the field is its meaning."""
    [declared] = ast.parse(inspect.getsource(model)).body
    assert isinstance(declared, ast.ClassDef)
    for line, after in zip(declared.body, [*declared.body[1:], None], strict=True):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            text = after.value if isinstance(after, ast.Expr) else None
            said = " ".join(str(text.value).split()) if isinstance(text, ast.Constant) else ""
            kind = re.sub(r"^Annotated\[(.*), \w+\(.*\)\]$", r"\1", ast.unparse(line.annotation)).replace(
                "Whole", "int"
            )
            kind += f" = {ast.unparse(line.value)}" if line.value else ""
            yield f"| `{line.target.id}` | `{kind}` | {said} |".replace(" | None", " \\| None")


def page() -> str:
    parts = [HEAD]
    for model in dict.fromkeys(models(Result)):
        base = model.__base__
        more = "" if base is None or not base.model_fields else f" The fields of `{base.__name__}`, and:"
        table = ["| field | type | |", "|---|---|---|", *rows(model)] if list(rows(model)) else []
        more = more if table else more.replace(", and:", ".")
        parts.append("\n".join([f"## {model.__name__}\n", f"{inspect.getdoc(model)}{more}\n", *table, ""]))
    return "\n".join(parts)


def test_the_page_has_each_field_of_a_result() -> None:
    assert RESULT.read_text() == page(), f"{RESULT} is not up to date; it says how to make it again"


if __name__ == "__main__":
    RESULT.write_text(page())
    RECORDS.write_text(records())
    PLAN.write_text(plan_page())
    LAYOUT.write_text(layouts())
