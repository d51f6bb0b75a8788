"""records.py: what a run's description says about the code that ran."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from capsnet_book.experiments import records
from capsnet_book.experiments.plan import Experiments
from capsnet_book.experiments.records import code_version, stored, write_json

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a copy of the module in it; the folder of the copy."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=n", "-c", "user.email=e", "commit", "--quiet", "--message", "first")
    return package


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_a_checkout_has_its_commit(checkout):
    head = git(checkout, "rev-parse", "HEAD")
    assert len(head) == 40
    assert code_version(checkout) == {"id": head, "dirty": False}


def test_only_changes_of_the_package_make_it_dirty(checkout):
    (checkout.parent / "notes").write_text("elsewhere")
    assert code_version(checkout)["dirty"] is False
    with (checkout / "__init__.py").open("a") as file:
        file.write("# changed")
    assert code_version(checkout)["dirty"] is True
    git(checkout, "checkout", "--", ".")
    (checkout / "new.py").write_text("")
    assert code_version(checkout)["dirty"] is True


def test_an_installed_package_has_none_though_it_lies_in_a_checkout(checkout):
    installed = checkout.parent / "site-packages"
    installed.mkdir()
    (installed / "__init__.py").write_text("")
    assert code_version(installed) is None


def test_outside_any_checkout_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert code_version(tmp_path) is None


def test_without_git_there_is_none(checkout, monkeypatch):
    monkeypatch.setenv("PATH", os.devnull)
    assert code_version(checkout) is None


def test_a_stored_result_is_found_in_a_checkout():
    assert stored("small") == json.loads((ROOT / "results/small.json").read_text(encoding="utf-8"))
    with pytest.raises(ValueError, match="a stored result, one of .*small.*; got 'smal'"):
        stored("smal")
    with pytest.raises(ValueError, match="stored result"):
        stored("../results/small")


def test_a_stored_result_is_found_where_the_wheel_puts_it(tmp_path):
    """The wheel is laid out by hand, as pyproject.toml says: a package of its own, no results/ beside it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        included = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    for source, target in included.items():
        shutil.copytree(ROOT / source, tmp_path / target)
    package = tmp_path / "capsnet_tutorial"
    assert records.folder(package) == package / "assets" / "results"
    for name in ("speed", "runs/small-r3-0"):
        assert stored(name, package) == stored(name)
    read = Experiments.read(records.folder(package))
    assert read.tables == Experiments.read().tables
    size = sum(path.stat().st_size for path in package.rglob("*.*"))
    assert 0 < size < 2_000_000, "small files only"
    with pytest.raises(ValueError, match="one of .*speed.*; got 'smal'"):
        stored("smal", package)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "{}"),
        ({"a": [1, 2.5, None], "b": []}, '{\n  "a": [1, 2.5, null],\n  "b": []\n}'),
        ({"a": [{"x": 1, "ü": "[,"}, {"x": 2}]}, '{\n  "a": [\n    {"x": 1, "ü": "[,"},\n    {"x": 2}\n  ]\n}'),
        ({"a": {"b": (1, 2)}}, '{\n  "a": {\n    "b": [1, 2]\n  }\n}'),
        ({"a": [[1, 2], [3]]}, '{\n  "a": [\n    [1, 2],\n    [3]\n  ]\n}'),
    ],
)
def test_what_is_plain_is_on_one_line(value, text, tmp_path):
    write_json(tmp_path / "file.json", value)
    assert (tmp_path / "file.json").read_text(encoding="utf-8") == text + "\n"


def test_every_stored_file_is_the_same_in_this_format(tmp_path):
    for path in sorted((ROOT / "results").rglob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        write_json(tmp_path / "file.json", value)
        assert json.loads((tmp_path / "file.json").read_text(encoding="utf-8")) == value
