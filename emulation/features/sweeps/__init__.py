# SPDX-License-Identifier: BSD-3-Clause
"""Sweeps: many runs, none of them played twice, here or on a Dask cluster; and the store of their results."""
