"""How long a chapter takes to read, and the book's chapters by part.

A minute is 200 words of prose or 12 lines of code. What is folded does not count (a cell tagged
"hide-…" or "remove-…", a <details>), nor do outputs, blank lines and the addresses of links. A
formula is one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from ..notebook import Notebook, source

WORDS_PER_MINUTE = 200
LINES_PER_MINUTE = 12
FOLDED = re.compile(
    r"<details>.*?</details>|^(?P<fence>`{3,})\{dropdown\}.*?^(?P=fence)", re.DOTALL | re.MULTILINE
)
PICTURE = re.compile(r"\[?!\[[^\]]*\]\([^)]*\)(\]\([^)]*\))?")
FORMULA = re.compile(r"\$\$.*?\$\$|\$[^$]+\$", re.DOTALL)
ADDRESS = re.compile(r"(?<=\])\([^)]*\)")
CHINESE_WORD = re.compile(r"[\u4e00-\u9fff]{1,2}")  # no spaces: two characters count as a word
REPLACEMENTS = (
    (FOLDED, " "),
    (PICTURE, " "),
    (FORMULA, " formula "),
    (ADDRESS, ""),
    (CHINESE_WORD, " word "),
)
HIDDEN = {"hide-cell", "hide-input", "remove-cell", "remove-input"}


@dataclass(frozen=True)
class Length:
    """How much of a notebook is read: words of prose, lines of code."""

    words: int
    lines: int

    @property
    def minutes(self) -> float:
        """The time that it takes."""
        return self.words / WORDS_PER_MINUTE + self.lines / LINES_PER_MINUTE

    @property
    def whole_minutes(self) -> int:
        """The time that it takes, rounded, and at least one minute."""
        return max(1, round(self.minutes))


def length(notebook: Notebook) -> Length:
    """Return the length of a notebook."""
    words = lines = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            words += len(words_of(source(cell)))
        elif not HIDDEN & set(cell["metadata"].get("tags", [])):
            lines += sum(1 for line in source(cell).splitlines() if line.strip())
    return Length(words, lines)


def words_of(markdown: str) -> list[str]:
    """Return the words of a text that a reader reads."""
    for pattern, replacement in REPLACEMENTS:
        markdown = pattern.sub(replacement, markdown)
    return [word for word in markdown.split() if any(sign.isalnum() for sign in word)]


def chapters_by_part(root: Path) -> dict[str, list[Path]]:
    """Return the chapters of each part that has some, as _toc.yml lists them."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    parts = {}
    for part in contents["parts"]:
        paths = [root / f"{page['file']}.ipynb" for page in part["chapters"]]
        chapters = [path for path in paths if path.parent.name == "chapters"]
        if chapters:
            parts[part["caption"]] = chapters
    return parts
