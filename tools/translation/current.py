"""Catalogues of messages: what the book says now, in a page, a script, a report, a figure."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from capsnet_book import words

from .catalogues import entries, store, stored_catalogue
from .extensions import extension_messages
from .figures import figure_words
from .messages import has_words, rewritten
from .paths import EXTENSIONS, INTERFACE, LANGUAGE, SETTINGS, WORDS, pages
from .scripts import sentences
from .settings import setting_messages
from .sources import report_sentences


def current_catalogue(name: str) -> Catalog:
    """Return a catalogue of what a page, the interface or figures say now, untranslated."""
    if name == INTERFACE:
        return catalogue_of(sentences())
    if name == EXTENSIONS:
        return catalogue_of(extension_messages())
    if name == SETTINGS:
        return catalogue_of(setting_messages())
    if name == WORDS:
        return words_catalogue()
    return page_catalogue(name)


def catalogue_of(messages: Iterable[tuple[str, str]]) -> Catalog:
    """Return a catalogue of messages, each with the files that have it."""
    catalog = Catalog(LANGUAGE, fuzzy=False)
    for file, message in messages:
        location: Any = (file, None)  # Babel's types ask for a line, its writer leaves out None
        catalog.add(message, locations=[location])
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
    store(name, catalog)
