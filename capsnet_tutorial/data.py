"""MNIST's digits from disk or by download, and the bundled sample of 5,000."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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

DOWNLOAD_TIMEOUT = 15.0
"""Seconds that a silent server is waited for."""

# By whether the digits are the training set's, as torchvision's argument ``train``: SHA-256 of the
# pixels, then the labels (one byte each, no header), from the original files; and the files' names.
_MNIST_SHA256 = {
    True: "edc0d1098aa497be14ace79ddd5171e5a3dcf9c4d196c015389203eb3ba1f59b",
    False: "c3f9adf9c66efb572b1f9326c3a511b45910c7173b97be66ceceeeeaef6b802b",
}
_FILES = {
    True: ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
    False: ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
}
_SAMPLE_SPLITS = {
    "train": slice(0, 4000),
    "validation": slice(4000, 4500),
    "test": slice(4500, 5000),
}


class Digits(NamedTuple):
    """Images of digits with their labels and their source."""

    images: Tensor
    """float32 [N, 1, 28, 28], from 0 (paper) to 1 (ink)."""
    labels: Tensor
    """int64 [N], 0 to 9."""
    source: str
    """"mnist" or "sample"."""

    @property
    def count(self) -> int:  # type: ignore[override]  # a tuple's own count is of no use here
        """Number of digits, N."""
        return len(self.images)

    def batch(
        self, chosen: Tensor, augmentation: Augmentation, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Return the chosen digits for a training step.

        Args:
            chosen: positions of the digits, int64 [B].
            augmentation: how far images are moved at random.
            generator: source of all chance.

        Returns:
            Images, floats from 0 to 1, and labels.
        """
        chosen = chosen.to(self.images.device)
        images = self.images[chosen]
        if images.dtype == torch.uint8:  # as a training stores them, see `train.machine.on_device`
            images = images / 255
        return augmentation(images, generator), self.labels[chosen]


def digits(split: Split, source: Source = "auto", root: str | Path | None = None) -> Digits:
    """Return a split of the handwritten digits.

    =========  ==========================  ==========================
    split      source "mnist"              source "sample"
    =========  ==========================  ==========================
    train      55,000                      the sample's first 4,000
    validation 5,000: **the** sample       the next 500
    test       MNIST's 10,000 test digits  the last 500
    =========  ==========================  ==========================

    The sample is the first 500 of each class among MNIST's 60,000 training digits, in the order
    0, 1, …, 9, 0, 1, …. The weights "small" were not trained on any of them; the cards of the other
    weights, beside them in ``assets``, say on what they were trained.

    Args:
        split: "train", "validation" or "test".
        source: "mnist": on disk in torchvision's layout under ``root``, else ``$CAPSNET_DATA``,
            else the user's cache, where it is downloaded to. "sample": the bundled one, no network.
            "auto": MNIST, or the sample if MNIST cannot be had; one line on stderr says so. Where
            several splits are to be of one source, ask `resolved_source` once.
        root: a folder that holds, or shall hold, ``MNIST/raw``.

    Raises:
        ValueError: an unknown split or source; MNIST's files are damaged or cannot be read.
        FileNotFoundError: source "mnist", which is neither on disk nor can be downloaded.
    """
    expect(split in get_args(Split), f"a split, one of {', '.join(get_args(Split))}", repr(split))
    source = resolved_source(source, root)
    if source == "sample":
        images, labels = _from_sample(split)
    else:
        images, labels = _from_files(split, _root(root))
    # Cloned, so that a slice of the labels does not keep all 60,000 in memory.
    return Digits(images.unsqueeze(1).float() / 255, labels.clone(), source)


def resolved_source(source: Source = "auto", root: str | Path | None = None) -> Source:
    """Return the source that "auto" stands for at present, or any other source itself.

    The files of the returned source are on disk afterwards. For several splits ask once, and pass
    the answer to `digits`: a download can fail now and succeed a minute later, and MNIST's
    validation split is the sample.

    Args:
        source: "auto", "mnist" or "sample", as for `digits`.
        root: a folder that holds, or shall hold, ``MNIST/raw``.

    Raises:
        ValueError: an unknown source.
        FileNotFoundError: source "mnist", which is neither on disk nor can be downloaded.
    """
    names = get_args(Source)
    expect(source in names, f"a source, one of {', '.join(names)}", repr(source))
    if source == "sample":
        return source
    try:
        _fetch(_root(root))
    except FileNotFoundError as problem:
        if source != "auto":
            raise
        reason = f"{problem}; using the bundled sample of 5,000 digits"
        print(f"capsnet_tutorial: {reason}", file=sys.stderr)
        return "sample"
    return "mnist"


def held_out(labels: Tensor) -> Tensor:
    """Return the positions of the training digits that are kept from training, int64 [5000].

    These are the first 500 of each class, in the order 0, 1, …, 9, 0, 1, …: the bundled sample.

    Args:
        labels: of MNIST's 60,000 training digits.
    """
    positions = [torch.nonzero(labels == digit).flatten()[:500] for digit in range(10)]
    return torch.stack(positions, dim=1).flatten()


# --- the sample


def _from_sample(split: Split) -> tuple[Tensor, Tensor]:
    """Return a split of the sample: pixels uint8 [N, 28, 28], and labels."""
    images, labels = _sample()
    part = _SAMPLE_SPLITS[split]
    return images[part], labels[part]


@lru_cache(maxsize=1)
def _sample() -> tuple[Tensor, Tensor]:
    """Return the bundled sample: MNIST's training digits at `held_out`, uint8, and their labels.

    `tools/make_sample.py` wrote it; a test compares it with MNIST's own files.
    """
    path = resources.files("capsnet_tutorial.assets") / "sample" / "digits.npz"
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return torch.from_numpy(arrays["images"]), torch.from_numpy(arrays["labels"]).long()


# --- MNIST


def _from_files(split: Split, root: Path) -> tuple[Tensor, Tensor]:
    """Return a split of MNIST: pixels uint8 [N, 28, 28], and labels."""
    in_training_set = split != "test"
    images, labels = _read(in_training_set, root)
    if split == "test":
        return images, labels
    validation = held_out(labels)
    if split == "validation":
        return images[validation], labels[validation]
    is_training = torch.ones(len(labels), dtype=torch.bool)
    is_training[validation] = False
    return images[is_training], labels[is_training]


@lru_cache(maxsize=2)
def _read(train: bool, root: Path) -> tuple[Tensor, Tensor]:
    """Return pixels uint8 [N, 28, 28] and labels, checked against the original's checksums.

    Raises:
        ValueError: a file is damaged, or cannot be read.
    """
    from torchvision import datasets  # takes a second to import, and the sample does without

    folder = root / "MNIST" / "raw"
    names = " and ".join(_FILES[train])
    complaint = f"expected MNIST's original files {names} under {folder}; got damaged ones"
    advice = "Delete them, and they will be downloaded again"
    try:
        data = datasets.MNIST(str(root), train=train, download=False)
    except PermissionError as problem:
        wanted = f"files under {folder} that may be read"
        raise InputError(f"expected {wanted}; got {problem}") from problem
    except Exception as problem:  # torchvision raises asserts and errors of many kinds
        reason = f" ({problem})" if str(problem) else ""
        raise InputError(f"{complaint}{reason}. {advice}") from problem
    pixels = data.data.to(torch.uint8).numpy().tobytes()
    labels = data.targets.to(torch.uint8).numpy().tobytes()
    if hashlib.sha256(pixels + labels).hexdigest() != _MNIST_SHA256[train]:
        raise InputError(f"{complaint} (checksums differ). {advice}")
    return data.data, data.targets


def _fetch(root: Path) -> None:
    """Download MNIST unless all of its files are on disk: torchvision wants all four.

    Raises:
        FileNotFoundError: it is not on disk and cannot be downloaded.
    """
    folder = root / "MNIST" / "raw"
    try:
        if all((folder / name).exists() for names in _FILES.values() for name in names):
            return
        from torchvision import datasets

        print(f"capsnet_tutorial: downloading MNIST to {root} (11 MB) …", file=sys.stderr)
        with _socket_timeout(DOWNLOAD_TIMEOUT):
            datasets.MNIST(str(root), download=True)
    # No network, a silent mirror, its error page, an unwritable or unreadable folder.
    except Exception as problem:
        raise FileNotFoundError(
            f"MNIST is not in {root} and could not be downloaded. Its four files belong in "
            "MNIST/raw in that folder; --data or $CAPSNET_DATA names another"
        ) from problem


@contextmanager
def _socket_timeout(seconds: float) -> Iterator[None]:
    """Limit the wait for every answer of a server; torchvision sets no limit."""
    usual = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(usual)


def _root(root: str | Path | None) -> Path:
    """Return the folder of MNIST: the given one, else $CAPSNET_DATA, else in the user's cache.

    Raises:
        FileNotFoundError: it would be in the home directory, and there is none.
    """
    try:
        folder = root or os.environ.get("CAPSNET_DATA")
        if folder:
            return Path(folder).expanduser()
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(cache) / "capsnet_tutorial"
    except RuntimeError as problem:
        raise FileNotFoundError(
            f"MNIST has no folder to be in: {problem}. --data or $CAPSNET_DATA names one"
        ) from problem
