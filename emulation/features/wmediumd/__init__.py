# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd: its configurations as networks (`of_files`), itself or its model as a medium (`of_media`), and its program
with our air behind it (`daemon`). What runs inside a lane is `inside`."""
