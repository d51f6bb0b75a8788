"""What scripts show to readers without t`…`: it would be English in every language.

That can be decided of a literal that is the text or the label of an element, and of one that looks
like a sentence, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from .scripts import PARSER, is_tagged, nodes, scripts, text_of

TEXTS = ("string", "template_string")
WORD = re.compile(r"[A-Za-z]{2}")
# Two words in a row, a value and a word, a word with a space at an end of the text.
SENTENCE = re.compile(
    r"[A-Za-z]{2,}[,:;.]? +[(“]?[A-Za-z]|… +[A-Za-z]{2}|^ [A-Za-z]{2}|[A-Za-z]{2} $"
)
# Attributes and properties of elements that readers see or hear.
SHOWN_NAMES = {
    "alt",
    "aria-description",
    "aria-label",
    "aria-roledescription",
    "aria-valuetext",
    "ariaLabel",
    "placeholder",
    "textContent",
    "title",
}
# Functions that show their arguments, from this one on.
SHOWING_CALLS = {"element": 2, "pushButton": 1, "say": 0, "svg": 2, "write": 1}
# What is no language: styles, code in Python.
CODE_NAMES = {"class", "className", "code", "d", "font", "mended", "style", "transform"}
CODE_CALLS = re.compile(r"query\w*|matches|closest|matchMedia")
ERROR = re.compile(r"new \w*Error\(")  # those for readers have the tag
# An error for developers, classes (one of them with a hyphen).
CODE = re.compile(r"nan|expected .*|(?=.*-)[a-z…-]+(?: [a-z…-]+)*", re.DOTALL)
# What a value goes through on its way to where it is shown; a comparison is none.
WAYS = ("binary_expression", "parenthesized_expression", "ternary_expression")
COMPARISON = re.compile(r"[!=]==?|[<>]=?")


def unwrapped() -> Iterator[str]:
    """Yield "file:line: text" for each text of the scripts that is shown without t`…`."""
    for file, script in scripts():
        if not file.endswith("_built.js"):
            for line, text in unwrapped_texts(script):
                yield f"{file}:{line}: {text}"


def unwrapped_texts(script: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each text of a script that is shown without t`…`."""
    for node in nodes(PARSER.parse(script.encode()).root_node):
        if node.type in TEXTS and not is_tagged(node):
            text = literal_text(node)
            if is_shown(node, text):
                yield node.start_point.row + 1, text


def literal_text(node: Node) -> str:
    """Return the text of a literal, with … for each value."""
    parts = node.named_children
    return "".join("…" if part.type == "template_substitution" else text_of(part) for part in parts)


def is_shown(node: Node, text: str) -> bool:
    """Return True for a literal that readers see."""
    if not WORD.search(text) or CODE.fullmatch(text) or is_in_error(node):
        return False
    value = outermost(node)
    place = value.parent
    assert place
    name, number = name_of(place), number_of(value, place)
    if name in CODE_NAMES or CODE_CALLS.fullmatch(name):
        return False
    if SENTENCE.search(text):
        return True
    if place.type == "arguments":
        nowhere = len(place.named_children)
        return number >= SHOWING_CALLS.get(name, 1 if name in SHOWN_NAMES else nowhere)
    is_in_sentence = place.type == "template_substitution"
    is_value = place.child_by_field_name("key") != value
    return is_in_sentence or (name in SHOWN_NAMES and is_value)


def is_in_error(node: Node | None) -> bool:
    """Return True for a part of an expression that makes an error."""
    while node:
        if node.type == "new_expression" and ERROR.match(text_of(node)):
            return True
        node = node.parent
    return False


def outermost(node: Node) -> Node:
    """Return the expression whose value a literal is, or is a part of."""
    while node.parent and is_way(node.parent):
        node = node.parent
    return node


def is_way(node: Node) -> bool:
    """Return True for an expression that hands on the value of its part."""
    if node.type == "template_substitution":
        return not is_tagged(parent_of(node))
    if node.type == "template_string":
        return not is_tagged(node)
    return node.type in WAYS and not is_comparison(node)


def is_comparison(node: Node) -> bool:
    """Return True for an expression that compares two values."""
    operator = node.child_by_field_name("operator")
    return operator is not None and bool(COMPARISON.fullmatch(text_of(operator)))


def name_of(place: Node) -> str:
    """Return the name under which a value is used: of a property, an attribute, a function."""
    match place.type:
        case "pair":
            named = place.child_by_field_name("key")
        case "assignment_expression":
            named = place.child_by_field_name("left")
        case "arguments":
            call = parent_of(place)
            named = call.child_by_field_name("function")
            named = named or call.child_by_field_name("constructor")
        case _:
            return ""
    assert named
    name = text_of(named).rpartition(".")[2].strip('"')
    return attribute_of(place) if name == "setAttribute" else name


def attribute_of(arguments: Node) -> str:
    """Return the name of the attribute that is set."""
    return text_of(arguments.named_children[0]).strip('"')


def number_of(value: Node, place: Node) -> int:
    """Return which child of its place a value is."""
    return place.named_children.index(value)


def parent_of(node: Node) -> Node:
    """Return the node around another."""
    assert node.parent
    return node.parent
