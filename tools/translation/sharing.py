"""Files that both editions have alike: the Chinese pages take those of the English book."""

from __future__ import annotations

import re
from pathlib import Path

from .paths import HTML, LANGUAGE

FOLDERS = ("_static", "_images", "_downloads")
FILE = rf'(?:{"|".join(FOLDERS)})/[^"?#]+'
# In a page: an address as seen from it, and a whole one.
ADDRESS = re.compile(rf'(\b(?:href|src|srcset)=")((?:\.\./)*)({FILE})')
WHOLE_ADDRESS = re.compile(rf'(\bcontent="[^"]*)/{LANGUAGE}/({FILE})')


def share(english: Path = HTML.parent, chinese: Path = HTML) -> None:
    """Delete the files of the Chinese book that the English one has, and name those in its pages.

    Without an English book, the Chinese one stays whole.
    """
    shared = shared_files(english, chinese)
    for page in chinese.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(with_shared_addresses(text, shared), encoding="utf-8")
    for name in shared:
        (chinese / name).unlink()


def shared_files(english: Path, chinese: Path) -> set[str]:
    """Return which files of the Chinese book the English one has, with the same bytes.

    A file stays where a style or a script of the Chinese book's own names it.
    """
    names = {
        path.relative_to(chinese).as_posix()
        for folder in FOLDERS
        for path in (chinese / folder).rglob("*")
        if path.is_file()
    }
    alike = {name for name in names if is_alike(english / name, chinese / name)}
    own = [chinese / name for name in names - alike if name.endswith((".css", ".js"))]
    own_text = "".join(path.read_text(encoding="utf-8") for path in own)
    return {name for name in alike if name.rpartition("/")[2] not in own_text}


def is_alike(one: Path, other: Path) -> bool:
    """Return True if two files are there and have the same bytes."""
    return one.is_file() and one.read_bytes() == other.read_bytes()


def with_shared_addresses(page: str, shared: set[str]) -> str:
    """Return a page with the addresses of shared files in the English book, one folder up."""

    def one_up(match: re.Match[str]) -> str:
        attribute, way, name = match.groups()
        return f"{attribute}{way}../{name}" if name in shared else match[0]

    def whole(match: re.Match[str]) -> str:
        return f"{match[1]}/{match[2]}" if match[2] in shared else match[0]

    return WHOLE_ADDRESS.sub(whole, ADDRESS.sub(one_up, page))
