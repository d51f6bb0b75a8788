"""What the book's settings say: its title, the captions of its parts, the marks of folded code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from .paths import ROOT

FILES = ("_config.yml", "_toc.yml")
KEYS = "title|author|caption|nb_code_prompt_show|nb_code_prompt_hide"
SETTING = re.compile(rf"^(?P<key>[ -]*(?:{KEYS}): )(?P<words>.+?)(?=\s+#|$)", re.MULTILINE)


def setting_messages() -> Iterator[tuple[str, str]]:
    """Yield (file, message) for each setting that a reader sees."""
    for file in FILES:
        for setting in SETTING.finditer((ROOT / file).read_text(encoding="utf-8")):
            yield file, setting["words"]


def with_settings(text: str, dictionary: Mapping[str, str]) -> str:
    """Return the text of a file of settings, translated."""
    return SETTING.sub(
        lambda setting: setting["key"] + dictionary.get(setting["words"], setting["words"]), text
    )
