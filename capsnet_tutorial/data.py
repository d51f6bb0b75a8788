"""MNIST's digits from disk or by download, and the sample of 5,000 that comes with the package."""

from __future__ import annotations

import hashlib
import os
import sys
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from torch import Tensor

from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.errors import InputError, expect

Split = Literal["train", "validation", "test"]
Source = Literal["auto", "mnist", "sample"]

# SHA-256 of the pixels, then the labels (one byte each, no header), from the original files.
_MNIST_SHA256 = {
    True: "edc0d1098aa497be14ace79ddd5171e5a3dcf9c4d196c015389203eb3ba1f59b",
    False: "c3f9adf9c66efb572b1f9326c3a511b45910c7173b97be66ceceeeeaef6b802b",
}
_FILES = [
    f"{kind}-{part}-ubyte" for kind in ("train", "t10k") for part in ("images-idx3", "labels-idx1")
]


class Digits(NamedTuple):
    """Images with what they show, and where they came from."""

    images: Tensor
    """float32 [N, 1, 28, 28], from 0 (paper) to 1 (ink)."""
    labels: Tensor
    """int64 [N], 0 to 9."""
    source: str
    """"mnist" or "sample"."""

    @property
    def count(self) -> int:  # type: ignore[override]  # a tuple's own count is of no use here
        """N."""
        return len(self.images)

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Images, floats in [0, 1], moved at random, and labels of the chosen digits."""
        chosen = chosen.to(self.images.device)
        images = self.images[chosen] / (255 if self.images.dtype == torch.uint8 else 1)
        return augmentation(images, generator), self.labels[chosen]


def digits(split: Split, source: Source = "auto", root: str | Path | None = None) -> Digits:
    """Handwritten digits.

    =========  ==========================  ==========================
    split      source "mnist"              source "sample"
    =========  ==========================  ==========================
    train      55,000                      the sample's first 4,000
    validation 5,000: **the** sample       the next 500
    test       MNIST's 10,000 test digits  the last 500
    =========  ==========================  ==========================

    The sample is the first 500 of each class among MNIST's 60,000 training digits, in the order
    0, 1, …, 9, 0, 1, …. The weights "small" were not trained on any of them; what the others were trained on, their
    cards say, beside them in ``assets``.

    Args:
        split: "train", "validation" or "test".
        source: "mnist": on disk in torchvision's layout under ``root``, else ``$CAPSNET_DATA``, else the
            user's cache, where it is downloaded to. "sample": the bundled one, no network.
            "auto": MNIST, or the sample if MNIST cannot be had; one line on stderr says so. Where several splits
            are to be of one source, ask `resolved_source` once.
        root: a folder that holds, or shall hold, ``MNIST/raw``.

    Raises:
        ValueError: an unknown split or source; MNIST's files are damaged.
        FileNotFoundError: source "mnist", which is neither on disk nor can be downloaded.
    """
    expect(split in get_args(Split), f"a split, one of {', '.join(get_args(Split))}", repr(split))
    source = resolved_source(source, root)
    images, labels = _from_sample(split) if source == "sample" else _from_files(split, _root(root))
    return Digits(images.unsqueeze(1).float() / 255, labels.clone(), source)


def resolved_source(source: Source = "auto", root: str | Path | None = None) -> Source:
    """The source that "auto" stands for here and now; any other is itself. Its files are there afterwards.

    A download can fail now and succeed a minute later, and MNIST holds out the very digits of the sample: whoever
    needs several splits asks once, and names `digits` what came. It takes and raises what `digits` does.
    """
    expect(
        source in get_args(Source), f"a source, one of {', '.join(get_args(Source))}", repr(source)
    )
    if source == "sample":
        return source
    try:
        _fetch(_root(root))
    except FileNotFoundError as problem:
        if source != "auto":
            raise
        print(
            f"capsnet_tutorial: {problem}; using the bundled sample of 5,000 digits",
            file=sys.stderr,
        )
        return "sample"
    return "mnist"


def held_out(labels: Tensor) -> Tensor:
    """Which of MNIST's 60,000 training digits are kept from training: their positions, int64 [5000].

    The first 500 of each class, in the order 0, 1, …, 9, 0, 1, ….
    """
    first = [torch.nonzero(labels == digit).flatten()[:500] for digit in range(10)]
    return torch.stack(first, dim=1).flatten()


def _from_sample(split: Split) -> tuple[Tensor, Tensor]:
    images, labels = _sample()
    part = {"train": slice(0, 4000), "validation": slice(4000, 4500), "test": slice(4500, 5000)}[
        split
    ]
    return images[part], labels[part]


@lru_cache(maxsize=1)
def _sample() -> tuple[Tensor, Tensor]:
    path = resources.files("capsnet_tutorial.assets") / "sample" / "digits.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return torch.from_numpy(arrays["images"]), torch.from_numpy(arrays["labels"]).long()


def _from_files(split: Split, root: Path) -> tuple[Tensor, Tensor]:
    images, labels = _read(split != "test", root)
    if split == "test":
        return images, labels
    kept_out = held_out(labels)
    training = torch.ones(len(labels), dtype=torch.bool).scatter(0, kept_out, False)
    chosen = kept_out if split == "validation" else training
    return images[chosen], labels[chosen]


@lru_cache(maxsize=2)
def _read(train: bool, root: Path) -> tuple[Tensor, Tensor]:
    """Pixels uint8 [N, 28, 28] and labels, checked against the original's checksums."""
    from torchvision import datasets  # a second to import, and the sample does without

    damaged = (
        f"expected MNIST's original files under {root / 'MNIST' / 'raw'}; what is there is damaged"
    )
    try:
        data = datasets.MNIST(str(root), train=train, download=False)
    except (
        Exception
    ) as problem:  # torchvision meets a damaged file with asserts and errors of many kinds
        raise InputError(
            f"{damaged} ({problem}). Delete it, and it will be downloaded again"
        ) from problem
    content = b"".join(
        tensor.to(torch.uint8).numpy().tobytes() for tensor in (data.data, data.targets)
    )
    if hashlib.sha256(content).hexdigest() != _MNIST_SHA256[train]:
        raise InputError(
            f"{damaged} (checksums differ). Delete it, and it will be downloaded again"
        )
    return data.data, data.targets


def _fetch(root: Path) -> None:
    """Download what is not on disk: torchvision reads none of the four files where one is missing."""
    if all((root / "MNIST" / "raw" / file).exists() for file in _FILES):
        return
    from torchvision import datasets

    try:
        datasets.MNIST(str(root), download=True)
    except Exception as problem:  # no network, a mirror's error page, an unwritable cache: all the same to a reader
        raise FileNotFoundError(
            f"MNIST is not in {root} and could not be downloaded. Its four files belong in MNIST/raw in that folder; "
            "--data or $CAPSNET_DATA names another"
        ) from problem


def _root(root: str | Path | None) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(root or os.environ.get("CAPSNET_DATA") or cache / "capsnet_tutorial")
