"""The book's letters: Source Serif 4, the same from a server and from the disk.

A page shows at once in a serif of the reader's system, stretched to the measures of the book's own: nothing moves when
those come. A server is asked for them before the styles name them; on the disk that need not be, and may not.

What belongs together stays on one line: a formula or a prompt and the comma after it, a number and its per cent or its
spread, both sides of `r = 3`. The symbols that claims and checkers write plainly, such as `c_ij`, get their index.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from live_prompts import live_prompt
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

FILE = "letters.css"  # in _static
FACES = {
    "400-normal": "",
    "400-italic": " Italic",
    "700-normal": " Bold",
}  # file: what a system calls the like
WEIGHTS = {"": "400", " Italic": "400; font-style: italic", " Bold": "600 900"}
UP, DOWN = 1.036, 0.335  # a line's room above and below its base, as the book's letters have it
# How much wider the book's text is than the same text in a system's letters: upright, italic, bold.
WIDER = {
    "Georgia": (1.071, 0.969, 0.951),
    "Noto Serif": (0.996, 0.941, 0.968),
    "DejaVu Serif": (0.92, 0.849, 0.861),
}
AT_ONCE = """<script>
  if (location.protocol !== "file:")
    for (const face of ["400-normal", "700-normal"])
      document.head.append(Object.assign(document.createElement("link"), {
        rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous",
        href: `%s/source-serif-4-latin-${face}.woff2`,
      }));
</script>"""


MARKS = re.compile(r"\u2060?[.,;:!?)’”。，；：！？）、]+")
TOGETHER = re.compile(r"(?<=\d) (?=%)| (?=[=±×] [\d−])|(?<=[=±×]) (?=[\d−])")
INDEX = re.compile(r"(?<!\w)([A-Za-zΣ])_([ijk]{1,2})(?!\w)")
WRITTEN = ('class="claims"', 'class="capsnet-report"')  # in HTML that a cell shows


class KeepTogether(SphinxPostTransform):
    """Let no line begin with what ends the one before, and set symbols as such."""

    default_priority = 199

    def run(self, **kwargs: Any) -> None:
        for formula in [*self.document.findall(nodes.math), *self.document.findall(live_prompt)]:
            after = formula.next_node(descend=False, siblings=True)
            if isinstance(after, nodes.Text) and (end := MARKS.match(after)):
                whole = nodes.inline(
                    "", "", formula.deepcopy(), nodes.Text(end[0]), classes=["text-nowrap"]
                )
                formula.parent.replace(after, nodes.Text(after[end.end() :]))
                formula.parent.replace(formula, whole)
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.raw):
                if any(each in text for each in WRITTEN):
                    text.parent.replace(text, nodes.Text(with_symbols(kept_together(text))))
            elif not isinstance(
                text.parent, nodes.literal | nodes.literal_block | nodes.math | nodes.math_block
            ):
                kept = kept_together(text)
                if (html := with_symbols(escape(kept, quote=False))) != escape(kept, quote=False):
                    text.parent.replace(text, nodes.raw("", html, format="html"))
                elif kept != text:
                    text.parent.replace(text, nodes.Text(kept))


def kept_together(text: str) -> str:
    """A text without the places where no line should break."""
    return TOGETHER.sub("\N{NO-BREAK SPACE}", text)


def with_symbols(text: str) -> str:
    """A text, in HTML, with the indices of its symbols below the line."""
    return INDEX.sub(r"<i>\1</i><sub>\2</sub>", text)


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


def ask_at_once(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any
) -> None:
    context["metatags"] = context.get("metatags", "") + AT_ONCE % context["pathto"](
        "_static/fonts", 1
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_css_file(FILE)
    app.add_post_transform(KeepTogether)
    app.connect("html-page-context", ask_at_once)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
