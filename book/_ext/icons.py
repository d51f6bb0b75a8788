"""The theme's icons, without the two thousand that no page shows.

The theme draws its icons with Font Awesome and loads it twice: as web fonts (275 kB) and as a script (543 kB
compressed, "so that users can add custom icons"). The book adds none and shows about thirty. So the script goes, and
each font is cut down to the icons that some page, script or style sheet of the built book names: a few kB.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

SCRIPT = "scripts/fontawesome.js"
SCRIPT_TAG = re.compile(rf'<script defer src="[^"]*{re.escape(SCRIPT)}[^"]*"></script>\n?')
STYLES = "_static/styles/pydata-sphinx-theme.css"
FONTS = "_static/vendor/fontawesome/webfonts"
FONT_SOURCES = re.compile(
    r'url\((?P<path>[^)]*/webfonts/[\w-]+)\.woff2\) format\("woff2"\),url\([^)]*\.ttf\) format\("truetype"\)'
)
NAMED = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\([0-9a-f]{4})"\}')
KEPT_RECORDS = [0, 13, 14]  # copyright and licence; the name is reserved for the whole font


def lean_icons(app: Sphinx, exception: Exception | None) -> None:
    """Take the script out of the written pages, and out of the fonts what no page shows."""
    if exception or app.builder.format != "html":
        return
    for page in app.outdir.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        lean = SCRIPT_TAG.sub("", text)
        if lean != text:
            page.write_text(lean, encoding="utf-8")
    shown = icons(Path(app.outdir))
    for font in sorted((app.outdir / FONTS).glob("*.ttf")):
        cut_down(font, shown)
    styles = app.outdir / STYLES
    text = styles.read_text(encoding="utf-8")
    styles.write_text(FONT_SOURCES.sub(r'url(\g<path>.woff) format("woff")', text), encoding="utf-8")


def icons(book: Path) -> set[str]:
    """The characters of the icons that the built book may show: named in pages and scripts, written out in styles."""
    script = book / "_static" / SCRIPT
    code = "\n".join(read for kind in ("html", "js") for read in texts(book, kind, but=script))
    names = set(re.findall(r"\bfa-[\w-]+", code))
    found = set()
    for styles in texts(book, "css"):
        for selectors, character in NAMED.findall(styles):
            if names & set(re.findall(r"fa-[\w-]+", selectors)):
                found.add(chr(int(character, 16)))
        others = NAMED.sub("", styles)
        found |= {chr(int(character, 16)) for character in re.findall(r'"\\([ef][0-9a-f]{3})"', others)}
        found |= set(re.findall("[\ue000-\uf8ff]", others))
    return found


def texts(book: Path, kind: str, but: Path | None = None) -> list[str]:
    """All files of a kind."""
    return [path.read_text(encoding="utf-8") for path in sorted(book.rglob(f"*.{kind}")) if path != but]


def cut_down(font: Path, characters: set[str]) -> None:
    """Write `font` with these characters only, as .woff beside it."""
    try:
        from fontTools import subset
    except ModuleNotFoundError as error:
        raise ExtensionError("fontTools is missing: pip install -c requirements.txt fonttools") from error
    options = subset.Options(flavor="woff", name_IDs=KEPT_RECORDS, name_languages=["*"], notdef_outline=True)
    with subset.load_font(str(font), options) as whole:
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=map(ord, characters))
        subsetter.subset(whole)
        subset.save_font(whole, str(font.with_suffix(".woff")), options)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("build-finished", lean_icons)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
