# SPDX-License-Identifier: BSD-3-Clause
"""Whichever test of the core comes first waits for its binding to be built."""

from hypothesis import settings

settings.register_profile("core", deadline=None)
settings.load_profile("core")
