"""Catalogues of messages, as they are stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po, write_po

from .paths import CATALOGUES, LANGUAGE

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


def store(name: str, catalog: Catalog) -> None:
    """Write a catalogue to its file."""
    catalog.header_comment = f"# {name}"
    catalog.project = "Capsule networks, live"
    catalog.version = catalog.last_translator = catalog.msgid_bugs_address = ""
    catalog.language_team = LANGUAGE
    catalog.creation_date = catalog.revision_date = NO_DATE
    with (CATALOGUES / f"{name}.po").open("wb") as stream:
        write_po(stream, catalog, width=0, include_previous=True, include_lineno=False)
