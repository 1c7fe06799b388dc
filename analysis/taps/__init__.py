# SPDX-License-Identifier: BSD-3-Clause
"""The taps: derive from captured frames alone what the air module counted."""
