# SPDX-License-Identifier: BSD-3-Clause
"""There are no terminals in a lane."""

from emulation.features.mininet.terms import cleanUpScreens, makeTerm, makeTerms, runX11
from emulation.features.mininet.words import absent

__getattr__ = absent("mininet.term", {})

__all__ = ["cleanUpScreens", "makeTerm", "makeTerms", "runX11"]
