"""Run the written notebooks of which a figure is outdated, and keep the pictures that they draw."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path

import nbformat
from _ext.notebooks.figures import PHONE
from capsnet_book import words

from ..refresh_notebooks import execute, with_a_palette
from .catalogues import stored_catalogue, translations
from .figures import Figure, digest, figure_words, figures_of, page_figures
from .messages import has_words
from .paths import FIGURE_WORDS, FIGURES, ROOT, TREE, WORDS, pages
from .tree import python_path, write

CHINESE = re.compile(r"[\u4e00-\u9fff]")
COLOURS = (16, 32, 64)  # of a picture: as many as it needs
CELL_SECONDS = 1200  # that a cell may take


def outdated() -> dict[str, int]:
    """Return page -> how many of its figures were never drawn, or with other words than now."""
    dictionary = translations(stored_catalogue(WORDS))
    current = {
        key
        for key, texts in figure_words().items()
        if all(dictionary.get(english, english) == chinese for english, chinese in texts.items())
    }
    counts = {}
    for name, path in pages().items():
        old = sum(digest(figure) not in current for figure in page_figures(path))
        if old:
            counts[name] = old
    return counts


def draw(names: list[str]) -> None:
    """Run those of the named pages whose figures are outdated, and keep what they draw."""
    write()
    os.environ["PYTHONPATH"] = python_path()
    FIGURES.mkdir(exist_ok=True)
    for name in outdated():
        if name in names:
            draw_page(pages()[name])
            print(f"{name}: drawn", flush=True)


def draw_page(path: Path) -> None:
    """Run one notebook of the Chinese tree and keep its pictures and their words."""
    written = TREE / path.relative_to(ROOT)
    notebook = nbformat.read(written, as_version=4)
    execute(notebook, written, timeout=CELL_SECONDS)
    all_words = figure_words()
    for english, chinese in zip(page_figures(path), figures_of(notebook), strict=True):
        all_words[digest(english)] = keep_picture(digest(english), chinese)
    keep_words(all_words)


def keep_picture(name: str, chinese: Figure) -> dict[str, str]:
    """Write a figure's picture, if it has Chinese words; return English -> drawn words.

    Raises:
        SystemExit: matplotlib has no font with Chinese.
    """
    texts = chinese["metadata"].get("capsnet_words")
    if texts is None:
        raise SystemExit(
            "matplotlib finds no font with Chinese: install one (fonts-noto-cjk, on Debian)"
        )
    dictionary = translations(stored_catalogue(WORDS))
    messages = {words.message(text) for text in texts}
    figure_texts = {
        english: dictionary.get(english, english)
        for english in messages
        if has_words(english) or CHINESE.search(english)
    }
    if any(CHINESE.search(text) for text in figure_texts.values()):
        write_picture(f"{name}.png", chinese["data"]["image/png"])
        write_picture(f"{name}-phone.png", chinese["metadata"].get(PHONE))
    return figure_texts


def write_picture(name: str, png: str | None) -> None:
    """Write a picture, PNG in base64, with few colours."""
    if png:
        (FIGURES / name).write_bytes(base64.b64decode(with_a_palette(png, COLOURS)))


def keep_words(all_words: dict[str, dict[str, str]]) -> None:
    """Store the words of the figures that pages show, and delete the pictures of others."""
    digests = {digest(figure) for path in pages().values() for figure in page_figures(path)}
    remaining = {key: all_words[key] for key in sorted(digests & all_words.keys())}
    text = json.dumps(remaining, indent=1, ensure_ascii=False, sort_keys=True)
    FIGURE_WORDS.write_text(f"{text}\n", encoding="utf-8")
    for path in FIGURES.glob("*.png"):
        if path.stem.removesuffix("-phone") not in digests:
            path.unlink()
