# SPDX-License-Identifier: BSD-3-Clause
"""Figures of results for print, drawn with matplotlib on demand."""
