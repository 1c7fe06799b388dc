# SPDX-License-Identifier: BSD-3-Clause
"""wmediumd: its configurations as networks (`of_files`), the program or its model as a medium (`media`), and its
replacement with our air (`daemon`). `inside` runs inside a lane."""
