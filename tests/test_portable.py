"""Notebooks are read in Colab, Jupyter, GitHub, nbviewer and the book: their Markdown is what all of these render."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from citations import address
from markdown_it import MarkdownIt
from pybtex.database import parse_file
from refresh_notebooks import all_notebooks
from stored_widgets import VIEW

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
CLIENTS_SHOW = {"image/png", "image/jpeg", "image/svg+xml", "text/html", "text/markdown", "text/plain"}

ONLY_MYST = {
    "a fence with braces": r"^\s*(?:`{3,}|~{3,}|:{3,})\s*\{",
    "a colon fence": r"^\s*:{3,}",
    "a role": r"\{[a-z][\w:+-]*\}`",
    "a target": r"^\s*\([\w-]+\)=\s*$",
    "a substitution": r"\{\{.*?\}\}",
    "attributes": r"[\])`]\{[.#]|^\{[.#][\w-]+.*\}\s*$",
    "a footnote": r"\[\^[\w-]+\]",
    "a definition list": r"^:[ \t]+\S",
    "an alert of GitHub's": r"^>\s*\[![A-Z]+\]",
    "a comment or a break": r"^(?:%\s|\+\+\+)",
    "an equation that only some clients find": r"^\\begin\{",
    "a picture in a file, which Colab does not see": r"!\[[^\]]*\]\(|<img\b",
}
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")


def prose(path: Path) -> list[str]:
    """The Markdown cells of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def found(markdown: str) -> list[str]:
    """What only MyST understands in a text, code and formulas left aside."""
    said = re.sub(r"^(`{3,}|~{3,})(?!\s*\{).*\n(?:.*\n)*?\1\s*$", "", markdown, flags=re.MULTILINE)
    said = re.sub(r"(?<!\})(`+)(?!`).+?(?<!`)\1(?!`)", "`", said)
    said = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "$", said, flags=re.DOTALL)
    return [what for what, pattern in ONLY_MYST.items() if re.search(pattern, said, re.MULTILINE)]


@each_notebook
def test_every_client_renders_its_markdown(path: Path) -> None:
    assert {text[:60]: what for text in prose(path) if (what := found(text))} == {}


@pytest.mark.parametrize(
    "markdown",
    [
        "```{dropdown} A hint\nx\n```",
        ":::{note}\nx\n:::",
        "see {cite}`sabour2017dynamic`",
        "(here)=\n## Title",
        "{{ small_accuracy }}",
        "a claim[^1]",
        "![a picture](picture.png)",
        "\\begin{align}\nx\n\\end{align}",
    ],
)
def test_what_only_myst_understands_is_found(markdown: str) -> None:
    assert found(markdown)


def test_what_every_client_understands_is_not() -> None:
    assert not found(
        "> **A guess**\n>\n> `{x}` and $\\hat{{u}}$\n\n```python\nf'{x}'\n```\n\n$$\nx_{ij}\n$$\n\n| a |\n|:--|\n| b |"
    )


@each_notebook
def test_folds_open_and_close_in_lines_of_their_own(path: Path) -> None:
    for text in prose(path):
        opened = re.findall(r"^<details><summary>[^$`*\n]+</summary>\n\n", text, re.MULTILINE)
        closed = re.findall(r"\n\n</details>$", text, re.MULTILINE)
        assert len(opened) == text.count("<details") == len(closed) == text.count("</details>"), text


@each_notebook
def test_its_links_lead_to_files(path: Path) -> None:
    for text in prose(path):
        for link in links(text):
            if not re.match(r"[a-z]+:|#", link):
                assert (path.parent / link.partition("#")[0]).is_file(), (
                    f"{link} (with .ipynb or .md, or Jupyter finds nothing)"
                )


def links(markdown: str) -> list[str]:
    """The targets of all links."""
    parser = MarkdownIt("commonmark").enable("table")
    inline = [child for token in parser.parse(markdown) for child in token.children or ()]
    return [str(child.attrs["href"]) for child in inline if child.type == "link_open"]


@each_notebook
def test_every_output_has_a_form_that_clients_show(path: Path) -> None:
    """A widget that was not run is a still picture; its state stands where no client tries it."""
    notebook: Any = nbformat.read(path, as_version=4)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "data" in output:
                assert VIEW not in output.data
                assert CLIENTS_SHOW & set(output.data), cell.source


def test_every_paper_has_an_address_and_is_cited() -> None:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    addresses = {key: address(entry.fields) for key, entry in entries.items()}
    assert len(set(addresses.values())) == len(addresses)
    pages = [path.read_text(encoding="utf-8") for path in ROOT.glob("book/*.md")]
    said = "\n".join([*(text for path in NOTEBOOKS for text in prose(path)), *pages])
    assert [key for key, url in addresses.items() if f"]({url})" not in said] == []
