"""Read the exercises out of a chapter's cells: blanks, names that a cell defines or needs."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat

HEADING = "## Exercises"
HOLE = "your-turn"
"""The tag of a hole in a chapter's text, and of the cells that check it."""


def markdown_cells(path: Path) -> list[str]:
    """Return the sources of a notebook's Markdown cells."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def code_cells(path: Path) -> list[str]:
    """Return the sources of a notebook's code cells."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def exercise_cells(path: Path) -> list[str]:
    """Return the code cells after the heading of the exercises, and the holes before it."""
    cells = nbformat.read(path, as_version=4).cells
    headings = [k for k, cell in enumerate(cells) if HEADING in cell.source]
    start = headings[0] if headings else len(cells)
    sources = []
    for k, cell in enumerate(cells):
        belongs = k > start or HOLE in cell.metadata.get("tags", [])
        if belongs and cell.cell_type == "code":
            sources.append(cell.source)
    return sources


def parsed(source: str) -> ast.Module:
    """Return a cell's syntax tree; magics count as ``pass``."""
    return ast.parse(re.sub(r"^(\s*)[%!].*", r"\1pass", source, flags=re.MULTILINE))


def defined_names(source: str) -> list[str]:
    """Return the functions, classes and variables that a cell defines at its top level."""
    names = []
    for node in parsed(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return names


def bound_names(source: str) -> set[str]:
    """Return the names that a cell imports, defines or assigns."""
    symbols = _symbol_table(source).get_symbols()
    return {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}


def needed_names(source: str) -> set[str]:
    """Return the names that a cell takes from elsewhere, those inside its functions included."""
    names = set()
    tables = [_symbol_table(source)]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        at_top_level = table.get_type() == "module"
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (at_top_level or symbol.is_global()):
                names.add(symbol.get_name())
    return names


def _symbol_table(source: str) -> symtable.SymbolTable:
    return symtable.symtable(ast.unparse(parsed(source)), "cell", "exec")


def blanks(path: Path) -> list[str]:
    """Return the names that a chapter leaves to the reader.

    A function or class is blank if its last ``return`` gives ``...``; a variable if it is ``...``.
    """
    names = []
    for source in exercise_cells(path):
        for node in parsed(source).body:
            value = _final_value(node)
            if isinstance(value, ast.Constant) and value.value is ...:
                names += defined_names(ast.unparse(node))
    return names


def _final_value(node: ast.stmt) -> ast.expr | None:
    """Return what a statement assigns, or what the last ``return`` inside it gives."""
    if isinstance(node, ast.Assign):
        return node.value
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        returns = [inner for inner in ast.walk(node) if isinstance(inner, ast.Return)]
        return returns[-1].value if returns else None
    return None


def folded_answers(path: Path) -> dict[str, str]:
    """Return the code that a chapter shows, folded, as its own filling of a hole, by name."""
    answers = {}
    for text in markdown_cells(path):
        for source in re.findall(r"<details>.*?```python\n(.*?)```", text, re.DOTALL):
            names = defined_names(source)
            if names:  # else lines to add, such as those of early stopping
                answers[names[0]] = source
    return answers


def cells_to_run(path: Path, answers: Iterable[str]) -> list[str]:
    """Return the exercises and, in order, the cells that they and the answers build on.

    All other cells of a chapter are run by nbval.
    """
    exercises = exercise_cells(path)
    names: set[str] = set()
    for source in [*exercises, *answers]:
        names |= needed_names(source)
    everything = code_cells(path)
    kept = set(exercises)
    for source in reversed(everything):
        if source not in kept and bound_names(source) & names:
            kept.add(source)
            names |= needed_names(source)
    return [source for source in everything if source in kept]


def last_expression(source: str) -> tuple[ast.Module, Any]:
    """Return a cell's statements and, apart, the expression that it ends with, or None."""
    body = parsed(source).body
    if body and isinstance(body[-1], ast.Expr):
        return ast.Module(body[:-1], []), ast.Expression(body[-1].value)
    return ast.Module(body, []), None
