"""Say where the project lives, in every file that names the place; or take the place out of all of them.

    python tools/set_repository.py https://github.com/someone/capsnet-tutorial
    python tools/set_repository.py none
    python tools/set_repository.py            writes again what pyproject.toml says: into a new notebook, for instance

The address itself stands in pyproject.toml, under [project.urls] Repository. Without one there are no badges, no launch
buttons and no links that lead nowhere. The other files that name it stand in PLACES; a notebook names it above its
title (Colab, the published page) and in its set-up cell. The buttons of the pages are made by book/_ext/repository.py.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ("book/*.ipynb", "book/chapters/*.ipynb", "book/solutions/*.ipynb")
ADDRESS = re.compile(r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?")
BADGE = "[![Open in Colab]("
# --no-compile takes half the time: of SciPy and the like only what is imported is compiled then.
SET_UP = """\
# Installs what this notebook lacks; a torch that is there stays.
from importlib.metadata import version
from importlib.util import find_spec
{path}
needs = {{
{needs}}}
missing = " ".join(needs[name] for name in needs if not find_spec(name))
{lost}if missing:
    pin = f"torch=={{version('torch')}}" if find_spec("torch") else ""
    %pip install -q --no-compile {{missing}} {{pin}}"""
# Without an address the package is in a folder above, unless the notebook was taken out of the project.
PATH = "from pathlib import Path\n"
LOST = """\
if "{above}" in missing and not Path("{above}/pyproject.toml").exists():
    raise OSError("Get the whole project and open this notebook in it.")
"""


@dataclass(frozen=True)
class Place:
    """Where a file names the address: right after the text `after` stands `known`, or `unknown` if there is none."""

    file: str
    after: str
    known: str
    unknown: str = ""


COLAB = "https://colab.research.google.com/github/{owner}/{name}/blob/main/"
PAGES = "https://{owner}.github.io/{name}/"
PLACES = (
    Place(
        "pyproject.toml",
        'capsnet = "capsnet_tutorial.cli:main"\n',
        '\n[project.urls]\nRepository = "https://github.com/{owner}/{name}"\n',
    ),
    Place("CITATION.cff", "license: MIT\n", "repository-code: https://github.com/{owner}/{name}\n"),
    Place("book/cite.md", "year    = {2026}", ",\n  url     = {{https://github.com/{owner}/{name}}}"),
    Place(
        "README.md",
        "tested module that it builds.**\n",
        f"\n[Read the book]({PAGES}) ·\n[open a chapter in Colab]({COLAB}book/chapters/01-try-it.ipynb)\n",
    ),
    Place(
        "README.md",
        "## The module\n\n```sh\n",
        "pip install git+https://github.com/{owner}/{name}\n",
        "pip install .      # in this folder\n",
    ),
    Place(
        "book/give-it-your-layer.md",
        "```bash\n",
        "pip install git+https://github.com/{owner}/{name}\n",
        "pip install .                         # in this project's folder\n",
    ),
    Place(
        "book/give-it-your-layer.md",
        "Save this as `.github/workflows/capsules.yml`",
        ":\n",
        ", with this project's address for OWNER/PROJECT:\n",
    ),
    Place(
        "book/give-it-your-layer.md",
        "      - run: pip install ",
        "git+https://github.com/{owner}/{name}\n",
        "git+https://github.com/OWNER/PROJECT\n",
    ),
)


def main() -> None:
    """Write the address on the command line, or none, or the one that stands in pyproject.toml already."""
    if len(sys.argv) > 2 or sys.argv[1:] == [""]:
        raise SystemExit("Usage: make repository URL=https://github.com/owner/name (or URL=none)")
    wanted = sys.argv[1] if sys.argv[1:] else repository(ROOT)
    for path in set_repository(ROOT, None if wanted == "none" else wanted):
        print(path.relative_to(ROOT))


def repository(root: Path) -> str | None:
    """The project's address, from the one place that says it; None while it has none."""
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project.get("urls", {}).get("Repository")


def set_repository(root: Path, address: str | None) -> list[Path]:
    """Write the address, or take it out; returns the files that changed."""
    parts = None
    if address is not None:
        if not (match := ADDRESS.fullmatch(address)):
            raise SystemExit(
                f"{address!r} is no address of the form https://github.com/owner/name (Colab opens no other)"
            )
        parts = match.groupdict()
    before = {path: path.read_text(encoding="utf-8") for path in files(root)}
    after = dict(before)
    for place in PLACES:
        path = root / place.file
        after[path] = placed(place, after[path], parts)
    for path in notebooks(root):
        after[path] = addressed(after[path], path.relative_to(root).as_posix(), parts)
    changed = [path for path in before if after[path] != before[path]]
    for path in changed:
        path.write_text(after[path], encoding="utf-8", newline="\n")
    return changed


def files(root: Path) -> list[Path]:
    """The files that may name the address."""
    return [*dict.fromkeys(root / place.file for place in PLACES), *notebooks(root)]


def notebooks(root: Path) -> list[Path]:
    """All notebooks of the book."""
    return [path for pattern in NOTEBOOKS for path in sorted(root.glob(pattern))]


def placed(place: Place, text: str, parts: dict[str, str] | None) -> str:
    """A file's text with the address, or without."""
    any_address = re.escape(place.known.format(owner="OWNER", name="NAME"))
    any_address = any_address.replace("OWNER", r"[\w.-]+").replace("NAME", r"[\w.-]+?")
    pattern = re.escape(place.after) + f"(?:{any_address}|{re.escape(place.unknown)})"
    now = place.after + (place.known.format(**parts) if parts else place.unknown)
    text, count = re.subn(pattern, lambda match: now, text)
    if count != 1:
        raise SystemExit(
            f"{place.file}: expected the address right after {place.after!r}, once; found that {count} times"
        )
    return text


def addressed(text: str, path: str, parts: dict[str, str] | None) -> str:
    """A notebook with its way to Colab and to the published page above the title, and its set-up cell."""
    notebook = json.loads(text)
    first = notebook["cells"][0]
    title = re.sub(rf"\A{re.escape(BADGE)}.*\n+", "", "".join(first["source"]))
    above = ""
    if parts:
        picture = "../" * (path.count("/") - 1) + "_static/colab-badge.svg"
        page = PAGES.format(**parts) + path.replace(".ipynb", ".html")
        above = f"{BADGE}{picture})]({COLAB.format(**parts)}{path}) [This page, alive]({page})\n\n"
    first["source"] = (above + title).splitlines(keepends=True)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code" and "find_spec" in (source := "".join(cell["source"])):
            above = "/".join([".."] * path.count("/"))
            package = "git+https://github.com/{owner}/{name}".format(**parts) if parts else above
            needs = needed(source) | {"capsnet_tutorial": package}
            lines = "".join(f'    "{module}": "{source}",\n' for module, source in needs.items())
            asks = {"path": "", "lost": ""} if parts else {"path": PATH, "lost": LOST.format(above=above)}
            cell["source"] = SET_UP.format(needs=lines, **asks).splitlines(keepends=True)
            cell["metadata"]["tags"] = sorted({*cell["metadata"].get("tags", []), "remove-cell"})
            cell["metadata"]["jupyter"] = {"source_hidden": True}
            break
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def needed(set_up: str) -> dict[str, str]:
    """What a set-up cell installs: module -> what pip is asked for."""
    return {"capsnet_tutorial": ""} | dict(re.findall(r'^ +"(\w+)": "([^"]+)",$', set_up, re.MULTILINE))


if __name__ == "__main__":
    main()
