"""Pack the animals' drawings for the playground: in grey, 4 bits a pixel and compressed.

    python -m tools.pack_animals

Ten animals as nine artists drew them (`capsnet_book.animals`), 44×44 pixels each;
`playground/animals.js` reads them in the page and makes pictures of them, turned, enlarged and
moved. The file holds the artists' names, sources and licences, too.
"""

from __future__ import annotations

import json
from pathlib import Path

import torch
import torch.nn.functional as F
from capsnet_book import animals
from capsnet_book.experiments.animals import PICTURED
from safetensors.torch import save
from torch import Tensor

from tools.pack_digits import in_four_bits

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "book" / "capsnet_book" / "assets" / "digits" / "animals.safetensors"
SIDE = 44
"""Pixels along a side of a drawing."""
PALEST = 0.3
"""The ink of what an artist left white, so that it differs from paper."""
LUMA = (0.299, 0.587, 0.114)
"""How bright red, green and blue are (ITU-R BT.601)."""


def greys() -> Tensor:
    """Return the drawings, [artists, animals, 44, 44]: ink from 0, paper, to 1."""
    drawings = animals.drawings()[:, list(PICTURED)]
    colours, opacity = drawings[:, :, :3], drawings[:, :, 3]
    brightness = torch.einsum("aecyx,c->aeyx", colours, torch.tensor(LUMA))
    ink = opacity * (1 - (1 - PALEST) * brightness)
    return F.interpolate(ink, size=(SIDE, SIDE), mode="area")


def packed() -> bytes:
    """Return the file's bytes.

    Its one tensor, `packed`, uint8, holds greys 0 to 15 of all pixels, two a byte, compressed with
    gzip. Its metadata `card` is JSON: `side`, `animals` and `artists`, each with title, author,
    source, licence and whether it is `shown` to networks that learn.
    """
    about = animals.card()
    fields = ("set", "title", "author", "source", "licence", "licence_url")
    artists = []
    for row, artist in enumerate(about["artists"]):
        shown = row in animals.SHOWN
        artists.append({**{name: artist[name] for name in fields}, "shown": shown})
    names = [animals.ANIMALS[label] for label in PICTURED]
    card = {"side": SIDE, "animals": names, "artists": artists}
    drawings = torch.frombuffer(bytearray(in_four_bits(greys())), dtype=torch.uint8)
    return save({"packed": drawings}, {"card": json.dumps(card)})


def main() -> None:
    """Write the file and print its size."""
    TARGET.write_bytes(packed())
    print(f"{TARGET.stat().st_size:,} bytes -> {TARGET}")


if __name__ == "__main__":
    main()
