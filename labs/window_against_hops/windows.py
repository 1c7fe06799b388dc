# SPDX-License-Identifier: BSD-3-Clause
"""Windows of so many segments, held by the sender: a string under each."""

from experiments import Study, cwl

WINDOWS = (1, 2, 3, 4, 6, 8, 32)

STUDY = Study(
    name="windows",
    title="TCP's window held to so many segments, over a string",
    topology="string",
    options={"seconds": 40},
    variants={f"w{window}": cwl(window) for window in WINDOWS},
    names={f"w{window}": f"window {window}" for window in WINDOWS},
    claims=[],
)
