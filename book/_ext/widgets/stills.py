"""Still pictures of widgets: what a page shows until a widget is awake, and without JavaScript.

`tools/pictures.py` takes them, two pixels for each of the page's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import imagesize
from sphinx.locale import _
from sphinx.util.osutil import relative_uri

FOLDER = "_static/stills"  # in the built book
THEMES = {"light": "", "dark": "-dark"}  # -> suffix of the file
PIXEL_DENSITY = 2  # pixels of a still for one of the page


def stills(look: str, builder: Any) -> str:
    """Return a widget's still pictures as HTML: light and dark, each with a form for phones.

    `look` is the name of their files: the widget's class, or such as "Choose-squash".
    """
    widget = look.partition("-")[0]
    folder = stills_folder(builder)
    page = builder.get_target_uri(builder.current_docname)
    html = ""
    for theme, suffix in THEMES.items():
        wide = folder / f"{look}{suffix}.webp"
        narrow = folder / f"{look}-narrow{suffix}.webp"
        if not wide.exists():
            continue
        phone = ""
        if narrow.exists():
            address = image_attributes(narrow, page)
            phone = f'<source media="(max-width: 600px)" srcset={address}>'
        address = image_attributes(wide, page)
        words = _("The widget {0}").format(widget)
        description = f'alt="{words}"'
        picture = f'<img class="dark-light" src={address} loading="lazy" {description}>'
        html += f'<picture class="live-still in-{theme}">{phone}{picture}</picture>\n'
    return html


def image_attributes(still: Path, page: str) -> str:
    """Return a still's address on a page and its size there, as HTML attributes.

    With the size a browser reserves the place before the picture has come.
    """
    width, height = (pixels // PIXEL_DENSITY for pixels in imagesize.get(still))
    address = relative_uri(page, f"{FOLDER}/{still.name}")
    return f'"{address}" width="{width}" height="{height}"'


def reserved_height(look: str, number: int, builder: Any) -> str:
    """Return a style attribute for a widget that is not as high as its still on this page.

    `number` counts the widgets of a look on the page, from 1; the second has a height of its own.
    """
    file = stills_folder(builder) / "heights.json"
    heights = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    page = Path(builder.current_docname).name
    key = look if number == 1 else f"{look} {number}"
    own_heights = heights.get(page, {}).get(key, {})
    style = "".join(f"--awake{window}: {height}px;" for window, height in own_heights.items())
    return f' style="{style}"' if style else ""


def stills_folder(builder: Any) -> Path:
    """Return the folder of the source that holds the stills."""
    return Path(builder.srcdir, "book", FOLDER)
