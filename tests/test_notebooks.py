"""The stored notebooks: short cells, described pictures, plain Markdown, the same when rerun."""

from __future__ import annotations

import ast
import base64
import copy
import json
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
import pytest
from _ext.notebooks.figures import PHONE
from _ext.pages.citations import address
from _ext.widgets.buffers import files_by_hash
from _ext.widgets.models import OURS, VIEW, stored_models
from _ext.widgets.storage import LARGE, SOURCES, stored_buffer
from capsnet_book.widgets import BendCapsule
from markdown_it import MarkdownIt
from pybtex.database import parse_file

from capsnet_tutorial import CapsNet, CapsNetConfig
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


@cache
def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def prose(path: Path) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]


def code(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code" and cell.source.strip()]


def tags_of(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


# --- what is written


@each_notebook
def test_its_cells_have_at_most_15_lines(path: Path) -> None:
    for cell in code(path):
        is_long_on_purpose = {"one-page", "remove-cell"} & tags_of(cell)
        assert is_long_on_purpose or len(cell.source.splitlines()) <= 15, cell.source


@each_notebook
def test_its_pictures_are_described(path: Path) -> None:
    for cell in code(path):
        text_of_cell = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        for output in cell.outputs:
            pictures = [kind for kind in output.get("data", {}) if kind.startswith("image/")]
            have_own_texts = all(output.metadata.get(kind, {}).get("alt") for kind in pictures)
            described = text_of_cell or have_own_texts
            assert described, f"{cell.source}: its metadata lacks mystnb.image.alt"


@pytest.mark.parametrize("path", sorted(ROOT.glob("book/*.md")), ids=lambda path: path.name)
def test_every_picture_of_a_page_is_described(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"!\[\s*\]\([^)]*\)", text)
    for tag in re.findall(r"<img\b[^>]*>", text):
        assert re.search(r"""alt=["'][^"']+["']""", tag), tag
    for directive in re.findall(r"```+\{(?:image|figure)\}[^`]*```", text):
        assert re.search(r"^:alt: \S", directive, re.MULTILINE), directive


def only_myst(markdown: str) -> list[str]:
    """Return what only MyST understands in a text; code and formulas are left aside."""
    fenced_code = r"^(`{3,}|~{3,})(?!\s*\{).*\n(?:.*\n)*?\1\s*$"
    inline_code = r"(?<!\})(`+)(?!`).+?(?<!`)\1(?!`)"
    formula = r"\$\$.*?\$\$|\$[^$\n]+\$"
    text = re.sub(fenced_code, "", markdown, flags=re.MULTILINE)
    text = re.sub(inline_code, "`", text)
    text = re.sub(formula, "$", text, flags=re.DOTALL)
    return [name for name, pattern in ONLY_MYST.items() if re.search(pattern, text, re.MULTILINE)]


@each_notebook
def test_every_client_renders_its_markdown(path: Path) -> None:
    for text in prose(path):
        assert not only_myst(text), text
        opened = re.findall(r"^<details><summary>[^$`*\n]+</summary>\n\n", text, re.MULTILINE)
        closed = re.findall(r"\n\n</details>$", text, re.MULTILINE)
        assert len(opened) == text.count("<details"), text
        assert len(closed) == text.count("</details>"), text
        assert len(opened) == len(closed), text


@each_notebook
def test_its_links_lead_to_files_that_jupyter_finds(path: Path) -> None:
    parser = MarkdownIt("commonmark").enable("table")
    for text in prose(path):
        for token in parser.parse(text):
            for child in token.children or ():
                if child.type == "link_open":
                    link = str(child.attrs["href"])
                    is_elsewhere = re.match(r"[a-z]+:|#", link)
                    is_a_file = (path.parent / link.partition("#")[0]).is_file()
                    assert is_elsewhere or is_a_file, f"{link} (with .ipynb or .md)"


def test_every_paper_has_an_address_of_its_own() -> None:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    addresses = [address(entry.fields) for entry in entries.values()]
    assert len(set(addresses)) == len(addresses)


def test_every_paper_is_cited() -> None:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    pages = [path.read_text(encoding="utf-8") for path in ROOT.glob("book/*.md")]
    for path in NOTEBOOKS:
        pages += prose(path)
    text = "\n".join(pages)
    uncited = [key for key, entry in entries.items() if f"]({address(entry.fields)})" not in text]
    assert uncited == []


GUESSED_IN_A_WIDGET = {
    "04-squash-00": "a line is drawn in SquashVector",
    "07-margin-loss-00": "ten bars are set in MarginLoss",
}
ASKS = re.compile(r"\*\*(Predict|A guess|Guess)\b|\bPredict:")


@each_notebook
def test_each_prediction_has_a_control_and_an_answer(path: Path) -> None:
    """On the page: a notebook's reader says it to themselves."""
    cells = [cell for cell in read(path).cells if cell.cell_type == "markdown"]
    asking = {cell.id for cell in cells if ASKS.search(cell.source)}
    controlled = {cell.id for cell in cells if "guess" in cell.metadata}
    answered = [cell.metadata["answers"] for cell in cells if "answers" in cell.metadata]
    assert asking - controlled <= GUESSED_IN_A_WIDGET.keys()
    assert sorted(answered) == sorted(controlled)


# --- what is stored


@each_notebook
def test_it_was_executed_from_top_to_bottom(path: Path) -> None:
    counts = [cell.execution_count for cell in code(path)]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_each_cell_has_an_id_of_its_own(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)


@each_notebook
def test_no_cell_failed_or_wrote_to_stderr(path: Path) -> None:
    for cell in code(path):
        for output in cell.outputs:
            may_fail = "raises-exception" in tags_of(cell)
            assert output.output_type != "error" or may_fail, cell.source
            assert output.get("name") != "stderr", f"{cell.source!r} writes to stderr"


@each_notebook
def test_it_holds_text_and_png_alone(path: Path) -> None:
    assert "widgets" not in read(path).metadata
    assert path.stat().st_size < 1_250_000
    for cell in code(path):
        for output in cell.outputs:
            kinds = set(output.get("data", {"text/plain": ""}))
            pictures = {kind for kind in kinds if not kind.startswith("text/")}
            assert kinds, cell.source
            assert pictures <= {"image/png"} - {VIEW}, cell.source
            assert set(output.get("metadata", {})) <= {"image/png", OURS, PHONE}, cell.source


@each_notebook
def test_it_holds_no_sources_of_widgets_and_no_large_buffers(path: Path) -> None:
    for model in stored_models(read(path)).values():
        assert not model["state"].keys() & set(SOURCES)
        for buffer in model.get("buffers", []):
            assert buffer["encoding"] == "sha256" or len(buffer["data"]) <= LARGE * 4 / 3 + 4


@each_notebook
def test_nothing_in_it_changes_by_itself(path: Path) -> None:
    notebook = read(path)
    normalised = copy.deepcopy(notebook)
    normalise(normalised, path.stem)
    wanted = "`make notebooks` stores notebooks without timings, versions and random ids"
    assert normalised == notebook, wanted
    address_or_time = r"\bat 0x[0-9a-f]{6,}|\b\d+(\.\d+)? ?(ms|µs|it/s|s/it)\b"
    for cell in code(path):
        if "nbval-ignore-output" in tags_of(cell):
            continue
        for output in cell.outputs:
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            assert not re.search(address_or_time, text), text


# --- what is installed


def imported(path: Path) -> set[str]:
    """Return the top-level modules that a notebook imports, those of Python left aside."""
    names = set()
    for cell in code(path):
        source = re.sub(r"^(\s*)[%!].*", r"\1pass", cell.source, flags=re.MULTILINE)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
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


def set_up(monkeypatch: pytest.MonkeyPatch, folder: Path, lacking: str = "") -> None:
    """Run the first notebook's set-up cell in a folder; nothing is installed."""
    cell = re.sub(r"%pip.*", "pass", code(NOTEBOOKS[0])[0].source)
    monkeypatch.chdir(folder)
    exec(cell.replace(f'"{lacking}":', '"not_there":'), {})


def test_a_notebook_without_its_project_says_where_it_is_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up(monkeypatch, NOTEBOOKS[0].parent)
    with pytest.raises(
        OSError, match=f"^{re.escape(str(tmp_path))} is not in the project: download all of"
    ):
        set_up(monkeypatch, tmp_path, lacking="capsnet_tutorial")


def test_an_install_that_failed_says_of_what_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(OSError, match=r"^pip could not install \.\./\.\./book .* run this cell"):
        set_up(monkeypatch, NOTEBOOKS[0].parent, lacking="capsnet_book")


@pytest.mark.parametrize(
    ("sizes", "is_the_readers"), [({"primary_types": 4}, True), ({"class_dim": 12}, False)]
)
def test_chapter_9_goes_on_with_a_network_of_other_sizes(
    sizes: dict[str, int], is_the_readers: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    chapter = ROOT / "book" / "chapters" / "09-training.ipynb"
    (cell,) = [cell for cell in code(chapter) if "BendCapsule(network)" in cell.source]
    names = {"BendCapsule": BendCapsule, "network": CapsNet(CapsNetConfig.small(**sizes))}
    exec(cell.source, names)
    assert isinstance(names["drawing"], BendCapsule)
    assert ("not yours" in capsys.readouterr().out) is not is_the_readers


def test_chapter_9s_network_stands_for_one_that_a_notebook_trained() -> None:
    buffer = {
        "data": base64.b64encode(bytes(LARGE + 1)).decode(),
        "encoding": "base64",
        "path": ["weights"],
    }
    assert files_by_hash(ROOT)[stored_buffer(buffer, ROOT)["data"]].stem == "chapter-9"
    with pytest.raises(SystemExit, match="is no file in"):
        stored_buffer(buffer | {"path": ["image"]}, ROOT)


def pins_in(name: str) -> dict[str, str]:
    """Return the exact versions that a file of requirements pins, by package."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))


def test_the_lock_pins_what_is_asked_for() -> None:
    wanted = pins_in("requirements.in").items()
    assert wanted <= pins_in("requirements.txt").items(), "older than its source: `make lock`"


def test_the_lock_names_no_place() -> None:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?://|file:|^-", lock, re.MULTILINE)


def test_the_lock_brings_every_dependency() -> None:
    for project in PROJECTS:
        for requirement in project["project"]["dependencies"]:
            name = re.split(r"[<>=]", requirement)[0]
            assert version(name), name
