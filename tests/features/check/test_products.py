# SPDX-License-Identifier: BSD-3-Clause
"""Products that become 64 bits wide too late, in what the compiler says of a file."""

from __future__ import annotations

import subprocess

import pytest

from emulation.features.check import products

SOURCE = """typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
extern u32 window(void *socket);
struct state { u32 rtt; u16 small; u64 wide; };
u64 f(void *socket, struct state *state, u32 rtt)
{
\tu64 x;
\tu32 parts;

\tx = (%s) * (%s);
\tparts = rtt / state->rtt;
\tif (x > parts * state->rtt)
\t\treturn 0;
\treturn x / rtt;
}
"""


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("window(socket)", "state->rtt", True),
        ("window(socket)", "rtt - state->rtt", True),
        ("(u64)window(socket)", "state->rtt", False),
        ("window(socket)", "state->wide", False),
        ("window(socket)", "5", False),
        ("state->small", "(u32)state->small", False),
    ],
)
def test_a_product_that_overflows_before_it_is_wide_is_found(tmp_path, one, other, found):
    """With its line; and not one of which an operand is wide, constant, or a quotient that is multiplied back."""
    source = tmp_path / "some.c"
    source.write_text(SOURCE % (one, other))
    subprocess.run(["gcc", "-O2", products.FLAG, "-c", source, "-o", tmp_path / "some.o"], check=True)
    assert products.find(tmp_path) == ["some.c:11"] * found
    assert products.find(tmp_path / "elsewhere") == []
