"""Pack the bundled sample for the playground, in 4 bits a pixel and compressed.

    python -m tools.pack_digits

4,000 digits to learn from, then the 500 of the sample's test split; `playground/files.js` reads
them in the page.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import torch
from safetensors.torch import save

from capsnet_tutorial.data import digits

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "book" / "capsnet_book" / "assets" / "digits" / "digits.safetensors"
SPLITS = ("train", "test")
GREYS = 16


def packed() -> bytes:
    """Return the file's bytes, with two tensors.

    `packed`, uint8: greys 0 to 15 of all pixels, two a byte, compressed with gzip. `labels`: uint8
    [4500].
    """
    splits = [digits(split, source="sample") for split in SPLITS]
    pixels = torch.cat([split.images for split in splits]).flatten()
    greys = (pixels * (GREYS - 1)).round().to(torch.uint8)
    pairs = greys[0::2] * GREYS + greys[1::2]
    compressed = gzip.compress(pairs.numpy().tobytes(), compresslevel=9, mtime=0)
    labels = torch.cat([split.labels for split in splits]).to(torch.uint8)
    tensors = {"packed": torch.frombuffer(bytearray(compressed), dtype=torch.uint8)}
    return save({**tensors, "labels": labels})


def main() -> None:
    """Write the file and print its size."""
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed())
    print(f"{TARGET.stat().st_size:,} bytes -> {TARGET}")


if __name__ == "__main__":
    main()
