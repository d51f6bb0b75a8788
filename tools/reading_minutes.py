"""Print how many minutes each chapter takes to read, and each part of the book.

    python tools/reading_minutes.py

A minute is 200 words of prose or 12 lines of code. What is folded does not count (a cell tagged "hide-…" or "remove-…",
a <details>), nor do outputs, blank lines and the addresses of links. A formula is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parent.parent
WORDS, LINES = 200, 12  # a minute
FOLDED = re.compile(
    r"<details>.*?</details>|^(?P<fence>`{3,})\{dropdown\}.*?^(?P=fence)", re.DOTALL | re.MULTILINE
)
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
PICTURE = re.compile(r"\[?!\[[^\]]*\]\([^)]*\)(\]\([^)]*\))?")
CHINESE = re.compile(r"[\u4e00-\u9fff]{1,2}")  # without spaces: two characters are a word
ADDRESS = re.compile(r"(?<=\])\([^)]*\)")
HIDDEN = ("hide-cell", "hide-input", "remove-cell", "remove-input")


@dataclass(frozen=True)
class Length:
    """How much there is to read."""

    words: int
    lines: int

    @property
    def minutes(self) -> float:
        return self.words / WORDS + self.lines / LINES


def length(path: Path) -> Length:
    """The words of prose and lines of code of a notebook."""
    words = lines = 0
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            words += len(words_of(cell.source))
        elif not set(cell.metadata.get("tags", [])) & set(HIDDEN):
            lines += sum(1 for line in cell.source.splitlines() if line.strip())
    return Length(words, lines)


def words_of(markdown: str) -> list[str]:
    """The words that a reader reads in a text."""
    text = FOLDED.sub(" ", markdown)
    for pattern, instead in (
        (PICTURE, " "),
        (FORMULA, " formula "),
        (ADDRESS, ""),
        (CHINESE, " word "),
    ):
        text = pattern.sub(instead, text)
    return [word for word in text.split() if any(character.isalnum() for character in word)]


def parts(root: Path) -> dict[str, list[Path]]:
    """The book's chapters by part, as _toc.yml has them."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    named = {
        part["caption"]: [root / f"{each['file']}.ipynb" for each in part["chapters"]]
        for part in contents["parts"]
    }
    chapters = {
        part: [path for path in paths if path.parent.name == "chapters"]
        for part, paths in named.items()
    }
    return {part: paths for part, paths in chapters.items() if paths}


def main() -> None:
    """Print the table."""
    print("minutes  words  lines")
    for part, paths in parts(ROOT).items():
        lengths = [length(path) for path in paths]
        for path, found in zip(paths, lengths, strict=True):
            print(f"{found.minutes:7.1f} {found.words:6} {found.lines:6}    {path.stem}")
        print(f"{sum(found.minutes for found in lengths):7.1f}  {part}\n")


if __name__ == "__main__":
    main()
