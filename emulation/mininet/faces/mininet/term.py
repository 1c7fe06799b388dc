# SPDX-License-Identifier: BSD-3-Clause
"""There are no terminals in a lane."""

from emulation.mininet.terms import cleanUpScreens, makeTerm, makeTerms, runX11
from emulation.mininet.words import absent

__getattr__ = absent("mininet.term", {})

__all__ = ["cleanUpScreens", "makeTerm", "makeTerms", "runX11"]
