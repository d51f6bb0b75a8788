"""The words in a notebook's code: its comments, its docstrings, and what it prints.

A cell may print names that it holds as data, such as the keys of a dictionary. Its metadata lists
them, `"names": ["there", "not there"]`: they are translated wherever the cell has them as strings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from capsnet_book.words import VALUE, filled, form

# A line that Jupyter understands and Python does not.
COMMAND_OF_JUPYTER = re.compile(r"^(\s*)[%!].*$", re.MULTILINE)
# No words: a shape such as [B, types, H, W], code in backticks, a hole.
NO_WORDS = re.compile(r"\[[^\]]*\]|`[^`]*`|\{\}")
WORD = re.compile(r"[A-Za-z]{2}")
STRING = re.compile(r"""([frFR]*)(["'])((?:(?!\2)[^\\\n])*)\2""")
"""One literal in one line, without escapes: prefix, quotation mark, content."""
HOLE = re.compile(r"\{(?:[^{}]|\{[^{}]*\})+\}")
"""A place of an f-string that is filled in, with its format."""
WIDTH = re.compile(r":(\d+)\}$")
"""The width that a place is filled to."""
NUMBERED_HOLE = r"\{(\d?)\}"
COMMENT = "comment"
DOCSTRING = "docstring"
PRINTED = "printed"
"""The kinds of messages."""
NO_CHOICES: Mapping[str, str] = MappingProxyType({})
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

# (kind of message, English) -> its translation, or None
Translate = Callable[[str, str], str | None]


class Replacement(NamedTuple):
    """A piece of a cell's code and what stands in its place."""

    start: int
    """The first character of the piece, counted in the code."""
    end: int
    text: str


def rewritten_code(code: str, translate: Translate, names: Sequence[str] = ()) -> str:
    """Return a cell's code with its comments, docstrings and printed strings translated.

    Code that Python cannot parse, such as a cell of another language, is returned as it is.

    Args:
        code: of the cell.
        translate: of its messages.
        names: strings of the cell that it prints, and that are translated, too.
    """
    plain = without_commands(code)
    try:
        tree = ast.parse(plain)
    except SyntaxError:
        return code
    positions = Positions(plain)
    replacements = [
        *translated_comments(plain, positions, translate),
        *translated_docstrings(tree, plain, positions, translate),
        *translated_prints(tree, plain, positions, translate),
        *translated_names(tree, positions, translate, names),
    ]
    for start, end, text in sorted(replacements, reverse=True):
        code = code[:start] + text + code[end:]
    return code


def without_commands(code: str) -> str:
    """Return a cell's code with `pass` for each command of Jupyter; all else keeps its place."""
    return COMMAND_OF_JUPYTER.sub(lambda line: f"{line[1]}pass".ljust(len(line[0])), code)


class Positions:
    """Where lines and columns lie in a text.

    Args:
        text: the code of a cell.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def of_token(self, place: tuple[int, int]) -> int:
        """Return the position of a token's place: line from 1, column in characters."""
        line, column = place
        return self.starts[line - 1] + column

    def of_node(self, node: ast.expr) -> tuple[int, int]:
        """Return where a node begins and ends; `ast` counts columns in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self.of_bytes(node.lineno, node.col_offset)
        return start, self.of_bytes(node.end_lineno, node.end_col_offset)

    def of_bytes(self, line: int, column: int) -> int:
        """Return the position of a line, from 1, and a column in bytes."""
        before = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(before)


def has_words(text: str) -> bool:
    """Return True if a text has words beside shapes, code and holes."""
    return bool(WORD.search(NO_WORDS.sub("", text)))


# --- comments and docstrings


def translated_comments(
    code: str, positions: Positions, translate: Translate
) -> Iterator[Replacement]:
    """Yield the comments that have a translation."""
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type != tokenize.COMMENT:
            continue
        words = token.string.lstrip("# ")
        if not has_words(words) or is_code(words):
            continue
        translation = translate(COMMENT, words)
        if translation:
            start = positions.of_token(token.start)
            end = start + len(token.string)
            yield Replacement(end - len(words), end, translation)


def is_code(comment: str) -> bool:
    """Return True for a comment that is a line of Python, such as one to take the mark off."""
    try:
        statements = ast.parse(comment).body
    except SyntaxError:
        return False
    nodes = [node for statement in statements for node in ast.walk(statement)]
    return any(isinstance(node, ast.Call | ast.Assign | ast.ImportFrom) for node in nodes)


def translated_docstrings(
    tree: ast.AST, code: str, positions: Positions, translate: Translate
) -> Iterator[Replacement]:
    """Yield the docstrings of one line that have a translation."""
    for node in ast.walk(tree):
        if not isinstance(node, Function):
            continue
        statement = node.body[0]
        words = ast.get_docstring(node, clean=False)
        if words is None or not has_words(words) or not isinstance(statement, ast.Expr):
            continue
        start, end = positions.of_node(statement.value)
        literal = code[start:end]
        if words not in literal:  # it has an escape
            continue
        translation = translate(DOCSTRING, words)
        if translation:
            yield Replacement(start, end, literal.replace(words, translation))


# --- what is printed


def translated_prints(
    tree: ast.AST, code: str, positions: Positions, translate: Translate
) -> Iterator[Replacement]:
    """Yield the printed strings that have a translation."""
    for call in prints(tree):
        for argument in (*call.args, *ends(call)):
            for node in strings(argument):
                start, end = positions.of_node(node)
                text = translated_literal(code[start:end], translate)
                if text:
                    yield Replacement(start, end, text)


def prints(tree: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls of `print`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield node


def ends(call: ast.Call) -> list[ast.Constant]:
    """Return the string that a call of `print` ends with in place of a new line, if it has one."""
    values = [keyword.value for keyword in call.keywords if keyword.arg == "end"]
    return [value for value in values if isinstance(value, ast.Constant)]


def strings(argument: ast.expr) -> Iterator[ast.expr]:
    """Yield the strings and f-strings of which an argument of `print` is one."""
    if isinstance(argument, ast.BoolOp):
        for value in argument.values:
            yield from strings(value)
    elif isinstance(argument, ast.IfExp):
        yield from strings(argument.body)
        yield from strings(argument.orelse)
    elif isinstance(argument, ast.JoinedStr | ast.Constant):
        yield argument


def translated_literal(literal: str, translate: Translate) -> str | None:
    """Return the source of a string with its words translated, or None."""
    match = STRING.fullmatch(literal)
    if not match:
        return None
    prefix, mark, content = match.groups()
    message = message_of(content, prefix)
    translation = translate(PRINTED, message.strip()) if has_words(message) else None
    if not translation:
        return None
    holes = HOLE.findall(content) if "f" in prefix.lower() else []
    words = filled(translation, holes, NUMBERED_HOLE)
    before = message[: len(message) - len(message.lstrip())]
    after = message[len(message.rstrip()) :]
    return f"{prefix}{mark}{before}{words}{after}{mark}"


def translated_names(
    tree: ast.AST, positions: Positions, translate: Translate, names: Sequence[str]
) -> Iterator[Replacement]:
    """Yield the strings that are one of these names and have a translation."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if node.value in names:
            translation = translate(PRINTED, node.value)
            if translation:
                start, end = positions.of_node(node)
                yield Replacement(start, end, f'"{translation}"')


def message_of(content: str, prefix: str) -> str:
    """Return the content of a literal with `VALUE` for each place that an f-string fills in."""
    return HOLE.sub(VALUE, content) if "f" in prefix.lower() else content


# --- what was printed when the notebook was run


def rewritten_prints(text: str, code: str, translate: Translate, names: Sequence[str] = ()) -> str:
    """Return what a cell has printed, with the lines translated that its strings make.

    Args:
        text: what it has printed.
        code: of the cell.
        translate: of the strings that its `print` has.
        names: strings of the cell that it prints.
    """
    plain = without_commands(code)
    try:
        tree = ast.parse(plain)
    except SyntaxError:
        return text
    positions = Positions(plain)
    lines = []
    parts: list[Part] = []
    for call in sorted(prints(tree), key=lambda call: call.lineno):
        parts += printed_parts(call, plain, positions, translate)
        if parts[-1].is_end:  # the next call goes on in the same line
            lines.append(PrintedLine(parts[:-1]))
            parts = []
    lines.sort(key=lambda line: -line.letters)
    words = {name: with_translation(name, translate) for name in names}
    return "\n".join(translated_line(line, lines, words) for line in text.split("\n"))


class Part(NamedTuple):
    """A part of a printed line, with `VALUE` for what the program fills in."""

    message: str
    translation: str
    is_end: bool = False
    """The line ends here."""
    choices: Mapping[str, str] = NO_CHOICES
    """The strings of which the value may be one, with their translations."""
    widths: tuple[int, ...] = ()
    """The width that each value is filled to, 0 for none; empty if no value of the part is."""

    @property
    def all_widths(self) -> tuple[int, ...]:
        """The width of each value, 0 for those that are not filled."""
        return self.widths or (0,) * self.message.count(VALUE)


def printed_parts(
    call: ast.Call, code: str, positions: Positions, translate: Translate
) -> Iterator[Part]:
    """Yield what a call of `print` makes of a line: its arguments, and what stands between them."""
    for number, argument in enumerate(call.args):
        if number:
            yield Part(" ", " ")
        start, end = positions.of_node(argument)
        match = STRING.fullmatch(code[start:end])
        message = message_of(match[3], match[1]) if match else VALUE
        choices = {} if match else choices_of(argument, translate)
        words = with_translation(message, translate)
        widths = widths_in(match[3]) if match and VALUE in message else ()
        yield Part(message, words, choices=choices, widths=widths)
    for end in ends(call):
        text = str(end.value)
        yield Part(text, with_translation(text, translate))
    if not ends(call):
        yield Part("", "", is_end=True)


def widths_in(content: str) -> tuple[int, ...]:
    """Return the width of each place that an f-string fills in, 0 for none."""
    widths = [WIDTH.search(hole) for hole in HOLE.findall(content)]
    return tuple(int(width[1]) if width else 0 for width in widths)


def choices_of(argument: ast.expr, translate: Translate) -> dict[str, str]:
    """Return the plain strings of which an argument of `print` is one, with translations."""
    constants = [node for node in strings(argument) if isinstance(node, ast.Constant)]
    texts = [node.value for node in constants if isinstance(node.value, str)]
    return {text: with_translation(text, translate) for text in texts}


def with_translation(message: str, translate: Translate) -> str:
    """Return the translation of a message between the spaces at its ends, or the message."""
    words = translate(PRINTED, message.strip()) if has_words(message) else None
    return message.replace(message.strip(), words) if words else message


def translated_line(text: str, lines: list[PrintedLine], names: Mapping[str, str]) -> str:
    """Return a printed line as the first call that can have printed it has it in translation.

    Args:
        text: the line.
        lines: that the cell's calls make.
        names: that may be values in it, with their translations.
    """
    for line in lines:
        translation = line.translated(text, names)
        if translation is not None:
            return translation
    return text


class PrintedLine:
    """The lines that calls of `print` make, in both languages.

    Args:
        parts: of such a line.
    """

    def __init__(self, parts: list[Part]) -> None:
        self.parts = parts
        text = "".join(part.message for part in parts)
        self.letters = len(text.replace(VALUE, "").strip())
        self.pattern = form(text, [width for part in parts for width in part.all_widths])

    def translated(self, text: str, names: Mapping[str, str]) -> str | None:
        """Return a line in translation, or None if these calls do not make it."""
        match = self.pattern.fullmatch(text)
        if not match or not self.letters:
            return None
        values = list(match.groups())
        words = ""
        for part in self.parts:
            count = part.message.count(VALUE)
            own = []
            for value, width in zip(values[:count], part.all_widths, strict=True):
                name = names.get(value.rstrip())
                own.append(name.ljust(width) if name else part.choices.get(value, value))
            words += filled(part.translation, own, NUMBERED_HOLE)
            del values[:count]
        return words
