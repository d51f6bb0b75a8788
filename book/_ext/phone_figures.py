"""Show a notebook's figures in two forms: as wide as the page's column, and laid out for a phone.

A notebook stores the second beside the first, in its output's metadata (`capsnet_book/figures/_phone.py`). Both become
files, of which a browser fetches the one that fits its window. In the dark page.css turns them over.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import struct
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

PHONE = "capsnet_phone"  # in an output's metadata: PNG in base64
FOLDER = "_static/figures"
DENSITY = 1.5  # pixels of the file for one of the page (`figure.dpi` is 150)


def show_both(app: Sphinx, page: str, source: list[str]) -> None:
    """Hand MyST-NB a notebook with both forms of its figures."""
    if Path(app.env.doc2path(page)).suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    for cell in notebook["cells"]:
        alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
        for output in cell.get("outputs", []):
            if phone := output.get("metadata", {}).pop(PHONE, None):
                wide, narrow = (
                    published(app, page, png) for png in (output["data"]["image/png"], phone)
                )
                picture = (
                    f'<picture class="two-forms"><source media="(max-width: 600px)" srcset={narrow}>'
                    f'<img src={wide} alt="{html.escape(alt)}" loading="lazy"></picture>'
                )
                output["data"] = {"text/html": picture}
    source[0] = json.dumps(notebook)


def published(app: Sphinx, page: str, png: str) -> str:
    """A picture's address on a page and its size there, as HTML attributes; its file is written."""
    data = base64.b64decode(png)
    name = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:16]}.png"
    file = Path(app.outdir, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    width, height = (round(pixels / DENSITY) for pixels in struct.unpack(">II", data[16:24]))
    return f'"{relative_uri(app.builder.get_target_uri(page), name)}" width="{width}" height="{height}"'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", show_both)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
