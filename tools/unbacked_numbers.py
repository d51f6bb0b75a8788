"""List the numbers in the chapters' text that no cell above prints or sets. To be read by a person, after a rewrite.

    python tools/unbacked_numbers.py                          (every notebook)
    python tools/unbacked_numbers.py book/chapters/06-routing.ipynb

A number that is listed may well be right: a year, a figure of the paper, a sum done in the sentence. One that is not
listed may be wrong, if another cell happened to print it. Whole numbers up to ten are passed over.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from refresh_notebooks import all_notebooks

ROOT = Path(__file__).resolve().parent.parent
NUMBER = re.compile(r"(?<![\w.])\d+(?:[,_]\d{3})*(?:\.\d+)?(?!\w)")
NO_TEXT = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]+>|\$[^$]*\$|arXiv \d{4}\.\d{5}", re.DOTALL)


def numbers(text: str) -> list[str]:
    """The numbers of a text, as written."""
    return NUMBER.findall(text)


def value(number: str) -> float:
    return float(re.sub("[,_]", "", number))


def backed(number: str, computed: set[float]) -> bool:
    """Whether some computed value, rounded as the number is written, is the number, as it is or as a percentage."""
    half = 0.5 * 10.0 ** -len(number.partition(".")[2]) + 1e-9
    return any(abs(scale * other - value(number)) <= half for other in computed for scale in (1, 100))


def output_text(cell: Any) -> str:
    """What a cell printed and returned."""
    data = [output.get("data", {}) for output in cell.outputs]
    return "\n".join(
        [*(output.get("text", "") for output in cell.outputs)]
        + [each.get("text/markdown", each.get("text/plain", "")) for each in data]
    )


def unbacked(path: Path) -> Iterator[str]:
    """Each such number of a notebook, with the words around it."""
    cells = nbformat.read(path, as_version=4).cells
    code = [k for k, cell in enumerate(cells) if cell.cell_type == "code"]
    for k, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        seen = [n for n in code if n < k] + [n for n in code if n > k][:1]  # a text may announce the next output
        computed = {value(each) for n in seen for each in numbers(cells[n].source + "\n" + output_text(cells[n]))}
        text = NO_TEXT.sub(" ", cell.source)
        for match in NUMBER.finditer(text):
            if not (match[0].isdigit() and int(match[0]) <= 10) and not backed(match[0], computed):
                yield " ".join(text[max(0, match.start() - 50) : match.end() + 40].split())


def main() -> None:
    """Print them, notebook by notebook."""
    for path in [Path(name) for name in sys.argv[1:]] or all_notebooks(ROOT):
        for line in unbacked(path):
            print(f"{path.stem}: … {line} …")


if __name__ == "__main__":
    main()
