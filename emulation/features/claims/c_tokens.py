# SPDX-License-Identifier: BSD-3-Clause
"""C sources without what a compiler ignores: comments, and white space between tokens.

`significant` returns the tokens of a source, separated by a space. Line ends around directives stay.
Two sources with the same tokens compile to the same code, except for line numbers in assertions and white space inside
arguments that a macro turns into a string.
"""

import re

LITERAL = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
COMMENT = re.compile(rf"({LITERAL})|//[^\n]*|/\*.*?\*/", re.DOTALL)
TOKEN = re.compile(
    rf"^\#\s*define\s+\w+\(?"  # a macro has parameters if the parenthesis follows at once
    rf"|{LITERAL}"
    r"|\.?\d(?:[eEpP][+-]|[\w.])*"  # a number
    r"|\w+"
    r"|<<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|[-+*/%&|^]="
    r"|\S"
)


def significant(source: str) -> str:
    joined = re.sub(r"\\[ \t]*\n", "", source)
    bare = COMMENT.sub(lambda match: match[1] or " ", joined)
    found: list[str] = []
    for line in bare.splitlines():
        tokens = " ".join(" ".join(token.split()) if token.startswith("#") else token
                          for token in TOKEN.findall(line.strip()))  # fmt: skip
        if tokens.startswith("#"):
            found.append(f"\n{tokens}\n")
        elif tokens:
            found.append(tokens)
    return re.sub(r"\s*\n\s*", "\n", " ".join(found)).strip()
