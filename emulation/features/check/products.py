# SPDX-License-Identifier: BSD-3-Clause
"""Find products of two 32-bit numbers that become 64 bits wide too late, such as `u64 x = window * rtt_us`.

They overflow silently at windows that no test reaches, and gcc does not warn of them. So its dump of a file in SSA form
is read (`-fdump-tree-ssa-lineno`): each line has one operation and its place, and all names have types. A quotient is
left out, as it is mostly multiplied by its divisor, to round.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

FLAG, SUFFIX = "-fdump-tree-ssa-lineno", ".ssa"
WIDE = 64
BITS = {
    8: ("char", "signed char", "unsigned char", "u8", "s8", "__u8", "__s8", "uint8_t", "bool", "_Bool"),
    16: ("short int", "short unsigned int", "u16", "s16", "__u16", "__s16", "uint16_t"),
    32: ("int", "unsigned int", "u32", "s32", "__u32", "__s32", "uint32_t", "int32_t"),
    WIDE: ("long int", "long unsigned int", "long long int", "long long unsigned int", "u64", "s64", "__u64", "__s64",
           "uint64_t", "int64_t", "size_t", "ktime_t"),
}  # fmt: skip
OF_TYPE = {name: bits for bits, names in BITS.items() for name in names}
FUNCTION, PARAMETER = re.compile(r"^\S.*?\((.*)\)$"), re.compile(r"(?:const )?([\w ]+?) (\w+)$")
DECLARED = re.compile(r"^  (?:const |volatile )*([\w ]+?) (\w+);$")
TAG = re.compile(r"\[([^\]\s]+):(\d+):\d+(?: discrim \d+)?\] ")
SET = re.compile(r"^\s*(\w+?)(?:\(D\))? = (.*);$")
PRODUCT = re.compile(r"^([A-Za-z_]\w*)(?:\(D\))? \* ([A-Za-z_]\w*)(?:\(D\))?$")
CONVERSION = re.compile(r"^\(([\w ]+)\) (\w+?)(?:\(D\))?$")
QUOTIENT = re.compile(r" / |\w*div\w* \(")
VERSION = re.compile(r"_\d+$")  # of a variable


def late(dump: str, folder: str) -> Iterator[tuple[str, int]]:
    """Yield file and line of each such product in a dump, of files of a folder."""
    bits: dict[str, int] = {}
    products: dict[str, tuple[str, int]] = {}
    quotients: set[str] = set()

    def width(name: str) -> int:
        return bits.get(name, bits.get(VERSION.sub("", name), 0))

    for line in dump.splitlines():
        if match := FUNCTION.match(line):
            found = (PARAMETER.match(one.strip()) for one in match[1].split(","))
            bits = {one[2]: OF_TYPE.get(one[1], 0) for one in found if one}
            products, quotients = {}, set()
        elif match := DECLARED.match(line):
            bits[match[2]] = OF_TYPE.get(match[1], 0)
        elif (tag := TAG.search(line)) and (match := SET.match(TAG.sub("", line))):
            name, value = match[1], match[2]
            if QUOTIENT.search(value):
                quotients |= {name, VERSION.sub("", name)} - {""}
            elif product := PRODUCT.match(value):
                known = {one for at in (1, 2) for one in (product[at], VERSION.sub("", product[at]))} & quotients
                if not known and width(name) == 32 < width(product[1]) + width(product[2]):
                    products[name] = tag[1], int(tag[2])
            elif (conversion := CONVERSION.match(value)) and (of := width(conversion[2])):
                to = OF_TYPE.get(conversion[1], 0)
                if conversion[2] in products and to == WIDE and products[conversion[2]][0].startswith(folder):
                    yield products[conversion[2]]
                bits[name] = min(of, to) if to < WIDE else to  # a short number stays short


def find(copy: Path) -> list[str]:
    """Return the places, file:line, in the dumps of a built copy of a module's sources."""
    found = (place for dump in sorted(copy.rglob(f"*{SUFFIX}"))
             for place in late(dump.read_text(errors="replace"), f"{copy}/"))  # fmt: skip
    return list(dict.fromkeys(f"{file.removeprefix(f'{copy}/')}:{line}" for file, line in found))
