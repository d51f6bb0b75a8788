"""Execute the book's notebooks in place, and store nothing in them that changes by itself.

    python -m tools.refresh_notebooks [--only-normalise] [notebook …]    (default: all)

A stored notebook carries its outputs and the state of its widgets, so that the book needs no
kernel. Executed as they come, two runs would differ in timings, model ids and versions, and the
network's weights would be in every chapter. After this script a second run changes no byte:

* widgets are stored as `book/_ext/widgets/storage.py` says, a still picture in the place of each;
* figures are PNG with a palette of few colours, a third of their size; beside each lies its form
  for a phone (`capsnet_book/figures/_phone.py`);
* timings, the interpreter's version and the kernel's display name are normalised.

With --only-normalise nothing is executed: the notebooks named are brought into this form, as after
a merge.
"""

from __future__ import annotations

import argparse
import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from _ext.notebooks.figures import PHONE
from _ext.widgets.models import OURS
from _ext.widgets.storage import SENTENCE, pack, unpack
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageOps

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("book/chapters", "book/solutions", "book")
STILLS = ROOT / "book" / "_static" / "stills"
REGISTER_PHONE_FORMS = "from capsnet_book.figures._phone import register; register()"
CELL_SECONDS = 600  # that a cell may take
# Tags of cells whose code the book folds or leaves out; JupyterLab has a key of its own.
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}

COLOURS = (
    32,
    64,
)  # of a figure: the second where the first would shift colours that mean something
VISIBLE_SHIFT = 24  # of 255: a pixel's channel that differs by less looks the same
SHIFTED_SHARE = 0.001  # of the pixels that may differ visibly
STILL_WIDTH = 360  # pixels, in a notebook
WIDE_STILLS = {"Glass": 720}  # its parts have names, which are to be read
STILL_COLOURS = 16
SENTENCE_HEIGHT = 28  # pixels below the still
SENTENCE_SIZE = 12


def main(arguments: Sequence[str] | None = None) -> None:
    """Refresh the notebooks named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all of the book's")
    parser.add_argument(
        "--only-normalise",
        action="store_true",
        help="execute nothing, store what is there this way",
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=CELL_SECONDS,
        help=f"seconds a cell may take (default: {CELL_SECONDS})",
    )
    options = parser.parse_args(arguments)
    for path in options.notebooks or all_notebooks(ROOT):
        changed = refresh(path, options.timeout, options.only_normalise)
        print(f"{path}: {'refreshed' if changed else 'unchanged'}", flush=True)


def all_notebooks(root: Path) -> list[Path]:
    """Return every notebook of the book, in order."""
    return [path for folder in FOLDERS for path in sorted((root / folder).glob("*.ipynb"))]


def refresh(path: Path, timeout: int = CELL_SECONDS, only_normalise: bool = False) -> bool:
    """Execute a notebook unless `only_normalise`, and store it; return True if it changed."""
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    if not only_normalise:
        execute(notebook, path, timeout)
    normalise(notebook, path.stem)
    after = nbformat.writes(notebook).rstrip("\n") + "\n"
    if after != before:
        path.write_text(after, encoding="utf-8", newline="\n")
    return after != before


def execute(notebook: nbformat.NotebookNode, path: Path, timeout: int) -> None:
    """Run all cells in the notebook's folder.

    Raises:
        SystemExit: a cell failed.
    """
    for key in ("widgets", OURS):
        notebook.metadata.pop(key, None)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.resolve().parent)}},
        extra_arguments=[f"--IPKernelApp.exec_lines={REGISTER_PHONE_FORMS}"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise SystemExit(f"{path}: a cell failed, the file is as it was\n{error}") from None


# --- what differs from run to run


def normalise(notebook: nbformat.NotebookNode, name: str) -> None:
    """Remove from an executed notebook what differs from run to run and between machines."""
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        normalise_metadata(cell.metadata)
        for output in cell.get("outputs", []):
            shrink(output.get("data", {}), "image/png")
            shrink(output.get("metadata", {}), PHONE)
    unpack(notebook)
    pack(notebook, name, ROOT, still)


def normalise_metadata(metadata: dict[str, Any]) -> None:
    """Keep of a cell's metadata what its tags say about folds."""
    metadata.pop("execution", None)
    metadata.pop("jupyter", None)
    tags = set(metadata.get("tags", []))
    if FOLDED & tags:
        metadata["jupyter"] = {"source_hidden": True}
    elif "hide-output" in tags:
        metadata["jupyter"] = {"outputs_hidden": True}


# --- pictures


def shrink(holder: dict[str, Any], key: str) -> None:
    """Give a picture that is stored there a palette, if there is one."""
    if key in holder:
        holder[key] = with_a_palette(holder[key])


def with_a_palette(png: str, colours: Sequence[int] = COLOURS) -> str:
    """Return a figure with few colours: a third of the bytes, and no difference to see.

    `colours` are the numbers to try, in order; the last is taken in any case.
    """
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P":
        return png
    whole = picture.convert("RGB")
    enough = next((number for number in colours if looks_the_same(whole, number)), colours[-1])
    return as_png(whole, enough)


def looks_the_same(picture: Image.Image, colours: int) -> bool:
    """Return True if few pixels differ visibly with this number of colours."""
    reduced = in_colours(picture, colours).convert("RGB")
    channels = ImageChops.difference(picture, reduced).split()
    shifted = max(sum(channel.histogram()[VISIBLE_SHIFT:]) for channel in channels)
    return shifted <= picture.width * picture.height * SHIFTED_SHARE


def still(look: str) -> str:
    """Return the still of a widget's look with a sentence below: a small PNG in base64."""
    path = STILLS / f"{look}.webp"
    if path.exists():
        whole = Image.open(path).convert("RGB")
    else:  # a new widget, before `make stills`
        whole = Image.new("RGB", (STILL_WIDTH, 1), "white")
    width = WIDE_STILLS.get(look, STILL_WIDTH)
    height = whole.height * width // whole.width
    small = whole.resize((width, height), Image.Resampling.LANCZOS)
    size = (width, height + SENTENCE_HEIGHT)
    picture = ImageOps.pad(small, size, color="white", centering=(0, 0))
    font = ImageFont.load_default(SENTENCE_SIZE)
    ImageDraw.Draw(picture).text((8, height + 6), SENTENCE, "#444444", font)
    return as_png(picture, STILL_COLOURS)


def as_png(picture: Image.Image, colours: int) -> str:
    """Return a picture as PNG with a palette, in base64."""
    stream = io.BytesIO()
    in_colours(picture, colours).save(stream, "PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def in_colours(picture: Image.Image, colours: int) -> Image.Image:
    """Return a picture with a palette."""
    return picture.quantize(colours, kmeans=1, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
