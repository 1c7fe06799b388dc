# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks import: `dcflab.load("runs/rts-cts-…").flows` is a pandas.DataFrame (docs/data.md).

In a wheel (`emulation.setup.wheel`) this file is the package `dcflab`, and `main` is its command. The program is in
the folder `home` beside it, so that its packages do not collide with others. Modules load on first use, so a command
does not wait for what only notebooks need.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emulation.features.export import Tables
    from emulation.features.export import tables as load

__all__ = ["Tables", "load"]
HOME = os.path.join(os.path.dirname(os.path.abspath(__file__)), "home")
VARIABLES = {"PYTHONUTF8": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}  # the launcher of a checkout says why

if os.path.isdir(HOME):
    sys.path.append(HOME)


def __getattr__(name: str) -> Any:
    """Return what `__all__` names, or the version."""
    if name == "__version__":
        import emulation

        return emulation.version()
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from emulation.features import export

    return export.Tables if name == "Tables" else export.tables


def main() -> None:
    """Run the program, under the interpreter for which it was installed: the command of a wheel. Does not return."""
    os.environ.update(VARIABLES)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [HOME, os.environ.get("PYTHONPATH")]))
    name, *words = sys.argv
    face = ["mediumd"] if os.path.basename(name) in ("mediumd", "wmediumd") else []  # started by a link of that name
    os.execv(sys.executable, [sys.executable, "-P", "-m", "emulation", *face, *words])
