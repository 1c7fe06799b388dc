# SPDX-License-Identifier: BSD-3-Clause
"""Routes from a run's traces: what sources knew of their route, which paths packets took, and what routing cost."""
