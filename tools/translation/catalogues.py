"""Catalogues of messages: what is stored of them, and what a page has now."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po
from capsnet_book import words

from .figures import figure_words
from .messages import has_words, rewritten
from .paths import CATALOGUES, INTERFACE, LANGUAGE, ROOT, WORDS, pages
from .scripts import sentences
from .sources import report_sentences

EXEMPTION = "terms:"  # how a translator's comment begins that exempts a message from terms
NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # Git knows better


def stored_catalogue(name: str) -> Catalog:
    """Return a stored catalogue; of the translator's comments, exemptions alone."""
    path = CATALOGUES / f"{name}.po"
    if not path.exists():
        return Catalog(LANGUAGE, fuzzy=False)
    with path.open("rb") as stream:
        catalog = read_po(stream, LANGUAGE)
    for message in catalog:  # Babel reads what it wrote of an outdated message as comments
        exemptions = [line for line in message.user_comments if line.startswith(EXEMPTION)]
        message.user_comments = exemptions
    return catalog


def entries(catalog: Catalog) -> Iterator[Message]:
    """Yield the messages of a catalogue, without its header."""
    return (message for message in catalog if message.id)


def translations(catalog: Catalog) -> dict[str, str]:
    """Return English -> translation, of the messages that are translated."""
    return {
        str(message.id): str(message.string)
        for message in entries(catalog)
        if message.string and not message.fuzzy
    }


def is_lost(message: Message) -> bool:
    """Return True if a piece of the interface is no longer in its file, or the file is gone."""
    paths = [ROOT / file for file, _ in message.locations]
    return any(
        not path.exists() or str(message.id) not in path.read_text(encoding="utf-8")
        for path in paths
    )


# --- what the book says now


def current_catalogue(name: str) -> Catalog:
    """Return a catalogue of what a page, the interface or figures say now, untranslated."""
    if name == INTERFACE:
        return interface_catalogue()
    if name == WORDS:
        return words_catalogue()
    return page_catalogue(name)


def interface_catalogue() -> Catalog:
    """Return the sentences of the scripts, and the pieces of other files entered by hand."""
    catalog = Catalog(LANGUAGE, fuzzy=False)
    for file, literal in sentences():
        location: Any = (file, None)  # Babel's types ask for a line, its writer leaves out None
        catalog.add(literal, locations=[location])
    for message in entries(stored_catalogue(INTERFACE)):
        # `check` reports a piece entered by hand that is lost; a lost sentence of a script goes.
        is_script = message.locations[0][0].endswith(".js")
        if not (is_script and is_lost(message)):
            catalog.add(message.id, locations=message.locations)
    return catalog


def words_catalogue() -> Catalog:
    """Return what outputs of the notebooks say, the words in figures, and what reports can say."""
    catalog = Catalog(LANGUAGE, fuzzy=False)
    for page, path in pages().items():
        for kind, text in messages_of(path):
            if kind == "output":
                catalog.add(words.message(text), auto_comments=[page])
    texts = {text for figure in figure_words().values() for text in figure}
    for text in sorted(filter(has_words, texts)):
        catalog.add(text, auto_comments=["in a figure"])
    for file, text in report_sentences():
        catalog.add(text, auto_comments=[f"said by {file}"])
    return catalog


def page_catalogue(name: str) -> Catalog:
    """Return the messages of a page, each with its kind."""
    catalog = Catalog(LANGUAGE, fuzzy=False)
    for kind, text in messages_of(pages()[name]):
        if kind != "output":
            catalog.add(text, auto_comments=[kind])
    return catalog


def messages_of(path: Path) -> list[tuple[str, str]]:
    """Return the messages of a page's file, each as (kind, English)."""
    messages: list[tuple[str, str]] = []
    text = path.read_text(encoding="utf-8")
    rewritten(text, path.suffix, lambda kind, english: messages.append((kind, english)))
    return messages


def update(name: str, dictionary: dict[str, str]) -> None:
    """Bring a stored catalogue up to date.

    Messages that another page has translated come along (`dictionary`); lost ones go.
    """
    catalog = stored_catalogue(name)
    is_new = len(catalog) == 0
    catalog.update(current_catalogue(name), no_fuzzy_matching=is_new)
    catalog.obsolete.clear()
    for message in entries(catalog):
        if message.id in dictionary and (message.fuzzy or not message.string):
            message.string = dictionary[message.id]
            message.flags.discard("fuzzy")

    catalog.header_comment = f"# {name}"
    catalog.project = "Capsule networks, live"
    catalog.version = catalog.last_translator = catalog.msgid_bugs_address = ""
    catalog.language_team = LANGUAGE
    catalog.creation_date = catalog.revision_date = NO_DATE
    with (CATALOGUES / f"{name}.po").open("wb") as stream:
        write_po(stream, catalog, width=0, include_previous=True, include_lineno=False)
