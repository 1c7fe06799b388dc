# SPDX-License-Identifier: BSD-3-Clause
"""A test that ends its runner."""

import os


def test_ends_the_runner(dev):
    os._exit(7)


def test_after_it(dev):
    pass
