"""Grading: a notebook is run, and what its checks say comes out as JSON."""

import json

import nbformat
import pytest
from capsnet_book.grade import grade, main

pytestmark = pytest.mark.slow

CELLS = (
    "from capsnet_book.answers import check_function",
    "def double(x):\n    return 2 * x",
    "def triple(x):\n    return 2 * x",
    "def square(x):\n    return ...",
    "check_function(double, lambda x: 2 * x, (3,))",
    "check_function(triple, lambda x: 3 * x, (3,))",
    "check_function(square, lambda x: x * x, (3,))",
    "raise RuntimeError('a cell that fails')",
    "check_function(double, lambda x: 2 * x, (4,))",
)


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    path = tmp_path_factory.mktemp("graded") / "handed-in.ipynb"
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)
    return path


def test_it_lists_every_verdict_in_order(notebook, capsys):
    stored = notebook.read_bytes()
    assert main([str(notebook)]) == 1
    grades = json.loads(capsys.readouterr().out)
    verdicts = [(entry["exercise"], entry["verdict"]) for entry in grades]
    assert verdicts == [
        ("double", "right"),
        ("triple", "not right"),
        ("square", "not written"),
        ("raise RuntimeError('a cell that fails')", "failed"),
        ("double", "right"),
    ]
    assert "expected 9, came 6" in grades[1]["report"]
    assert notebook.read_bytes() == stored, "it is not changed"


def test_what_is_no_notebook_is_refused(tmp_path, capsys):
    with pytest.raises(ValueError, match="expected the path of a notebook"):
        grade(tmp_path / "nothing.ipynb")
    assert main([str(tmp_path / "nothing.ipynb")]) == 2
    assert "expected the path of a notebook" in capsys.readouterr().err
