"""Print how many minutes each chapter takes to read, and each part of the book.

python -m tools.reading_minutes
"""

from __future__ import annotations

from pathlib import Path

from _ext.notebook import read_notebook
from _ext.pages.reading_time import chapters_by_part, length

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Print the table."""
    print("minutes  words  lines")
    for part, chapters in chapters_by_part(ROOT).items():
        total = 0.0
        for path in chapters:
            chapter = length(read_notebook(path))
            print(f"{chapter.minutes:7.1f} {chapter.words:6} {chapter.lines:6}    {path.stem}")
            total += chapter.minutes
        print(f"{total:7.1f}  {part}\n")


if __name__ == "__main__":
    main()
