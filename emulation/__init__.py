# SPDX-License-Identifier: BSD-3-Clause
"""Stations, radios, links, the air, and the lanes they run in."""
