"""The sentences of figures and reports in another language.

In a tree that tools/translation has written, words.json lies beside this file: messages and
their translations. A message is in one line and has "#" for each number. So has its translation,
where "#2" is the second number, wherever it stands.
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
NUMBER_OR_SUBJECT = re.compile(r"[-+−]?\d+(?:[.,]\d+)*|(?<=^[✓✗…] )[^:]+(?=: )")
"""The parts of a text that vary: numbers, and the name of the function that a report is about."""
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
    """Return a text in one line, with "#" for what varies."""
    return NUMBER_OR_SUBJECT.sub("#", " ".join(text.replace("-\n", "-").split()))


def translated(text: str, translations: Mapping[str, str]) -> str:
    """Return a text in the other language, or unchanged where it has no translation."""
    bare = text.strip()
    translation = translations.get(message(text))
    if translation is None or not bare:
        return text
    values = NUMBER_OR_SUBJECT.findall(bare)
    in_order = iter(values)

    def value_of(hole: re.Match[str]) -> str:
        return values[int(hole[1]) - 1] if hole[1] else next(in_order)

    return text.replace(bare, re.sub(r"#(\d?)", value_of, translation))


def chinese_font(manager: Any) -> str | None:
    """Return the first font of `FONTS` that a matplotlib font manager has, or None."""
    names = set(manager.get_font_names())
    return next((font for font in FONTS if font in names), None)


def translate_figures() -> None:
    """Let matplotlib set translated texts, if this is a translated tree and a font has the letters.

    Each text keeps its English words as the attribute `english`.
    """
    if not WORDS.exists():
        return
    import matplotlib
    from matplotlib.font_manager import findSystemFonts, fontManager
    from matplotlib.text import Text

    font = chinese_font(fontManager)
    if font is None:  # the manager's list may be older than a font
        known_files = {entry.fname for entry in fontManager.ttflist}
        for path in set(findSystemFonts()) - known_files:
            with suppress(RuntimeError):
                fontManager.addfont(path)
        font = chinese_font(fontManager)
    if font is None:
        return

    translations: dict[str, str] = json.loads(WORDS.read_text(encoding="utf-8"))
    set_english_text = Text.set_text

    def set_text(self: Text, s: Any) -> None:
        vars(self)["english"] = s if isinstance(s, str) else ""
        set_english_text(self, translated(s, translations) if isinstance(s, str) else s)

    # The manager warns at each use of a font that has no bold.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    matplotlib.rcParams["font.family"] = [*matplotlib.rcParams["font.family"], font]
    Text.set_text = set_text  # type: ignore[method-assign]
