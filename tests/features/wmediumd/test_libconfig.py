# SPDX-License-Identifier: BSD-3-Clause
"""libconfig's grammar: what is written is read again, with its lines; and no text does harm."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from emulation.features.wmediumd.inside.libconfig import DEEPEST, Setting, parse, read
from emulation.lane.errors import Misuse

NAMES = st.from_regex(r"[A-Za-z*][-A-Za-z0-9_*]{0,8}", fullmatch=True)
NUMBERS = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
STRINGS = st.text(st.characters(codec="latin-1"))
SCALARS = st.one_of(NUMBERS, STRINGS)
ARRAYS = st.one_of(
    *(st.lists(kind).map(list) for kind in (st.booleans(), st.integers(0, 99), st.floats(0, 1), STRINGS))
)
VALUES = st.recursive(
    st.one_of(SCALARS, ARRAYS),
    lambda inner: st.one_of(st.lists(inner).map(tuple), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
SPACE = st.sampled_from([" ", "\n", " # remark\n", " // remark\n", " /* a\nremark */ ", "\t"])


def written(value: object, space: str) -> str:
    """A value as libconfig has it: a list is an array, a tuple a list, a dict a group."""
    if isinstance(value, dict):
        return "{" + space + "".join(f"{n} ={space}{written(v, space)};{space}" for n, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        inner = f",{space}".join(written(each, space) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\x{ord(c):02x}" if not c.isalnum() or ord(c) > 126 else c for c in value) + '"'
    return repr(value)


def plain(setting: Setting) -> object:
    """Without places; arrays are no longer told from lists."""
    if isinstance(setting.value, dict):
        return {name: plain(each) for name, each in setting.value.items()}
    return tuple(map(plain, setting.value)) if isinstance(setting.value, tuple) else setting.value


def lists(value: object) -> object:
    if isinstance(value, dict):
        return {name: lists(each) for name, each in value.items()}
    return tuple(map(lists, value)) if isinstance(value, list | tuple) else value


@pytest.mark.slow
@examples(50)
@given(st.dictionaries(NAMES, VALUES, max_size=5), SPACE)
def test_what_is_written_is_read_again(said: dict[str, object], space: str) -> None:
    text = space.join(f"{name} : {written(value, space)};" for name, value in said.items())
    assert plain(parse(text)) == lists(said)


@given(st.text(alphabet='ab=:;,{}()[]"\\ \n#/*0.1eExL-+@tru', max_size=60))
def test_any_text_is_read_or_refused_with_a_line(text: str) -> None:
    try:
        parse(text, "it")
    except Misuse as error:
        file, line, _ = str(error).split(":", 2)
        assert file == "it" and 1 <= int(line) <= text.count("\n") + 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('a = "b" "c";', "bc"), (r'a = "\x41\\\"\n"', 'A\\"\n'), ("a = 0x1F;", 31), ("a = 10L", 10), ("a : TRUE", True),
        ("a = 1.", 1.0), ("a = -.5e1", -5.0), ("a = 1e3", 1000.0), ("a = (1, 2.0, );", (1, 2.0)), ("a = ()", ()),
        ("a = {};", {}), ("true = 1", None),
    ],
)  # fmt: skip
def test_libconfigs_ways_of_writing(text: str, found: object) -> None:
    settings = plain(parse(text))
    assert isinstance(settings, dict)
    assert settings == {"true": 1} if found is None else settings["a"] == found
    if isinstance(found, float):
        assert math.isfinite(found) and isinstance(settings["a"], float)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = 1;\nb = 2;\na = 3;", "it:3: a was already set in line 1"),
        ("a = 1;\nb =", "it:2: b: a value is expected, not the end of the file"),
        ("x = {\na = 1;\n", "it:3: the group of line 1 has no end: } is missing"),
        ("a = (1\n2)", "it:2: a: , or ) is expected, not '2'"),
        ("a = [1, 2.0]", "it:1: a: all in an array [ ] are of one type; 2.0 is another"),
        ("a = [(1)]", "it:1: a: an array [ ] holds numbers, words or strings; a list ( ) anything"),
        ('\na = "b', "it:2: a string without an end"),
        ("a = 1 /* b", "it:1: a remark without an end"),
        ("a = 1x", "it:1: '1'?"),
        ("= 1", "it:1: a setting's name is expected, not '='"),
        ("a 1", "it:1: a: = or : is expected, not '1'"),
        ("a = 99999999999999999999", "it:1: a: 99999999999999999999 does not fit 64 bits"),
        ("a = " + "(" * (DEEPEST + 1), f"it:1: a: more than {DEEPEST} within each other"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Misuse) as refused:
        parse(text, "it")
    assert str(refused.value) == said


def test_a_file_includes_another_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text('x = 1;\n@include "b.cfg"\nz = 3;')
    (tmp_path / "b.cfg").write_text("\ny = 2;\n\n")
    found = read(str(tmp_path / "a.cfg")).value
    assert isinstance(found, dict)
    assert {name: (each.value, Path(each.place.file).name, each.place.line) for name, each in found.items()} == {
        "x": (1, "a.cfg", 1), "y": (2, "b.cfg", 2), "z": (3, "a.cfg", 3),
    }  # fmt: skip


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text('@include "a.cfg"')
    with pytest.raises(Misuse, match=r"a\.cfg:1: files include each other more than 10 deep"):
        read(str(tmp_path / "a.cfg"))
