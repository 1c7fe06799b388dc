# SPDX-License-Identifier: BSD-3-Clause
"""What was on the air, as bytes and columns: the air's trace, its pcapng files, and the 802.11 frames in them."""
