"""The book's letters: Source Serif 4, the same from a server and from the disk.

A page shows at once in a serif of the reader's system, stretched to the measures of the book's own
letters, so that nothing moves when those come. From a server the page asks for them before it has
read the styles that name them; on the disk that is needless, and forbidden.

What belongs together stays on one line: a formula or a prompt and the comma after it, a number and
its per cent or its spread, both sides of `r = 3`. The symbols that claims and checkers write
plainly, such as `c_ij`, get their index.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from .. import order
from ..widgets.prompts import live_prompt
from .languages import CHINESE

FILE = "letters.css"  # in _static
ASCENT, DESCENT = 1.036, 0.335  # a line's room above and below its base, in the book's letters


class Face(NamedTuple):
    """One style of the letters."""

    file: str  # the book's, source-serif-4-latin-{file}.woff2
    suffix: str  # of the name that a system has for it
    rules: str  # CSS from the weight on


FACES = (
    Face("400-normal", "", "400"),
    Face("400-italic", " Italic", "400; font-style: italic"),
    Face("700-normal", " Bold", "600 900"),
)
# A system's letters -> how much wider the book's text is than the same text in them, a face each.
WIDTH_RATIOS = {
    "Georgia": (1.071, 0.969, 0.951),
    "Noto Serif": (0.996, 0.941, 0.968),
    "DejaVu Serif": (0.92, 0.849, 0.861),
}
# What a face is for. Chinese quotation marks, dashes and dots are a character wide: they come from
# the reader's Chinese letters.
EVERY_SIGN = "U+0-10FFFF"
LATIN_SIGNS = "U+20-FF, U+2013-2026"
BESIDE_CHINESE = "U+20-B6, U+B8-FF, U+2013"
PRELOAD = """<script>
  if (location.protocol !== "file:")
    for (const face of ["400-normal", "700-normal"])
      document.head.append(Object.assign(document.createElement("link"), {
        rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous",
        href: `%s/source-serif-4-latin-${face}.woff2`,
      }));
</script>"""

PUNCTUATION = re.compile(r"\u2060?[.,;:!?)’”。，；：！？）、]+")
# Spaces where no line may break: before %, and round = ± × before a number.
INNER_SPACES = re.compile(r"(?<=\d) (?=%)| (?=[=±×] [\d−])|(?<=[=±×]) (?=[\d−])")
SYMBOL = re.compile(r"(?<!\w)([A-Za-zΣ])_([ijk]{1,2})(?!\w)")
# HTML that a cell shows and that has symbols in its words.
HTML_WITH_SYMBOLS = ('class="claims', 'class="capsnet-report"')
AS_WRITTEN = nodes.literal | nodes.literal_block | nodes.math | nodes.math_block


class KeepTogether(SphinxPostTransform):
    """Let no line begin with the punctuation after a box, and give symbols their indices."""

    default_priority = order.KEEP_TOGETHER

    def run(self, **kwargs: Any) -> None:
        """Change the page's formulas, prompts and texts."""
        for box in [*self.document.findall(nodes.math), *self.document.findall(live_prompt)]:
            hold_punctuation(box)
        for text in list(self.document.findall(nodes.Text)):
            if isinstance(text.parent, nodes.raw):
                set_symbols_in_html(text)
            elif not isinstance(text.parent, AS_WRITTEN):
                set_symbols(text)


def hold_punctuation(box: nodes.Element) -> None:
    """Put a formula or a prompt and the punctuation after it into one unbreakable span."""
    after = box.next_node(descend=False, siblings=True)
    if not isinstance(after, nodes.Text):
        return
    punctuation = PUNCTUATION.match(after)
    if punctuation:
        sign = nodes.Text(punctuation[0])
        whole = nodes.inline("", "", box.deepcopy(), sign, classes=["text-nowrap"])
        box.parent.replace(after, nodes.Text(after[punctuation.end() :]))
        box.parent.replace(box, whole)


def set_symbols_in_html(text: nodes.Text) -> None:
    """Set the symbols of HTML that a cell shows, where its words have some."""
    if any(kind in text for kind in HTML_WITH_SYMBOLS):
        text.parent.replace(text, nodes.Text(with_symbols(kept_together(text))))


def set_symbols(text: nodes.Text) -> None:
    """Set the symbols of a text of the page, and its unbreakable spaces."""
    unbroken = kept_together(text)
    plain = escape(unbroken, quote=False)
    html = with_symbols(plain)
    if html != plain:
        text.parent.replace(text, nodes.raw("", html, format="html"))
    elif unbroken != text:
        text.parent.replace(text, nodes.Text(unbroken))


def kept_together(text: str) -> str:
    """Return a text with no-break spaces where no line should break."""
    return INNER_SPACES.sub("\N{NO-BREAK SPACE}", text)


def with_symbols(html: str) -> str:
    """Return HTML with the indices of its symbols below the line."""
    return SYMBOL.sub(r"<i>\1</i><sub>\2</sub>", html)


def styles(language: str | None) -> str:
    """Return the styles that name the letters: the book's, a system's, and the stack of all."""
    is_chinese = language == CHINESE
    own_signs = f"{BESIDE_CHINESE}, U+100-2012, U+2190-22FF" if is_chinese else EVERY_SIGN
    system_signs = BESIDE_CHINESE if is_chinese else LATIN_SIGNS
    own_faces = "".join(own_face(face, own_signs) for face in FACES)
    system_faces = "".join(
        system_face(name, face, ratio, system_signs)
        for name, ratios in WIDTH_RATIOS.items()
        for face, ratio in zip(FACES, ratios, strict=True)
    )
    stack = ", ".join(['"Book"', *(f'"Like {name}"' for name in WIDTH_RATIOS)])
    return f"{own_faces}{system_faces}:root {{ --letters: {stack} }}\n"


def own_face(face: Face, signs: str) -> str:
    """Return the rule for one of the book's files of letters; `signs` is a unicode-range."""
    return (
        f'@font-face {{ font-family: "Book"; font-weight: {face.rules}; font-display: swap;\n'
        f'  src: url(fonts/source-serif-4-latin-{face.file}.woff2) format("woff2");\n'
        f"  unicode-range: {signs} }}\n"
    )


def system_face(name: str, face: Face, ratio: float, signs: str) -> str:
    """Return the rule for a system's letters, stretched to the measures of the book's."""
    return (
        f'@font-face {{ font-family: "Like {name}"; font-weight: {face.rules}; '
        f'src: local("{name}{face.suffix}");\n'
        f"  size-adjust: {ratio:.1%}; "
        f"ascent-override: {ASCENT / ratio:.1%}; descent-override: {DESCENT / ratio:.1%};\n"
        f"  line-gap-override: 0%; unicode-range: {signs} }}\n"
    )


def write_styles(app: Sphinx, exception: Exception | None) -> None:
    """Write the styles into the built book."""
    if not exception and app.builder.format == "html":
        text = styles(app.config.language)
        Path(app.outdir, "_static", FILE).write_text(text, encoding="utf-8")


def preload(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Let a page from a server ask for the letters at once."""
    folder = context["pathto"]("_static/fonts", 1)
    context["metatags"] = context.get("metatags", "") + PRELOAD % folder


def setup(app: Sphinx) -> None:
    """Register with Sphinx."""
    app.add_css_file(FILE)
    app.add_post_transform(KeepTogether)
    app.connect("html-page-context", preload)
    app.connect("build-finished", write_styles)
