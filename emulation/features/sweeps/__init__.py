# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: many runs, of which none is played twice, here or on a Dask cluster; and the store of what they found."""
