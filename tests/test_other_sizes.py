"""A reader's network of other sizes runs through chapter 9, and chapter 10 bends its digits."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
SIZES = "SMALL = 64, 2, 8, 5, 72, 128, 256"
OTHER_SIZES = {
    "smaller": "SMALL = 32, 2, 4, 7, 16, 64, 128",
    "more maps": "SMALL = 128, 2, 8, 5, 72, 128, 256",
}


def run(chapter: str, changes: dict[str, str], folder: Path) -> str:
    """Run a chapter with lines changed; return what it prints. A cell that fails raises."""
    (path,) = (ROOT / "book" / "chapters").glob(f"{chapter}-*.ipynb")
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for line, change in changes.items():
        assert any(line in cell.source for cell in cells)
        for cell in cells:
            cell.source = cell.source.replace(line, change)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in cells for output in cell.outputs]
    return "".join(output.get("text", "") for output in outputs)


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", OTHER_SIZES.values(), ids=OTHER_SIZES)
def test_it_trains_is_saved_and_bends(sizes: str, tmp_path: Path) -> None:
    printed = run("09", {SIZES: sizes, "range(1, 16)": "range(1, 2)"}, tmp_path)
    assert "epoch  1: loss" in printed
    assert (tmp_path / "my_capsnet.safetensors").exists()
    comments = {"# from capsnet_tutorial": "from capsnet_tutorial", "# model = ": "model = "}
    run("10", comments, tmp_path)
