"""`fit` against a training in plain loops, step by step."""

from __future__ import annotations

import networks
import torch
import training_oracle
from torch import Tensor, nn

from capsnet_tutorial.data import Digits
from capsnet_tutorial.functional import margin_loss, reconstruction_loss
from capsnet_tutorial.model import CapsNetOutput
from capsnet_tutorial.train import Recipe, fit

RECIPE = Recipe(
    epochs=training_oracle.EPOCHS,
    batch_size=training_oracle.BATCH,
    learning_rate=training_oracle.PEAK,
    seed=training_oracle.SEED,
)


class NormedAndDropped(nn.Module):
    """A CapsNet behind layers with buffers and with chance of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(1)
        self.dropout = nn.Dropout(0.2)
        self.network = networks.learner()

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CapsNetOutput:
        return self.network(self.dropout(self.norm(images)), labels)


def loss_function(output: CapsNetOutput, images: Tensor, labels: Tensor) -> Tensor:
    drawing = reconstruction_loss(output.reconstruction, images)
    return margin_loss(output.lengths, labels) + 0.0005 * drawing


def test_twelve_steps_are_those_of_a_training_in_plain_loops():
    digits = networks.few(64)
    data = Digits(digits.images.double(), digits.labels, digits.source)
    network = NormedAndDropped().double()
    expected = training_oracle.train(network, data.images, data.labels, loss_function)
    network.eval()  # a loaded network trains like a fresh one
    average, history = fit(network, data, RECIPE, threads=1, progress=False)
    assert history.step == len(training_oracle.RATES)
    assert_close(network.state_dict(), expected.network)
    assert_close(average.state_dict(), expected.average)


def assert_close(tensors: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    assert tensors.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(tensors[name], tensor, rtol=1e-8, atol=1e-10, msg=name)
