"""A decoder that draws a handwritten digit at its angle, from the pose that turning capsules read.

The reader of `turning.trained_reader` stays as it is; a small decoder learns to draw training
digits, turned by at most 45 degrees, from the poses of their classes.
`python -m capsnet_book.experiments.turning_decoder` trains it, writes its weights for the page and
results/turning_decoder.json.
"""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from capsnet_book.assets import asset
from capsnet_book.experiments import arms, records
from capsnet_book.experiments.arms import between
from capsnet_book.experiments.turning import DIGITS, FAMILIAR, VIEWS, pictures_of
from capsnet_book.turning import AngleReader, PoseDecoder, trained_reader
from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import digits
from capsnet_tutorial.files import write_json, write_tensors
from capsnet_tutorial.train import over_batches

SEED = 20
"""Of the reader, and of all chance here."""
LEARNED_FROM = 20_000
"""Training digits, each at one angle."""
STEPS, BATCH, RATE = 4000, 128, 0.005
FILE = "small-turning-decoder.safetensors"


def squared_errors(drawings: Tensor, images: Tensor) -> Tensor:
    """Compute the sum over pixels of squared differences, [N]."""
    return (drawings - images).square().sum(dim=(1, 2, 3))


@torch.no_grad()
def read_poses(reader: AngleReader, images: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the poses [N, 2, 3] and the turns [N, 2] of images [N, 1, 28, 28] of known classes."""

    def poses_and_turns(batch: Tensor, classes: Tensor) -> tuple[Tensor, Tensor]:
        reading = reader.read(batch, classes)
        return reading.pose, reading.turn

    poses, turns = over_batches(reader, poses_and_turns, images, labels)
    return poses, turns


def train(reader: AngleReader) -> PoseDecoder:
    """Return a decoder that has learned to draw from a reader's poses."""
    generator = torch.Generator().manual_seed(10_000 + SEED)
    angles = between((-FAMILIAR, FAMILIAR), LEARNED_FROM, generator)
    images, labels = DIGITS.training_pictures(angles, generator)
    poses, turns = read_poses(reader, images, labels)

    def loss(decoder: PoseDecoder, generator: torch.Generator) -> Tensor:
        chosen = torch.randint(LEARNED_FROM, (BATCH,), generator=generator)
        drawings = decoder(poses[chosen], labels[chosen], turns[chosen])
        return squared_errors(drawings, images[chosen]).mean()

    return arms.trained(PoseDecoder, loss, SEED, RATE, STEPS)


@torch.no_grad()
def measure(reader: AngleReader, decoder: PoseDecoder) -> dict[str, dict[str, float]]:
    """Measure squared errors, a digit's sum over pixels, of drawings of test digits.

    Returns:
        By view of `turning.VIEWS` the means of ``drawing``; of ``mean``, the class's mean training
        digit turned by the believed angle; of ``blank``, paper.
    """
    data = digits("train", "mnist")
    means = torch.stack([data.images[data.labels == label].mean(dim=0) for label in range(10)])
    errors = {}
    for view in VIEWS:
        images, labels = pictures_of(DIGITS, view)
        poses, turns = read_poses(reader, images, labels)
        cos, sin = turns.unbind(dim=1)
        believed = torch.rad2deg(torch.atan2(sin, cos))
        drawings = {
            "drawing": decoder(poses, labels, turns),
            "mean": transform(means[labels], Pose(rotation=believed)),
            "blank": torch.zeros_like(images),
        }
        errors[view] = {
            name: round(squared_errors(pictures, images).mean().item(), 2)
            for name, pictures in drawings.items()
        }
    return errors


def main() -> None:
    """Train the decoder; write its weights and its record."""
    commit = records.code_version()
    start = time.process_time()
    reader = trained_reader()
    decoder = train(reader)
    seconds = time.process_time() - start
    tensors = dict(decoder.state_dict())
    write_tensors(asset("weights/small-turning.safetensors").with_name(FILE), tensors, {})
    record: dict[str, Any] = {
        "about": {
            "command": "python -m capsnet_book.experiments.turning_decoder",
            "learned_from": LEARNED_FROM,
            "steps": STEPS,
            "batch": BATCH,
        },
        "seed": SEED,
        "parameters": sum(parameter.numel() for parameter in decoder.parameters()),
        "processor_seconds": round(seconds, 1),
        "commit": commit,
        "errors": measure(reader, decoder),
    }
    write_json(records.folder() / "turning_decoder.json", record)
    print(record["errors"])


if __name__ == "__main__":
    main()
