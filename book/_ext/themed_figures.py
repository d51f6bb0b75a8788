"""Show a notebook's figures as SVG in the page's own colours, light and dark, wide and on a phone.

`tools/page_figures.py` stores two SVG beside the PNG of each figure. Here they take its place: the palette's light
colours become the palette's CSS variables, ids get the figure's number, so that no two are alike on a page, and only
elements and attributes that draw are kept. A figure without stored SVG stays a PNG.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from capsnet_book.palette import LIGHT, css_colour
from sphinx.application import Sphinx

KEY = "capsnet_figure"  # see tools/page_figures.py
DRAWN = {"svg", "g", "path", "use", "defs", "clipPath", "rect", "image", "text", "tspan"}
KEPT = {"viewBox", "d", "style", "transform", "x", "y", "dx", "dy", "width", "height", "clip-path", "id", "href"}
LINK = re.compile(r"#([\w.-]+)")
NO_BASE64 = re.compile(r"[^A-Za-z0-9+/=]")
FAMILY = re.compile(r"font-family: [^;]*;?")
ROLES = {colour: role for role, colour in LIGHT.items() if role not in ("paper", "surface", "stroke")}
ROLES |= {"#ffffff": "surface", LIGHT["stroke"]: "stroke", "#000000": "ink"}
COLOUR = re.compile("|".join(ROLES))


def themed(stored: dict[str, Any], name: str, description: str) -> str:
    """HTML of a stored figure: its pictures once, and both its SVG.

    Args:
        stored: `{"wide": SVG, "narrow": SVG, "pictures": [PNG in base64]}`.
        name: of the figure, the only one on its page.
        description: for those who cannot see it.
    """
    drawings = [ElementTree.fromstring(stored[width]) for width in ("wide", "narrow")]
    shown = [element for drawing in drawings for element in drawing.iter() if tag(element) == "image"]
    sizes = {int(local(each, "href")): [float(each.get(side, 0)) for side in ("width", "height")] for each in shown}
    pictures = "".join(
        f'<image id="{name}-p{k}" width="{sizes[k][0]:g}" height="{sizes[k][1]:g}" preserveAspectRatio="none"'
        f' style="image-rendering: pixelated" href="data:image/png;base64,{NO_BASE64.sub("", png)}"/>'
        for k, png in enumerate(stored["pictures"])
    )
    both = "".join(
        inline(drawing, f"{name}-{width}", name) for drawing, width in zip(drawings, ("wide", "narrow"), strict=True)
    )
    shared = f'<svg class="shared" aria-hidden="true"><defs>{pictures}</defs></svg>' if pictures else ""
    return f'<div class="themed-figure" role="img" aria-label="{html.escape(description)}">{shared}{both}</div>'


def inline(drawing: ElementTree.Element, name: str, pictures: str) -> str:
    """An SVG to stand in a page: only what draws, coloured by the page."""
    linked = {found for element in drawing.iter() for found in LINK.findall(" ".join(element.attrib.values()))}
    width = float(drawing.get("viewBox", "0 0 0 0").split()[2])

    def written(element: ElementTree.Element) -> str:
        kind = tag(element)
        if kind not in DRAWN:
            return ""
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        attributes = {key: value for key, value in attributes.items() if key in KEPT}
        if attributes.get("id") not in linked:
            attributes.pop("id", None)
        if kind == "svg":
            attributes = {"viewBox": attributes["viewBox"], "class": name.rpartition("-")[2]}
            attributes["style"] = f"width: {width * 100 / 72:.0f}px"
        elif kind == "image":  # drawn with its own size; a `use` moves and scales it
            kind, number = "use", int(attributes["href"])
            attributes = {key: attributes[key] for key in ("x", "y", "transform") if key in attributes}
            attributes |= {"href": f"#{pictures}-p{number}", "class": "pixels"}
        else:
            attributes = {key: LINK.sub(rf"#{name}-\1", value) if "#" in value and key != "style" else value
                          for key, value in attributes.items()}  # fmt: skip
            if "id" in attributes:
                attributes["id"] = f"{name}-{attributes['id']}"
            if not attributes.get("href", "#").startswith("#"):
                del attributes["href"]
        if "style" in attributes:
            attributes["style"] = in_the_pages_colours(attributes["style"])
        opening = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
        inner = html.escape(element.text or "", quote=False) if kind in ("text", "tspan") else ""
        inner += "".join(
            written(child) + (html.escape(child.tail or "", quote=False) if kind in ("text", "tspan") else "")
            for child in element
        )
        return f"<{kind}{opening}>{inner}</{kind}>"

    return written(drawing)


def in_the_pages_colours(style: str) -> str:
    """CSS with the page's font, and with the palette's light colours as the page's variables."""
    return COLOUR.sub(lambda colour: css_colour(ROLES[colour[0]]), FAMILY.sub("", style))


def tag(element: ElementTree.Element) -> str:
    """An element's name without its namespace."""
    return element.tag.rpartition("}")[2]


def local(element: ElementTree.Element, name: str) -> str:
    """An attribute whatever its namespace; empty where there is none."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def show_svg(app: Sphinx, page: str, source: list[str]) -> None:
    """Hand MyST-NB a notebook with figures as SVG."""
    if Path(app.env.doc2path(page)).suffix != ".ipynb":
        return
    notebook, count = json.loads(source[0]), 0
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if stored := output.get("metadata", {}).pop(KEY, None):
                count += 1
                image = cell["metadata"].get("mystnb", {}).get("image", {})
                output["data"] = {"text/html": themed(stored, f"figure-{count}", image.get("alt", ""))}
    source[0] = json.dumps(notebook)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", show_svg)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
