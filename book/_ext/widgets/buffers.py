"""Large buffers of widgets, such as weights: files that a notebook names by their SHA-256."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

PUBLISHED = ("weights", "recordings", "digits")  # folders of assets that widgets show
PACKAGES = ("capsnet_tutorial", "book/capsnet_book")
FOLDER = Path("_static", "widget-buffers")  # in the built book

logger = logging.getLogger(__name__)


@cache
def files_by_hash(root: Path) -> dict[str, Path]:
    """Return SHA-256 -> file for the files that the packages under `root` publish."""
    folders = [root / package / "assets" / name for package in PACKAGES for name in PUBLISHED]
    files = sorted(file for folder in folders for file in folder.glob("*.safetensors"))
    return {hashlib.sha256(file.read_bytes()).hexdigest(): file for file in files}


def named_buffers(models: dict[str, dict[str, Any]]) -> list[str]:
    """Return the SHA-256 of each buffer that the models name by it."""
    buffers = [buffer for model in models.values() for buffer in model.get("buffers", [])]
    return [buffer["data"] for buffer in buffers if buffer["encoding"] == "sha256"]


def publish(app: Sphinx, page: str, hashes: list[str]) -> None:
    """Write the files with these SHA-256 to the built book; warn of a buffer that is no file."""
    for sha256 in hashes:
        file = files_by_hash(Path(app.srcdir)).get(sha256)
        if file:
            write_buffer(Path(app.outdir, FOLDER), sha256, file.read_bytes())
            continue
        logger.warning(
            f"a widget needs the buffer with SHA-256 {sha256}, but no safetensors file of "
            f"{' or '.join(PUBLISHED)} is that. "
            "The file changed after the notebook was executed: `make notebooks` refreshes it.",
            location=page,
            type="live-widget",
        )


def write_buffer(folder: Path, sha256: str, data: bytes) -> None:
    """Write a buffer twice unless it is there: as it is, for http, and as a script, for file://.

    A page opened from the disk may not fetch a file beside it, but may run a script.
    """
    script = folder / f"{sha256}.js"
    if script.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    folder.joinpath(f"{sha256}.safetensors").write_bytes(data)
    script.write_text(f'capsnetBuffers["{sha256}"] = "{base64.b64encode(data).decode()}";\n')
