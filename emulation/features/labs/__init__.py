# SPDX-License-Identifier: BSD-3-Clause
"""Labs for a course: begin one, fill in a sheet, and have it judged against runs with the student's own seed. Each lab
is data in `labs`."""
