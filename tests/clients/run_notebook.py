"""Run a notebook with the Python that runs this file, and compare what its cells say in words.

Words are verdicts and truth values, which hold for any seed; numbers differ between versions.
"""

from __future__ import annotations

import re
import sys

import nbformat
from nbclient import NotebookClient


def verdicts(notebook: nbformat.NotebookNode) -> dict[str, list[str]]:
    """Return what the cells say in words, by the cell's source."""
    words = {}
    for cell in notebook.cells:
        ignored = "nbval-ignore-output" in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and not ignored:
            text = " ".join(_text_of(output) for output in cell.outputs)
            words[cell.source] = re.findall(r"\b(?:True|False)\b|[✓✗]", text)
    return words


def _text_of(output: nbformat.NotebookNode) -> str:
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def main(name: str) -> None:
    """Run a notebook of this folder; fail where its words differ from the stored ones."""
    notebook = nbformat.read(name, as_version=4)
    stored = verdicts(notebook)
    resources = {"metadata": {"path": "."}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    executed = verdicts(notebook)
    differences = {
        source: (stored[source], words)
        for source, words in executed.items()
        if words != stored[source]
    }
    assert not differences, differences


if __name__ == "__main__":
    main(sys.argv[1])
