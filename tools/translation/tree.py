"""The Chinese source of the book, written as a tree of its own, and its build."""

from __future__ import annotations

import io
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from _ext.notebook import SUFFIX, source
from _ext.pages.languages import HEADINGS
from babel.messages.mofile import write_mo
from capsnet_book import words
from myst_parser.mdit_to_docutils.base import default_slugify

from .catalogues import stored_catalogue, translations
from .figures import show_chinese_pictures
from .messages import MARKDOWN, as_json, rewritten
from .paths import (
    EXTENSIONS,
    HTML,
    INTERFACE,
    LANGUAGE,
    ROOT,
    SETTINGS,
    STILLS,
    TREE,
    WORDS,
    pages,
)
from .settings import FILES as SETTING_FILES
from .settings import with_settings

NEEDED = (
    "_config.yml",
    "_toc.yml",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "results",
    "book",
    "capsnet_tutorial",
    "capsnet_check",
)
NOT_NEEDED = ("node_modules", "__pycache__", ".ipynb_checkpoints", "locales", "*.egg-info")
# Where a formula or a prompt meets punctuation that begins or ends no line: browsers break lines
# beside such boxes.
UNBREAKABLE = re.compile(r"(?<=[（“])(?=\$)|(?<=[$)])(?=[，。、：；！？）”])")
SET_UP = "needs = {"  # in the cell of a notebook that installs what it needs
SPEAK_CHINESE = f"""

from capsnet_book.words import speak

speak("{LANGUAGE}")  # widgets, figures, tables and reports"""

SECTION_LINK = re.compile(r"\]\((?P<file>[\w./-]*)#(?P<place>[\w-]+)(?=[)\s])")
# Where Sphinx looks for what its templates and extensions say, before it takes its own.
SPHINX_CATALOGUE = Path("locales", LANGUAGE, "LC_MESSAGES", "sphinx.mo")

Headings = list[tuple[str, str]]  # of a page, in order: in English and in Chinese, without marks


def write(tree: Path = TREE) -> None:
    """Write the pages, and all that a build of them needs, where anything of it changed."""
    page_names = {path: name for name, path in pages().items()}
    word_translations = translations(stored_catalogue(WORDS))
    settings = translations(stored_catalogue(SETTINGS))
    texts: dict[str, str] = {}
    headings: dict[str, Headings] = {}
    for path, name in page_names.items():
        page = path.relative_to(ROOT).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8")
        texts[page], headings[page] = in_chinese(text, path.suffix, name, word_translations)
    places = {page: chinese_places(pairs) for page, pairs in headings.items()}
    for path in needed_files():
        relative = path.relative_to(ROOT).as_posix()
        data = path.read_bytes()
        if path in page_names:
            page = relative.rpartition(".")[0]
            data = with_chinese_links(texts[page], page, places).encode()
        if relative in SETTING_FILES:
            data = with_settings(data.decode(), settings).encode()
        if relative == "_config.yml":
            data = with_language(data)
        chinese_still = STILLS / path.name
        if path.parent.name == STILLS.name and chinese_still.exists():
            data = chinese_still.read_bytes()
        write_if_changed(tree / relative, data)
    english_headings = {page: [english for english, _ in pairs] for page, pairs in headings.items()}
    write_json(tree / HEADINGS, english_headings)
    write_if_changed(tree / SPHINX_CATALOGUE, compiled(EXTENSIONS))
    for name in (INTERFACE, WORDS):
        catalogue = words.catalogue_path(LANGUAGE, name)
        write_if_changed(tree / catalogue.relative_to(ROOT), catalogue.read_bytes())


def compiled(name: str) -> bytes:
    """Return a stored catalogue in the binary form that gettext reads."""
    stream = io.BytesIO()
    write_mo(stream, stored_catalogue(name))
    return stream.getvalue()


def with_language(config: bytes) -> bytes:
    """Return _config.yml with Sphinx's language set."""
    setting = f"\n  config:\n    language: {LANGUAGE}\n"
    return config.replace(b"\n  config:\n", setting.encode())


def in_chinese(
    text: str, suffix: str, name: str, output_words: dict[str, str]
) -> tuple[str, Headings]:
    """Return a page with its messages translated, and its headings in both languages."""
    dictionary = translations(stored_catalogue(name))
    headings: Headings = []

    def translate(kind: str, english: str) -> str | None:
        if kind == "output":
            return words.translated(english, output_words)
        chinese = (
            UNBREAKABLE.sub("\N{WORD JOINER}", dictionary[english])
            if english in dictionary
            else None
        )
        if kind == "heading":
            headings.append((plain_text(english), plain_text(chinese or english)))
        return chinese

    text = rewritten(text, suffix, translate)
    return (prepared(text) if suffix == SUFFIX else text), headings


def chinese_places(headings: Headings) -> dict[str, str]:
    """Return the place of each section in a link: as the English heading has it -> in Chinese.

    A Chinese heading that stands twice on a page names no place.
    """
    count = Counter(chinese for _, chinese in headings)
    return {
        default_slugify(english): default_slugify(chinese)
        for english, chinese in headings
        if count[chinese] == 1
    }


def with_chinese_links(text: str, page: str, places: dict[str, dict[str, str]]) -> str:
    """Return a page's text whose links to sections name these in Chinese.

    JupyterLab names a section by its heading; Sphinx knows both names (`EnglishAddresses`).

    Args:
        text: of the page.
        page: its place in the project, without a suffix.
        places: of each page, as `chinese_places` returns them.
    """

    def in_chinese_place(match: re.Match[str]) -> str:
        file, place = match["file"], match["place"]
        target = posixpath.join(posixpath.dirname(page), file.rpartition(".")[0]) if file else page
        chinese = places.get(posixpath.normpath(target), {}).get(place, place)
        return f"]({file}#{chinese}"

    return SECTION_LINK.sub(in_chinese_place, text)


def plain_text(markdown: str) -> str:
    """Return a line of Markdown without marks."""
    tokens = MARKDOWN.parseInline(markdown)[0].children or ()
    return "".join(token.content for token in tokens)


def prepared(text: str) -> str:
    """Return a notebook with Chinese pictures and a set-up cell that has Chinese spoken."""
    notebook = json.loads(text)
    show_chinese_pictures(notebook)
    for cell in notebook["cells"]:
        if SET_UP in source(cell):
            cell["source"] = source(cell) + SPEAK_CHINESE
    return as_json(notebook)


def needed_files() -> Iterator[Path]:
    """Yield the files of the book's source."""
    for name in NEEDED:
        root = ROOT / name
        paths = sorted(root.rglob("*")) if root.is_dir() else [root]
        for path in paths:
            if path.is_file() and not is_excluded(path.relative_to(ROOT)):
                yield path


def is_excluded(path: Path) -> bool:
    """Return True if a file or a folder above it is not needed."""
    places = (path, *path.parents)
    return any(place.match(pattern) for place in places for pattern in NOT_NEEDED)


def write_json(path: Path, content: object) -> None:
    """Write JSON, unless the file has it already."""
    write_if_changed(path, json.dumps(content, indent=1, ensure_ascii=False).encode())


def write_if_changed(path: Path, data: bytes) -> None:
    """Write a file, unless it has these bytes: Sphinx reads an unchanged file only once."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def build(tree: Path = TREE, published: Path = HTML) -> int:
    """Write and build the tree, with every warning an error, and publish its pages.

    Returns the exit status of the build.
    """
    write(tree)
    command = shutil.which("jupyter-book", path=str(Path(sys.executable).parent)) or "jupyter-book"
    status = subprocess.run(
        [command, "build", ".", "-q", "-W", "-n", "--keep-going"],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": python_path(tree)},
        check=False,
    ).returncode
    if status == 0:
        shutil.copytree(tree / "_build" / "html", published, dirs_exist_ok=True)
        print(f"The Chinese book is in {published}/index.html")
    return status


def python_path(tree: Path = TREE) -> str:
    """Return a PYTHONPATH with which a kernel, or Sphinx, finds the packages of the tree first."""
    return os.pathsep.join([str(tree), str(tree / "book"), os.environ.get("PYTHONPATH", "")])
