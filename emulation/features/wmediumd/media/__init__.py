# SPDX-License-Identifier: BSD-3-Clause
"""Media that a lane can have instead of the air: `emulation.features.media`."""
