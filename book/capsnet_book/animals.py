"""Twelve animals as nine artists drew them: pictures in colour for the chapter "Your own pictures".

The drawings are openly licensed emoji; the card beside them, ``assets/animals/animals.json``, names
the sources and their licences, and ``python -m tools.make_animals`` made them. A network is trained
with the drawings of some artists and tested with those of others.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor
from torchvision.transforms.functional import pil_to_tensor, to_pil_image

from capsnet_book.assets import asset
from capsnet_tutorial.errors import expect

ANIMALS = (
    "bear",
    "cat",
    "cow",
    "dog",
    "frog",
    "koala",
    "monkey",
    "mouse",
    "panda",
    "pig",
    "rabbit",
    "tiger",
)
"""The classes, in the order of their labels: the alphabet's, as `ImageFolder` has them."""
SHOWN = (0, 1, 2, 3, 4, 5)
"""The artists whose drawings are for training: Noto twice, Fluent twice, Emoji One twice."""
UNSEEN = (6, 7, 8)
"""The artists whose drawings are for testing alone: Twemoji, OpenMoji, Streamline."""
SIDE = 32
"""Pixels along a side of a picture."""
TURN = 20.0
"""Degrees: a drawing is turned by up to so much, either way."""
SIZES = (0.75, 1.1)
"""A drawing is this many times as large as the picture."""
SHIFT = 0.15
"""A drawing is moved by up to this part of half a picture, across and down."""
PALE = 0.6
"""The background has one colour, each of its three numbers from here to 1."""


def card() -> dict[str, Any]:
    """Return the sources: ``artists``, each with title, author, source and licence."""
    return json.loads(asset("animals/animals.json").read_text(encoding="utf-8"))


@cache
def drawings() -> Tensor:
    """Return the drawings, [artists, animals, 4, 64, 64]: red, green, blue and opacity, 0 to 1."""
    about = card()
    expect(tuple(about["animals"]) == ANIMALS, "the animals of this module", repr(about["animals"]))
    side, artists = about["side"], len(about["artists"])
    with Image.open(asset("animals/animals.png")) as sheet:
        pixels = pil_to_tensor(sheet.convert("RGBA")).float() / 255
    tiles = pixels.reshape(4, artists, side, len(ANIMALS), side)
    return tiles.permute(1, 3, 0, 2, 4).contiguous()


def pictures(artists: Sequence[int], count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Make pictures of animals, each turned, enlarged and moved a little, on a pale background.

    Args:
        artists: rows of `drawings` to choose from.
        count: N.
        seed: of every choice.

    Returns:
        Images [N, 3, 32, 32] from 0 to 1, and labels, int64 [N].
    """
    generator = torch.Generator().manual_seed(seed)

    def between(low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(shape, generator=generator)

    rows = torch.tensor(artists)[torch.randint(len(artists), (count,), generator=generator)]
    labels = torch.randint(len(ANIMALS), (count,), generator=generator)
    angles = torch.deg2rad(between(-TURN, TURN, count))
    sizes = between(*SIZES, count)
    moves = between(-SHIFT, SHIFT, count, 2)
    grounds = between(PALE, 1.0, count, 3, 1, 1)
    placed = _placed(drawings()[rows, labels], angles, sizes, moves)
    colours, opacity = placed[:, :3], placed[:, 3:]
    return (colours + (1 - opacity) * grounds).clamp(0, 1), labels


def _placed(drawn: Tensor, angles: Tensor, sizes: Tensor, moves: Tensor) -> Tensor:
    """Return drawings turned, enlarged and moved: [N, 4, 32, 32], their colours times opacity.

    Args:
        drawn: [N, 4, 64, 64].
        angles: [N], in radians.
        sizes: [N], 1 fills the picture.
        moves: [N, 2], in halves of a picture.
    """
    colours, opacity = drawn[:, :3], drawn[:, 3:]
    drawn = torch.cat([colours * opacity, opacity], dim=1)
    cosine, sine = angles.cos() / sizes, angles.sin() / sizes
    first = torch.stack([cosine, sine, moves[:, 0]], dim=1)
    second = torch.stack([-sine, cosine, moves[:, 1]], dim=1)
    matrices = torch.stack([first, second], dim=1)  # [N, 2, 3]
    # Twice as many pixels, then the mean of four: no jagged edges.
    shape = [len(drawn), 4, 2 * SIDE, 2 * SIDE]
    places = F.affine_grid(matrices, shape, align_corners=False)
    return F.avg_pool2d(F.grid_sample(drawn, places, align_corners=False), 2)


def write_folder(folder: Path, artists: Sequence[int], count: int, seed: int) -> Path:
    """Write pictures as PNG files, a folder for each animal: what `ImageFolder` reads.

    Args:
        folder: is made if it is not there.
        artists: rows of `drawings`.
        count: of pictures.
        seed: of every choice.

    Returns:
        The folder.
    """
    images, labels = pictures(artists, count, seed)
    images = (255 * images).round().to(torch.uint8)
    for number, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        path = folder / ANIMALS[label] / f"{number:05}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        to_pil_image(image).save(path)
    return folder
