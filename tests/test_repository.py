"""What stands in several files is the same in all of them: the repository's address, the version, the pins."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

# Every way in which a file names a repository, on GitHub or in Colab.
NAMED = re.compile(r"github(?:\.com)?/([\w.-]+/[\w.-]+?)(?:\.git\b|[/\"')@\s#\\]|$)")


def test_every_copy_of_the_repositorys_address_agrees() -> None:
    """pyproject.toml says it, `make repository` changes the copies. Other people's repositories may be named too."""
    address = PROJECT["urls"]["Repository"]
    ours = address.removeprefix("https://github.com/")
    assert yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"] == address
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["repository-code"] == address
    for path in [*ROOT.glob("*.*"), *ROOT.glob("book/**/*.md"), *ROOT.glob("book/**/*.ipynb")]:
        if path.suffix in {".md", ".toml", ".yml", ".cff", ".ipynb"}:
            named = set(NAMED.findall(path.read_text(encoding="utf-8")))
            assert {name for name in named if name.split("/")[1] == ours.split("/")[1]} <= {ours}, path.name
            assert ours in named or path.name not in {"README.md", "CITATION.cff"}


def test_the_version_is_the_same_everywhere() -> None:
    version = PROJECT["version"]
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
