"""The book's letters: Source Serif 4, the same from a server and from the disk.

A page shows at once in a serif of the reader's system, stretched to the measures of the book's own: nothing moves when
those come. A server is asked for them before the styles name them; on the disk that need not be, and may not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FILE = "letters.css"  # in _static
FACES = {"400-normal": "", "400-italic": " Italic", "700-normal": " Bold"}  # file: what a system calls the like
WEIGHTS = {"": "400", " Italic": "400; font-style: italic", " Bold": "600 900"}
UP, DOWN = 1.036, 0.335  # a line's room above and below its base, as the book's letters have it
# How much wider the book's text is than the same text in a system's letters: upright, italic, bold.
WIDER = {"Georgia": (1.071, 0.969, 0.951), "Noto Serif": (0.996, 0.941, 0.968), "DejaVu Serif": (0.92, 0.849, 0.861)}
AT_ONCE = """<script>
  if (location.protocol !== "file:")
    for (const face of ["400-normal", "700-normal"])
      document.head.append(Object.assign(document.createElement("link"), {
        rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous",
        href: `%s/source-serif-4-latin-${face}.woff2`,
      }));
</script>"""


def rules() -> str:
    """The styles that name the letters: the book's, and those that a system may have; and the stack of all."""
    own = (
        f'@font-face {{ font-family: "Book"; font-weight: {WEIGHTS[like]}; font-display: swap;\n'
        f'  src: url(fonts/source-serif-4-latin-{name}.woff2) format("woff2") }}\n'
        for name, like in FACES.items()
    )
    likes = (
        f'@font-face {{ font-family: "Like {name}"; font-weight: {WEIGHTS[like]}; src: local("{name}{like}");\n'
        f"  size-adjust: {wider:.1%}; ascent-override: {UP / wider:.1%}; descent-override: {DOWN / wider:.1%};\n"
        f"  line-gap-override: 0%; unicode-range: U+20-FF, U+2013-2026 }}\n"
        for name, all_three in WIDER.items()
        for like, wider in zip(FACES.values(), all_three, strict=True)
    )
    stack = ", ".join(('"Book"', *(f'"Like {name}"' for name in WIDER)))
    return f"{''.join((*own, *likes))}:root {{ --letters: {stack} }}\n"


def write(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        Path(app.outdir, "_static", FILE).write_text(rules(), encoding="utf-8")


def ask_at_once(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    context["metatags"] = context.get("metatags", "") + AT_ONCE % context["pathto"]("_static/fonts", 1)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_css_file(FILE)
    app.connect("html-page-context", ask_at_once)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
