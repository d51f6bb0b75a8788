"""Make a training run the network that comes with the package: ``python tools/ship_weights.py runs/small``.

Copies the run's weights into capsnet_tutorial/weights/, its result.json to results/, and writes the
weights' card from that result. The network's name is its preset's. Then `make notebooks`, since the chapters show it.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Ship the run in the folder on the command line."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "result.json").is_file():
        raise SystemExit("expected the output folder of a `capsnet train` run, with its result.json")
    run, name = Path(sys.argv[1]), "small"
    result = json.loads((run / "result.json").read_text(encoding="utf-8"))
    weights = ROOT / "capsnet_tutorial" / "weights"
    shutil.copyfile(run / "weights.safetensors", weights / f"{name}.safetensors")
    shutil.copyfile(run / "result.json", ROOT / "results" / f"{name}.json")
    size = (weights / f"{name}.safetensors").stat().st_size
    (weights / f"{name}.md").write_text(card(name, result, size), encoding="utf-8")


def card(name: str, result: dict[str, Any], size: int) -> str:
    """What somebody who uses the weights should know, in Markdown."""
    test, validation, hardware = result["test"], result["validation"], result["hardware"]
    facts = {
        "right on MNIST's 10,000 test digits": f"{1 - test['error']:.2%} ({round(test['error'] * 10_000)} errors)",
        "right on the 5,000 validation digits": f"{1 - validation['error']:.2%}",
        "reconstruction, mean squared error a pixel, test digits": f"{test['reconstruction_mse']:.4f}",
        "command": f"`{result['command']}`",
        "seed": result["recipe"]["seed"],
        "trained on": f"{result['data']['training_digits']:,} digits of MNIST's training set",
        "**not** trained on": "the test set; the 5,000 validation digits, which are the package's sample",
        "the test set": "was looked at once, at the end of the run; no setting was chosen by it",
        "steps, seconds of training": f"{result['steps']:,}, {result['training_seconds']:,.0f}",
        "hardware": f"{hardware['device']}, {hardware['processor']}, "
        f"{hardware['threads']} thread(s) on {hardware['cores']} cores",
        "versions": ", ".join(f"{package} {version}" for package, version in result["versions"].items()),
    }
    curve = thinned(result["curve"], 12)
    return "\n".join(
        [
            f"# The weights `{name}`",
            "",
            "A CapsNet with routing by agreement (Sabour, Frosst and Hinton, 2017) for handwritten digits:",
            f"{result['parameters']:,} parameters with its decoder, stored in half precision ({size:,} bytes) and",
            f"computed in float32. Written by `tools/ship_weights.py` from `results/{name}.json`.",
            "",
            "| | |",
            "|:--|:--|",
            *(f"| {fact} | {value} |" for fact, value in facts.items()),
            "",
            f"The weights are the running average over the last steps (decay {result['recipe']['average']}).",
            "The curve, thinned:",
            "",
            "| epoch | loss | validation error, % |",
            "|--:|--:|--:|",
            *(f"| {p['epoch']:.0f} | {p['loss']:.4f} | {100 * p['validation_error']:.2f} |" for p in curve),
            "",
            "What it is for: learning and demonstration. It knows digits that are centred and sized as MNIST's are,",
            "calls everything a digit, and was never measured on other handwriting.",
            "",
        ]
    )


def thinned(curve: list[dict[str, float]], most: int) -> list[dict[str, float]]:
    """At most so many points of a curve, evenly spread, the last among them."""
    step = -(-len(curve) // most)
    return curve[::-1][::step][::-1]


if __name__ == "__main__":
    main()
