"""Images of one's own as a training set: a data set, tensors, or a folder of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image, ImageOps
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import InputError, expect, expect_image_dtype, expect_tensor
from capsnet_tutorial.files import write_whole
from capsnet_tutorial.functional import mask_capsules
from capsnet_tutorial.model import CapsNet, warn_of_range

SPLITS = {"train", "training", "val", "valid", "validation", "test", "testing"}
"""Names of folders that hold class folders, and are none."""
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


# --- a folder of pictures


def read_folder(
    folder: str | Path, size: tuple[int, int], channels: int | None = None
) -> tuple[Digits, tuple[str, ...]]:
    """Read the pictures of class folders: ``folder/cat/1.png``, ``folder/dog/1.png``.

    Args:
        folder: in the layout of torchvision's `ImageFolder`, at least two classes.
        size: height and width that every picture is resized to; proportions are not kept.
        channels: 3 for colour, 1 for grey; without a number 3, or 1 where all pictures are grey.

    Returns:
        Images [N, channels, H, W] with labels, and the classes' names in the order of the labels.

    Raises:
        ValueError: no such folder, fewer than two classes, a class without pictures, a file that is
            no picture.
    """
    from torchvision.datasets import ImageFolder  # takes a second to import

    folder = Path(folder)
    wanted = f"class folders with pictures in {folder}, such as {folder / 'cat' / '1.png'}"
    expect(folder.is_dir(), wanted, "no such folder")
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    is_of_splits = bool(names) and all(name.lower() in SPLITS for name in names)
    parts = " and ".join(str(folder / name) for name in names)
    expect(not is_of_splits, wanted, f"parts of a data set: name one of {parts}")
    expect(len(names) > 1, f"at least two {wanted}", " and ".join(names) or "none")
    try:
        files = ImageFolder(str(folder)).samples
    except FileNotFoundError as problem:
        raise InputError(f"expected {wanted}; got {problem!s:.160}") from problem
    images = torch.stack([read_picture(path, size, channels or 3) for path, _ in files])
    labels = torch.tensor([label for _, label in files])
    if channels is None and bool((images == images[:, :1]).all()):
        images = images[:, :1].clone()  # three equal channels say no more than one
    return Digits(images, labels, str(folder)), tuple(names)


def read_picture(path: str | Path, size: tuple[int, int], channels: int = 3) -> Tensor:
    """Read a picture of any format that Pillow reads, resized: [channels, H, W], from 0 to 1.

    What is transparent becomes black. A photo is turned as its camera was held.

    Args:
        path: of the file.
        size: H and W; proportions are not kept.
        channels: 3 for red, green and blue; 1 for grey.

    Raises:
        ValueError: there is no picture that can be read.
    """
    height, width = size
    try:
        with Image.open(path) as file:
            picture = _in_colour(ImageOps.exif_transpose(file))
    except Exception as problem:  # Pillow's readers raise errors of many kinds
        raise InputError(f"expected a picture in {path}; got {problem}") from problem
    picture = picture.convert("RGB" if channels == 3 else "L")
    picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    pixels = np.asarray(picture, dtype=np.float32).reshape(height, width, channels) / 255
    return torch.from_numpy(pixels).permute(2, 0, 1).contiguous()


def _in_colour(picture: Image.Image) -> Image.Image:
    """Return a picture in red, green and blue, eight bits each, on black where transparent."""
    if picture.mode.startswith("I;16"):  # Pillow would clip 16 bits to 8
        return Image.fromarray((np.asarray(picture) // 256).astype(np.uint8)).convert("RGB")
    coloured = picture.convert("RGBA")
    black = Image.new("RGBA", coloured.size, "black")
    return Image.alpha_composite(black, coloured).convert("RGB")


def split_held_out(data: Digits, share: float, seed: int) -> tuple[Digits, Digits]:
    """Return images to train on, and a share of each class that is held out, at least one.

    Args:
        data: at least two images of each class.
        share: of the images that are held out, between 0 and 1.
        seed: of the choice.

    Raises:
        ValueError: a class of a single image.
    """
    generator = torch.Generator().manual_seed(seed)
    is_held_out = torch.zeros(data.count, dtype=torch.bool)
    for label in range(int(data.labels.max()) + 1):
        positions = torch.nonzero(data.labels == label).flatten()
        expect(len(positions) > 1, "at least two pictures of each class", f"one of class {label}")
        shuffled = positions[torch.randperm(len(positions), generator=generator)]
        is_held_out[shuffled[: max(1, round(share * len(positions)))]] = True
    training, held_out = (
        Digits(data.images[chosen], data.labels[chosen], data.source)
        for chosen in (~is_held_out, is_held_out)
    )
    return training, held_out


# --- drawings


@torch.no_grad()
def bent_drawings(network: CapsNet, images: Tensor, steps: int = 7) -> Tensor:
    """Redraw images from their longest capsules while one of its numbers is bent. Figure 4.

    The number is the one that changes the drawing most; it is bent by -0.25 to 0.25.

    Args:
        network: in eval mode.
        images: [N, C, H, W].
        steps: drawings of an image; the middle one of an odd number is not bent.

    Returns:
        [N, 1 + steps, C, H, W]: an image, then its drawings.
    """
    v, lengths, _ = network(images)
    capsules = mask_capsules(v)  # [N, J, D]
    count, classes, dim = capsules.shape
    bends = torch.linspace(-0.25, 0.25, steps).view(steps, 1) * torch.eye(dim).view(dim, 1, dim)
    is_longest = F.one_hot(lengths.argmax(dim=1), classes)  # [N, J]
    bent = torch.einsum("nj,dse->ndsje", is_longest.to(bends), bends)  # [N, D, steps, J, D]
    bent = bent + capsules.view(count, 1, 1, classes, dim)
    drawings = network.decode(bent.flatten(0, 2)).view(count, dim, steps, *images.shape[1:])
    change = (drawings[:, :, -1] - drawings[:, :, 0]).square().flatten(2).sum(dim=2)  # [N, D]
    of_largest_change = drawings[torch.arange(count), change.argmax(dim=1)]
    return torch.cat([images.unsqueeze(1), of_largest_change], dim=1)


def write_pictures(path: Path, pictures: Tensor) -> None:
    """Write rows of pictures [rows, columns, C, H, W] as one PNG file, three times as large."""
    from torchvision.utils import save_image  # takes a second to import

    large = F.interpolate(pictures.flatten(0, 1), scale_factor=3)
    content = BytesIO()
    save_image(large, content, format="png", nrow=pictures.shape[1], padding=4, pad_value=1)
    write_whole(path, content.getvalue())
