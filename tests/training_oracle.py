"""Training once more, as plain loops: what the tests of `fit` compare with.

Written from what `fit` promises, not from its code: the order and the shifts of every epoch follow
from the seed, the learning rates are numbers, Adam and the average are written out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import torch
from torch import Tensor, nn

EPOCHS = 3
STEPS_PER_EPOCH = 4
BATCH = 16
SEED = 3
PEAK = 0.02
SHIFT = 2
AVERAGE = 0.9  # in twelve steps the average remembers ten, whatever the recipe says
RATES = [
    0.04,
    0.21146194735,
    0.60335112528,
    0.935692193817,
    0.994415413113,
    0.933012701892,
    0.811744900929,
    0.647377587205,
    0.462634953207,
    0.283058130441,
    0.133474064085,
    0.034563125678,
]
"""Learning rate of each step as a share of its peak: up in 3.6 steps, then down in 8.4."""


class Trained(NamedTuple):
    """Parameters and buffers of a network after twelve steps, and the average of the network."""

    network: dict[str, Tensor]
    average: dict[str, Tensor]


def train(
    network: nn.Module,
    images: Tensor,
    labels: Tensor,
    loss_function: Callable[[object, Tensor, Tensor], Tensor],
) -> Trained:
    """Train a copy of a network on 64 images for three epochs of four steps."""
    network = deepcopy(network).train()
    average = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    means = {name: torch.zeros_like(p) for name, p in network.named_parameters()}
    squares = {name: torch.zeros_like(p) for name, p in network.named_parameters()}
    step = 0
    for epoch in range(EPOCHS):
        order = torch.randperm(len(images), generator=generator(SEED, epoch, 0))
        for position in range(STEPS_PER_EPOCH):
            chosen = order[BATCH * position : BATCH * (position + 1)]
            batch = shifted(images[chosen], generator(SEED, epoch, position + 1))
            torch.manual_seed(mixed(SEED, epoch, position + 1, 1))  # for dropout
            output = network(batch, labels[chosen])
            loss = loss_function(output, batch, labels[chosen])
            gradients = torch.autograd.grad(loss, list(network.parameters()))
            rate = PEAK * RATES[step]
            step += 1
            named = zip(network.named_parameters(), gradients, strict=True)
            for (name, parameter), gradient in named:
                means[name] = 0.9 * means[name] + 0.1 * gradient
                squares[name] = 0.99 * squares[name] + 0.01 * gradient**2
                mean = means[name] / (1 - 0.9**step)
                square = squares[name] / (1 - 0.99**step)
                parameter.data -= rate * mean / (square.sqrt() + 1e-8)
            for name, tensor in network.state_dict().items():
                is_parameter = name in means
                if step == 1 or not is_parameter:
                    average[name] = tensor.clone()
                else:
                    average[name] = AVERAGE * average[name] + (1 - AVERAGE) * tensor
    return Trained(network.state_dict(), average)


def shifted(images: Tensor, chance: torch.Generator) -> Tensor:
    """Move each image by up to two whole pixels: first all rows are drawn, then all columns."""
    rows = torch.randint(0, 2 * SHIFT + 1, (len(images),), generator=chance).tolist()
    columns = torch.randint(0, 2 * SHIFT + 1, (len(images),), generator=chance).tolist()
    result = torch.zeros_like(images)
    for number, image in enumerate(images):
        padded = nn.functional.pad(image, (SHIFT, SHIFT, SHIFT, SHIFT))
        top = rows[number]
        left = columns[number]
        result[number] = padded[:, top : top + 28, left : left + 28]
    return result


def mixed(*numbers: int) -> int:
    """Return one seed for several numbers: 63 bits of their SHA-256."""
    text = "(" + ", ".join(str(number) for number in numbers) + ")"
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16) // 2


def generator(*numbers: int) -> torch.Generator:
    """Return the source of all chance at one place of a training."""
    return torch.Generator().manual_seed(mixed(*numbers))
