"""What stands in several files is the same in all; a set-up cell installs what its notebook needs."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
import yaml
from refresh_notebooks import all_notebooks

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = all_notebooks(ROOT)
PROJECTS = [tomllib.loads((ROOT / place / "pyproject.toml").read_text(encoding="utf-8")) for place in (".", "book")]
# Modules that come with Jupyter or with what both packages depend on.
BROUGHT = {"IPython", "matplotlib", "numpy", "safetensors", "scipy", "torch", "torchvision", "tqdm"}


def set_up(path: Path) -> str:
    """The first cell of code."""
    return next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


def needed(cell: str) -> dict[str, str]:
    """What a set-up cell installs: module -> what pip is asked for."""
    return dict(re.findall(r'^ +"(\w+)": "([^"]+)",$', cell, re.MULTILINE))


def imported(path: Path) -> set[str]:
    """The top-level modules that a notebook imports."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    code = "\n".join(re.sub(r"^(\s*)[%!].*", r"\1pass", cell, flags=re.MULTILINE) for cell in cells)
    nodes = list(ast.walk(ast.parse(code)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_set_up_cell_installs_what_the_notebook_imports_from_this_project(path: Path) -> None:
    needs = needed(set_up(path))
    assert imported(path) - BROUGHT <= set(needs)
    for module, place in needs.items():
        if module.startswith("capsnet"):  # never from an index: the name is not ours there
            assert place.startswith("git+https://") or (path.parent / place / "pyproject.toml").is_file()


def test_a_notebook_without_its_project_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = re.sub(r"%pip.*", "pass", set_up(NOTEBOOKS[0])).replace('"capsnet_tutorial":', '"not_there":')
    monkeypatch.chdir(NOTEBOOKS[0].parent)
    exec(cell, {})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="whole project"):
        exec(cell, {})


def test_the_version_stands_in_one_place() -> None:
    assert "version" in PROJECTS[0]["project"]
    version = PROJECTS[0]["project"]["version"]
    assert PROJECTS[1]["project"].get("version") is None
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "version" not in yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_the_lock_pins_what_is_asked_for_and_names_no_place() -> None:
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))
    asked = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE))
    assert asked.items() <= pins.items(), "requirements.txt is older than requirements.in: `make lock`"
    assert not re.search(r"https?://|file:|^-", lock, re.MULTILINE)


def test_every_dependency_is_here() -> None:
    wanted = [re.split(r"[<>=]", each)[0] for project in PROJECTS for each in project["project"]["dependencies"]]
    assert [name for name in wanted if not find_spec(name.replace("-", "_"))] == []
