# SPDX-License-Identifier: BSD-3-Clause
"""What a run found, as data: `result.json`, what it is made from, and the schema that says so."""
