# SPDX-License-Identifier: BSD-3-Clause
"""Playing what was asked for, from set-up to result.json, for whoever asks: a command line, a bench, a benchmark.

`asking` makes tasks (`run`) of options; `session` sets up a `lab` and plays them in it, in processes side by side
(`player`, `processes`); `study` does all of that, to the report of what was found (`reporting`); `replay` repeats it.
"""
