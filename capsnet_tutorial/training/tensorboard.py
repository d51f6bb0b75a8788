"""TensorBoard's view of a run: curves of loss, rate and accuracy, histograms of weights, gradients and lengths."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.errors import expect
from capsnet_tutorial.training.data import TrainingData
from capsnet_tutorial.training.evaluation import over_batches
from capsnet_tutorial.training.processes import Processes
from capsnet_tutorial.training.state import Network, TrainingState

EXAMPLES = 1000
"""Of the training data, the first so many show the training accuracy and the lengths."""


class TensorBoard:
    """A folder of event files for TensorBoard, written at the end of every epoch.

    Args:
        folder: of the event files.
        data: what is trained on.
        processes: of which the main one writes.

    Raises:
        ValueError: TensorBoard is not installed.
    """

    def __init__(self, folder: Path, data: TrainingData, processes: Processes) -> None:
        expect(
            find_spec("tensorboard") is not None,
            "tensorboard to be installed (pip install tensorboard)",
            "a run to log without it",
        )
        from torch.utils.tensorboard import SummaryWriter  # half a second to import, and only a log needs it

        self.processes = processes
        chosen = torch.arange(min(EXAMPLES, data.count))
        self.examples = data.batch(chosen, Augmentation(shift=0), torch.Generator().manual_seed(0))
        self.writer = SummaryWriter(str(folder)) if processes.is_main else None

    def write(self, state: TrainingState[Network]) -> None:
        """Add the epoch that has just ended, in the main process."""
        self.processes.from_main(partial(self._write, state))

    def _write(self, state: TrainingState[Network]) -> None:
        assert self.writer is not None
        step = state.history.step
        losses = state.losses_so_far.tolist()
        for before, loss in enumerate(reversed(losses)):
            self.writer.add_scalar("loss", loss, step - before)
        self.writer.add_scalar("learning_rate", state.optimizer.param_groups[0]["lr"], step)
        if "validation_error" in state.history.curve[-1]:
            self.writer.add_scalar("accuracy/validation", 1 - state.history.validation_errors[-1], step)
        for name, parameter in state.network.named_parameters():
            self.writer.add_histogram(f"weights/{name}", parameter, step)
            if parameter.grad is not None:
                self.writer.add_histogram(f"gradients/{name}", parameter.grad, step)
        self._write_examples(self.writer, state.result, step)

    def _write_examples(self, writer: Any, network: nn.Module, step: int) -> None:
        """Accuracy on training examples as they are, not augmented; lengths of the capsules that should be long."""
        images, targets = self.examples
        if targets.dim() == 2 and not ((targets == 0) | (targets == 1)).all():
            return  # no classes

        def scores_of(images: Tensor, targets: Tensor) -> tuple[Tensor, ...]:
            output = network(images, targets)
            return (output if isinstance(output, Tensor) else output.lengths,)

        (scores,) = over_batches(network, scores_of, images, targets)  # [N, J]
        if targets.dim() == 1:
            targets = nn.functional.one_hot(targets, scores.shape[1])
        present = targets.bool()
        # An image is read rightly if its longest capsules, as many as classes are present, are those of the classes.
        rank = scores.argsort(dim=1, descending=True).argsort(dim=1)
        right = (rank.masked_fill(~present, -1).amax(dim=1) < present.sum(dim=1)).float()
        writer.add_scalar("accuracy/training", right.mean().item(), step)
        writer.add_histogram("lengths/present", scores[present], step)
        writer.add_histogram("lengths/absent", scores[~present], step)

    def close(self) -> None:
        """Write what is left."""
        if self.writer is not None:
            self.writer.close()
