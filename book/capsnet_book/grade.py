"""Grade a notebook: run it, and list what the checks of its exercises say.

``python -m capsnet_book.grade 06-routing.ipynb`` prints JSON, one entry a check. The notebook is
run in its own folder and is not changed. Whoever wrote it can make a check say anything: run only
what you would open, and take a verdict as help and not as proof.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbclient import NotebookClient

from capsnet_tutorial.errors import expect

VERDICTS = {"✓": "right", "✗": "not right", "…": "not written", "?": "cannot be judged"}
"""What a report begins with, and what that means."""

REPORT = re.compile(rf"^([{''.join(VERDICTS)}]) ([^:：\n]+)[:：]")


class Grade(NamedTuple):
    """The verdict of one check."""

    exercise: str
    """The name of what was checked, such as ``agreement``."""
    verdict: str
    """One of `VERDICTS`' values, or "failed" for a cell that raised."""
    report: str
    """All that the check said."""


def grade(path: Path, timeout: int = 600) -> list[Grade]:
    """Run a notebook and return the verdicts of its checks, in order.

    Args:
        path: of the notebook.
        timeout: seconds that one cell may take.

    Raises:
        ValueError: there is no such notebook.
    """
    expect(path.is_file() and path.suffix == ".ipynb", "the path of a notebook", str(path))
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        allow_errors=True,  # a cell that raises must not hide the verdicts below it
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return grades_in(notebook)


def grades_in(notebook: nbformat.NotebookNode) -> list[Grade]:
    """Return the verdicts that a notebook's outputs hold."""
    grades = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            grades += _grades_in_output(cell.source, output)
    return grades


def _grades_in_output(source: str, output: Any) -> list[Grade]:
    if output.output_type == "error":
        last_line = source.strip().rpartition("\n")[2]
        return [Grade(last_line, "failed", f"{output.ename}: {output.evalue}")]
    text = output.get("data", {}).get("text/plain", "")
    report = REPORT.match(text)
    if report is None:
        return []
    return [Grade(report[2], VERDICTS[report[1]], text)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status: 0 if every check says right, 1 if not, 2 if there is nothing to grade.
    """
    parser = argparse.ArgumentParser(
        prog="python -m capsnet_book.grade", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--timeout", type=int, default=600, help="seconds a cell may take")
    options = parser.parse_args(arguments)
    try:
        grades = grade(options.notebook, options.timeout)
    except ValueError as problem:
        print(f"grade: {problem}", file=sys.stderr)
        return 2
    print(json.dumps([entry._asdict() for entry in grades], indent=1, ensure_ascii=False))
    if not grades:
        print(f"grade: no check in {options.notebook}", file=sys.stderr)
        return 2
    return 0 if all(entry.verdict == "right" for entry in grades) else 1


if __name__ == "__main__":
    sys.exit(main())
