"""README and docs keep their word: blocks run, pictures and site can be made anew.

Blocks of a page run in order, in a folder of their own that holds the three small tables of the
first tutorial; commands of the shell run in the slow suite, and are only parsed in the default one.
What is printed has to be what the page says: after ``# prints``, or in the ``text`` block that
follows a block at once, where ``...`` stands for lines that are left out. A block below
``<!-- only parsed: why -->`` is never run.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import click
import pytest

from cpclean.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DATA = "../shared/data"
SLOW = {"results/priors.md"}  # measures the authors' spaces
# These take seconds: their Python runs in the slow suite only, together with their commands.
TOGETHER = {"guides/clusters.md", "guides/serving.md", "guides/trust.md", "tutorials/holes.md"}
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
BLOCK = re.compile(
    r"(?:^<!-- only parsed: (?P<why>.+?) -->\n+)?"
    r"^```(?P<language>[\w{}-]*)[^\n]*\n(?P<code>.*?)^```$"
    r"(?:\n+```text\n(?P<printed>.*?)^```$)?",
    flags=re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    only_parsed: str | None
    printed: str | None

    @property
    def promised(self) -> list[str]:
        return [line.strip() for line in re.findall(r"# prints (.*)$", self.code, re.MULTILINE)]


def blocks(text: str) -> list[Block]:
    return [
        Block(found["language"], found["code"], found["why"], found["printed"])
        for found in BLOCK.finditer(text)
    ]


def name_of(page: Path) -> str:
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def pages_with(language: str) -> list[object]:
    found = []
    for page in PAGES:
        if any(block.language == language for block in blocks(page.read_text("utf-8"))):
            if language == "python" and name_of(page) in TOGETHER:
                continue
            marks = [pytest.mark.slow] if name_of(page) in SLOW else []
            found.append(pytest.param(page, id=name_of(page), marks=marks))
    return found


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with train.csv, val.csv and truth.csv, and the shared data where pages expect it."""
    folder = tmp_path / "desk"
    folder.mkdir()
    if (ROOT / DATA).is_dir():
        (tmp_path / "shared").symlink_to((ROOT / DATA).resolve().parent)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    makes = blocks((DOCS / "tutorials/table.md").read_text("utf-8"))[0]
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(makes.code, "table.md", "exec"), {"__name__": "docs"})
    assert {file.name for file in folder.iterdir()} == {"train.csv", "val.csv", "truth.csv"}
    return folder


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_of_a_page_runs(page: Path, desk: Path) -> None:
    with names_of_a_page() as namespace:
        for block in blocks(page.read_text("utf-8")):
            if block.language == "python":
                run(block, page.name, namespace)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("sh"))
def test_shell_of_a_page_runs(page: Path, desk: Path) -> None:
    with names_of_a_page() as namespace:
        for block in blocks(page.read_text("utf-8")):
            if name_of(page) in SLOW and block.language == "python":
                continue  # run above, and no command needs what it leaves
            run(block, page.name, namespace)


@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_of_a_page_are_understood(page: Path, desk: Path) -> None:
    for block in blocks(page.read_text("utf-8")):
        if block.language == "sh":
            parse(block)


@contextlib.contextmanager
def names_of_a_page() -> Iterator[dict[str, object]]:
    """The names that the blocks of a page share; a server that one of them left is ended."""
    namespace: dict[str, object] = {"__name__": "docs"}
    try:
        yield namespace
    finally:
        for left in namespace.values():
            if isinstance(left, subprocess.Popen) and left.poll() is None:
                left.kill()
                left.communicate()


def run(block: Block, name: str, namespace: dict[str, object]) -> None:
    if block.only_parsed:
        parse(block)
    elif DATA in block.code and not (ROOT / DATA).is_dir():
        parse(block)  # the page says that the data is needed
    elif block.language == "python":
        check_printed(block, run_python(block, name, namespace))
    elif block.language == "sh":
        check_printed(block, run_shell(block))


def run_python(block: Block, name: str, namespace: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.code, name, "exec"), namespace)
    return out.getvalue()


def run_shell(block: Block) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.code],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
        env=os.environ | {"COLUMNS": "100", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == 0, f"{block.code}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def check_printed(block: Block, printed: str) -> None:
    lines = [line.strip() for line in printed.splitlines()]
    if block.promised:
        assert lines == block.promised, block.code
    if block.printed is None:
        return
    wanted = [line.strip() for line in block.printed.splitlines()]
    if "..." not in wanted:
        assert lines == wanted, block.code
    rest = iter(lines)
    for line in wanted:
        if line != "...":
            assert line in rest, f"not printed in this order: {line!r}\n{printed}"


def parse(block: Block) -> None:
    """Whether commands and their options exist, without running them."""
    if block.language == "python":
        ast.parse(block.code)
        return
    subprocess.run(["bash", "-n", "-c", block.code], check=True)
    for line in block.code.replace("\\\n", " ").splitlines():
        for command in re.findall(r"(?:^|[|&]\s*)(cpclean [^|&<>]*)", line):
            parse_command(command)


def parse_command(line: str) -> None:
    words = shlex.split(re.split(r"\s[|&<>]", line)[0], comments=True)
    command = main.commands[words[1]]
    command.make_context(words[1], words[2:], parent=click.Context(main, info_name="cpclean"))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_its_language(page: Path) -> None:
    # A block in any other language, or in none, would be run by nobody.
    text = page.read_text("utf-8")
    found = {block.language for block in blocks(text)}
    assert found <= {"python", "sh", "text", "json", "{toctree}", "{eval-rst}", "{verbs}"}
    fences = len(re.findall(r"^```", text, re.MULTILINE))
    assert fences == sum(4 if block.printed else 2 for block in blocks(text))


def test_pages_with_examples_are_found() -> None:
    names = {name_of(page) for page in PAGES}
    wanted = {"index.md", "guides/sessions.md", "how/scan.md", "results/priors.md"}
    assert wanted | {"how/priors.md", "tutorials/table.md"} <= names
    assert names >= SLOW | TOGETHER


def test_a_broken_promise_is_noticed() -> None:
    (promise,) = blocks("```python\nprint(1 + 1)  # prints 3\n```\n")
    with pytest.raises(AssertionError, match="prints 3"):
        check_printed(promise, run_python(promise, "page", {}))
    (shown,) = blocks("```sh\nprintf 'a\\nb\\nc\\n'\n```\n\n```text\na\n...\nd\n```\n")
    with pytest.raises(AssertionError, match="not printed in this order: 'd'"):
        check_printed(shown, run_shell(shown))
    (failing,) = blocks("```sh\nfalse | true\n```\n")
    with pytest.raises(AssertionError, match="false"):
        run_shell(failing)
    (unknown,) = blocks("<!-- only parsed: slow -->\n```sh\ncpclean check a.csv --lable y\n```\n")
    with pytest.raises(click.UsageError, match="lable"):
        parse(unknown)


def test_examples_in_the_help_of_commands_are_understood() -> None:
    for name, command in main.commands.items():
        lines = re.findall(r"^\s*(cpclean .*)$", command.help or "", re.MULTILINE)
        assert lines, f"cpclean {name} --help has no example"
        for line in lines:
            parse_command(line)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)[^)]*\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_public_name_is_in_the_reference() -> None:
    stub = (ROOT / "src/cpclean/__init__.pyi").read_text("utf-8")
    names = re.findall(r" as (\w+)$", stub, re.MULTILINE)
    text = "\n".join(page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md"))
    shown = set(re.findall(r"auto(?:function|class|exception):: (?:[\w.]+\.)?(\w+)", text))
    assert names
    assert set(names) <= shown, set(names) - shown


# -- pictures ----------------------------------------------------------------------------------


def drawing() -> Iterator[tuple[str, str]]:
    spec = importlib.util.spec_from_file_location("draw", DOCS / "pictures/draw.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, drawn in module.PICTURES.items():
        yield name, str(drawn())


def test_pictures_are_as_drawn() -> None:
    for name, text in drawing():
        kept = (DOCS / f"pictures/{name}.svg").read_text("utf-8")
        assert kept == text, f"{name}.svg: run python docs/pictures/draw.py"


# -- the site ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    nowhere = "http://127.0.0.1:9"  # what is fetched in spite of all fails at once
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, folder],
        capture_output=True, text=True,
        env=os.environ | {"http_proxy": nowhere, "https_proxy": nowhere},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


class Page(HTMLParser):
    """What a page asks for by itself, where it links to, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places.update(given.get(name, "") for name in ("id", "name"))
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "link":
            self.asked.append(given.get("href", ""))
        for name in ("src", "srcset", "data", "poster"):
            self.asked.append(given.get(name, ""))


def remote(text: str) -> list[str]:
    return [address for address in Page(text).asked if urlsplit(address).netloc]


def test_a_remote_address_is_noticed() -> None:
    for tag in (
        '<script src="https://a.b/c.js">',
        '<link href="//a.b/c.css">',
        '<img src="http://a">',
    ):
        assert remote(tag), tag
    assert not remote('<a href="https://a.b">there</a><img src="_images/a.svg">')


@pytest.mark.slow
def test_the_site_asks_nothing_of_a_network(site: Path) -> None:
    for file in site.rglob("*.html"):
        found = remote(file.read_text("utf-8"))
        assert not found, f"{file.name} asks for {found}"
    for file in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", file.read_text("utf-8"))


@pytest.mark.slow
def test_links_within_the_site_work(site: Path) -> None:
    pages = {file.resolve(): Page(file.read_text("utf-8")) for file in site.rglob("*.html")}
    assert (site / "index.html").resolve() in pages
    for file, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            assert target.exists(), f"{file.name} links to {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, f"{file.name}: {link}"
