"""What extensions and templates say: the messages of Sphinx's own catalogue, `_("…")`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from babel.messages.extract import extract_from_dir

from .paths import ROOT

FOLDER = ROOT / "book" / "_ext"
METHODS = [("**.py", "python"), ("templates/**.html", "jinja2")]
NETWORK = "book/capsnet_book/network.json"  # the strip says what it holds


def extension_messages() -> Iterator[tuple[str, str]]:
    """Yield (file, message) for each message of extensions and templates."""
    for file, _line, message, _comments, _context in extract_from_dir(
        FOLDER, METHODS, keywords={"_": None}
    ):
        yield f"{FOLDER.relative_to(ROOT).as_posix()}/{file}", str(message)
    network = json.loads((ROOT / NETWORK).read_text(encoding="utf-8"))
    names = [network["parts"][key]["name"] for key in network["strip"]]
    for message in [*names, *network["others"].values()]:
        yield NETWORK, message
