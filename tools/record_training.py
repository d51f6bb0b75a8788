"""Repeat the training of the shipped network and record its weights after every epoch.

    python tools/record_training.py runs/recording

writes epoch-00.safetensors (untrained) to epoch-60.safetensors into that folder, and from them, small enough to ship,
what the chapter on training replays: book/capsnet_book/assets/recordings/small.safetensors. Begun again, it goes on
where it was; on a finished folder it only writes the recording.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsnet_tutorial.data import digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.train import History, Recipe, fit
from capsnet_tutorial.weights import load_weights, save_weights, write_tensors

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "results" / "small.json"
SHIPPED = ROOT / "capsnet_tutorial" / "assets" / "weights" / "small.safetensors"
RECORDING = ROOT / "book" / "capsnet_book" / "assets" / "recordings" / "small.safetensors"
MOMENTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60)
"""Epochs after which the network is recorded."""
SAMPLES = (7, 475, 178, 264, 442)
"""Positions among the sample's test digits: a plain one, three learned one after the other, one that never is."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the weights of every epoch go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    result = json.loads(RESULT.read_text(encoding="utf-8"))
    recipe = Recipe.from_dict(result["recipe"])

    def keep(model: CapsNet, history: History) -> None:
        save_weights(model, folder / f"epoch-{len(history.curve):02}.safetensors")
        (folder / "curve.json").write_text(json.dumps(history.curve, indent=1), encoding="utf-8")

    training, validation = digits("train", "mnist"), digits("validation", "mnist")
    torch.manual_seed(recipe.seed)
    model = CapsNet(CapsNetConfig.small())
    save_weights(model, folder / "epoch-00.safetensors")
    fit(
        model,
        training,
        recipe,
        validation=validation,
        checkpoint=folder / "checkpoint.safetensors",
        resume=True,
        on_epoch=keep,
    )
    tensors, description = recording(folder, result["command"])
    RECORDING.parent.mkdir(exist_ok=True)
    write_tensors(RECORDING, tensors, {"recording": description})
    ends = "the shipped weights" if description["about"]["shipped"] else "weights of its own"
    print(f"{RECORDING}: {RECORDING.stat().st_size:,} bytes; the run ends at {ends}")


def recording(folder: Path, command: str) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Recording of the run in a folder: tensors in half precision, and their description."""
    test = digits("test", "sample")
    images, labels = test.images[list(SAMPLES)], test.labels[list(SAMPLES)]
    seen: dict[str, list[Tensor]] = {"reconstructions": [], "couplings": [], "lengths": []}
    for epoch in MOMENTS:
        model = load_weights(folder / f"epoch-{epoch:02}.safetensors")
        with torch.no_grad():
            output, (_, trace) = model(images), model.trace(images)
        seen["reconstructions"].append(output.reconstruction)
        seen["couplings"].append(trace.c[-1])
        seen["lengths"].append(output.lengths)
    tensors = {"images": images.flatten(1).half()} | {name: torch.stack(each).half() for name, each in seen.items()}
    predictions = torch.stack(seen["lengths"]).argmax(dim=-1)
    assert torch.equal(tensors["lengths"].argmax(dim=-1), predictions), "half precision changes no answer"
    curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
    kept = [{key: float(f"{point[key]:.6g}") for key in ("epoch", "loss", "validation_error")} for point in curve]
    last = folder / f"epoch-{MOMENTS[-1]:02}.safetensors"
    about = {
        "command": command,
        "shipped": last.read_bytes() == SHIPPED.read_bytes(),
        "types": CapsNetConfig.small().primary_types,
    }
    return tensors, {"epochs": MOMENTS, "labels": labels.tolist(), "curve": kept, "about": about}


if __name__ == "__main__":
    main()
