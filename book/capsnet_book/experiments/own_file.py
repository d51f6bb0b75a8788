"""Train the book's one page, `my_capsnet.py`, at the paper's sizes, and count what it misreads.

``python -m capsnet_book.experiments.own_file --folder RUN`` does what ``my_capsnet.py --paper``
does, with the same numbers, and writes results/own_file.json. It differs in one thing: after each
epoch all that changes is written to a checkpoint in the folder, from which the command goes on.
MNIST lies in the folder ``data`` beside the checkpoint, or is downloaded to it.

The test digits are looked at once, after the last epoch. Of the 15 epochs that were planned the
stored run has 9: so many ended within the time there was, and their number was fixed before a test
digit was looked at.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from capsnet_book.experiments.records import code_version, folder
from capsnet_book.page import my_capsnet
from capsnet_tutorial.files import read_tensors, write_json, write_tensors
from capsnet_tutorial.train.record import versions

DIGITS_PER_EPOCH = 4000
LEARNING_RATE = 0.001  # of the first epoch
DECAY = 0.85
EPOCHS = 15
CHECKPOINT = "checkpoint.safetensors"
MOMENTS = ("step", "exp_avg", "exp_avg_sq")


class Training:
    """A training of `my_capsnet.py`, in its order of random numbers.

    Args:
        sizes: of the network, as the page's `SMALL` and `PAPER`.
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.page = my_capsnet()
        torch.manual_seed(0)
        self.network = self.page.CapsNet(sizes)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)
        self.decay = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, DECAY)
        self.losses: list[float] = []
        """The loss of each epoch's last batch."""
        self.seconds = 0.0
        """Of the processor, all epochs together."""

    def train_one_epoch(self, images: Tensor, labels: Tensor) -> None:
        """Train on 4,000 digits chosen anew."""
        start = time.process_time()
        chosen = torch.randperm(len(images))[:DIGITS_PER_EPOCH]
        loss = self.page.train_one_epoch(
            self.network, self.optimizer, images[chosen], labels[chosen]
        )
        self.decay.step()
        self.losses.append(loss)
        self.seconds += time.process_time() - start

    def save(self, path: Path) -> None:
        """Write all that changes in a training."""
        about = {
            "losses": self.losses,
            "seconds": self.seconds,
            "learning_rate": self.optimizer.param_groups[0]["lr"],
        }
        write_tensors(path, self._tensors(), {"training": about})

    @torch.no_grad()
    def load(self, path: Path) -> None:
        """Go on from the file that `save` wrote."""
        stored, metadata = read_tensors(path)
        about: Any = metadata["training"]
        self.losses = about["losses"]
        self.seconds = about["seconds"]
        self.optimizer.param_groups[0]["lr"] = about["learning_rate"]
        for name, parameter in self.network.named_parameters():
            parameter.copy_(stored[name])
            moments = {moment: stored[f"{moment}.{name}"] for moment in MOMENTS}
            self.optimizer.state[parameter] = moments
        torch.set_rng_state(stored["random"])

    def _tensors(self) -> dict[str, Tensor]:
        """Return weights, Adam's moments and the state of the random numbers, by name."""
        tensors = {"random": torch.get_rng_state()}
        for name, parameter in self.network.named_parameters():
            tensors[name] = parameter.detach()
            for moment in MOMENTS:
                tensors[f"{moment}.{name}"] = self.optimizer.state[parameter][moment]
        return tensors


def measure(run: Path, epochs: int) -> dict[str, Any]:
    """Train to the last epoch, from the checkpoint if there is one; return the record."""
    run.mkdir(parents=True, exist_ok=True)
    commit = code_version()
    checkpoint = run / CHECKPOINT
    training = Training(my_capsnet().PAPER)
    if checkpoint.exists():
        training.load(checkpoint)
    os.chdir(run)  # where the page looks for the folder data
    images, labels = my_capsnet().load(train=True)
    while len(training.losses) < epochs:
        training.train_one_epoch(images, labels)
        training.save(checkpoint)
        print(f"epoch {len(training.losses)} of {epochs}: {training.seconds:.0f} s", flush=True)
    test_images, test_labels = my_capsnet().load(train=False)
    accuracy = my_capsnet().accuracy(training.network, test_images, test_labels)
    return {
        "command": f"python -m capsnet_book.experiments.own_file --folder RUN --epochs {epochs}",
        "epochs": epochs,
        "training_digits": len(images),
        "digits_per_epoch": DIGITS_PER_EPOCH,
        "losses": [float(f"{loss:.3g}") for loss in training.losses],
        "test_digits": len(test_images),
        "misread": round((1 - accuracy) * len(test_images)),
        "processor_seconds": round(training.seconds),
        "threads": torch.get_num_threads(),
        "versions": versions(),
        "commit": commit,
    }


def main() -> None:
    """Train, measure and write results/own_file.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="of the checkpoint and the data")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="of 4,000 digits each")
    options = parser.parse_args()
    torch.set_num_threads(1)
    write_json(folder() / "own_file.json", measure(options.folder.resolve(), options.epochs))


if __name__ == "__main__":
    main()
