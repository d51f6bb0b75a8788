"""The repository's address stands once, in pyproject.toml; one command writes all copies, and takes them out."""

from __future__ import annotations

import ast
import re
import shutil
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
import yaml
from set_repository import files, needed, notebooks, repository, set_repository

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://github.com/someone-else/my.fork"
# What Jupyter and the package bring.
BROUGHT = {"IPython", "capsnet_tutorial", "matplotlib", "numpy", "safetensors", "scipy", "torch"}


def test_every_file_says_what_pyproject_says(tmp_path: Path) -> None:
    copied(tmp_path)
    assert set_repository(tmp_path, repository(tmp_path)) == [], "`python tools/set_repository.py` writes it again"


def test_without_an_address_nothing_leads_nowhere(tmp_path: Path) -> None:
    copied(tmp_path)
    set_repository(tmp_path, None)
    assert repository(tmp_path) is None
    for path in files(tmp_path):
        text = path.read_text(encoding="utf-8")
        assert "colab.research.google.com" not in text
        assert "github.io" not in text
        assert "github.com/someone-else" not in text


def test_with_an_address_all_name_it_and_none_again_takes_it_out(tmp_path: Path) -> None:
    copied(tmp_path)
    set_repository(tmp_path, None)
    without = {path: path.read_bytes() for path in files(tmp_path)}
    assert set(set_repository(tmp_path, ADDRESS + ".git")) == set(without)
    assert repository(tmp_path) == ADDRESS
    assert all("someone-else" in path.read_text(encoding="utf-8") for path in without)
    for path in notebooks(tmp_path):
        place = path.relative_to(tmp_path).as_posix()
        first, set_up = first_cells(path)
        assert f"https://colab.research.google.com/github/someone-else/my.fork/blob/main/{place}" in first
        assert needed(set_up)["capsnet_tutorial"] == f"git+{ADDRESS}"
    set_repository(tmp_path, "https://github.com/a/b")
    assert not [path for path in without if "someone-else" in path.read_text(encoding="utf-8")]
    set_repository(tmp_path, None)
    assert {path: path.read_bytes() for path in files(tmp_path)} == without


@pytest.mark.parametrize(
    "address", ["", "github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a", "https://github.com/a/b/c"]
)
def test_a_wrong_address_is_refused(address: str) -> None:
    with pytest.raises(SystemExit, match="no address of the form"):
        set_repository(ROOT, address)


@pytest.mark.parametrize("path", notebooks(ROOT), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_set_up_cell_installs_what_the_notebook_imports(path: Path) -> None:
    code = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    imported = {module for source in code for module in modules(source)} - set(sys.stdlib_module_names) - BROUGHT
    assert imported <= set(needed(code[0]))


def test_a_notebook_without_its_project_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied(tmp_path)
    set_repository(tmp_path, None)
    _, set_up = first_cells(tmp_path / "book" / "chapters" / "01-try-it.ipynb")
    set_up = without_magics(set_up.replace('"capsnet_tutorial":', '"not_there":'))
    monkeypatch.chdir(tmp_path / "book" / "chapters")
    exec(set_up, {})
    (tmp_path / "pyproject.toml").unlink()
    with pytest.raises(OSError, match="whole project"):
        exec(set_up, {})


def modules(source: str) -> set[str]:
    """The top-level modules that a cell imports."""
    tree = ast.parse(without_magics(source))
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def without_magics(source: str) -> str:
    """A cell as plain Python."""
    return re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.MULTILINE)


def copied(folder: Path) -> None:
    """The files that may name the address, in a folder where a test may change them."""
    for path in files(ROOT):
        (folder / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / path.relative_to(ROOT))


def first_cells(path: Path) -> tuple[str, str]:
    """A notebook's first cell, and its first cell of code."""
    cells = nbformat.read(path, as_version=4).cells
    return cells[0].source, next(cell.source for cell in cells if cell.cell_type == "code")


def test_the_version_is_the_same_everywhere() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == version
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_lock_pins_what_is_asked_for_and_names_no_place() -> None:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = {
        line.split("==")[0]: line.split("==")[1].split()[0]
        for line in lock.splitlines()
        if re.match(r"[\w.-]+==", line)
    }
    asked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE))
    assert asked.items() <= pins.items(), "requirements.txt is older than requirements.in: `make lock`"
    assert not re.search(r"https?://|file:|^-", lock, re.MULTILINE)
