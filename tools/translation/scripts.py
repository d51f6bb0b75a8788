"""The sentences in the scripts of the pages and widgets: string literals that readers see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from babel.messages.jslexer import tokenize

from .paths import ROOT

SCRIPTS = ("book/capsnet_book/widgets/**/*.js", "book/_static/*.js")
LITERALS = ("string", "template_string")
HOLE = re.compile(r"\$\{.*?\}")
# Two words in a row, or one with a capital.
SENTENCE = re.compile(r"[A-Za-z]{2,}[,:;.]? +[(“]?[A-Za-z]|^[A-Z][a-z]+")
# What stands before a literal that is code: a class, a path's data, an error for developers,
# a line of Python, …
CODE_BEFORE = re.compile(
    r"\bclass(Name)?: |\bd[,:] |className = |Error\($|\bquery\w*\($|\b(code|mended): $"
)
LOOK_BACK = 40  # characters before a literal


def sentences() -> Iterator[tuple[str, str]]:
    """Yield (file, literal) for each string in the scripts that looks like a sentence."""
    paths = sorted(path for pattern in SCRIPTS for path in ROOT.glob(pattern))
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        for literal in sentence_literals(path.read_text(encoding="utf-8")):
            yield name, literal


def sentence_literals(script: str) -> Iterator[str]:
    """Yield the literals of a script that look like sentences, quotes and all."""
    end = 0
    for token in tokenize(script, jsx=False):
        start = script.index(token.value, end)
        end = start + len(token.value)
        line_start = script.rfind("\n", 0, start) + 1
        before = script[line_start:start][-LOOK_BACK:]
        if token.type in LITERALS and is_sentence(token.value, before):
            yield token.value


def is_sentence(literal: str, before: str) -> bool:
    """Return True if a literal looks like a sentence; `before` is the code in front of it."""
    text = HOLE.sub(" X ", literal[1:-1])
    if not SENTENCE.search(text) or "px" in text:
        return False
    return not CODE_BEFORE.search(before)
