# SPDX-License-Identifier: BSD-3-Clause
"""A lane leaves nothing to clean."""

from emulation.features.mininet.terms import Cleanup, cleanup
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.clean", {})

__all__ = ["Cleanup", "cleanup"]
