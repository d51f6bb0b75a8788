"""What a cell of code does, in a line: its comment, its docstring, or the names that it makes."""

from __future__ import annotations

import ast
import re
from html import escape

from sphinx.locale import _

MAGIC = re.compile(r"^[%!].*$", re.MULTILINE)  # lines for Jupyter, no Python
MOST_NAMES = 5


def summary(code: str) -> str:
    """Return what a cell does, as HTML."""
    first_line = code.lstrip().splitlines()[0]
    if first_line.startswith("#"):
        return escape(first_line.strip("# "))
    try:
        body = ast.parse(MAGIC.sub("pass", code)).body
    except SyntaxError:  # a blank to be filled
        return _("yours to write")

    definitions = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    if definitions:
        defined = names([node.name for node in definitions])
        return _("defines {0}").format(defined) + purpose(definitions)
    variables = assigned_names(body)
    if variables:
        return _("computes {0}").format(names(variables))
    call = first_call(body)
    if call and "print(" not in code:
        return _("calls {0}").format(names([call]))
    return _("prints what follows")


def purpose(definitions: list[ast.FunctionDef | ast.ClassDef]) -> str:
    """Return ": " and the first line of the docstring of a single definition, if it has one."""
    docstring = ast.get_docstring(definitions[0]) if len(definitions) == 1 else None
    if not docstring or not docstring[0].isalpha():
        return ""
    return f": {escape(docstring.splitlines()[0])}"


def assigned_names(body: list[ast.stmt]) -> list[str]:
    """Return the names that assignments of the top level store, each once."""
    variables = []
    for statement in body:
        if isinstance(statement, ast.Assign):
            variables += stored_names(statement)
    return [name for name in dict.fromkeys(variables) if name != "_"]


def stored_names(assignment: ast.Assign) -> list[str]:
    """Return the names that an assignment stores."""
    return [
        node.id
        for node in ast.walk(assignment)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def first_call(body: list[ast.stmt]) -> str:
    """Return the function that is called first; "" for none."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                return ast.unparse(node.func)
    return ""


def names(identifiers: list[str]) -> str:
    """Return identifiers as HTML, with commas between; a long list is cut."""
    code = [f"<code>{escape(name)}</code>" for name in identifiers[:MOST_NAMES]]
    return ", ".join(code) + (", …" if len(identifiers) > MOST_NAMES else "")
