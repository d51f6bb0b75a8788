"""Train the shipped network once more, exactly as its results say, and keep what it was after every epoch.

    python tools/record_training.py runs/recording

writes epoch-00.safetensors (untrained) to epoch-60.safetensors: what the chapter on training replays.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from capsnet_tutorial.augmentation import Augmentation
from capsnet_tutorial.data import digits
from capsnet_tutorial.model import CapsNet, CapsNetConfig
from capsnet_tutorial.pretrained import save_weights
from capsnet_tutorial.training import History, Recipe, fit

RESULT = Path(__file__).resolve().parent.parent / "results" / "small.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the weights of every epoch go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    shipped = json.loads(RESULT.read_text(encoding="utf-8"))["recipe"]
    shipped["augmentation"] = Augmentation(**shipped["augmentation"])
    shipped["betas"] = tuple(shipped["betas"])
    recipe = Recipe(**shipped)

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


if __name__ == "__main__":
    main()
