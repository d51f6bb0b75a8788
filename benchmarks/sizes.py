"""Measure which sizes learn with the defaults: ``python -m benchmarks.sizes``.

Trains CapsNets with 18, 288 and 3,200 primary capsules for 2, 10, 43 and 100 classes, 300 steps of
32 images each, on two-digit numbers from 00 on, made of the bundled sample. Then, on discs and
squares of 96 × 96 pixels, bright ones on black and dark ones on white, a network with as many
primary capsules as the small network's strides make of them (3,200) and one with larger strides
(128). Writes results/sizes.json after every training, and leaves out what is there already.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, Recipe, digits, evaluate, fit
from capsnet_tutorial.data import Split
from capsnet_tutorial.files import write_json

OUTPUT = Path(__file__).resolve().parent.parent / "results" / "sizes.json"
NUMBERS: dict[int, dict[str, int]] = {
    18: {"primary_types": 2},
    288: {"primary_types": 32},
    3200: {"primary_types": 50, "conv_stride": 1},
}
"""Sizes of a small network for 28 × 28 pixels, by the number of its primary capsules."""
CLASSES = (2, 10, 43, 100)
SHAPES: dict[int, dict[str, int]] = {
    128: {"conv_stride": 4, "primary_kernel": 9, "primary_stride": 4},
    3200: {},
}
"""Sizes of a small network for 96 × 96 pixels, by the number of its primary capsules."""
SEEDS = (0, 1, 2)
EXAMPLES: dict[Split, int] = {"train": 3200, "validation": 500}
RECIPE = Recipe(epochs=3, batch_size=32)
SHAPES_RECIPE = Recipe(epochs=12, batch_size=32)
SHAPES_EXAMPLES = {"train": 512, "validation": 256}


def main(arguments: list[str] | None = None) -> None:
    """Train what results/sizes.json lacks: everything, or the runs that are named."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.sizes")
    options.add_argument("runs", nargs="*", help="such as numbers-3200-43-0 or shapes-white-128-1")
    for name in options.parse_args(arguments).runs or names():
        if name in stored_runs():
            continue
        run = train(name)
        print(name, run, flush=True)
        record = {
            "command": "python -m benchmarks.sizes",
            "numbers": asdict(RECIPE) | EXAMPLES,
            "shapes": asdict(SHAPES_RECIPE) | SHAPES_EXAMPLES,
            "runs": dict(sorted((stored_runs() | {name: run}).items())),
        }
        write_json(OUTPUT, record)


def names() -> list[str]:
    """Return the names of all runs, the short ones first."""
    numbers = [
        f"numbers-{capsules}-{classes}-{seed}"
        for seed in SEEDS
        for capsules in NUMBERS
        for classes in CLASSES
    ]
    shapes = [
        f"shapes-{ground}-{capsules}-{seed}"
        for seed in SEEDS
        for capsules in SHAPES
        for ground in ("black", "white")
    ]
    return numbers + shapes


def stored_runs() -> dict[str, Any]:
    """Return the runs in results/sizes.json, by name."""
    return json.loads(OUTPUT.read_text())["runs"] if OUTPUT.exists() else {}


def train(name: str) -> dict[str, Any]:
    """Train one network; return its sizes and errors."""
    task, *sizes, seed = name.split("-")
    if task == "numbers":
        capsules, classes = map(int, sizes)
        config = CapsNetConfig.small(classes=classes, **NUMBERS[capsules])
        training, validation = (two_digits(split, classes) for split in EXAMPLES)
        recipe = RECIPE
    else:
        ground, capsules = sizes[0], int(sizes[1])
        config = CapsNetConfig.small(image_size=96, classes=2, **SHAPES[capsules])
        training = discs_and_squares(SHAPES_EXAMPLES["train"], ground, seed=0)
        validation = discs_and_squares(SHAPES_EXAMPLES["validation"], ground, seed=1)
        recipe = SHAPES_RECIPE
    torch.manual_seed(int(seed))
    network = CapsNet(config)
    with torch.no_grad():
        length_at_start = network(training.images[:32]).lengths.mean().item()
    result, history = fit(network, training, recipe, progress=False, threads=1)
    measured = evaluate(result, validation, batch_size=64)
    with torch.no_grad():
        lengths = result(validation.images[:64]).lengths
    absent = lengths[F.one_hot(validation.labels[:64], config.classes) == 0]
    return {
        "primary_capsules": config.primary_capsules,
        "classes": config.classes,
        "steps": history.step,
        "learning_rate": recipe.for_network(network).learning_rate,
        "length_at_start": float(f"{length_at_start:.3g}"),
        "loss_by_epoch": [round(point["loss"], 4) for point in history.curve],
        "error": round(measured.error, 4),
        "margin_loss": round(measured.margin_loss, 4),
        "length_of_absent_classes": round(absent.mean().item(), 3),
    }


def two_digits(split: Split, classes: int) -> Digits:
    """Return two-digit numbers as images [N, 1, 28, 28], of the first classes from 00 on."""
    images, labels, source = digits(split, source="sample")
    chance = torch.Generator().manual_seed(0)
    values = torch.randint(classes, (EXAMPLES[split],), generator=chance)
    tens = random_images(images, labels, values // 10, chance)
    ones = random_images(images, labels, values % 10, chance)
    both = torch.cat([tens[..., 4:24], ones[..., 4:24]], dim=-1)  # [N, 1, 28, 40]
    return Digits(F.interpolate(both, size=(28, 28), mode="area"), values, source)


def random_images(
    images: Tensor, labels: Tensor, wanted: Tensor, chance: torch.Generator
) -> Tensor:
    """Return a random image of each wanted digit."""
    positions = [torch.nonzero(labels == digit).flatten() for digit in range(10)]
    chosen = [
        positions[digit][torch.randint(len(positions[digit]), (), generator=chance)]
        for digit in wanted.tolist()
    ]
    return images[torch.stack(chosen)]


def discs_and_squares(count: int, ground: str, seed: int) -> Digits:
    """Return discs (class 0) and squares (1) of one area on a ground, images [count, 1, 96, 96]."""
    chance = torch.Generator().manual_seed(seed)
    labels = torch.randint(2, (count,), generator=chance)
    half, x, y = torch.rand(3, count, 1, 1, generator=chance)
    half = 12 + 14 * half
    pixels = torch.arange(96)
    dx = (pixels - (29 + 38 * x)).abs()  # [count, 1, 96]
    dy = (pixels.unsqueeze(1) - (29 + 38 * y)).abs()  # [count, 96, 1]
    disc = dx.square() + dy.square() < half.square()
    square = torch.maximum(*torch.broadcast_tensors(dx, dy)) < 0.89 * half
    is_shape = torch.where(labels.view(-1, 1, 1) == 0, disc, square)
    is_bright = is_shape if ground == "black" else ~is_shape
    return Digits(is_bright.unsqueeze(1).float(), labels, "shapes")


if __name__ == "__main__":
    main()
