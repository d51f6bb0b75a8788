"""The pictures that notebooks store: figures in few colours, and for each widget a still that stands until it runs.

python tools/notebook_pictures.py          makes book/stills from the stills of the pages (`make stills` does both)
"""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps

BOOK = Path(__file__).resolve().parent.parent / "book"
PAGES = BOOK / "_static" / "stills"
NOTEBOOKS = BOOK / "stills"
THUMBNAILS = BOOK / "_static" / "thumbnails"
SENTENCE = "A still picture. Run this notebook to bring it alive."
COLOURS = 256  # of a figure; with 64, small text takes on the colour of what it stands on
HEAVY = 25_000  # bytes of a still, at most
STRIP = 28  # pixels for the sentence


def main() -> None:
    """Make the notebooks' stills, and the front page's thumbnails, from the pages'."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for path in sorted(PAGES.glob("*.webp")):
        if not path.stem.endswith(("-narrow", "-dark")):
            (NOTEBOOKS / f"{path.stem}.jpg").write_bytes(smaller(Image.open(path).convert("RGB")))
        if "-narrow" not in path.stem:
            save_thumbnail(Image.open(path), path.stem)


def save_thumbnail(whole: Image.Image, name: str) -> None:
    """Write a picture for a chapter's card: a page's still or figure; of a tall one the top, of a strip the left."""
    width, height = min(whole.width, whole.height * 12 // 5), min(whole.height, whole.width * 9 // 16)
    part = whole.convert("RGB").crop((0, 0, width, height))
    fitted = ImageOps.pad(part, (480, 270), Image.Resampling.LANCZOS, part.getpixel((0, 0)))  # type: ignore[arg-type]
    THUMBNAILS.mkdir(exist_ok=True)
    fitted.save(THUMBNAILS / f"{name}.webp", quality=50, method=6)


def smaller(whole: Image.Image) -> bytes:
    """A page's still as a light JPEG, with the sentence below it."""
    for part, quality in ((0.5, 60), (0.5, 40), (0.45, 35), (0.42, 30), (0.38, 28), (0.34, 26)):
        width, height = round(whole.width * part), round(whole.height * part)
        picture = Image.new("RGB", (width, height + STRIP), "white")
        picture.paste(whole.resize((width, height), Image.Resampling.LANCZOS))
        ImageDraw.Draw(picture).text((8, height + 6), SENTENCE, "#444444", ImageFont.load_default(14))
        picture.save(stream := io.BytesIO(), "JPEG", quality=quality, optimize=True, progressive=True)
        if len(stream.getvalue()) <= HEAVY:
            break
    return stream.getvalue()


def still(widget: str) -> dict[str, Any]:
    """What an output shows in the place of a widget of this class: a picture that every client can show, described."""
    picture = NOTEBOOKS / f"{widget}.jpg"
    if not picture.exists():  # of a new widget; `make stills` takes it, from a book that has the widget
        return {"data": {"text/markdown": f"**{widget}.** Run this notebook to bring it alive."}, "metadata": {}}
    return {
        "data": {"image/jpeg": base64.b64encode(picture.read_bytes()).decode()},
        "metadata": {"image/jpeg": {"alt": f"The widget {widget}. {SENTENCE}"}},
    }


def with_a_palette(png: str) -> str:
    """A figure with few colours: a third of the bytes to the reader, and no difference to see."""
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P" and len(picture.getcolors() or ()) <= COLOURS:
        return png
    smaller = io.BytesIO()
    picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        smaller, "PNG", optimize=True, dpi=(200, 200)
    )
    return base64.b64encode(smaller.getvalue()).decode()


if __name__ == "__main__":
    main()
