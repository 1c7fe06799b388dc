# SPDX-License-Identifier: BSD-3-Clause
"""Playing what was asked for, from set-up to result.json, for whoever asks: a command line, a bench, a benchmark.

`session` sets up a `lab` and plays tasks (`run`) in it, as calls in processes side by side (`processes`); `replay` does
it again.
"""
