"""Pack the bundled sample for the playground, in 4 bits a pixel and compressed.

    python -m tools.pack_digits

4,000 digits to learn from, then the 500 of the sample's test split; `shared/digit_set.js` reads
them in the page. The first hundred of the test split, which its wall shows, come with the script:
they stand there before anything is fetched.
"""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from capsnet_tutorial.data import digits

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "book" / "capsnet_book" / "assets" / "digits" / "digits.safetensors"
HUNDRED = ROOT / "book" / "capsnet_book" / "widgets" / "playground" / "hundred_built.js"
SPLITS = ("train", "test")
WALL = 100
GREYS = 16


def packed() -> bytes:
    """Return the file's bytes, with two tensors.

    `packed`, uint8: greys 0 to 15 of all pixels, two a byte, compressed with gzip. `labels`: uint8
    [4500].
    """
    splits = [digits(split, source="sample") for split in SPLITS]
    compressed = in_four_bits(torch.cat([split.images for split in splits]))
    labels = torch.cat([split.labels for split in splits]).to(torch.uint8)
    tensors = {"packed": torch.frombuffer(bytearray(compressed), dtype=torch.uint8)}
    return save({**tensors, "labels": labels})


def hundred() -> str:
    """Return the script with the digits of the wall: their greys, as in `packed`, and labels."""
    test = digits("test", source="sample")
    greys = base64.b64encode(in_four_bits(test.images[:WALL])).decode()
    labels = "".join(map(str, test.labels[:WALL].tolist()))
    return (
        "// `python -m tools.pack_digits` writes this file: the hundred digits of the wall.\n"
        f'export const LABELS = "{labels}";\n'
        f'export const PACKED =\n  "{greys}";\n'
    )


def in_four_bits(images: Tensor) -> bytes:
    """Return greys 0 to 15 of all pixels, two a byte, compressed with gzip."""
    greys = (images.flatten() * (GREYS - 1)).round().to(torch.uint8)
    pairs = greys[0::2] * GREYS + greys[1::2]
    return gzip.compress(pairs.numpy().tobytes(), compresslevel=9, mtime=0)


def main() -> None:
    """Write both files and print their sizes."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed())
    HUNDRED.write_text(hundred(), encoding="utf-8")
    for path in (TARGET, HUNDRED):
        print(f"{path.stat().st_size:,} bytes -> {path}")


if __name__ == "__main__":
    main()
