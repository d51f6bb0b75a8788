"""The sentences in the scripts of the pages and widgets: what stands in t`…`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from .paths import ROOT

SCRIPTS = ("book/capsnet_book/widgets/**/*.js", "book/_static/*.js")
PARSER = Parser(Language(tree_sitter_javascript.language()))
TAG = "t"  # of a sentence (`widgets/shared/t.js`)
BREAK = re.compile(r"\n\s*")  # within a sentence: a space


def sentences() -> Iterator[tuple[str, str]]:
    """Yield (file, message) for each sentence of the scripts."""
    for name, script in scripts():
        for message in messages_in(script):
            yield name, message


def scripts() -> Iterator[tuple[str, str]]:
    """Yield (file, source) for each script."""
    for path in sorted(path for pattern in SCRIPTS for path in ROOT.glob(pattern)):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def messages_in(script: str) -> Iterator[str]:
    """Yield the messages of a script's sentences, in order."""
    for node in nodes(PARSER.parse(script.encode()).root_node):
        if is_tagged(node):
            yield message_of(node)


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node of a script's tree and all below it, in the order of the source."""
    yield node
    for child in node.children:
        yield from nodes(child)


def text_of(node: Node) -> str:
    """Return the source of a node."""
    assert node.text is not None
    return node.text.decode()


def is_tagged(node: Node) -> bool:
    """Return True for a template that stands behind the tag of a sentence."""
    call = node.parent
    if node.type != "template_string" or call is None or call.type != "call_expression":
        return False
    function = call.child_by_field_name("function")
    return function is not None and text_of(function) == TAG


def message_of(template: Node) -> str:
    """Return the message of a template: its text, with {0}, {1} … for its values.

    Raises:
        ValueError: it has an escape that is no mark of its own, such as a line break.
    """
    message = ""
    values = 0
    for part in template.named_children:
        if part.type == "template_substitution":
            message += f"{{{values}}}"
            values += 1
        elif part.type == "escape_sequence":
            message += unescaped(text_of(part))
        else:
            message += BREAK.sub(" ", text_of(part))
    return message


def unescaped(escape: str) -> str:
    r"""Return the mark that an escape such as \` stands for."""
    mark = escape[1:]
    if len(mark) != 1 or mark.isalnum():
        raise ValueError(f"expected a mark behind a backslash in a sentence; got {escape}")
    return mark
