# SPDX-License-Identifier: BSD-3-Clause
"""All that runs inside a lane: the standard library and `traffic` are all that it imports.

Everything imported here is paid for in every run: in User-Mode Linux each system call costs microseconds. `guest` is
the first program; what runs in a lane does not know which lane it is. `emulation.lanes` is the other side.
"""
