"""The repository's address stands once, in pyproject.toml; every copy agrees, and one command changes them all."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from set_repository import files, repository, set_repository

ROOT = Path(__file__).resolve().parent.parent

# Every way in which a file names a place on GitHub or in Colab. Other people's repositories may be named too:
# what counts as ours is what has our repository's name.
NAMED = re.compile(r"(?:github\.com/|/github/|git\+https://github\.com/)([\w.-]+/[\w.-]+?)(?:\.git|[/\"')@\s#\\]|$)")


def slug(root: Path) -> str:
    """owner/name of the project."""
    return repository(root).removeprefix("https://github.com/")


def named(path: Path, name: str) -> set[str]:
    """The repositories called `name` that a file points at."""
    return {found for found in NAMED.findall(path.read_text(encoding="utf-8")) if found.split("/")[1] == name}


def test_every_copy_of_the_address_agrees() -> None:
    ours = slug(ROOT)
    name = ours.split("/")[1]
    disagree = {str(path.relative_to(ROOT)): found for path in files(ROOT) if (found := named(path, name)) - {ours}}
    assert not disagree, f"pyproject.toml says {ours}"


def test_the_files_that_need_the_address_have_it() -> None:
    ours = slug(ROOT)
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert config["repository"]["url"] == repository(ROOT)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["repository-code"] == repository(ROOT)
    lacking = [
        path.name for path in [ROOT / "README.md", *chapters(ROOT)] if ours not in path.read_text(encoding="utf-8")
    ]
    assert not lacking


def test_ci_builds_the_book_as_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.partition("Without make:")[2].split("```")[1]
    commands = [line.partition("#")[0].strip() for line in block.splitlines()[2:]]  # less the fence, and the venv
    steps = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["book"]["steps"]
    assert [step["run"] for step in steps if "run" in step] == [command for command in commands if command]


def test_no_other_file_names_the_address() -> None:
    """What set_repository.py does not know of would keep the old address for ever."""
    known = set(files(ROOT))
    folders = ("", "book", "capsnet_tutorial", "benchmarks", "results", "tests", "tools", ".github", ".ci")
    texts = [path for folder in folders for path in (ROOT / folder).glob("**/*" if folder else "*") if path.is_file()]
    texts = [
        path for path in texts if path.suffix in {".py", ".js", ".md", ".yml", ".toml", ".cff", ".ipynb", ".json", ""}
    ]
    strangers = [path for path in texts if path not in known and slug(ROOT).encode() in path.read_bytes()]
    assert not strangers, "add them to FILES of tools/set_repository.py"


def test_one_command_changes_every_copy(tmp_path: Path) -> None:
    for path in files(ROOT):
        (tmp_path / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, tmp_path / path.relative_to(ROOT))
    holding = {path for path in files(tmp_path) if slug(ROOT) in path.read_text(encoding="utf-8")}
    assert set(set_repository(tmp_path, "https://github.com/someone-else/my.fork.git")) == holding
    assert repository(tmp_path) == "https://github.com/someone-else/my.fork"
    left = [path.name for path in files(tmp_path) if slug(ROOT) in path.read_text(encoding="utf-8")]
    assert not left
    # and back again: nothing else was touched
    set_repository(tmp_path, repository(ROOT))
    for path in files(ROOT):
        assert (tmp_path / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "address", ["", "github.com/a/b", "https://gitlab.com/a/b", "https://github.com/a", "https://github.com/a/b/c"]
)
def test_a_wrong_address_is_refused(address: str) -> None:
    with pytest.raises(SystemExit, match="no address of the form"):
        set_repository(ROOT, address)


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


def chapters(root: Path) -> list[Path]:
    """The notebooks of the book."""
    return [*sorted((root / "book/chapters").glob("*.ipynb")), *sorted((root / "book/solutions").glob("*.ipynb"))]
