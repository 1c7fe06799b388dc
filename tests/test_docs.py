# SPDX-License-Identifier: BSD-3-Clause
"""The docs: links lead somewhere, pages can be reached, and the site has the same content, can be searched, and loads
nothing from a network."""

from __future__ import annotations

import html.parser
import json
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import click
import pytest
from browser import CHROMIUM, chromium, visit
from click.testing import CliRunner, Result
from command_line import dcflab
from markdown_it import MarkdownIt
from markdown_it.token import Token
from rooms import missing, needs

from emulation.cli.main import cli

ROOT = Path(__file__).resolve().parents[1]
INDEX = Path("docs/index.md")
ANSWERS = Path("labs/instructor.md")  # for instructors only: no page leads to it
NUMBER = re.compile(r"(?<![\w.,])(?:\d+(?:,\d{3})+|\d+\.\d+|\d{4,}(?![\w.]))")
COMMAND = re.compile(r"^(?:    |lab\d\$ )+(?:[A-Z_]+=\S+ )?\./dcflab (?P<words>(?:.*\\\n)*.*)$", re.MULTILINE)
ABSENT = re.compile(r"does not exist|there is no file|no command \S*[./]")  # files of the reader's own
PAGES_OF = {"live.md": ("live",), "module-check.md": ("check",)}
LOADED = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


def pages(root: Path) -> list[Path]:
    """Return the Markdown pages of a checkout or similar tree."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        return [page.relative_to(root) for page in root.rglob("*.md")]
    return [Path(name) for name in listed.stdout.splitlines() if (root / name).is_file()]


def tokens(root: Path, page: Path) -> list[Token]:
    """Return the Markdown tokens of a page."""
    return parsed((root / page).read_text())


@cache
def parsed(text: str) -> list[Token]:
    found = MarkdownIt("commonmark").enable("table").parse(text)
    return [each for token in found for each in (token, *(token.children or ()))]


def links(root: Path, page: Path) -> list[str]:
    """Return the targets of a page's links and images."""
    found = (token.attrGet("href") or token.attrGet("src") for token in tokens(root, page))
    return [str(link) for link in found if link is not None]


def anchors(root: Path, page: Path) -> set[str]:
    """Return the anchors of a page's headings, as a forge makes them."""
    found: dict[str, int] = {}
    names, heading = set(), False
    for token in tokens(root, page):
        if heading and token.type == "inline":
            text = "".join(child.content for child in token.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            count = found[slug] = found.get(slug, -1) + 1
            names.add(f"{slug}-{count}" if count else slug)
        heading = token.type == "heading_open"
    return names


def wrong(root: Path, page: Path) -> list[str]:
    """Return a page's broken links. External ones are not fetched, but must be addresses."""
    found = []
    for link in links(root, page):
        to = urlsplit(link)
        if to.scheme or to.netloc:
            sound = to.scheme in ("http", "https") and bool(re.fullmatch(r"[\w-]+(\.[\w-]+)+(:\d+)?", to.netloc))
        else:
            file = (root / page.parent / unquote(to.path)).resolve() if to.path else root / page
            sound = file.exists() and file.is_relative_to(root)
            if sound and to.fragment:
                sound = file.suffix == ".md" and to.fragment in anchors(root, file.relative_to(root))
        if not sound:
            found.append(f"{page}: {link}")
    return found


def reached(root: Path, start: Path) -> set[Path]:
    """Return the pages that links reach from one."""
    found, left = {start}, [start]
    while left:
        page = left.pop()
        for link in links(root, page):
            to = urlsplit(link)
            file = (root / page.parent / unquote(to.path)).resolve()
            if not to.scheme and file.suffix == ".md" and file.is_file() and file.is_relative_to(root):
                there = file.relative_to(root)
                left += [] if there in found else [there]
                found.add(there)
    return found


def test_each_link_leads_somewhere() -> None:
    """A feature's own page may link to the feature's files."""
    own = [page for page in pages(ROOT) if missing(*PAGES_OF.get(page.name, ()))]
    assert [link for page in pages(ROOT) if page not in own for link in wrong(ROOT, page)] == []


def test_each_page_can_be_reached_from_the_start_page() -> None:
    """Each page of docs/ is in the navigation: the lists of the start page."""
    docs = {page for page in pages(ROOT) if page.parts[0] in ("docs", "labs")} - {ANSWERS}
    assert docs <= reached(ROOT, INDEX)
    assert ANSWERS not in reached(ROOT, INDEX)
    docs |= {file.relative_to(ROOT) for file in (ROOT / "docs").glob("*.ipynb")}
    named = {(ROOT / INDEX.parent / urlsplit(link).path).resolve() for link in links(ROOT, INDEX)}
    assert {ROOT / page for page in docs} - named == {ROOT / INDEX}, "docs/index.md does not list it"


@pytest.mark.parametrize(
    "link",
    ["gone.md", "there.md#gone", "#gone", "folder/gone.py", "https://", "https://nowhere", "../../out.md", "x y.md"],
)
def test_a_link_that_leads_nowhere_is_found(tmp_path: Path, link: str) -> None:
    (tmp_path / "there.md").write_text("# A title, with `code`\n\n## Twice\n\n## Twice\n")
    (tmp_path / "folder").mkdir()
    sound = "[a](there.md#a-title-with-code) [b](there.md#twice-1) [c](folder) [d](https://ui.perfetto.dev/#!/viewer)"
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{sound} [e](#page)\n")
    assert wrong(tmp_path, Path("page.md")) == []
    page.write_text(f"# Page\n\n{sound} ![e](<{link}>)\n")
    assert len(wrong(tmp_path, Path("page.md"))) == 1
    assert reached(tmp_path, Path("page.md")) >= {Path("page.md"), Path("there.md")}


def unfounded(root: Path, page: Path) -> list[str]:
    """Return numbers of a page that are on none of the pages linked from their line: those with a point, or of four or
    more digits."""
    found = []
    for line in (root / page).read_text().splitlines():
        leads = [(root / page.parent / urlsplit(link).path).resolve() for link in re.findall(r"\]\(([^)]+)\)", line)]
        there = "".join(file.read_text() for file in leads if file.suffix == ".md")
        for number in NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", "", line) if there else ""):
            if not re.search(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", there):
                found.append(f"{number}: {line[:60]}")
    return found


def test_numbers_of_comparisons_are_on_the_linked_pages(tmp_path: Path) -> None:
    """docs/validity.md has no numbers of its own: a new measurement changes both pages."""
    assert unfounded(ROOT, Path("docs/validity.md")) == []
    (tmp_path / "found.md").write_text("It was 38,291, or 2.7 dB.\n")
    (tmp_path / "page.md").write_text("38,291 and 2.7 [there](found.md)\n\n8,291 and 12.7 [there](found.md)\n")
    assert [each.split(":")[0] for each in unfounded(tmp_path, Path("page.md"))] == ["8,291", "12.7"]


def commands(text: str) -> list[list[str]]:
    """Return the ./dcflab commands in a page's code blocks."""
    found = []
    for line in COMMAND.finditer(text):
        words = shlex.split(re.sub(r"\s+#\s.*", "", line["words"].replace("\\\n", " ")))
        ends = [place for place, word in enumerate(words) if word in ("&&", ">", "|")]
        found.append(words[: ends[0]] if ends else words)
    return [words for words in found if "…" not in words]


def mistaken(words: list[str]) -> str:
    """Return the error of a command line, without running it."""
    command: click.Command = cli
    rest = list(words)
    try:
        context = click.Context(cli)
        while isinstance(command, click.Group) and rest:
            found = command.get_command(context, rest[0])
            if not found:
                raise click.UsageError(f"no command {rest[0]}")
            command, rest = found, rest[1:]
        command.make_context("dcflab", rest)
    except click.exceptions.Exit:
        return ""
    except click.ClickException as error:
        said = error.format_message()
        return "" if ABSENT.search(said) else f"{' '.join(words)}: {said}"
    return ""


@needs("check", "claims", "export", "film", "hostap", "labs", "live", "mininet", "prompt", "sweeps", "wmediumd")
def test_each_command_is_one_that_the_program_takes() -> None:
    found = {page: commands((ROOT / page).read_text()) for page in pages(ROOT)}
    assert sum(map(len, found.values())) > 150
    assert [f"{page}: {said}" for page, lines in found.items() for words in lines if (said := mistaken(words))] == []
    assert all(mistaken(line.split()) for line in ("run string --rtss full", "rum", "view --at 1"))
    [words] = commands("    ./dcflab run string \\\n      --rts full  # as in the paper\n")
    assert words == ["run", "string", "--rts", "full"]


@pytest.mark.lane
def test_the_readme_shows_what_a_first_run_prints(tmp_path: Path) -> None:
    """Except for the folder's name and the time taken."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "here").mkdir()
    done = dcflab(tmp_path / "here", "run", "rts-cts", limit_s=600)
    assert done.returncode == 0, done.stderr
    shown = (ROOT / "README.md").read_text().partition(", and prints:\n")[2].partition("\nCOL counts")[0]
    varies = re.compile(r"(?<=runs/rts-cts-)[^/\s]+|[\d.,]+(?= s of wall| times real)")
    said, kept = (varies.sub("…", text).split("\n") for text in (done.stdout.strip(), shown.strip()))
    assert said == [line.removeprefix("    ") for line in kept]


class Html(html.parser.HTMLParser):
    """A page's loaded files, links and anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads, self.leads, self.names = list[str](), list[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag in LOADED and said.get("rel") not in ("search", "index", "next", "prev", "canonical"):
            self.loads += [said[LOADED[tag]] or ""] if LOADED[tag] in said else []
        if tag == "a" and "href" in said:
            self.leads.append(said["href"] or "")
        self.names |= {said[name] or "" for name in ("id", "name") if name in said}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "site"
    done = docs("--out", str(folder), "--json")
    assert done.exit_code == 0, done.exception
    said = json.loads(done.stdout)
    assert said == {"file": str(folder / "index.html"), "pages": sum(1 for _ in folder.rglob("*.html"))}
    return folder


def docs(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["docs", *arguments])


@pytest.mark.slow
def test_the_sites_pages_lead_to_each_other_and_to_no_network(site: Path) -> None:
    """Sphinx rejects missing targets, as warnings are errors."""
    read = {file: Html(file.read_text()) for file in site.rglob("*.html")}
    assert {page.with_suffix(".html") for page in pages(ROOT) if page.parts[0] == "docs"} <= {
        file.relative_to(site) for file in read
    }
    for file, page in read.items():
        for link in (link for link in page.loads if not link.startswith("data:")):
            assert (file.parent / urlsplit(link).path).is_file(), f"{file.relative_to(site)} loads {link}"
        for link in page.leads:
            to = urlsplit(link)
            if not to.scheme:
                there = (file.parent / unquote(to.path)).resolve() if to.path else file
                assert there.is_file(), f"{file.relative_to(site)} leads to {link}"
                known = there not in read or not to.fragment or unquote(to.fragment) in read[there].names
                assert known, f"{file.relative_to(site)}: {link}"
    styles = "".join(file.read_text() for file in site.rglob("*.css"))
    assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", styles)


@pytest.mark.slow
def test_the_site_has_no_answers(site: Path) -> None:
    """Students read it: it lacks the instructors' page, and numbers that only this page has."""
    assert not list(site.rglob("labs/instructor*"))
    handouts = "".join(page.read_text() for page in (ROOT / "labs").glob("*/README.md"))
    known = handouts + "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    answers = set(NUMBER.findall((ROOT / ANSWERS).read_text())) - set(NUMBER.findall(known))
    assert len(answers) > 10
    text = "".join(re.sub(r"<[^>]*>", "", file.read_text()) for file in site.rglob("labs/**/*.html"))
    assert answers.isdisjoint(NUMBER.findall(text))
    assert "labs/instructor" not in (site / "searchindex.js").read_text()


FOUND = """
  await when(() => /found|did not match/.test(document.querySelector(".search-summary")?.textContent ?? ""));
  said.found = [...document.querySelectorAll("#search-results li > a")].map((each) => each.getAttribute("href"));
"""


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no browser: chromium")
def test_the_site_can_be_searched_without_a_server(site: Path, tmp_path: Path) -> None:
    """The search raises no error."""
    with chromium(tmp_path) as browser:
        for words, page in {"wmediumd": "docs/mediumd", "hidden terminal": "labs/hidden_terminal/README"}.items():
            found = visit(browser, f"{(site / 'search.html').as_uri()}?q={quote(words)}", FOUND)["found"]
            assert f"{page}.html" in {link.partition("?")[0].partition("#")[0] for link in found}


def test_a_folder_that_is_no_site_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years")
    done = docs("--out", str(tmp_path), "--no-open")
    assert done.exit_code == 2 and "is not a site" in done.output
    assert (tmp_path / "thesis.tex").read_text() == "years"


@pytest.mark.slow
def test_what_sphinx_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With page and line. A site that could not be built leaves nothing."""
    from emulation.cli.commands import docs as command

    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "docs/site", tmp_path / "docs/site")
    (tmp_path / "labs").mkdir()
    (tmp_path / ANSWERS).write_text("# Answers\n")
    (tmp_path / "docs/index.md").write_text("# Start\n\n[nowhere](gone.md)\n\n[answers](../labs/instructor.md)\n")
    monkeypatch.setattr(command, "CHECKOUT", tmp_path)
    done = docs("--out", str(tmp_path / "site"), "--no-open")
    assert done.exit_code == 1 and "docs/index.md:3: WARNING" in str(done.exception)
    assert "docs/index.md:5: WARNING: Unknown source document 'labs/instructor'" in str(done.exception)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "labs"]
