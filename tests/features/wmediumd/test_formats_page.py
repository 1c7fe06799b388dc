# SPDX-License-Identifier: BSD-3-Clause
"""docs/mediumd-formats.md has wmediumd's grammar and messages as the code says them. After a change:

./dcflab python tests/features/wmediumd/test_formats_page.py
"""

from __future__ import annotations

import inspect
from pathlib import Path

from emulation.features.wmediumd.inside import api, calendar, configuration, control, vhost

PAGE = Path(__file__).parents[3] / "docs/mediumd-formats.md"
HEAD = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# wmediumd's formats

What [dcflab reads of wmediumd's](mediumd.md) configurations and control messages.
Made from the docstrings of `emulation/features/wmediumd/inside`:

    ./dcflab python tests/features/wmediumd/test_formats_page.py
"""


def page() -> str:
    parts = [f"## {title}\n\n{inspect.getdoc(module)}\n" for title, module in
             {"Configurations": configuration, "Control socket": control, "API socket": api,
              "vhost-user": vhost, "A scheduler's time": calendar}.items()]  # fmt: skip
    return "\n".join([HEAD, *parts])


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), f"{PAGE} is not up to date; it says how to make it again"


if __name__ == "__main__":
    PAGE.write_text(page())
