"""The words in notebooks' code: translated, and nothing else changed."""

from __future__ import annotations

import ast
import json
from contextlib import redirect_stdout
from io import StringIO
from textwrap import dedent

import pytest

from tools.translation.catalogues import stored_catalogue, translations
from tools.translation.code import rewritten_code, rewritten_prints, without_commands
from tools.translation.current import messages_of
from tools.translation.messages import rewritten
from tools.translation.paths import pages

NOTEBOOKS = {name: path for name, path in pages().items() if path.suffix == ".ipynb"}
CHINESE = {
    "the longest": "最长的",
    "Return the answer.": "返回答案。",
    "{} of {} right": "{2} 个中对 {1} 个",
    "lengths:": "长度：",
    "in all": "总共",
    ", then": "，然后",
}


def in_chinese(kind: str, english: str) -> str | None:
    """Return the translation of `CHINESE`."""
    return CHINESE.get(english)


def code(text: str) -> str:
    """Return code without the indent that it has in this file."""
    return dedent(text).strip("\n")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("v = x.max()  # the longest", "v = x.max()  # 最长的"),
        ('x = "# the longest"', 'x = "# the longest"'),
        ("# model.load(path)", "# model.load(path)"),
        ("u = w(x)  # [B, types, H, W]", "u = w(x)  # [B, types, H, W]"),
        ('print("é", "lengths:", v)', 'print("é", "长度：", v)'),
        ("print(f\"{k:2} of {d['n']} right\")", "print(f\"{d['n']} 个中对 {k:2} 个\")"),
        ('print(", ".join(a) or "in all")', 'print(", ".join(a) or "总共")'),
        ('print(a, end=", then ")', 'print(a, end="，然后 ")'),
        ('say("in all")', 'say("in all")'),
        ("%pip install x\nv = x  # the longest", "%pip install x\nv = x  # 最长的"),
        ("two words # the longest", "two words # the longest"),
    ],
)
def test_words_are_translated_and_code_is_not(english: str, chinese: str) -> None:
    assert rewritten_code(english, in_chinese) == chinese


def test_a_docstring_is_translated() -> None:
    function = code('''
        def f(x):
            """Return the answer."""
            return "Return the answer."
        ''')

    assert rewritten_code(function, in_chinese) == function.replace(
        '"""Return the answer."""', '"""返回答案。"""'
    )


@pytest.mark.parametrize(
    ("program", "printed", "chinese"),
    [
        ('print(f"{k} of {n} right")', "3 of 5 right\n", "5 个中对 3 个\n"),
        ('print("lengths:", v)', "lengths: [1, 2]\nother", "长度： [1, 2]\nother"),
        (
            'print(k, end=", then ")\nprint(f"{k} of {n} right")',
            "7, then 3 of 5 right",
            "7，然后 5 个中对 3 个",
        ),
        ("print(v)", "tensor([1])", "tensor([1])"),
        ('print("lengths:", ", ".join(a) or "in all")', "lengths: in all", "长度： 总共"),
        ('print("lengths:", "in all" if a else b)', "lengths: in all", "长度： 总共"),
        ('print("lengths:", b)', "lengths: in all", "长度： in all"),
    ],
)
def test_what_was_printed_is_translated(program: str, printed: str, chinese: str) -> None:
    assert rewritten_prints(printed, program, in_chinese) == chinese


def test_names_that_a_cell_prints_are_translated_where_it_has_them() -> None:
    program = code("""
        for name, n in {"the longest": 1, "in all": 2}.items():
            print(f"{name:11}: {n} of {m} right")
        """)
    printed = "the longest: 1 of 3 right\nin all     : 2 of 3 right"
    names = ["the longest", "in all"]

    translated = rewritten_code(program, in_chinese, names)
    assert '{"最长的": 1, "总共": 2}' in translated
    scope = {"m": 3}
    with redirect_stdout(StringIO()) as output:
        exec(translated, scope)
    assert rewritten_prints(printed, program, in_chinese, names) == output.getvalue().strip("\n")


def test_spaces_that_fill_a_name_are_no_part_of_the_next_value() -> None:
    program = code("""
        for name in ("largest", "all"):
            print(f"number {n}: {name:7}", shares)
        """)
    printed = "number 1: largest [0.9]\nnumber 1: all     [0.1]"
    names = ["largest", "all"]
    assert rewritten_prints(printed, program, lambda kind, text: text, names) == printed


@pytest.mark.parametrize("name", sorted(NOTEBOOKS))
def test_chinese_code_does_what_the_english_does(name: str) -> None:
    dictionary = translations(stored_catalogue(name))
    text = NOTEBOOKS[name].read_text(encoding="utf-8")
    chinese = rewritten(text, ".ipynb", lambda kind, english: dictionary.get(english))

    for (before, names), (after, _) in zip(code_cells(text), code_cells(chinese), strict=True):
        chinese_names = [dictionary.get(name, name) for name in names]
        assert without_words(before, names) == without_words(after, chinese_names)


def code_cells(text: str) -> list[tuple[str, list[str]]]:
    """Return the code of a notebook's cells, as Python can parse it, and the names in it."""
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    return [
        (without_commands("".join(cell["source"])), cell["metadata"].get("names", []))
        for cell in cells
    ]


def without_words(program: str, names: list[str]) -> str:
    """Return a program's structure with neither docstrings nor what `print` is given as text.

    Args:
        program: a cell's code.
        names: strings in it that have their number in this list instead.
    """
    tree = ast.parse(program)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in names:
            node.value = str(names.index(node.value))
    for node in ast.walk(tree):
        is_print = isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
        if is_print or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            forget_texts(node)
    return ast.dump(tree)


def forget_texts(node: ast.AST) -> None:
    """Empty the strings below a node, and sort what its f-strings fill in."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            part.value = ""
        elif isinstance(part, ast.JoinedStr):
            values = [value for value in part.values if isinstance(value, ast.FormattedValue)]
            part.values = sorted(values, key=ast.dump)  # type: ignore[arg-type]


def test_the_chapters_have_words_in_their_code() -> None:
    kinds = {kind for path in NOTEBOOKS.values() for kind, _ in messages_of(path)}

    assert {"comment", "docstring", "printed"} <= kinds
