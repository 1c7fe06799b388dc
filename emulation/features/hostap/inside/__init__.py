# SPDX-License-Identifier: BSD-3-Clause
"""What runs inside the lane: radios and daemons for hostap's tests."""
