# SPDX-License-Identifier: BSD-3-Clause
"""The notebook of docs/ runs in a fresh kernel, and comes to what it shows. It is kept with its outputs: one reads it
where it lies, and the same seeds find the same everywhere. So what is shown is held, but for the figure's pixels.

`./dcflab python tests/test_notebook.py` puts new outputs into it, after a change of it or of what runs do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

NOTEBOOK = Path(__file__).parents[1] / "docs/from-a-sweep-to-a-figure.ipynb"
LONGEST_S = 300


def read() -> nbformat.NotebookNode:
    found: nbformat.NotebookNode = nbformat.read(NOTEBOOK, as_version=4)
    return found


def executed(scratch: Path) -> nbformat.NotebookNode:
    """The notebook as a fresh kernel of this Python leaves it."""
    os.environ |= {name: str(scratch / name) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    os.environ["TMPDIR"] = str(scratch)
    made = read()
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    patient = Config({"KernelManager": {"shutdown_wait_time": float(LONGEST_S)}})  # a killed one would leave its files
    NotebookClient(made, kernel_name="python3", timeout=LONGEST_S, record_timing=False, config=patient,
                   resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()  # fmt: skip
    made.metadata.pop("language_info", None)  # which names the Python
    return made


def shown(cell: nbformat.NotebookNode) -> list[str]:
    """What a reader sees of a cell's outputs; of pictures, that there is one."""
    return [
        output.get("text") or ("a figure" if "image/png" in output.data else output.data["text/plain"])
        for output in cell.get("outputs", ())
    ]  # fmt: skip


@pytest.mark.lane
def test_it_comes_to_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {**os.environ})
    before, after = read(), executed(tmp_path)
    assert {cell.id: shown(cell) for cell in after.cells} == {cell.id: shown(cell) for cell in before.cells}
    assert sum("a figure" in shown(cell) for cell in after.cells) == 1
    assert not list(tmp_path.glob("dcflab-notebook-*")), "what it made is gone with its kernel"


def test_nothing_of_a_machine_or_a_day_is_in_it() -> None:
    made = read()
    nbformat.validate(made)
    assert made.metadata.keys() == {"kernelspec"} and not any(cell.metadata for cell in made.cells)
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


def test_it_is_started_as_the_page_says() -> None:
    """The command's program is among dcflab's packages."""
    line = './dcflab python -m jupyter execute --output="$PWD/mine.ipynb" docs/from-a-sweep-to-a-figure.ipynb'
    assert (
        f"    {line}\n" in read().cells[0].source + "\n" and f"    {line}" in (NOTEBOOK.parent / "data.md").read_text()
    )
    done = subprocess.run([sys.executable, "-m", "jupyter", "execute", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "--output" in done.stdout


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(Path(folder)), NOTEBOOK)
