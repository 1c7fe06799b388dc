# SPDX-License-Identifier: BSD-3-Clause
"""Modes of wmediumd, which all are the lab's own air."""

from emulation.features.mininet.absences import error_prob, interference, snr, spec_prob
from emulation.features.mininet.words import absent

SNRLink = snr
Interference = interference

__getattr__ = absent("mn_wifi.wmediumdConnector", {})

__all__ = ["Interference", "SNRLink", "error_prob", "interference", "snr", "spec_prob"]
