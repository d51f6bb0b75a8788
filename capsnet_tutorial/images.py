"""Images of one's own as a training set: a data set, or tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect, expect_image_dtype, expect_tensor
from capsnet_tutorial.model import warn_of_range

WANTED = "a Dataset of (image, label), a pair of tensors (images, labels), or Digits"


@runtime_checkable
class TrainingData(Protocol):
    """A training set: `Digits`, say."""

    @property
    def count(self) -> int:
        """Number of examples."""

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return images [B, …] and targets [B, …] of the chosen examples, int64 [B].

        All chance comes from the generator.
        """


Examples = TrainingData | Dataset[Any] | tuple[Tensor, Tensor]
"""What `training_data` takes."""


def training_data(data: Examples) -> TrainingData:
    """Return images of one's own in the form in which they are trained on and evaluated.

    Args:
        data: `Digits`, or another `TrainingData`, which are returned as they are; a ``Dataset`` of
            (image, label), such as the one in a ``DataLoader``; or a pair of tensors, images
            [N, C, H, W] and labels. Images are floats from 0 to 1. A label is the number of a
            class, or a row of zeros and ones, one for each class.

    Raises:
        ValueError: anything else, or no images.
    """
    advice = "a DataLoader: pass its dataset; the recipe has the batch size"
    expect(not isinstance(data, DataLoader), WANTED, advice)
    if isinstance(data, (tuple, list)) and not isinstance(data, Digits):
        return _from_pair(data)
    if isinstance(data, Digits):
        _expect_pair(data.images, data.labels)
        return data
    if isinstance(data, TrainingData):
        return data
    has_examples = hasattr(data, "__getitem__") and hasattr(data, "__len__")
    expect(has_examples and not isinstance(data, (Tensor, str, dict)), WANTED, _kind(data))
    examples = DatasetExamples(data)
    expect(examples.count > 0, "at least one image", "none")
    with torch.random.fork_rng(devices=[]):  # a look at an image takes none of the caller's chance
        image, _ = examples.example(0)
    warn_of_range(image)
    return examples


def _from_pair(pair: Sequence[Any]) -> Digits:
    """Return images and labels with a name for their source."""
    are_tensors = len(pair) == 2 and all(isinstance(part, Tensor) for part in pair)
    kinds = ", ".join(_kind(part) for part in pair[:3])
    expect(are_tensors, WANTED, f"a {_kind(pair)} of {len(pair)}: {kinds}")
    images, labels = pair
    _expect_pair(images, labels)
    return Digits(images, labels, "own images")


def _expect_pair(images: Tensor, labels: Tensor) -> None:
    """Raise `InputError` unless images and labels are as many, at least one."""
    expect_image_dtype(images)
    expect_tensor("labels", labels)
    expect(len(images) > 0, "at least one image", "none")
    expect(labels.dim() > 0 and len(labels) == len(images), f"{len(images)} labels", _size(labels))


@dataclass(frozen=True)
class DatasetExamples:
    """A ``Dataset`` of (image, label) as training data: an image is read when it is needed."""

    dataset: Any

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(self.dataset)

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return images [B, C, H, W] and labels of the chosen examples, int64 [B].

        What the data set's own transforms draw from PyTorch follows from the generator, too.
        """
        seed = int(torch.randint(2**62, (), generator=generator))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            examples = [self.example(position) for position in chosen.tolist()]
        images = [image for image, _ in examples]
        labels = [label for _, label in examples]
        for image in images:
            wanted = f"images of one size, {list(images[0].shape)} as the first of a batch"
            advice = f"{list(image.shape)}: give the data set a transform that resizes"
            expect(image.shape == images[0].shape, wanted, advice)
        return augmentation(torch.stack(images), generator), torch.stack(labels)

    def example(self, position: int) -> tuple[Tensor, Tensor]:
        """Return an image [C, H, W] and its label.

        Raises:
            ValueError: the data set has something else at this position.
        """
        example = self.dataset[position]
        is_pair = isinstance(example, (tuple, list)) and len(example) == 2
        expect(is_pair, "a Dataset of (image, label)", f"one of {_kind(example)}")
        image, label = example
        wanted = "images as tensors [C, H, W] (transform=torchvision.transforms.ToTensor())"
        expect(isinstance(image, Tensor) and image.dim() == 3, wanted, _kind(image))
        expect_image_dtype(image)
        return image, torch.as_tensor(label)


def _kind(value: Any) -> str:
    """Return what a value is, for a message: its type, and a tensor's shape."""
    if isinstance(value, Tensor):
        return f"a Tensor of shape {list(value.shape)}"
    return type(value).__name__


def _size(labels: Tensor) -> str:
    return f"labels of shape {list(labels.shape)}"
