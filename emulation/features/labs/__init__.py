# SPDX-License-Identifier: BSD-3-Clause
"""Labs at work: a student begins one, fills in a sheet, and has it judged against runs of the own seed. Each lab itself
is data, in `labs`."""
