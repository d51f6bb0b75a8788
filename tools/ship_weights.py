"""Make a training run a network that comes with the package: ``python tools/ship_weights.py runs/small [NAME]``.

Puts the run's weights into book/capsnet_book/assets/weights/, its result.json into results/, and writes the weights'
card from that result. NAME is "small", unless given. Then `make notebooks`, since the chapters show it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from string import Template
from typing import Any

import torch
from capsnet_book.experiments import affine
from capsnet_book.experiments.cnn import error_of
from capsnet_book.experiments.pairs import evaluate_pairs, fixed_pairs
from capsnet_book.networks import TRAINED, load_network, save_network

from capsnet_tutorial.data import digits
from capsnet_tutorial.weights import load_weights

ROOT = Path(__file__).resolve().parent.parent
WEIGHTS = ROOT / "book" / "capsnet_book" / "assets" / "weights"
CARD = """\
# The weights `$name`

$network:
$parameters parameters$decoder, stored in $precision ($size bytes) and
computed in float32. Written by `tools/ship_weights.py` from `results/$record.json`.

| | |
|:--|:--|
$measured
$seen
$run

The weights are the running average over the last steps (decay $decay).
The curve, thinned:

$curve

What it is for: learning and demonstration. $limits
"""
"""Markdown of a card."""

_CAPSNET = "A CapsNet with routing by agreement (Sabour, Frosst and Hinton, 2017) for"
_ONE_DIGIT = """It knows digits that are centred and sized as MNIST's are,
calls everything a digit, and was never measured on other handwriting."""
_SAMPLE = "| **the package's sample** | its 5,000 digits are among those"

KINDS = {
    "small": {
        "network": f"{_CAPSNET} handwritten digits",
        "decoder": " with its decoder",
        "precision": "half precision",
        "seen": """\
| **not** trained on | the test set; the 5,000 validation digits, which are the package's sample |
| the test set | was looked at once, at the end of the run; no setting was chosen by it |""",
        "limits": _ONE_DIGIT,
    },
    "capsnet": {
        "network": f"{_CAPSNET} handwritten digits",
        "decoder": " with its decoder",
        "precision": "eight bits a number",
        "seen": f"{_SAMPLE} |",
        "limits": _ONE_DIGIT,
    },
    "cnn": {
        "network": "A convolutional network, to compare capsules with (`capsnet_book.experiments.cnn`), for "
        "handwritten digits",
        "decoder": "",
        "precision": "eight bits a number",
        "seen": f"{_SAMPLE} |",
        "limits": _ONE_DIGIT,
    },
    "pairs": {
        "network": f"{_CAPSNET} two handwritten digits that overlap",
        "decoder": " with its decoder",
        "precision": "eight bits a number",
        "seen": f"{_SAMPLE}: a pair of them is new, they are not |",
        "limits": """It sees 36 × 36 pixels with exactly two digits of different
classes in them, each up to 4 pixels from the middle, and was never measured on anything else.""",
    },
}
"""Texts of a card: for the network `small`, other CapsNets, CNNs, and CapsNets for pairs."""


def main() -> None:
    """Ship the run in the folder on the command line."""
    arguments = sys.argv[1:]
    if len(arguments) not in (1, 2) or not (Path(arguments[0]) / "result.json").is_file():
        raise SystemExit("expected the output folder of a `capsnet train` run, with its result.json")
    run, name = Path(arguments[0]), [*arguments, "small"][1]
    if name not in TRAINED:
        raise SystemExit(f"expected a network that the book knows, one of {', '.join(TRAINED)}; got {name}")
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    file = WEIGHTS / f"{name}.safetensors"
    if name == "small":
        shutil.copyfile(run / "weights.safetensors", file)
        kind, record, facts = "small", name, facts_of_digits(result)
    else:  # in half precision it would weigh too much for a page
        save_network(load_network(run / "weights.safetensors"), file, torch.int8)
        kind = "pairs" if result["task"] == "pairs" else result["network"]
        record, facts = f"runs/{run.name}", (facts_of_pairs if kind == "pairs" else facts_of_shifted)(result, file)
    shutil.copyfile(run / "result.json", ROOT / "results" / f"{record}.json")
    text = card(kind, name, record, result, facts, file.stat().st_size)
    (WEIGHTS / f"{name}.md").write_text(text, encoding="utf-8")


def facts_of_digits(result: dict[str, Any]) -> dict[str, str]:
    """What a network of single digits can do."""
    test, validation = result["test"], result["validation"]
    return {
        "right on MNIST's 10,000 test digits": f"{1 - test['error']:.2%} ({round(test['error'] * 10_000)} errors)",
        "right on the 5,000 validation digits": f"{1 - validation['error']:.2%}",
        "reconstruction, mean squared error a pixel, test digits": f"{test['reconstruction_mse']:.4f}",
    }


def facts_of_shifted(result: dict[str, Any], file: Path) -> dict[str, str]:
    """What a network of single digits that saw all of them shifted can do: as it was trained, and as it is stored."""
    network, data = load_network(file), digits("test", "mnist")
    straight, turned = error_of(network, data).error, error_of(network, affine.bent(data, shift=2)).error
    return {
        "right on MNIST's 10,000 test digits": f"{1 - straight:.2%}, as stored here; "
        f"{1 - result['test']['error']:.2%} as trained",
        "right on the same, turned, sheared and scaled as in affNIST": f"{1 - turned:.2%}; "
        f"{1 - result['test_bent']['error']:.2%} as trained",
    }


def facts_of_pairs(result: dict[str, Any], file: Path) -> dict[str, str]:
    """What a network of two overlapping digits can do: as it was trained, and as it is stored."""
    test, stored = result["test"], evaluate_pairs(load_weights(file), fixed_pairs(digits("test", "mnist")))
    return {
        "both digits right, 10,000 pairs of MNIST's test digits": f"{1 - stored.error:.2%}, as stored here; "
        f"{1 - test['error']:.2%} as trained",
        "drawings of the two, mean squared error a pixel": f"{stored.reconstruction_mse:.4f}",
        "ink (sum of the pixels) of a digit, of its drawing, of the drawing of an absent one": f"{stored.ink:.0f}, "
        f"{stored.ink_present:.0f}, {stored.ink_absent:.0f}",
    }


def card(kind: str, name: str, record: str, result: dict[str, Any], facts: dict[str, str], size: int) -> str:
    """Card of some weights, in Markdown."""
    hardware = result["hardware"]
    run = {
        "command": f"`{result['command']}`",
        "seed": result["recipe"]["seed"],
        "trained on": f"{result['data']['training_digits']:,} digits of MNIST's training set",
        "steps, seconds of training": f"{result['steps']:,}, {result['training_seconds']:,.0f}",
        "hardware": f"{hardware['device']}, {hardware['processor']}, "
        f"{hardware['threads']} thread(s) on {hardware['cores']} cores",
        "versions": ", ".join(f"{package} {version}" for package, version in result["versions"].items()),
    }
    return Template(CARD).substitute(
        KINDS[kind],
        name=name,
        record=record,
        parameters=f"{result['parameters']:,}",
        size=f"{size:,}",
        measured="\n".join(f"| {fact} | {value} |" for fact, value in facts.items()),
        run="\n".join(f"| {fact} | {value} |" for fact, value in run.items()),
        decay=result["recipe"]["average"],
        curve="\n".join(table_of(thinned(result["curve"], 12))),
    )


def table_of(curve: list[dict[str, float]]) -> list[str]:
    """Epoch and loss; the validation error, if there were digits to validate on."""
    if "validation_error" not in curve[0]:
        return ["| epoch | loss |", "|--:|--:|", *(f"| {p['epoch']:.0f} | {p['loss']:.4f} |" for p in curve)]
    return [
        "| epoch | loss | validation error, % |",
        "|--:|--:|--:|",
        *(f"| {p['epoch']:.0f} | {p['loss']:.4f} | {100 * p['validation_error']:.2f} |" for p in curve),
    ]


def thinned(curve: list[dict[str, float]], most: int) -> list[dict[str, float]]:
    """At most so many points of a curve, evenly spread, the last among them."""
    step = -(-len(curve) // most)
    return curve[::-1][::step][::-1]


if __name__ == "__main__":
    main()
