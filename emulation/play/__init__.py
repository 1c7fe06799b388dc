# SPDX-License-Identifier: BSD-3-Clause
"""Play specifications, from set-up to result.json, for every caller: the command line, the bench, the benchmark.

`tasks` turns options into tasks (`run`). `session` sets up a `lab` and plays tasks in it, in parallel processes
(`player`, `processes`). `study` does all of that, up to the report (`reporting`). `replay` repeats it.
"""
