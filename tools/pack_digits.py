"""Pack the bundled sample for the playground: ``python tools/pack_digits.py`` writes it in 4 bits a pixel, gzip.

4,000 digits to learn from, then the 500 of the sample's test split; the page reads them in ``playground/files.js``.
"""

import gzip
from pathlib import Path

import torch
from safetensors.torch import save

from capsnet_tutorial.data import digits

TARGET = (
    Path(__file__).parents[1] / "book" / "capsnet_book" / "assets" / "digits" / "digits.safetensors"
)


def packed() -> bytes:
    """The file's bytes: `packed`, uint8, greys 0 to 15 of all pixels in pairs, compressed; `labels` uint8 [4500]."""
    splits = [digits(split, source="sample") for split in ("train", "test")]
    greys = (torch.cat([split.images for split in splits]).flatten() * 15).round().to(torch.uint8)
    pairs = gzip.compress((greys[0::2] * 16 + greys[1::2]).numpy().tobytes(), 9, mtime=0)
    labels = torch.cat([split.labels for split in splits]).to(torch.uint8)
    return save({"packed": torch.frombuffer(bytearray(pairs), dtype=torch.uint8), "labels": labels})


if __name__ == "__main__":
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(packed())
    print(f"{TARGET.stat().st_size:,} bytes -> {TARGET}")
