"""The pictures that notebooks store: figures in few colours, and for each widget a still that stands until it runs.

python tools/notebook_pictures.py          makes the thumbnails from the stills of the pages (`make stills` does both)
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps
from stored_widgets import SENTENCE

BOOK = Path(__file__).resolve().parent.parent / "book"
PAGES = BOOK / "_static" / "stills"
THUMBNAILS = BOOK / "_static" / "thumbnails"
COLOURS = 64  # of a figure
WIDTH = 360  # pixels of a still in a notebook
STRIP = 28  # of them below it for the sentence


def main() -> None:
    """Make the front page's thumbnails from the pages' stills."""
    for path in sorted(PAGES.glob("*.webp")):
        if "-narrow" not in path.stem:
            save_thumbnail(Image.open(path), path.stem)


def save_thumbnail(whole: Image.Image, name: str) -> None:
    """Write a picture for a chapter's card: a page's still or figure; of a tall one the top, of a strip the left."""
    width, height = min(whole.width, whole.height * 12 // 5), min(whole.height, whole.width * 9 // 16)
    part = whole.convert("RGB").crop((0, 0, width, height))
    fitted = ImageOps.pad(part, (480, 270), Image.Resampling.LANCZOS, part.getpixel((0, 0)))  # type: ignore[arg-type]
    THUMBNAILS.mkdir(exist_ok=True)
    fitted.save(THUMBNAILS / f"{name}.webp", quality=50, method=6)


def still(widget: str) -> str:
    """What an output shows in the place of a widget of this class: a small PNG with a sentence below, in base64."""
    path = PAGES / f"{widget}.webp"
    if path.exists():
        whole = Image.open(path).convert("RGB")
        whole = whole.resize((WIDTH, whole.height * WIDTH // whole.width), Image.Resampling.LANCZOS)
    else:  # of a new widget; `make stills` takes it, from a book that has the widget
        whole = Image.new("RGB", (WIDTH, 1), "white")
    picture = ImageOps.pad(whole, (WIDTH, whole.height + STRIP), color="white", centering=(0, 0))
    ImageDraw.Draw(picture).text((8, whole.height + 6), SENTENCE, "#444444", ImageFont.load_default(12))
    return as_png(picture, 16)


def as_png(picture: Image.Image, colours: int, **options: Any) -> str:
    """A picture as PNG with a palette, in base64."""
    stream = io.BytesIO()
    picture.quantize(colours, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True, **options)
    return base64.b64encode(stream.getvalue()).decode()


def with_a_palette(png: str) -> str:
    """A figure with few colours: a third of the bytes, and no difference to see."""
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P":
        return png
    return as_png(picture.convert("RGB"), COLOURS, dpi=(150, 150))


if __name__ == "__main__":
    main()
