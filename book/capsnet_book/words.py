"""What widgets, figures, tables and reports say, in another language.

A translated notebook calls `speak` in its set-up cell. The messages and their translations stand in
two catalogues, which `tools/translation` keeps: interface.po has the sentences of widgets, as
`widgets/shared/t.js` looks them up, and words.po all others:

* a text of a figure or a table is one line with "#" for each number;
* a sentence of a program has "{}" for each value that the program fills in.

So have the translations, where "#2" or "{2}" is the second one, wherever it stands. What has no
translation stays English.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

NUMBER_OR_SUBJECT = re.compile(r"[-+−]?\d+(?:[.,]\d+)*|(?<=^[✓✗…] )[^:]+(?=: )")
"""The parts of a text that vary: numbers, and the name of the function that a report is about."""
ENTRY = re.compile(r'^msgid (".*"(?:\n".*")*)\nmsgstr (".*"(?:\n".*")*)', re.MULTILINE)
"""A message of a catalogue and its translation, each in one or more quoted lines."""
VALUE = "{}"
"""In a sentence's message, the place of a value."""
SENTENCE_END = re.compile(r"(?<=[.?!)]) +(?=\S)")
COMMA = r"(?<=\]), |, (?=(?:an?|with|\d+) )"
"""The comma between the items of a list, and no other."""
REMARK = re.compile(r"(.*?) \((.*)\)", re.DOTALL)
"""An item with a remark in brackets."""
HAN = r"[\u4e00-\u9fff]"
GAP = re.compile(f"(?<={HAN}) (?={HAN})")
"""A space where two Chinese texts meet."""
NO_GAP = re.compile(rf"(?<={HAN})(?=[\w\[`<])(?!{HAN})|(?<=[\w\]`>])(?<!{HAN})(?={HAN})")
"""A place without a space where Chinese meets code or a number."""
FONTS = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "SimHei",
)

_translate: Callable[[str], str] = str
_language = ""  # English


def speak(language: str) -> None:
    """Let widgets, figures, tables and reports say what they say in another language.

    A widget has the language that is spoken when its class is imported.

    Args:
        language: "zh_CN", or another with a catalogue.

    Raises:
        FileNotFoundError: there is no catalogue for it.
    """
    from capsnet_check import Report  # here, because it brings torch along

    global _translate, _language
    _language = language
    translations = read_catalogue(catalogue_path(language, "words"))
    _translate = Sentences(translations).translated
    Report.translate = staticmethod(_translate)
    translate_figures(translations)


def said(text: str) -> str:
    """Return a line as it is to be shown: in the language of `speak`, else in English."""
    return _translate(text)


def widget_words() -> str:
    """Return the line of JavaScript that gives a widget its catalogue; "" in English."""
    return script(_language) if _language else ""


def script(language: str) -> str:
    """Return the catalogue of a language's widgets as a line of JavaScript."""
    catalogue = read_catalogue(catalogue_path(language, "interface"))
    return f"const capsnetWords = {json.dumps(catalogue, ensure_ascii=False)};\n"


def catalogue_path(language: str, name: str) -> Path:
    """Return the path of a language's catalogue: in the checkout, or in an installed package."""
    package = Path(__file__).parent
    installed = package / "assets" / "locales" / language / f"{name}.po"
    in_checkout = package.parent / "locales" / language / f"{name}.po"
    return installed if installed.exists() else in_checkout


def read_catalogue(path: Path) -> dict[str, str]:
    """Return message -> translation of a catalogue (.po), without what is outdated or missing."""
    translations = {}
    for entry in path.read_text(encoding="utf-8").split("\n\n"):
        pair = ENTRY.search(entry)
        if pair and "#, fuzzy" not in entry:
            translations[joined(pair[1])] = joined(pair[2])
    return {english: text for english, text in translations.items() if english and text}


def joined(quoted_lines: str) -> str:
    """Return the text of a catalogue's quoted lines."""
    return "".join(json.loads(line) for line in quoted_lines.split("\n"))


# --- texts with numbers


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
    return text.replace(bare, filled(translation, values, r"#(\d?)"))


def filled(translation: str, values: Sequence[str], hole: str) -> str:
    """Return a translation with its values; a hole with a number takes that value, from 1 on."""
    in_order = iter(values)

    def value_of(match: re.Match[str]) -> str:
        return values[int(match[1]) - 1] if match[1] else next(in_order)

    return re.sub(hole, value_of, translation)


# --- sentences of programs


class Sentences:
    """The sentences of reports in another language, found by their form.

    Args:
        translations: message -> translation.
    """

    def __init__(self, translations: Mapping[str, str]) -> None:
        self.translations = translations
        with_values = [text for text in translations if VALUE in text]
        # The form with the most letters of its own comes first.
        self.forms = [
            (form(text), translations[text]) for text in sorted(with_values, key=len, reverse=True)
        ]

    def translated(self, text: str) -> str:
        """Return a line of a report in the other language, or what of it has a translation."""
        whole = self.whole(text)
        if whole is not None:
            return whole
        parts = re.split("(; | · )", text)
        return "".join(self.whole(part) or part for part in parts)

    def whole(self, text: str) -> str | None:
        """Return the translation of sentences, a list or an item with a remark; or None."""
        if not re.search("[A-Za-z]", text):
            return text
        translation = self.of_list(text, "; ", "；") or self.of_sentences(text)
        if translation is not None:
            return translation
        remark = REMARK.fullmatch(text)
        item = self.of_sentences(remark[1]) if remark else None
        if remark and item is not None:
            return f"{item}（{self.translated(remark[2])}）"
        return self.of_list(text, COMMA, "、")

    def of_list(self, text: str, separator: str, mark: str) -> str | None:
        """Return the translation of a list, or None if it is none or an item has none."""
        items = re.split(separator, text)
        translations = [self.whole(item) for item in items] if len(items) > 1 else [None]
        known = [translation for translation in translations if translation is not None]
        return mark.join(known) if len(known) == len(items) else None

    def of_sentences(self, text: str) -> str | None:
        """Return one or more sentences in the other language, or None if one has no translation."""
        for end in sentence_ends(text):
            translation = self.of_sentence(text[:end])
            rest = text[end:].lstrip()
            others = self.of_sentences(rest) if rest and translation is not None else ""
            if translation is not None and others is not None:
                return translation + others
        return None

    def of_sentence(self, text: str) -> str | None:
        """Return the translation of a sentence or a part of one, or None."""
        if text in self.translations:
            return self.translations[text]
        for pattern, translation in self.forms:
            match = pattern.fullmatch(text)
            if match:
                values = [self.translated(value) for value in match.groups()]
                return NO_GAP.sub(" ", GAP.sub("", filled(translation, values, r"\{(\d?)\}")))
        with_numbers = translated(text, self.translations)
        return None if with_numbers == text else with_numbers


def form(message: str, widths: Sequence[int] = ()) -> re.Pattern[str]:
    """Return the pattern of the sentences that a message with values makes.

    A value that begins with a bracket ends with it.

    Args:
        message: with `VALUE` for each value.
        widths: the characters that each value has at least, with the spaces that fill it; none is
            filled if this is empty.
    """
    first, *others = [re.escape(literal) for literal in message.split(VALUE)]
    pattern = first
    for literal, width in zip(others, widths or [0] * len(others), strict=True):
        value = rf"(\[(?:[^\[\]]|\[[^\[\]]*\])*\]|(?!\[).{{{width},}}?)"
        pattern += value + literal
    return re.compile(pattern, re.DOTALL)


def sentence_ends(text: str) -> Iterator[int]:
    """Yield where the first sentence of a text may end; the end of the text is the last."""
    for end in SENTENCE_END.finditer(text):
        yield end.start()
    yield len(text)


# --- figures


def chinese_font(manager: Any) -> str | None:
    """Return the first font of `FONTS` that a matplotlib font manager has, or None."""
    names = set(manager.get_font_names())
    return next((font for font in FONTS if font in names), None)


def translate_figures(translations: Mapping[str, str]) -> None:
    """Let matplotlib set translated texts, if a font has the letters.

    Each text keeps its English words as the attribute `english`.
    """
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

    set_english_text = Text.set_text

    def set_text(self: Text, s: Any) -> None:
        vars(self)["english"] = s if isinstance(s, str) else ""
        set_english_text(self, translated(s, translations) if isinstance(s, str) else s)

    # The manager warns at each use of a font that has no bold.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    matplotlib.rcParams["font.family"] = [*matplotlib.rcParams["font.family"], font]
    Text.set_text = set_text  # type: ignore[method-assign]
