# SPDX-License-Identifier: BSD-3-Clause
"""hostap's own tests (`tests/hwsim` of its sources) in a virtual lane, on any of our media.

`source` knows hostap's tree, `play` plays its tests, each file of tests in a lane of its own, and `inside` is what runs
in the lane. Nothing of hostap is here: its runner of tests, `run-tests.py`, plays them, and decides what passes.
"""
