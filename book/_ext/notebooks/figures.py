"""Show a notebook's figures in two forms: as wide as the page's column, and laid out for a phone.

A notebook stores the second beside the first, in its output's metadata
(`capsnet_book/figures/_phone.py`). Both become files; a browser fetches the one that fits its
window. In the dark theme page.css inverts them.
"""

from __future__ import annotations

import base64
import hashlib
import html
import struct
from typing import Any

from ..notebook import Notebook
from .page import Page

PHONE = "capsnet_phone"  # in an output's metadata: PNG in base64
FOLDER = "_static/figures"
PIXEL_DENSITY = 1.5  # pixels of the file for one of the page (`figure.dpi` is 150)
PNG_SIZE = slice(16, 24)  # the bytes of a PNG that hold its width and its height


def show_two_forms(notebook: Notebook, page: Page) -> Notebook:
    """Replace each figure that has a form for phones by a `<picture>` of both."""
    for cell in notebook["cells"]:
        alternative = description(cell)
        for output in cell.get("outputs", []):
            phone = output.get("metadata", {}).pop(PHONE, None)
            if phone:
                wide = output["data"]["image/png"]
                output["data"] = {"text/html": picture(page, wide, phone, alternative)}
    return notebook


def description(cell: dict[str, Any]) -> str:
    """Return the alternative text of a cell's figure; "" for none."""
    return cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")


def picture(page: Page, wide: str, phone: str, alternative: str) -> str:
    """Return a figure as HTML; both forms, PNG in base64, are written to files."""
    return (
        '<picture class="two-forms">'
        f'<source media="(max-width: 600px)" srcset={image_attributes(page, phone)}>'
        f'<img src={image_attributes(page, wide)} alt="{html.escape(alternative)}" loading="lazy">'
        "</picture>"
    )


def image_attributes(page: Page, png: str) -> str:
    """Write a picture to a file; return its address and its size on the page, as HTML."""
    data = base64.b64decode(png)
    name = f"{FOLDER}/{hashlib.sha256(data).hexdigest()[:16]}.png"
    file = page.output_folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    width, height = (round(pixels / PIXEL_DENSITY) for pixels in png_size(data))
    return f'"{page.address_of(name)}" width="{width}" height="{height}"'


def png_size(data: bytes) -> tuple[Any, ...]:
    """Return the width and the height of a PNG in pixels."""
    return struct.unpack(">II", data[PNG_SIZE])
