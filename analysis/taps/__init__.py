# SPDX-License-Identifier: BSD-3-Clause
"""The taps: a second reading of the air, from captured frames alone, that counts what the air module counted."""
