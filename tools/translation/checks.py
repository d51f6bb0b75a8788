"""What a translation must have in common with the English, check by check.

A check is a function (message, terms) -> the problems of one message, in words.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from babel.messages.catalog import Message
from bs4 import BeautifulSoup
from capsnet_book.words import VALUE

from .catalogues import entries, stored_catalogue
from .code import PRINTED
from .messages import MARKDOWN, NO_PROSE
from .paths import EXTENSIONS, INTERFACE, SETTINGS, TERMS, WORDS
from .unwrapped import unwrapped


class Term(NamedTuple):
    """What a term of the book is called in Chinese."""

    names: list[str]
    """One of them must stand in a translation; none for a term that has many."""
    banned: Sequence[str] = ()
    """Names that must not: they mean something else, or the book uses another."""


Terms = dict[str, Term]  # by the English
Check = Callable[[Message, Terms], Iterable[str]]

AUTOCORRECT = "terms: AutoCorrect"  # a comment that exempts a message from its rules
HOLE = re.compile(r"\{\d\}")
SHOWN_ENGLISH = 60  # characters of a message in a report
# A paper's title is emphasised and stays English.
TITLE = re.compile(r"(?<!\*)\*[^*]+\*")
# The names in a citation stay as they are: [De Sousa Ribeiro et al., 2020].
CITATION = re.compile(r"\[[^\]]*, \d{4}[a-z]?\]")
ENGLISH_WORDS = re.compile(r"(?:\b[A-Za-z]{2,}[ ,]+){4,}")
HALF_WIDTH = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\w)")
# Four words in a row on a built page; “Two Words（两个词）” may stand.
ENGLISH_RUN = re.compile(r"(?:\b[A-Za-z][a-z'’-]++[ ,]++){3,}+[A-Za-z]++(?!\??（)")
MAY_BE_ENGLISH = (
    "pre, code, script, style, em, .fold.code, .math, .citation, .citation-list, [lang=en]"
)


def terms() -> Terms:
    """Return the terms of the book."""
    with TERMS.open(encoding="utf-8", newline="") as stream:
        return {
            row["English"]: Term(listed(row["Chinese"]), listed(row["Not"]))
            for row in csv.DictReader(stream)
        }


def listed(names: str) -> list[str]:
    """Return the names of a cell of terms.csv."""
    return names.split("/") if names else []


def problems(name: str, vocabulary: Terms) -> Iterator[str]:
    """Yield what is wrong with the translations of a catalogue, a line each."""
    if name == INTERFACE:
        yield from (f"{place} is shown without t`…`" for place in unwrapped())
    for message in entries(stored_catalogue(name)):
        if not message.string or message.fuzzy or message.string == message.id:
            continue
        for check in checks_of_message(message, name):
            for problem in check(message, vocabulary):
                yield f"{name}: {english(message)[:SHOWN_ENGLISH]!r}: {problem}"


def checks_of(name: str) -> tuple[Check, ...]:
    """Return the checks of a catalogue's messages."""
    if name in (EXTENSIONS, INTERFACE, SETTINGS):
        return INTERFACE_CHECKS
    return (same_number_of_holes, *PAGE_CHECKS) if name == WORDS else PAGE_CHECKS


def checks_of_message(message: Message, name: str) -> tuple[Check, ...]:
    """Return the checks of a message of a catalogue."""
    is_printed = PRINTED in message.auto_comments
    return (same_number_of_values, *checks_of(name)) if is_printed else checks_of(name)


def english(message: Message) -> str:
    """Return the English of a message."""
    return str(message.id)


def chinese(message: Message) -> str:
    """Return the translation of a message."""
    return str(message.string)


# --- sentences of scripts


def same_values(message: Message, _: Terms) -> Iterator[str]:
    """Check that a sentence has the same values, {0}, {1} …, in any order."""
    holes = set(HOLE.findall(english(message)))
    if holes != set(HOLE.findall(chinese(message))):
        yield f"other values than {', '.join(sorted(holes))}"


# --- prose


def same_number_of_holes(message: Message, _: Terms) -> Iterator[str]:
    """Check that a message of words.po has as many places for numbers and for values."""
    if english(message).count("#") != chinese(message).count("#"):
        yield "another number of #"
    yield from same_number_of_values(message, _)


def same_number_of_values(message: Message, _: Terms) -> Iterator[str]:
    """Check that a message has as many places for values."""
    holes = re.findall(r"\{\d?\}", chinese(message))
    if english(message).count(VALUE) != len(holes):
        yield f"another number of {VALUE}"


def same_shape(message: Message, _: Terms) -> Iterator[str]:
    """Check code, formulas, links, pictures and emphasis."""
    before = shape(english(message))
    after = shape(chinese(message))
    names = chinese(message).count("“") if before["em_open  "] > after["em_open  "] else 0
    for mark in ("em_open  ", "em_close  "):  # a button or a section may stand in “” instead
        after[mark] += min(names, before[mark] - after[mark])
    if before != after:
        yield f"lacks {[*(before - after)]}, has besides {[*(after - before)]}"


def same_columns(message: Message, _: Terms) -> Iterator[str]:
    """Check the columns of a table's row."""
    if english(message).count("|") != chinese(message).count("|"):
        yield "another number of columns, or of |"


def same_numbers(message: Message, _: Terms) -> Iterator[str]:
    """Check that no number is lost."""
    lost = numbers(english(message)) - numbers(chinese(message))
    if lost:
        yield f"lacks the numbers {', '.join(sorted(lost))}"


def terms_of_the_book(message: Message, vocabulary: Terms) -> Iterator[str]:
    """Check that each term is called what terms.csv says, and not otherwise; longer ones first."""
    text = NO_PROSE.sub(" ", english(message))
    for title in kept_titles(message):
        text = text.replace(title, " ")
    exemptions = " ".join(message.user_comments)
    for term in sorted(vocabulary, key=len, reverse=True):
        pattern = rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])"
        text, times = re.subn(pattern, " ", text, flags=re.IGNORECASE)
        if not times or f"terms: {term}" in exemptions:
            continue
        names, banned = vocabulary[term]
        if names and not any(name in chinese(message) for name in names):
            yield f"{term} is {' or '.join(names)}"
        yield from (f"{term} is not {name}" for name in banned if name in chinese(message))


def no_english_left(message: Message, _: Terms) -> Iterator[str]:
    """Check that no four English words in a row are left."""
    text = NO_PROSE.sub(".", CITATION.sub("", chinese(message)))
    for title in kept_titles(message):
        text = text.replace(title, ".")
    match = ENGLISH_WORDS.search(text)
    if match:
        yield f"English is left: {match[0]!r}"


def full_width_punctuation(message: Message, _: Terms) -> Iterator[str]:
    """Check that no Western punctuation follows a Chinese character."""
    match = HALF_WIDTH.search(NO_PROSE.sub("", chinese(message)))
    if match:
        yield f"half-width punctuation: {match[0]!r}"


def nothing_banned(message: Message, vocabulary: Terms) -> Iterator[str]:
    """Check that a piece of the interface calls no term by a name that is not the book's."""
    only_bans = {term: Term([], banned) for term, (_, banned) in vocabulary.items()}
    return terms_of_the_book(message, only_bans)


def spaces_and_marks(message: Message, _: Terms) -> Iterator[str]:
    """Check with AutoCorrect the spaces between Chinese and Latin, and the width of marks."""
    try:
        from autocorrect_py import format_for
    except ModuleNotFoundError:  # an environment that builds the pages and no more
        return
    corrected = format_for(chinese(message), "markdown")
    if corrected != chinese(message) and AUTOCORRECT not in " ".join(message.user_comments):
        pairs = zip(chinese(message), corrected, strict=False)
        place = next((place for place, (a, b) in enumerate(pairs) if a != b), 0)
        yield f"AutoCorrect has {corrected[max(0, place - 8) : place + 8]!r}"


INTERFACE_CHECKS: tuple[Check, ...] = (
    same_values,
    same_numbers,
    nothing_banned,
    no_english_left,
    full_width_punctuation,
    spaces_and_marks,
)
PAGE_CHECKS: tuple[Check, ...] = (
    same_shape,
    same_columns,
    same_numbers,
    terms_of_the_book,
    no_english_left,
    full_width_punctuation,
    spaces_and_marks,
)


def shape(text: str) -> Counter[str]:
    """Count what of a message its translation must have: code, formulas, links, emphasis."""
    counts: Counter[str] = Counter()
    for token in MARKDOWN.parseInline(text)[0].children or ():
        if token.type in ("text", "softbreak"):
            continue
        target = token.attrs.get("href") or token.attrs.get("src") or ""
        content = token.content
        if token.type == "myst_role":  # its title may be translated, its target not
            content = re.sub(r"^.*<(.*)>$", r"\1", content)
        counts[f"{token.type} {content} {target}"] += 1
    return counts


def numbers(text: str) -> set[str]:
    """Return the numbers in a message's prose."""
    return set(re.findall(r"\d+(?:[.,]\d+)*", NO_PROSE.sub(" ", text)))


def kept_titles(message: Message) -> list[str]:
    """Return the emphasised titles of the English that the translation keeps."""
    return [title for title in TITLE.findall(english(message)) if title in chinese(message)]


# --- a built page


def english_left(page: Path) -> list[str]:
    """Return four or more English words in a row on a built page.

    Code, titles, names of authors and what is marked as English do not count.
    """
    document = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    article = document.select_one("article.bd-article")
    if not article:
        return []
    for part in article.select(MAY_BE_ENGLISH):
        part.decompose()
    return ENGLISH_RUN.findall(article.get_text("\n"))
