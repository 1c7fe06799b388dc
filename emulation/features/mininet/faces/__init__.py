# SPDX-License-Identifier: BSD-3-Clause
"""Packages by whose names scripts of Mininet's import; this folder is put on their path, and nobody else's."""
