# SPDX-License-Identifier: BSD-3-Clause
"""C sources are compared by their tokens."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from emulation.features.claims.c_tokens import significant
from emulation.features.claims.record import NOT_GOLDEN

SOURCE = """/* What it does,
 * in two lines. */
#include <linux/list.h>
#define TWICE(x)  ((x) \\
           + (x)) /* at most */
static const char *url = "http://x/*no comment*/"; // a comment
int f(int a) { return a+++TWICE(a) / 1e+3; }
"""
SAME = [
    SOURCE.replace("What it does", "Something else, 'quoted\" by half"),
    SOURCE.replace("// a comment", ""),
    SOURCE.replace(" /* at most */", ""),
    SOURCE.replace(" \\\n           ", "\t"),
    SOURCE.replace("{ return", "\n{\n\treturn").replace("; }", ";\n}\n"),
    SOURCE.replace("int f(int a)", "int f(int/**/a)"),
    SOURCE.replace("a+++", "a ++ +"),
    SOURCE.replace("#include", "\n\n# include"),
]
OTHER = [
    SOURCE.replace("TWICE(x)  ((", "TWICE (x)  (("),
    SOURCE.replace("a+++", "a + ++"),
    SOURCE.replace("no comment", "no  comment"),
    SOURCE.replace("1e+3", "1e + 3"),
    SOURCE.replace("int f", "/*\n#define f g\n*/ intf"),
    SOURCE.replace("(x)) /* at most */\n", "(x)) /* at most */ "),
    SOURCE.replace("#include <linux/list.h>\n", "#include <linux/list.h>\n#include <linux/list.h>\n"),
]


@pytest.mark.parametrize("source", SAME)
def test_comments_and_white_space_do_not_count(source: str) -> None:
    assert source != SOURCE
    assert significant(source) == significant(SOURCE)


@pytest.mark.parametrize("source", OTHER)
def test_all_else_counts(source: str) -> None:
    assert significant(source) != significant(SOURCE)


def left_by_compiler(source: str) -> str:
    """Return what a C compiler leaves of preprocessed source, without white space. It joins no lines."""
    command = ["cc", "-fpreprocessed", "-dD", "-E", "-P", "-x", "c", "-"]
    done = subprocess.run(command, input=source.replace("\\\n", ""), capture_output=True, text=True, check=True)
    return re.sub(r"\s", "", done.stdout)


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
@pytest.mark.parametrize("folder", NOT_GOLDEN, ids=lambda folder: folder.name)
def test_a_compiler_leaves_the_same(folder: Path) -> None:
    files = [file for file in sorted(folder.rglob("*")) if file.suffix in (".c", ".h")]
    assert files
    for file in files:
        ours = re.sub(r"\s", "", significant(file.read_text()))
        assert ours == left_by_compiler(file.read_text()), file
