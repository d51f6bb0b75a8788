"""Which images a network reads wrongly, as a short text for JSON: a bit an image, compressed."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence

import numpy as np


def pack(wrong: Sequence[int], images: int) -> str:
    """The text for these positions among so many images."""
    bits = np.zeros(images, dtype=bool)
    bits[list(wrong)] = True
    return base64.b85encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode()


def unpack(text: str, images: int) -> np.ndarray:
    """The inverse of `pack`: bool [images], True where an image is read wrongly."""
    bits = np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype=np.uint8)
    return np.unpackbits(bits, count=images).astype(bool)
