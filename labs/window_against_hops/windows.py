# SPDX-License-Identifier: BSD-3-Clause
"""Run a string with each of these windows, in segments, which the sender keeps."""

from experiments import Study, cwl

WINDOWS = (1, 2, 3, 4, 6, 8, 32)

STUDY = Study(
    name="windows",
    title="TCP's window limited to a number of segments, over a string",
    topology="string",
    options={"seconds": 40},
    variants={f"w{window}": cwl(window) for window in WINDOWS},
    names={f"w{window}": f"window {window}" for window in WINDOWS},
    claims=[],
)
