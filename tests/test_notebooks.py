"""The stored notebooks: short cells, described pictures, Markdown for all clients, nothing that changes by itself."""

from __future__ import annotations

import ast
import base64
import copy
import re
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from _ext.notebooks.figures import PHONE
from _ext.pages.citations import address
from _ext.widgets.buffers import files_by_hash
from _ext.widgets.models import OURS, VIEW, stored_models
from _ext.widgets.storage import LARGE, SOURCES, stored_buffer
from markdown_it import MarkdownIt
from pybtex.database import parse_file

from tools.refresh_notebooks import all_notebooks, normalise

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
PROJECTS = [
    tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8"))
    for place in (".", "book")
]
# Modules that come with Jupyter or with what both packages depend on.
BROUGHT = {"IPython", "matplotlib", "numpy", "safetensors", "scipy", "torch", "torchvision", "tqdm"}
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
each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
read = cache(lambda path: nbformat.read(path, as_version=4))


def prose(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code" and cell.source.strip()]


# --- what is written


@each_notebook
def test_cells_are_short_and_pictures_described(path: Path) -> None:
    for cell in code(path):
        tags = set(cell.metadata.get("tags", []))
        assert {"one-page", "remove-cell"} & tags or len(cell.source.splitlines()) <= 15, (
            cell.source
        )
        described = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        for output in cell.outputs:
            pictures = [kind for kind in output.get("data", {}) if kind.startswith("image/")]
            alone = all(output.metadata.get(kind, {}).get("alt") for kind in pictures)
            assert described or alone, f"{cell.source}: its metadata lacks mystnb.image.alt"


@pytest.mark.parametrize("path", sorted(ROOT.glob("book/*.md")), ids=lambda path: path.name)
def test_every_picture_of_a_page_is_described(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"!\[\s*\]\([^)]*\)", text)
    assert all(
        re.search(r"""alt=["'][^"']+["']""", tag) for tag in re.findall(r"<img\b[^>]*>", text)
    )
    directives = re.findall(r"```+\{(?:image|figure)\}[^`]*```", text)
    assert all(re.search(r"^:alt: \S", directive, re.MULTILINE) for directive in directives)


def only_myst(markdown: str) -> list[str]:
    """What only MyST understands in a text, code and formulas left aside."""
    said = re.sub(r"^(`{3,}|~{3,})(?!\s*\{).*\n(?:.*\n)*?\1\s*$", "", markdown, flags=re.MULTILINE)
    said = re.sub(r"(?<!\})(`+)(?!`).+?(?<!`)\1(?!`)", "`", said)
    said = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$", "$", said, flags=re.DOTALL)
    return [what for what, pattern in ONLY_MYST.items() if re.search(pattern, said, re.MULTILINE)]


@each_notebook
def test_every_client_renders_its_markdown_and_finds_its_links(path: Path) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    for text in prose(path):
        assert not only_myst(text), text
        opened = re.findall(r"^<details><summary>[^$`*\n]+</summary>\n\n", text, re.MULTILINE)
        closed = re.findall(r"\n\n</details>$", text, re.MULTILINE)
        assert len(opened) == text.count("<details") == len(closed) == text.count("</details>"), (
            text
        )
        inline = [child for token in parser.parse(text) for child in token.children or ()]
        for link in (str(child.attrs["href"]) for child in inline if child.type == "link_open"):
            found = re.match(r"[a-z]+:|#", link) or (path.parent / link.partition("#")[0]).is_file()
            assert found, f"{link} (with .ipynb or .md, or Jupyter finds nothing)"


def test_every_paper_has_an_address_and_is_cited() -> None:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    addresses = {key: address(entry.fields) for key, entry in entries.items()}
    assert len(set(addresses.values())) == len(addresses)
    pages = [path.read_text(encoding="utf-8") for path in ROOT.glob("book/*.md")]
    said = "\n".join([*(text for path in NOTEBOOKS for text in prose(path)), *pages])
    assert [key for key, url in addresses.items() if f"]({url})" not in said] == []


# --- what is stored


@each_notebook
def test_it_was_executed_from_top_to_bottom_and_holds_text_and_png(path: Path) -> None:
    notebook = read(path)
    assert [cell.execution_count for cell in code(path)] == list(range(1, len(code(path)) + 1))
    assert "widgets" not in notebook.metadata and path.stat().st_size < 1_250_000
    for cell in code(path):
        for output in cell.outputs:
            expected = "raises-exception" in cell.metadata.get("tags", [])
            assert output.output_type != "error" or expected, cell.source
            assert output.get("name") != "stderr", f"{cell.source!r} writes to stderr"
            kinds = set(output.get("data", {"text/plain": ""}))
            assert kinds and {kind for kind in kinds if not kind.startswith("text/")} <= {
                "image/png"
            } - {VIEW}
            assert set(output.get("metadata", {})) <= {"image/png", OURS, PHONE}
    for model in stored_models(notebook).values():
        assert not model["state"].keys() & set(SOURCES)


@each_notebook
def test_nothing_in_it_changes_by_itself(path: Path) -> None:
    notebook = read(path)
    normalised = copy.deepcopy(notebook)
    normalise(normalised, path.stem)
    assert normalised == notebook, (
        "`make notebooks` stores notebooks without timings, versions and random ids"
    )
    for cell in code(path):
        for output in (
            () if "nbval-ignore-output" in cell.metadata.get("tags", []) else cell.outputs
        ):
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            assert not re.search(r"\bat 0x[0-9a-f]{6,}|\b\d+(\.\d+)? ?(ms|µs|it/s|s/it)\b", text), (
                text
            )
    for entry in (
        entry for model in stored_models(notebook).values() for entry in model.get("buffers", [])
    ):
        assert entry["encoding"] == "sha256" or len(entry["data"]) <= LARGE * 4 / 3 + 4


# --- what is installed


def imported(path: Path) -> set[str]:
    """The top-level modules that a notebook imports."""
    cells = (
        re.sub(r"^(\s*)[%!].*", r"\1pass", cell.source, flags=re.MULTILINE) for cell in code(path)
    )
    nodes = list(ast.walk(ast.parse("\n".join(cells))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)


@each_notebook
def test_the_set_up_cell_installs_what_the_notebook_imports(path: Path) -> None:
    needs = dict(re.findall(r'^ +"(\w+)": "([^"]+)",$', code(path)[0].source, re.MULTILINE))
    imports = imported(path) - BROUGHT - {"capsnet_check"}  # comes with capsnet_tutorial
    assert imports <= set(needs)
    for module, place in needs.items():
        if module.startswith("capsnet"):  # never from an index: the name is not ours there
            assert (
                place.startswith("git+https://")
                or (path.parent / place / "pyproject.toml").is_file()
            )


def test_a_notebook_without_its_project_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = re.sub(r"%pip.*", "pass", code(NOTEBOOKS[0])[0].source).replace(
        '"capsnet_tutorial":', '"not_there":'
    )
    monkeypatch.chdir(NOTEBOOKS[0].parent)
    exec(cell, {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="pyproject.toml and book"):
        exec(cell, {})


def test_chapter_9s_network_stands_for_one_that_a_notebook_trained() -> None:
    buffer = {
        "data": base64.b64encode(bytes(LARGE + 1)).decode(),
        "encoding": "base64",
        "path": ["weights"],
    }
    assert files_by_hash(ROOT)[stored_buffer(buffer, ROOT)["data"]].stem == "chapter-9"
    with pytest.raises(SystemExit, match="is no file in"):
        stored_buffer(buffer | {"path": ["image"]}, ROOT)


def test_the_lock_pins_what_is_asked_for_and_names_no_place() -> None:
    lock, wanted = (
        (ROOT / f"requirements.{end}").read_text(encoding="utf-8") for end in ("txt", "in")
    )
    pins, asked = (
        dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE)) for text in (lock, wanted)
    )
    assert asked.items() <= pins.items(), (
        "requirements.txt is older than requirements.in: `make lock`"
    )
    assert not re.search(r"https?://|file:|^-", lock, re.MULTILINE)
    depends = [
        re.split(r"[<>=]", each)[0]
        for project in PROJECTS
        for each in project["project"]["dependencies"]
    ]
    assert [name for name in depends if not find_spec(name.replace("-", "_"))] == []
