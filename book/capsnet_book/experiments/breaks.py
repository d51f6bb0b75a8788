"""Break a training of `my_capsnet.py` in one place at a time, and measure what one sees.

``python -m capsnet_book.experiments.breaks`` trains each broken network for one epoch on the
sample's 4,000 digits, and writes results/breaks.json, from which chapter 12 makes its table, and
the widget `Choose` its four curves.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from capsnet_book.experiments.records import code_version, folder
from capsnet_book.page import my_capsnet
from capsnet_tutorial.data import digits
from capsnet_tutorial.files import write_json
from capsnet_tutorial.train.record import versions

BATCH_SIZE = 16
LEARNING_RATE = 0.006
CURVE_STEP = 5
"""The steps whose mean loss is a point of a curve."""
SEVEN = 47
"""The place among the test digits of the one whose ten lengths are kept: the widgets' seven."""

Network = Any
"""A CapsNet of `my_capsnet.py`, whose classes exist only when the page is read."""

Step = Callable[[Network, torch.optim.Optimizer, Tensor, Tensor], float]


def sound_network() -> Network:
    """Return the network of chapter 9, untrained."""
    return my_capsnet().CapsNet()


def sound_optimizer(network: Network, learning_rate: float) -> torch.optim.Optimizer:
    """Return the optimizer of chapter 9."""
    return torch.optim.Adam(network.parameters(), lr=learning_rate)


def sound_step(
    network: Network, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor
) -> float:
    """Take the training step of chapter 9; return the loss."""
    return my_capsnet().one_step(network, optimizer, images, labels)


def unchanged(tensor: Tensor) -> Tensor:
    """Return the tensor as it is."""
    return tensor


@dataclass(frozen=True)
class Break:
    """A training that differs from chapter 9's in one place."""

    slip: str
    """What was done, in the words of the table."""
    network: Callable[[], Network] = sound_network
    optimizer: Callable[[Network, float], torch.optim.Optimizer] = sound_optimizer
    step: Step = sound_step
    learning_rate: float = LEARNING_RATE
    images: Callable[[Tensor], Tensor] = unchanged
    labels: Callable[[Tensor], Tensor] = unchanged
    is_shown: bool = False
    """Whether chapter 12 shows its loss as a curve, which the record keeps then."""


# --- broken steps


def step_without_zero_grad(
    network: Network, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor
) -> float:
    """Take a step along the sum of all gradients so far."""
    loss = my_capsnet().capsnet_loss(network(images, labels), images, labels)
    loss.backward()
    optimizer.step()
    return loss.item()


def step_without_step(
    network: Network, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor
) -> float:
    """Compute the gradient and move nothing."""
    loss = my_capsnet().capsnet_loss(network(images, labels), images, labels)
    optimizer.zero_grad()
    loss.backward()
    return loss.item()


def step_without_labels(
    network: Network, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor
) -> float:
    """Take a step in which the mask keeps the longest capsule."""
    loss = my_capsnet().capsnet_loss(network(images), images, labels)
    return _take_step(optimizer, loss)


def step_with(loss_of: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Step:
    """Return a step that minimises another loss of (lengths, drawing, images, labels)."""

    def step(
        network: Network, optimizer: torch.optim.Optimizer, images: Tensor, labels: Tensor
    ) -> float:
        _, lengths, drawing = network(images, labels)
        return _take_step(optimizer, loss_of(lengths, drawing, images, labels))

    return step


def _take_step(optimizer: torch.optim.Optimizer, loss: Tensor) -> float:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


# --- broken losses


def margin(lengths: Tensor, labels: Tensor, present: float = 0.9, absent: float = 0.1) -> Tensor:
    """Return the margin loss of every image, [B]."""
    targets = F.one_hot(labels, 10)
    too_short = targets * (present - lengths).relu() ** 2
    too_long = 0.5 * (1 - targets) * (lengths - absent).relu() ** 2
    return (too_short + too_long).sum(dim=1)


def squared_error(drawing: Tensor, images: Tensor) -> Tensor:
    """Return the summed squared error of every drawing, [B]."""
    return (drawing - images.flatten(1)).square().sum(dim=1)


def mean_over_pixels(lengths: Tensor, drawing: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Return a loss whose drawing term is 784 times too weak."""
    drawing_loss = squared_error(drawing, images) / images[0].numel()
    return (margin(lengths, labels) + 0.0005 * drawing_loss).mean()


def sum_over_batch(lengths: Tensor, drawing: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Return the sum over the images in place of the mean."""
    return (margin(lengths, labels) + 0.0005 * squared_error(drawing, images)).sum()


def margins_swapped(lengths: Tensor, drawing: Tensor, images: Tensor, labels: Tensor) -> Tensor:
    """Return a loss that asks present classes for 0.1 and absent ones for 0.9."""
    margins = margin(lengths, labels, present=0.1, absent=0.9)
    return (margins + 0.0005 * squared_error(drawing, images)).mean()


# --- broken networks


def detached_network() -> Network:
    """Return a network whose primary capsules get no gradient."""
    page = my_capsnet()

    class Detached(page.RoutedCapsules):
        def forward(self, u: Tensor) -> Tensor:
            return super().forward(u.detach())

    network = page.CapsNet()
    routed = Detached()
    routed.load_state_dict(network.routed.state_dict())
    network.routed = routed
    return network


def large_matrices() -> Network:
    """Return a network whose W is drawn with standard deviation 1."""
    network = sound_network()
    with torch.no_grad():
        network.routed.weight.mul_(10)
    return network


def relu_capsules() -> Network:
    """Return a network with a ReLU behind its second convolution."""
    network = sound_network()
    network.primary.conv = nn.Sequential(network.primary.conv, nn.ReLU())
    return network


def mixed_capsules() -> Network:
    """Return a network that cuts its capsules by a bare ``view``."""
    page = my_capsnet()

    class Mixed(page.PrimaryCapsules):
        def forward(self, features: Tensor) -> Tensor:
            features = self.conv(features)  # [B, types·8, H, W]
            return page.squash(features.view(len(features), -1, 8))

    network = page.CapsNet()
    primary = Mixed()
    primary.load_state_dict(network.primary.state_dict())
    network.primary = primary
    return network


def wrong_axis() -> Network:
    """Return a network whose softmax runs over the capsules below."""
    page = my_capsnet()

    class WrongAxis(page.RoutedCapsules):
        def forward(self, u: Tensor) -> Tensor:
            u_hat = torch.einsum("bid,ijde->bije", u, self.weight)
            b = u_hat.new_zeros(u_hat.shape[:3])
            for _ in range(3):
                c = b.softmax(dim=1)
                v = page.squash(torch.einsum("bij,bije->bje", c, u_hat))
                b = b + torch.einsum("bije,bje->bij", u_hat, v)
            return v

    network = page.CapsNet()
    routed = WrongAxis()
    routed.load_state_dict(network.routed.state_dict())
    network.routed = routed
    return network


# --- broken data and optimizers


def optimizer_of_another(network: Network, learning_rate: float) -> torch.optim.Optimizer:
    """Return an optimizer that holds a copy's parameters."""
    return sound_optimizer(deepcopy(network), learning_rate)


def shuffled(labels: Tensor) -> Tensor:
    """Return the labels in another order than their images."""
    return labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(1))]


def up_to_255(images: Tensor) -> Tensor:
    """Return pixels from 0 to 255."""
    return 255 * images


def standardised(images: Tensor) -> Tensor:
    """Return pixels of mean 0 and deviation 1, as torchvision's tutorials make them."""
    return (images - 0.1307) / 0.3081


BREAKS = (
    Break("nothing: a sound run", is_shown=True),
    Break("a learning rate of 0.1", learning_rate=0.1, is_shown=True),
    Break("`optimizer.zero_grad()` forgotten", step=step_without_zero_grad),
    Break("`optimizer.step()` forgotten", step=step_without_step, is_shown=True),
    Break("the optimizer holds another network's weights", optimizer=optimizer_of_another),
    Break("a `detach` below the routing", network=detached_network, is_shown=True),
    Break("labels shuffled without their images", labels=shuffled, is_shown=True),
    Break("pixels from 0 to 255", images=up_to_255),
    Break("pixels of mean 0 and deviation 1", images=standardised),
    Break("the two margins swapped", step=step_with(margins_swapped)),
    Break("a sum over the batch", step=step_with(sum_over_batch)),
    Break("a mean over the pixels", step=step_with(mean_over_pixels)),
    Break("W drawn with deviation 1", network=large_matrices),
    Break("no labels given in training", step=step_without_labels),
    Break("a ReLU behind the second convolution", network=relu_capsules),
    Break("a softmax over i", network=wrong_axis),
    Break("a bare `view`", network=mixed_capsules),
)
"""What is tried, in the order of the table."""


def measure(slip: Break) -> dict[str, Any]:
    """Train for one epoch with one slip, and return what a reader can see of it.

    Returns:
        ``slip``; ``first_loss``; ``loss``, the mean of the epoch's last 50 steps; ``accuracy``
        on 500 test digits, from 0 to 1; ``longest``, the mean length of an image's longest
        capsule; ``first_gradient``, the norm of the last gradient of the first convolution;
        ``drawings_apart``, the standard deviation of the drawings over the test digits, mean of
        the pixels. Of a slip that is shown also ``curve``, the mean losses of 5 steps at a time,
        [50]; ``lengths``, the ten lengths for one test digit, a seven.
    """
    images, labels, _ = digits("train", source="sample")
    test_images, test_labels, _ = digits("test", source="sample")
    torch.manual_seed(0)
    network = slip.network()
    optimizer = slip.optimizer(network, slip.learning_rate)
    images = slip.images(images)
    labels = slip.labels(labels)
    losses = []
    for chosen in torch.randperm(len(images)).split(BATCH_SIZE):
        losses.append(slip.step(network, optimizer, images[chosen], labels[chosen]))
    gradient = network.conv.weight.grad
    with torch.no_grad():
        _, lengths, drawings = network(slip.images(test_images))
    accuracy = (lengths.argmax(dim=1) == test_labels).float().mean()
    row: dict[str, Any] = {
        "slip": slip.slip,
        "first_loss": _rounded(losses[0]),
        "loss": _rounded(sum(losses[-50:]) / 50),
        "accuracy": _rounded(float(accuracy)),
        "longest": _rounded(float(lengths.amax(dim=1).mean())),
        "first_gradient": _rounded(0.0 if gradient is None else float(gradient.norm())),
        "drawings_apart": _rounded(float(drawings.std(dim=0).mean())),
    }
    if slip.is_shown:
        row["curve"] = curve(losses)
        row["lengths"] = [_rounded(length) for length in lengths[SEVEN].tolist()]
    return row


def curve(losses: list[float]) -> list[float]:
    """Return the mean losses of `CURVE_STEP` steps at a time."""
    parts = torch.tensor(losses).split(CURVE_STEP)
    return [_rounded(float(part.mean())) for part in parts]


def _rounded(number: float) -> float:
    """Return three significant digits."""
    return float(f"{number:.3g}")


def main() -> None:
    """Measure all breaks and write results/breaks.json."""
    commit = code_version()
    torch.set_num_threads(1)
    rows = []
    for slip in BREAKS:
        rows.append(measure(slip))
        print(rows[-1], flush=True)
    record = {
        "command": "python -m capsnet_book.experiments.breaks",
        "training_digits": 4000,
        "batch_size": BATCH_SIZE,
        "breaks": rows,
        "versions": versions(),
        "commit": commit,
    }
    write_json(folder() / "breaks.json", record)


if __name__ == "__main__":
    main()
