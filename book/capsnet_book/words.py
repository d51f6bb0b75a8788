"""What figures and reports say, in another language.

In a tree that tools/translation.py has written, words.json lies beside this file: messages and their translations. A
message is in one line and has "#" for each number. So has its translation, where "#2" is the second number, wherever
it stands.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

WORDS = Path(__file__).with_name("words.json")
VARIES = re.compile(
    r"[-+−]?\d+(?:[.,]\d+)*|(?<=^[✓✗…] )[^:]+(?=: )"
)  # a number; what a report is about
FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "SimHei",
)


def message(text: str) -> str:
    """A text without what varies, in one line."""
    return VARIES.sub("#", " ".join(text.replace("-\n", "-").split()))


def said(text: str, known: Mapping[str, str]) -> str:
    """A text in the other language, or as it is."""
    if (translation := known.get(message(text))) is None:
        return text
    bare = text.strip()
    varying = VARIES.findall(bare)
    following = iter(varying)
    filled = re.sub(
        r"#(\d?)",
        lambda hole: varying[int(hole[1]) - 1] if hole[1] else next(following),
        translation,
    )
    return text.replace(bare, filled) if bare else text


def found(manager: Any) -> list[str]:
    """The fonts of FONTS that are there."""
    return [font for font in FONTS if font in manager.get_font_names()]


def speak() -> None:
    """In a translated tree, let matplotlib's texts be translated ones, where it finds a font that has them."""
    if not WORDS.exists():
        return
    import matplotlib
    from matplotlib.font_manager import findSystemFonts, fontManager
    from matplotlib.text import Text

    known: dict[str, str] = json.loads(WORDS.read_text(encoding="utf-8"))
    if not (fonts := found(fontManager)):  # its list may be older than a font
        for path in {*findSystemFonts()} - {font.fname for font in fontManager.ttflist}:
            with suppress(RuntimeError):
                fontManager.addfont(path)
        fonts = found(fontManager)
    plain = Text.set_text

    def set_text(self: Text, s: Any) -> None:
        vars(self)["english"] = s if isinstance(s, str) else ""
        plain(self, said(s, known) if isinstance(s, str) else s)

    if fonts:
        logging.getLogger("matplotlib.font_manager").setLevel(
            logging.ERROR
        )  # it warns where a font has no bold
        matplotlib.rcParams["font.family"] = [*matplotlib.rcParams["font.family"], fonts[0]]
        Text.set_text = set_text  # type: ignore[method-assign]
