# SPDX-License-Identifier: BSD-3-Clause
"""Programs that are there."""

from emulation.features.mininet.terms import pathCheck
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.moduledeps", {})

__all__ = ["pathCheck"]
