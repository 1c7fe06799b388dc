# SPDX-License-Identifier: BSD-3-Clause
"""Speed, as ratios measured side by side in one run; never in tests."""
