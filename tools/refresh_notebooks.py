"""Execute the book's notebooks in place, and store nothing in them that changes by itself.

    python tools/refresh_notebooks.py [--only-normalise] [notebook …]        (all of the book's when none is named)

A stored notebook carries its outputs and the state of its widgets, so that the book needs no kernel. Executed as they
come, two runs would differ in timings, model ids and versions, and the network's weights would be in every chapter.
After this script a second run changes no byte:

* widgets are stored as `book/_ext/stored_widgets.py` says, a still picture in the place of each;
* figures are PNG with a palette of few colours, and with it a third of their size; beside each lies its form for a
  phone (`capsnet_book/figures/_phone.py`);
* timings, the interpreter's version and the kernel's display name are normalised.

With --only-normalise nothing is executed: the notebooks named are brought into this form, as after a merge.
"""

from __future__ import annotations

import argparse
import base64
import io
from collections.abc import Sequence
from pathlib import Path

import nbformat
from _ext.notebooks.figures import PHONE
from _ext.widgets.models import OURS
from _ext.widgets.storage import SENTENCE, pack, unpack
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from PIL import Image, ImageChops, ImageDraw, ImageFont, ImageOps

ROOT = Path(__file__).resolve().parent.parent
PHONE_FORMS = "from capsnet_book.figures._phone import register; register()"
NOTEBOOKS = ("book/chapters", "book/solutions", "book")
STILLS = ROOT / "book" / "_static" / "stills"
COLOURS = (32, 64)  # of a figure: more where few would shift a colour that has a meaning
WIDTH, STRIP = 360, 28  # pixels of a still in a notebook, and of its height for the sentence below
# Tags of cells whose code the book folds or leaves out; JupyterLab has a word of its own, and Colab shows them all.
FOLDED = {"hide-input", "hide-cell", "remove-input", "remove-cell"}


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
        "--timeout", type=int, default=600, help="seconds a cell may take (default: 600)"
    )
    options = parser.parse_args(arguments)
    for path in options.notebooks or all_notebooks(ROOT):
        changed = refresh(path, options.timeout, options.only_normalise)
        print(f"{path}: {'refreshed' if changed else 'unchanged'}", flush=True)


def all_notebooks(root: Path) -> list[Path]:
    """Every notebook of the book, in order."""
    return [path for folder in NOTEBOOKS for path in sorted((root / folder).glob("*.ipynb"))]


def refresh(path: Path, timeout: int = 600, only_normalise: bool = False) -> bool:
    """Execute a notebook (or not) and write it back if anything in it changed."""
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
    """Run all cells where the notebook lies."""
    for key in ("widgets", OURS):
        notebook.metadata.pop(key, None)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.resolve().parent)}},
        extra_arguments=[f"--IPKernelApp.exec_lines={PHONE_FORMS}"],
    )
    try:
        client.execute()
    except CellExecutionError as error:
        raise SystemExit(f"{path}: a cell failed, the file is as it was\n{error}") from None


def normalise(notebook: nbformat.NotebookNode, name: str) -> None:
    """Take out of an executed notebook what differs from run to run and from machine to machine."""
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        cell.metadata.pop("jupyter", None)
        tags = set(cell.metadata.get("tags", []))
        if FOLDED & tags:
            cell.metadata["jupyter"] = {"source_hidden": True}
        elif "hide-output" in tags:
            cell.metadata["jupyter"] = {"outputs_hidden": True}
        for output in cell.get("outputs", []):
            for place, key in (
                (output.get("data", {}), "image/png"),
                (output.get("metadata", {}), PHONE),
            ):
                if key in place:
                    place[key] = with_a_palette(place[key])
    unpack(notebook)
    pack(notebook, name, ROOT, still)


def with_a_palette(png: str, colours: Sequence[int] = COLOURS) -> str:
    """A figure with few colours: a third of the bytes, and no difference to see."""
    picture = Image.open(io.BytesIO(base64.b64decode(png)))
    if picture.mode == "P":
        return png
    whole = picture.convert("RGB")
    for few in colours:
        bands = ImageChops.difference(whole, in_colours(whole, few).convert("RGB")).split()
        shifted = max(sum(band.histogram()[24:]) for band in bands)  # pixels
        if shifted <= whole.width * whole.height / 1000:
            break
    return as_png(whole, few)


def still(widget: str) -> str:
    """What an output shows in the place of a widget of this class: a small PNG with a sentence below, in base64."""
    path = STILLS / f"{widget}.webp"  # there is none of a new widget before `make stills`
    whole = (
        Image.open(path).convert("RGB") if path.exists() else Image.new("RGB", (WIDTH, 1), "white")
    )
    height = whole.height * WIDTH // whole.width
    small = whole.resize((WIDTH, height), Image.Resampling.LANCZOS)
    picture = ImageOps.pad(small, (WIDTH, height + STRIP), color="white", centering=(0, 0))
    ImageDraw.Draw(picture).text((8, height + 6), SENTENCE, "#444444", ImageFont.load_default(12))
    return as_png(picture, 16)


def as_png(picture: Image.Image, colours: int) -> str:
    """A picture as PNG with a palette, in base64."""
    stream = io.BytesIO()
    in_colours(picture, colours).save(stream, "PNG", optimize=True)
    return base64.b64encode(stream.getvalue()).decode()


def in_colours(picture: Image.Image, colours: int) -> Image.Image:
    """A picture with a palette."""
    return picture.quantize(colours, kmeans=1, dither=Image.Dither.NONE)


if __name__ == "__main__":
    main()
