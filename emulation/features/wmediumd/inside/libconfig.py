# SPDX-License-Identifier: BSD-3-Clause
"""libconfig: the grammar of wmediumd's configuration files (https://hyperrealm.github.io/libconfig/, 1.7).

Each value keeps its line, because many errors are not errors of grammar. PyPI's libconf loses the lines, and takes the
last of two settings with one name where libconfig refuses; and lanes have the standard library only.

Grammar: settings are `name = value;` or `name : value;`, where the end may be `;`, `,` or nothing. A value is a number,
a word, a string, an array `[…]` of scalars of one type, a list `(…)` of anything, or a group `{…}` of settings.
Comments are `#`, `//` and `/* */`; `@include "FILE"` is at the beginning of a line.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from emulation.lane.errors import Misuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Scalar = bool | int | float | str

DEEPEST, MOST_INCLUDES = 64, 10  # nested groups; nested files, which is libconfig's own limit
LONGEST = 16_000_000  # bytes of a file
INT64 = range(-(2**63), 2**64)  # hexadecimal numbers may use all bits

TOKENS = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
      | (?P<line>\n)
      | (?P<include>@include[ \t]+"(?P<file>[^"\n]*)")
      | (?P<float>[-+]?(?:(?:\d*\.\d+|\d+\.\d*)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.]))
      | (?P<hex>0[xX][0-9a-fA-F]+L{0,2}(?![\w.]))
      | (?P<int>[-+]?\d+L{0,2}(?![\w.]))
      | (?P<bool>(?i:true|false)(?![-\w*]))
      | (?P<name>[A-Za-z*][-\w*]*)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<mark>[=:;,{}()\[\]])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}
CLOSES = {"[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True)
class Place:
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def refuse(self, what: str) -> Misuse:
        return Misuse(f"{self}: {what}")


@dataclass(frozen=True)
class Setting:
    """A value and its place. The value is a scalar; a tuple of settings (array or list); or settings by name
    (group)."""

    value: Scalar | tuple[Setting, ...] | dict[str, Setting]
    place: Place


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    place: Place

    def __str__(self) -> str:
        return "the end of the file" if self.kind == "end" else repr(self.text[:40])


def read(path: str) -> Setting:
    """Return the settings in a file, as a group. Raises Misuse if they are wrong, OSError if it cannot be read."""
    return parse(_text(path), path)


def parse(text: str, name: str = "configuration") -> Setting:
    """Return the settings in a text, as a group. Errors mention `name`; @include searches its folder. Raises Misuse if
    they are wrong, OSError if a file cannot be read."""
    parser = _Parser(list(_tokens(text, name)))
    group = parser.settings("end", Place(name, 1), 0)
    return Setting(group, Place(name, 1))


def _text(path: str) -> str:
    with open(path, "rb") as file:
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise Misuse(f"{path}:1: larger than {LONGEST // 1_000_000} MB")
    return content.decode(errors="replace")


def _tokens(text: str, name: str, depth: int = 0) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        found, place = TOKENS.match(text, at), Place(name, line)
        if not found:
            what = {'"': "a string without an end", "/": "a remark without an end"}.get(text[at], "")
            raise place.refuse(what if what and (text[at] == '"' or text[at : at + 2] == "/*") else f"{text[at]!r}?")
        at, kind = found.end(), str(found.lastgroup if found.lastgroup != "file" else "include")
        if kind == "include":
            if text[: found.start()].rpartition("\n")[2].strip():
                raise place.refuse("@include must begin its line")
            yield from _included(os.path.join(os.path.dirname(name), found["file"]), place, depth + 1)
        elif kind not in ("space", "line"):
            yield Token(kind, found[0], place)
        line += found[0].count("\n")
    if not depth:
        yield Token("end", "", Place(name, line))


def _included(path: str, place: Place, depth: int) -> Iterator[Token]:
    if depth > MOST_INCLUDES:
        raise place.refuse(f"files include each other more than {MOST_INCLUDES} deep")
    try:
        text = _text(path)
    except (OSError, ValueError) as error:  # a NUL in its name is a ValueError
        raise place.refuse(f"@include: {path}: {getattr(error, 'strerror', None) or error}") from None
    yield from _tokens(text, path, depth)


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.at = tokens, 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def is_mark(self, *marks: str) -> bool:
        return self.next.kind == "mark" and self.next.text in marks

    def settings(self, end: str, opened: Place, depth: int) -> dict[str, Setting]:
        """Parse settings up to and including `end`: a mark, or the end of the file."""
        found: dict[str, Setting] = {}
        while not (self.next.kind == "end" if end == "end" else self.is_mark(end)):
            if self.next.kind == "end":
                raise self.next.place.refuse(f"the group of line {opened.line} has no end: }} is missing")
            name = self.take()
            if name.kind not in ("name", "bool"):  # a setting's name may be `true`
                raise name.place.refuse(f"a setting's name is expected, not {name}")
            if not self.is_mark("=", ":"):
                raise self.next.place.refuse(f"{name.text}: = or : is expected, not {self.next}")
            self.take()
            if name.text in found:
                raise name.place.refuse(f"{name.text} was already set in line {found[name.text].place.line}")
            found[name.text] = self.value(name.text, depth)
            if self.is_mark(";", ","):
                self.take()
        self.take()
        return found

    def value(self, name: str, depth: int) -> Setting:
        token = self.take()
        if token.kind == "mark" and token.text in CLOSES:
            if depth == DEEPEST:
                raise token.place.refuse(f"{name}: more than {DEEPEST} within each other")
            if token.text == "{":
                return Setting(self.settings("}", token.place, depth + 1), token.place)
            return Setting(self.elements(name, token, depth + 1), token.place)
        if token.kind == "string":
            text = _unescape(token)
            while self.next.kind == "string":
                text += _unescape(self.take())
            return Setting(text, token.place)
        return Setting(_scalar(name, token), token.place)

    def elements(self, name: str, opened: Token, depth: int) -> tuple[Setting, ...]:
        found: list[Setting] = []
        end = CLOSES[opened.text]
        while not self.is_mark(end):
            found.append(self.value(name, depth))
            if end == "]":
                _check_array(name, found)
            if not self.is_mark(",", end):
                raise self.next.place.refuse(f"{name}: , or {end} is expected, not {self.next}")
            if self.is_mark(","):
                self.take()
        self.take()
        return tuple(found)


def _check_array(name: str, found: list[Setting]) -> None:
    """Raises Misuse if the last element of an array is no scalar, or has another type than the first."""
    if isinstance(found[-1].value, tuple | dict):
        raise found[-1].place.refuse(f"{name}: an array [ ] holds numbers, words or strings; a list ( ) anything")
    if type(found[-1].value) is not type(found[0].value):
        raise found[-1].place.refuse(f"{name}: all in an array [ ] are of one type; {found[-1].value!r} is another")


def _scalar(name: str, token: Token) -> Scalar:
    text = token.text
    if token.kind == "bool":
        return text.lower() == "true"
    if token.kind == "float":
        return float(text)
    if token.kind in ("int", "hex"):
        number = int(text.rstrip("L"), 16 if token.kind == "hex" else 10) if len(text) < 40 else 2**70
        if number not in INT64:
            raise token.place.refuse(f"{name}: {text[:40]} does not fit 64 bits")
        return number
    raise token.place.refuse(f"{name}: a value is expected, not {token}")


def _unescape(token: Token) -> str:
    def one(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else ESCAPES.get(found[2], found[2])

    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|(.))", one, token.text[1:-1], flags=re.DOTALL)
