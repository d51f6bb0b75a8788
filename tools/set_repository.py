"""Say where the project lives: change its address in every file that names it.

    python tools/set_repository.py https://github.com/someone/capsnet-tutorial

The address itself stands in pyproject.toml, under [project.urls] Repository. The copies, which a configuration, a badge
or a notebook's set-up cell cannot do without, follow it; tests/test_repository.py finds one that does not.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = (
    "pyproject.toml",
    "_config.yml",
    "CITATION.cff",
    "README.md",
    "CONTRIBUTING.md",
    "book/*.md",
    "book/*.ipynb",
    "book/chapters/*.ipynb",
    "book/solutions/*.ipynb",
)
ADDRESS = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")


def main() -> None:
    """Change the address to the one on the command line."""
    if len(sys.argv) != 2 or not sys.argv[1]:
        raise SystemExit("Usage: make repository URL=https://github.com/owner/name")
    for path in set_repository(ROOT, sys.argv[1]):
        print(path.relative_to(ROOT))


def repository(root: Path) -> str:
    """The project's address, from the one place that says it."""
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]


def files(root: Path) -> list[Path]:
    """The files that may name the address."""
    return [path for pattern in FILES for path in sorted(root.glob(pattern))]


def set_repository(root: Path, address: str) -> list[Path]:
    """Put a new address in the place of the old one; returns the files that changed."""
    if not (new := ADDRESS.fullmatch(address)):
        raise SystemExit(f"{address!r} is no address of the form https://github.com/owner/name (Colab opens no other)")
    old = ADDRESS.fullmatch(repository(root))
    assert old, "pyproject.toml: [project.urls] Repository is no https://github.com/owner/name"
    # "owner/name" stands in addresses only: github.com/…, Colab's …/github/…, owner.github.io/name
    replacements = {
        f"{old['owner']}.github.io/{old['name']}": f"{new['owner']}.github.io/{new['name']}",
        f"{old['owner']}/{old['name']}": f"{new['owner']}/{new['name']}",
    }
    changed = []
    for path in files(root):
        before = after = path.read_text(encoding="utf-8")
        for then, now in replacements.items():
            after = re.sub(rf"(?<![\w.-]){re.escape(then)}(?![\w-])", now, after)
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            changed.append(path)
    return changed


if __name__ == "__main__":
    main()
