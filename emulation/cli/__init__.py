# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `main` has the groups and the exit codes, and each command is a short file. Nothing else imports
this package."""
