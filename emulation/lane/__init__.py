# SPDX-License-Identifier: BSD-3-Clause
"""The code that runs inside a lane. It imports only the standard library and `traffic`.

Every import costs time in every run, because in User-Mode Linux each system call costs microseconds. `first_process`
is the first program. The code does not depend on the kind of lane. `emulation.lanes` is the host's side.
"""
