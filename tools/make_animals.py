"""Make the animals of the chapter "Your own pictures": one picture of many artists' emoji.

    python -m tools.make_animals          (needs npm and a Chromium)

Every set is a package of the npm registry, with a version and a licence. The command fetches it,
draws the emoji that the chapter needs, 64×64 pixels each, and writes
`book/capsnet_book/assets/animals/`: the picture (a row a set, a column an animal) and a card that
names sources and licences.
"""

from __future__ import annotations

import base64
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from .chromium import launch

FOLDER = Path(__file__).resolve().parents[1] / "book" / "capsnet_book" / "assets" / "animals"
SIDE = 64
"""Pixels along a side of an emoji."""
COLOURS = 256
"""Of the whole picture, transparency included."""
ANIMALS = {
    "bear": "bear",
    "cat": "cat-face",
    "cow": "cow-face",
    "dog": "dog-face",
    "frog": "frog",
    "koala": "koala",
    "monkey": "monkey-face",
    "mouse": "mouse-face",
    "panda": "panda",
    "pig": "pig-face",
    "rabbit": "rabbit-face",
    "tiger": "tiger-face",
}
"""A class -> the name of its emoji; some sets write `-face` behind it."""
SETS = {
    "noto": "1.2.9",
    "noto-v1": "1.2.5",
    "fluent-emoji-flat": "1.2.6",
    "fluent-emoji": "1.2.7",
    "emojione": "1.2.3",
    "emojione-v1": "1.2.3",
    "twemoji": "1.2.5",
    "openmoji": "1.2.29",
    "streamline-emojis": "1.2.4",
}
"""A package `@iconify-json/NAME` -> its version. The order is that of the rows."""


def main() -> None:
    """Fetch the sets, draw their animals, write picture and card."""
    size = (SIDE * len(ANIMALS), SIDE * len(SETS))
    picture = Image.new("RGBA", size)
    artists = []
    with sync_playwright() as playwright:
        page = launch(playwright).new_page()
        for row, (name, version) in enumerate(SETS.items()):
            icons, about = fetched(name, version)
            artists.append({"set": name, "version": version, **about})
            for column, emoji in enumerate(ANIMALS.values()):
                picture.paste(drawn(page, svg_of(icons, emoji)), (column * SIDE, row * SIDE))
    few_colours = picture.quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    few_colours.save(FOLDER / "animals.png", optimize=True)
    card = {"side": SIDE, "animals": list(ANIMALS), "artists": artists}
    text = json.dumps(card, indent=1, ensure_ascii=False)
    (FOLDER / "animals.json").write_text(text + "\n", encoding="utf-8")


def fetched(name: str, version: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the icons of a set, and its title, author, source and licence."""
    with tempfile.TemporaryDirectory() as folder:
        package = f"@iconify-json/{name}@{version}"
        command = ["npm", "pack", "--silent", package]
        packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        with tarfile.open(Path(folder) / packed.stdout.strip()) as archive:
            icons = member(archive, "package/icons.json")
            info = member(archive, "package/info.json")
    about = {
        "title": info["name"],
        "author": info["author"]["name"],
        "source": info["author"]["url"],
        "licence": info["license"]["spdx"],
        "licence_url": info["license"]["url"],
    }
    return icons, about


def member(archive: tarfile.TarFile, name: str) -> dict[str, Any]:
    """Return the JSON of a file in an archive."""
    file = archive.extractfile(name)
    assert file is not None, f"{name} is a folder"
    return json.load(file)


def svg_of(icons: dict[str, Any], emoji: str) -> str:
    """Return an emoji as SVG.

    Raises:
        KeyError: the set has none of this name.
    """
    aliases = icons.get("aliases", {})
    name = emoji if emoji in icons["icons"] or emoji in aliases else f"{emoji}-face"
    if name in aliases:
        name = aliases[name]["parent"]
    icon = {"left": 0, "top": 0, "width": 16, "height": 16, **sizes_of(icons)}
    icon |= icons["icons"][name]
    box = f"{icon['left']} {icon['top']} {icon['width']} {icon['height']}"
    space = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f'<svg {space} viewBox="{box}" width="256" height="256">{icon["body"]}</svg>'


def sizes_of(icons: dict[str, Any]) -> dict[str, int]:
    """Return the sizes that hold for every icon of a set without its own."""
    return {key: icons[key] for key in ("left", "top", "width", "height") if key in icons}


def drawn(page: Page, svg: str) -> Image.Image:
    """Return an SVG of 256×256 pixels as an RGBA picture of `SIDE` pixels."""
    source = base64.b64encode(svg.encode()).decode()
    picture = f'<img src="data:image/svg+xml;base64,{source}" width="256" height="256">'
    page.set_content(f'<body style="margin: 0; background: none">{picture}</body>')
    page.locator("img").evaluate("image => image.decode()")
    shot = page.locator("img").screenshot(omit_background=True)
    return Image.open(io.BytesIO(shot)).convert("RGBA").resize((SIDE, SIDE), Image.Resampling.BOX)


if __name__ == "__main__":
    main()
