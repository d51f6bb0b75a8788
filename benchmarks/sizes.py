"""Measure which sizes learn with the defaults: ``python -m benchmarks.sizes``.

Three tasks, each with several seeds; a run is named TASK-…-SEED:

numbers-CAPSULES-CLASSES
    CapsNets with 18, 288 and 3,200 primary capsules for 2, 10, 43 and 100 classes, 300 steps of 32
    images each, on two-digit numbers from 00 on, made of the bundled sample.
shapes-GROUND-CAPSULES
    Discs and squares of 96 × 96 pixels, bright ones on a black ground and dark ones on a white one.
    The small network's strides make 3,200 capsules of them with 8 types, 1,600 with 4 and 800 with
    2; larger strides make 128.
usual-GROUND-CAPSULES
    The shapes at the usual rate of 0.01, where the default is a lower one.

Every run writes a file of its own, so many processes can run side by side:

    python -m benchmarks.sizes --list --seeds 1,2 | xargs -r -P 12 -n 1 python -m benchmarks.sizes
    python -m benchmarks.sizes --collect     # joins results/sizes.json with them

The last also writes the tables in README.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from capsnet_tutorial import CapsNet, CapsNetConfig, Digits, Recipe, digits, evaluate, fit
from capsnet_tutorial.data import Split
from capsnet_tutorial.errors import expect
from capsnet_tutorial.files import write_json
from capsnet_tutorial.train.recipe import USUAL_RATE

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "results" / "sizes.json"
README = ROOT / "README.md"
FOLDER = ROOT / "runs" / "sizes"
NUMBERS: dict[int, dict[str, int]] = {
    18: {"primary_types": 2},
    288: {"primary_types": 32},
    3200: {"primary_types": 50, "conv_stride": 1},
}
"""Sizes of a small network for 28 × 28 pixels, by the number of its primary capsules."""
CLASSES = (2, 10, 43, 100)
SHAPES: dict[int, dict[str, int]] = {
    128: {"conv_stride": 4, "primary_kernel": 9, "primary_stride": 4},
    800: {"primary_types": 2},
    1600: {"primary_types": 4},
    3200: {},
}
"""Sizes of a small network for 96 × 96 pixels, by the number of its primary capsules."""
GROUNDS = ("black", "white")
EXAMPLES: dict[Split, int] = {"train": 3200, "validation": 500}
RECIPE = Recipe(epochs=3, batch_size=32)
SHAPES_RECIPE = Recipe(epochs=12, batch_size=32)
SHAPES_EXAMPLES = {"train": 512, "validation": 256}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train what is not stored yet, list the names of the runs, or collect what they wrote."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sizes")
    parser.add_argument(
        "names",
        nargs="*",
        help="runs, such as numbers-3200-43-0, or the beginning of several: numbers-3200-43, shapes"
        " (default: all)",
    )
    parser.add_argument("--seeds", default="0,1,2", help="such as 1,2 (default: 0,1,2)")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="of one file for each run (runs/sizes)"
    )
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="print the names, and train nothing")
    action.add_argument(
        "--collect",
        action="store_true",
        help="join the files with results/sizes.json, and write README's tables",
    )
    options = parser.parse_args(arguments)
    try:
        names = selected_names(options.names, [int(seed) for seed in options.seeds.split(",")])
    except ValueError as problem:
        parser.error(str(problem))
    if options.collect:
        collect(options.folder)
        text = README.read_text(encoding="utf-8")
        README.write_text(with_tables(text, stored_runs()), encoding="utf-8")
        return
    for name in names:
        if options.list:
            print(name)
        else:
            train_unless_stored(name, options.folder)


def selected_names(beginnings: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Return the names of runs that one of the beginnings fits, or all without any.

    Raises:
        ValueError: a beginning that fits no run.
    """
    names = [name for seed in seeds for name in names_of(seed)]
    for beginning in beginnings:
        fits = any(_begins(name, beginning) for name in names)
        expect(fits, "the name of a run, or the beginning of several (see --list)", beginning)
    if not beginnings:
        return names
    return [name for name in names if any(_begins(name, part) for part in beginnings)]


def _begins(name: str, beginning: str) -> bool:
    """Return whether a run's name begins with whole parts: numbers-18-10, not -100."""
    return f"{name}-".startswith(f"{beginning}-")


def names_of(seed: int) -> list[str]:
    """Return the names of all runs with a seed."""
    numbers = [f"numbers-{capsules}-{classes}" for capsules in NUMBERS for classes in CLASSES]
    shapes = [f"shapes-{ground}-{capsules}" for ground in GROUNDS for capsules in SHAPES]
    usual = [f"usual-{ground}-{capsules}" for ground in GROUNDS for capsules in SHAPES]
    at_lower_rate = [name for name in usual if not name.endswith("-128")]
    return [f"{name}-{seed}" for name in numbers + shapes + at_lower_rate]


def train_unless_stored(name: str, folder: Path) -> None:
    """Train one network and write a file of its own, unless it or results/sizes.json has it."""
    path = folder / f"{name}.json"
    if path.exists() or name in stored_runs():
        return
    folder.mkdir(parents=True, exist_ok=True)
    run = train(name)
    print(name, run, flush=True)
    write_json(path, run)


def collect(folder: Path) -> None:
    """Join the files of a folder with the runs in results/sizes.json."""
    runs = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    record = {
        "command": "python -m benchmarks.sizes",
        "numbers": asdict(RECIPE) | EXAMPLES,
        "shapes": asdict(SHAPES_RECIPE) | SHAPES_EXAMPLES,
        "runs": dict(sorted((stored_runs() | runs).items())),
    }
    write_json(OUTPUT, record)
    print(f"{len(runs)} runs of {folder} joined; {len(record['runs'])} in {OUTPUT}")


def stored_runs() -> dict[str, Any]:
    """Return the runs in results/sizes.json, by name."""
    return json.loads(OUTPUT.read_text())["runs"] if OUTPUT.exists() else {}


# --- README's tables


def with_tables(text: str, runs: dict[str, Any]) -> str:
    """Return README's text with the tables of these runs in place of those that it has.

    Raises:
        ValueError: a table's head is not there.
    """
    for rows in (numbers_rows(runs), shapes_rows(runs)):
        head, *body = [f"| {' | '.join(row)} |" for row in rows]
        columns = "|--:" * len(rows[0]) + "|"
        table = "\n".join([head, columns, *body]) + "\n"
        text, count = re.subn(re.escape(head) + r"\n(\|.*\n)+", table, text)
        expect(count == 1, f"one table in README with the head {head}", f"{count}")
    return text


def numbers_rows(runs: dict[str, Any]) -> list[list[str]]:
    """Return the table of the two-digit numbers: a row for each number of primary capsules."""
    head = ["primary capsules", *(f"{classes} classes" for classes in CLASSES)]
    guesses = ["by guessing", *(f"{100 - 100 / classes:.0f}" for classes in CLASSES)]
    body = [
        [f"{capsules:,}", *(error(runs, f"numbers-{capsules}-{classes}") for classes in CLASSES)]
        for capsules in NUMBERS
    ]
    return [head, *body, guesses]


def shapes_rows(runs: dict[str, Any]) -> list[list[str]]:
    """Return the table of the shapes: a row for each number of primary capsules."""
    columns = [(task, ground) for task in ("shapes", "usual") for ground in GROUNDS]
    rates = {"shapes": "`fit`'s rate", "usual": "0.01"}
    head = ["primary capsules", *(f"{rates[task]}, {ground} ground" for task, ground in columns)]
    body = [
        [f"{capsules:,}", *(error(runs, f"{task}-{ground}-{capsules}") for task, ground in columns)]
        for capsules in SHAPES
    ]
    return [head, *body]


def error(runs: dict[str, Any], size: str) -> str:
    """Return a size's error in per cent: the mean of its seeds, with the lowest and highest."""
    errors = [100 * run["error"] for name, run in runs.items() if name.rpartition("-")[0] == size]
    if not errors:
        return "–"
    mean = f"{sum(errors) / len(errors):.1f}"
    if len(errors) == 1:
        return f"{mean} (one seed)"
    return f"{mean} ({min(errors):.1f} to {max(errors):.1f})"


# --- a run


def train(name: str) -> dict[str, Any]:
    """Train one network, on a GPU where there is one; return its sizes and errors."""
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
    if task == "usual":
        recipe = replace(recipe, learning_rate=USUAL_RATE)
    torch.manual_seed(int(seed))
    network = CapsNet(config)
    with torch.no_grad():
        length_at_start = network(training.images[:32]).lengths.mean().item()
    result, history = fit(network, training, recipe, progress=False, threads=1)
    measured = evaluate(result, validation, batch_size=64)
    device = next(result.parameters()).device
    with torch.no_grad():
        lengths = result(validation.images[:64].to(device)).lengths.cpu()
    absent = lengths[F.one_hot(validation.labels[:64], config.classes) == 0]
    return {
        "primary_capsules": config.primary_capsules,
        "classes": config.classes,
        "steps": history.step,
        "learning_rate": recipe.for_network(network).learning_rate,
        "device": device.type,
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
