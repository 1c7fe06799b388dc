# SPDX-License-Identifier: BSD-3-Clause
"""The prose linter: proselint's checks, a vocabulary of our own, the length of sentences, and the length of lines.

    ./dcflab python tests/prose.py PAGE.md …    what is wrong with these pages
    ./dcflab python tests/prose.py --texts      the same of help texts and messages

It reads Markdown without its code, help texts as `--help` prints them, pages for the browser, and messages in the
source, where `X0`, `X1` … stand for what is filled in. A sentence has at most 40 words; the aim is 25.
Of other strings in the source, such as reasons in tables, it checks the vocabulary.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import click
from proselint.checks import __register__ as PROSELINT
from proselint.registry.checks import Check, types
from rooms import command_of

ROOT = Path(__file__).resolve().parents[1]
AIM, MOST = 25, 40  # words of a sentence
WIDEST = 120  # characters of a line of documentation

# What is refused, and what to write instead: patterns that begin and end with a word.
VOCABULARY = {
    r"seeds? 00\d": "paper",
    r"the seeds' (?:simulator|paper|papers|claims|rules|networks|studies|study)": "the papers'",
    r"who steers": "the user",
    r"told of": "described, or named",
    r"tells? of": "describe, or say",
    r"so many": "this many, or a number",
    r"so much": "this much, or a number",
    r"to ask for (?:the )?\w+ is none": "say what happens",
    r"(?:without end)": "unlimited, or endless",
    r"mends?|mended": "fix",
    r"spoilt|spoils?": "corrupted, or lost",
    r"in earshot|within earshot": "within range",
    r"hangs? on|hung on": "depends on",
    r"has none of|is none of (?:its|his|the)": "has no",
    r"(?:it|this|that|who|what) is none": "say what it is",
    r"go(?:es)? with it": "belongs to it",
    r"go(?:es)? on with|goes on|go on\?": "continue",
    r"what became of|what came of": "the result of",
    r"what comes to": "say what happens",
    r"what shall|that shall|shall": "must, or will",
    r"of the moment": "current",
    r"knows? nothing of": "has no",
    r"knows? no": "has no, or does not support",
    r"is there already": "exists",
    r"is there twice": "is given twice",
    r"is not to be had": "is not available",
    r"on the word of": "because of",
    r"be it": "whether it is",
    r"save (?:for|that|what|those)": "except",
    r"as it comes|as they come": "unmodified",
    r"besides": "also, or as well",
    r"whence|thence|thereby|whereby|wherein|therein|thereof|lest|albeit|nigh": "a common word",
    r"anew": "again",
    r"have it otherwise|has it otherwise|otherwise than": "differ",
    r"till": "until",
    r"nobody is told": "it is not reported",
    r"(?:of|for) whom": "for, or with",
    r"hands? (?:over|on) to": "call, or pass to",
    r"next to nothing|next to none": "almost nothing",
    r"for want of": "for lack of",
    r"at hand": "available",
    r"it is said": "it is reported",
    r"(?:which|who|that) has not|has it not|have it not": "does not have",
    r"the papers? has it": "as in the paper",
    r"but for": "except, or except for",
    r"(?:is|are) taken for": "is read as, or is assumed to be",
    r"knows? no way": "has no route",
}
# proselint's checks that fit technical prose. The others are about style in essays, quotation marks or dates.
OURS = "dcflab.vocabulary"
KEPT = (
    "archaism", "lexical_illusions", "malapropisms", "misc.apologizing", "misc.back_formations", "misc.false_plurals",
    "misc.many_a", "misc.suddenly", "misc.whence", "misc.waxed",
    "mixed_metaphors", "mondegreens", "nonwords", "oxymorons", "redundancy", "skunked_terms", "social_awareness",
    "uncomparables", "cliches", "industrial_language", "hedging",
)  # fmt: skip
# Matches that are no mistake: repeated code, letters and digits, and terms of the field.
NO_MISTAKE = re.compile(r"CODE|time clock|dev DEV|^\W*(\w)( \1)+$", re.IGNORECASE)

OUR_CHECK = Check(
    check_type=types.PreferredForms(items={f"(?:{key})": value for key, value in VOCABULARY.items()}),
    path=OURS,
    message="'{1}': write {0}",
)
CHECKS = [
    OUR_CHECK,
    *(check for check in PROSELINT if any(check.matches_partial(path) for path in KEPT)),
]
# Calls whose text a person reads.
CALLS = {
    "Misuse", "Failure", "UsageError", "BadParameter", "SetupError", "LaneError", "NetlinkError", "Damaged",
    "ValueError", "TypeError", "LookupError", "OSError", "NotTested", "Failed", "UnknownName", "UnknownParameter",
    "UnknownError", "say", "warn", "note", "echo", "fail", "refuse", "confirmed", "leave_out", "_fail", "_refuse",
    "_warn",
}  # fmt: skip


PROSE, LEAST = re.compile(r"\b[a-z]{2,}\b"), 3  # a string is prose from this number of words on


class Problem(NamedTuple):
    """What is wrong, and where."""

    where: str
    said: str

    def __str__(self) -> str:
        return f"{self.where}: {self.said}"


class Part(NamedTuple):
    """A paragraph, a cell of a table, an item of a list: text without markup, and the line where it begins."""

    line: int
    text: str


def parts(markdown: str) -> Iterator[Part]:
    """The prose of a page, without code, comments and markup."""
    begun, lines = 0, list[str]()
    fence = comment = False

    def end() -> Iterator[Part]:
        nonlocal lines
        if text := plain(" ".join(lines)):
            yield Part(begun, text)
        lines = []

    before = ""
    for number, line in enumerate([*markdown.splitlines(), ""], 1):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            yield from end()
            fence = not fence
            continue
        if comment or (stripped.startswith("<!--") and not fence):
            comment = "-->" not in stripped
            continue
        code = fence or (re.match(r" {4,}\S", line) is not None and not before.strip() and not lines)
        if code:
            continue
        new = re.match(r"([-*+]|\d+\.)\s+|#+\s|>\s?|\|", stripped)
        if not stripped or new:
            yield from end()
        if stripped.startswith("|"):
            for cell in re.split(r"(?<!\\)\|", stripped):
                if (text := plain(cell)) and not re.fullmatch(r"[-: ]+", cell):
                    yield Part(number, text)
        elif stripped.startswith("#"):
            if text := plain(stripped.lstrip("# ")):
                yield Part(number, text)
        elif stripped:
            begun = begun if lines else number
            lines.append(stripped[new.end() :] if new else stripped)
        before = line
    yield from end()


def plain(text: str) -> str:
    """Text without Markdown's marks: code is one word, links are their text."""
    text = re.sub(r"!\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(`+)(.+?)\1", "CODE", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^<>]*>", " ", text)
    return " ".join(re.sub(r"[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}", "", text).split())


def sentences(text: str) -> list[str]:
    """The sentences of a part."""
    text = re.sub(r"\b(e\.g|i\.e|cf|vs|etc|Fig|No|approx)\.", r"\1", text)
    return [one for one in re.split(r"(?<=[.!?])[\")']?\s+(?=[\"'(A-Z])", text) if one.strip()]


def words(sentence: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def check(texts: Iterable[tuple[str, str]], rules: Sequence[Check] = CHECKS, most: float = MOST) -> list[Problem]:
    """Return the problems of texts, each given with its place. A rule reads all texts at once, which is faster."""
    places, starts, joined = [], [], "\n"
    for where, text in texts:
        places.append(where)
        starts.append(len(joined))
        joined += f"{text}\n\n"
    found = [(at, f"a sentence of {count} words (at most {most}): {one[:60]}…")
             for at, end in zip(starts, [*starts[1:], len(joined)], strict=True)
             for one in sentences(joined[at:end]) if (count := words(one)) > most]  # fmt: skip
    for rule in rules:
        for result in rule.check_with_flags(joined):
            said = joined[slice(*result.span)].strip()
            if "\n" not in said and not NO_MISTAKE.search(said):
                found.append((result.span[1] - 1, f"{result.message} ({result.check_path})"))
    return [Problem(places[bisect_right(starts, at) - 1], said) for at, said in sorted(found)]


def page(path: Path) -> list[Problem]:
    """Return the problems of a page: its prose, and the length of its lines."""
    text, name = path.read_text(), str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    found = check((f"{name}:{part.line}", part.text) for part in parts(text))
    for number, line in enumerate(text.splitlines(), 1):
        whole = line.startswith("    ") or line.lstrip().startswith("|") or "](" in line  # a command is one line
        if len(line) > WIDEST and not whole:
            found.append(Problem(f"{name}:{number}", f"a line of {len(line)} characters (at most {WIDEST})"))
    return found


def pages() -> list[Path]:
    """README, CONTRIBUTING, CHANGELOG, all pages of the documentation, and the labs' handouts."""
    folders = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "labs").rglob("*.md")]
    return sorted({*ROOT.glob("*.md"), *folders})


def literal(node: ast.expr) -> str:
    """Return the text of a string in the source, with X for what is filled in; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        filled = iter(f"X{number}" for number in range(len(node.values)))
        return "".join(literal(each) if isinstance(each, ast.Constant) else next(filled) for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (literal(node.left) or "X") + (literal(node.right) or "X")
    return ""


def messages() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each message in the source."""
    for folder in ("analysis", "emulation", "experiments", "labs", "topologies", "traffic"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                    arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
                    for argument in arguments if name in CALLS else ():
                        if len(text := literal(argument)) and " " in text:
                            yield f"{path.relative_to(ROOT)}:{argument.lineno}", text


def strings() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each other string in the source that is prose: three words or more.

    Not those of experiments: the texts of claims are recorded in docs/claims.json.
    """
    for folder in ("analysis", "emulation", "labs", "topologies", "traffic"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Expr) and not isinstance(node, ast.JoinedStr):
                    for child in ast.iter_child_nodes(node):
                        said = literal(child) if isinstance(child, ast.Constant | ast.JoinedStr) else ""
                        if len(PROSE.findall(said)) >= LEAST:
                            yield f"{path.relative_to(ROOT)}:{child.lineno}", said
    for folder in ("analysis", "emulation"):
        for path in sorted((ROOT / folder).rglob("*.js")):
            if "min.js" not in path.name:
                for number, line in enumerate(path.read_text().splitlines(), 1):
                    for said in re.findall(r"""["`]([^"`]+)["`]""", line):
                        if len(PROSE.findall(said)) >= LEAST:
                            yield f"{path.relative_to(ROOT)}:{number}", said


def shown() -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each element of pages for the browser, and of titles and labels in them."""
    for folder in ("analysis", "emulation"):
        for path in sorted((ROOT / folder).rglob("*.html")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                said = [*re.findall(r">([^<>]+)(?=<)", line), *re.findall(r'(?:title|aria-label)="([^"]+)"', line)]
                yield from ((f"{path.relative_to(ROOT)}:{number}", text) for text in said if " " in text.strip())


def helps() -> Iterator[tuple[str, str]]:
    """Yield all help texts, of commands and of their options, each once."""
    from emulation.cli.main import cli

    seen = set[str]()

    def of(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
        ctx = click.Context(command)
        yield f"{name} --help", command.help or ""
        for option in command.get_params(ctx):
            if isinstance(option, click.Option) and option.help:
                yield f"{name} {option.opts[0]}", option.help
        if isinstance(command, click.Group):
            for each in command.list_commands(ctx):
                if found := command_of(command, ctx, each):
                    yield from of(found, f"{name} {each}")

    for where, text in of(cli, "./dcflab"):
        if text not in seen:
            seen.add(text)
            yield where, text


def texts() -> list[Problem]:
    """Return the problems of help texts, of pages for the browser, and of messages."""
    said = [*helps(), *shown(), *messages()]
    others = {*strings()} - {*said}
    return [
        *check((where, part) for where, text in said for part in paragraphs(text)),
        *check(((where, part) for where, text in sorted(others) for part in paragraphs(text)), [OUR_CHECK], math.inf),
    ]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, without its lists of choices; in a part that is not wrapped, each line is
    one."""
    text = re.sub(r": [^:\n]*\|[^\[\n]*", ": CHOICES ", text)
    split = [part.split("\n") if "\b" in part else [part] for part in text.split("\n\n")]
    return [" ".join(part.split()) for part_ in split for part in part_ if part.strip()]


def main(arguments: Sequence[str]) -> int:
    found = texts() if "--texts" in arguments else []
    for name in arguments:
        if not name.startswith("-"):
            found += page(Path(name).resolve())
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:] or [str(path) for path in pages()]))
