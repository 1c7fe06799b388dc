# SPDX-License-Identifier: BSD-3-Clause
"""All claims as one HTML file: verdicts, the reasons of each, and a figure for each paper."""

import base64
import tempfile
from pathlib import Path
from typing import Any

import experiments
from analysis.pages import packed
from emulation.features.claims import page
from emulation.features.claims.page import JUDGED, PAPERS, short_verdict
from emulation.features.claims.pictures import draw
from emulation.features.claims.record import Claims, Standing
from experiments import Numbered

HERE, TITLE = Path(__file__).parent, "The claims of the papers"


def page_of(claims: Claims) -> str:
    known, numbered = page.standings(claims), experiments.numbered()
    counts = [page.verdicts(known, column) for column in JUDGED]
    means = [(verdict.value, what) for verdict, what in page.VERDICTS.items()]
    with tempfile.TemporaryDirectory() as folder:
        draw(claims, Path(folder))
        pictures = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
    data = {
        "said": page.counts_in_words(known),
        "heads": [column.value for column in JUDGED],
        "counts": [[verdict, what, *(of[verdict] for of in counts)] for verdict, what in means],
        "subjects": [
            {"about": page.capital(about),
             "claims": [_claim(name, said, known[name]) for name, said in numbered.items() if said.about == about]}
            for about in page.subjects()
        ],
        "papers": [
            {"title": f"{name}: {what}", "picture": _source(pictures.get(page.picture(name).name))}
            for name, what in PAPERS.items()
        ],
    }  # fmt: skip
    return packed.page(HERE, TITLE, ("style.css", "report.js"), packed.pack(data, {}))


def _claim(name: str, said: Numbered, known: Standing) -> dict[str, Any]:
    columns = []
    for column in JUDGED:
        one = known.columns.get(column.value)
        lines = [*map(str, one.ours), *([one.why] if one.why else [])] if one else []
        columns.append({"name": column.value, "verdict": short_verdict(one, said).replace("`", ""), "lines": lines})
    text = f"{said.text} ({said.where})."
    return {"number": name, "paper": said.paper, "short": said.short, "text": text, "columns": columns}


def _source(picture: bytes | None) -> str | None:
    return f"data:image/svg+xml;base64,{base64.b64encode(picture).decode()}" if picture else None
