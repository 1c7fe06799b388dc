# SPDX-License-Identifier: BSD-3-Clause
"""What was on the air, as bytes and as columns: the air's trace, pcapng files of it, and the 802.11 frames in them."""
