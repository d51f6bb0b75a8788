"""How equivariant is a representation? If a digit turns, is its vector moved by a map that is the
same for every digit?

`python -m capsnet_book.experiments.equivariance` measures the book's stored networks and pixels,
and writes results/equivariance.json; weights of other runs are measured if their files are named.

For every class and angle an affine map from the vectors of upright digits to those of turned ones
is fitted to half of the digits, by least squares. R² on the other half says which share of the
variance within a class the map explains: 1 if a turn moves all digits of a class alike, 0 if
knowing the upright vector is of no use. Applied twice, the map of 10° ought to be the one of 20°.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsnet_book.experiments import records
from capsnet_book.experiments.cnn import ConvNet
from capsnet_book.experiments.variants import build_variant
from capsnet_book.networks import load_network, trained_network
from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.files import write_json
from capsnet_tutorial.model import CapsNet, CapsNetConfig

ANGLES = (10, 20, 30, 45)
"""Degrees by which digits are turned, anticlockwise."""
STEP = 10
"""Degrees of the map that is applied twice."""
COUNT = 4000
"""Test digits: the first half to fit, the second to measure."""
WIDTH = 16
"""Numbers of a class capsule; of a wider representation, so many principal axes of each class."""

Read = Callable[[Tensor, Tensor], Tensor]
"""(images [B, 1, 28, 28], labels [B]) -> vectors [B, D]."""


class Map(NamedTuple):
    """x -> x A + b."""

    matrix: Tensor
    offset: Tensor

    def __call__(self, vectors: Tensor) -> Tensor:
        return vectors @ self.matrix + self.offset


class Turned(NamedTuple):
    """Vectors of digits, upright at 0 and turned, by angle, each [N, D]; and the digits' labels
    [N].
    """

    vectors: Mapping[int, Tensor]
    labels: Tensor

    def of_class(self, label: int) -> dict[int, Tensor]:
        """Return the vectors of one class, by angle."""
        return {angle: each[self.labels == label] for angle, each in self.vectors.items()}


# --- what is read off


def class_capsule(network: CapsNet) -> Read:
    """Return what reads the capsule of an image's true class, [B, 16]."""

    def read(images: Tensor, labels: Tensor) -> Tensor:
        v = network.routed(network.primary_capsules(images))
        return v[torch.arange(len(labels)), labels]

    return read


def last_hidden_layer(network: ConvNet) -> Read:
    """Return what reads a CNN's last hidden layer, after its ReLU, [B, 192]."""
    layers = network.layers[:-1]
    return lambda images, labels: layers(images)


def pixels(images: Tensor, labels: Tensor) -> Tensor:
    """Return the pixels, [B, 784]."""
    return images.flatten(1)


@torch.no_grad()
def turned_vectors(read: Read, data: Digits, batch_size: int = 500) -> Turned:
    """Read the digits upright and turned by `ANGLES`."""
    vectors = {}
    for angle in (0, *ANGLES):
        images = transform(data.images, Pose(rotation=float(angle)))
        batches = zip(images.split(batch_size), data.labels.split(batch_size), strict=True)
        vectors[angle] = torch.cat([read(*batch) for batch in batches]).double()
    return Turned(vectors, data.labels)


# --- what is measured


def equivariance(turned: Turned) -> dict[str, Any]:
    """Return ``r2`` by angle, and ``composed``: R² of the map of `STEP` applied twice, for twice
    the angle.
    """
    residual = dict.fromkeys([*map(str, ANGLES), "composed"], 0.0)
    total = dict.fromkeys(residual, 0.0)
    for label in turned.labels.unique().tolist():
        vectors = narrowed(turned.of_class(label))
        half = len(vectors[0]) // 2
        maps = {angle: fitted(vectors[0][:half], vectors[angle][:half]) for angle in ANGLES}
        upright = vectors[0][half:]
        predictions = {f"{angle}": maps[angle](upright) for angle in ANGLES}
        predictions["composed"] = maps[STEP](maps[STEP](upright))
        for key, prediction in predictions.items():
            angle = 2 * STEP if key == "composed" else int(key)
            truth = vectors[angle][half:]
            residual[key] += (truth - prediction).square().sum().item()
            total[key] += (truth - truth.mean(dim=0)).square().sum().item()
    r2 = {key: round(1 - residual[key] / total[key], 4) for key in total}
    return {"composed": r2.pop("composed"), "r2": r2}


def narrowed(vectors: Mapping[int, Tensor]) -> dict[int, Tensor]:
    """Return vectors of one class on their `WIDTH` principal axes, if they are wider.

    The axes are those of the first half of the digits, at all angles.
    """
    if vectors[0].shape[1] <= WIDTH:
        return dict(vectors)
    half = len(vectors[0]) // 2
    first = torch.cat([each[:half] for each in vectors.values()])
    centre = first.mean(dim=0)
    axes = torch.linalg.svd(first - centre, full_matrices=False).Vh[:WIDTH].T
    return {angle: (each - centre) @ axes for angle, each in vectors.items()}


def fitted(upright: Tensor, turned: Tensor) -> Map:
    """Return the affine map from vectors [N, D] to vectors [N, D] with the least squared error."""
    inputs = torch.cat([upright, torch.ones(len(upright), 1, dtype=upright.dtype)], dim=1)
    solution = torch.linalg.lstsq(inputs, turned, driver="gelsd").solution
    return Map(solution[:-1], solution[-1])


# --- the command


def representations(weights: list[Path]) -> dict[str, Read]:
    """Return what is measured, by name: of the stored networks, pixels, and of the files of
    weights.
    """
    even = trained_network("small-shifted")
    even.routed.iterations = 1
    readers = {
        "small-shifted": class_capsule(trained_network("small-shifted")),
        "small-shifted, even shares": class_capsule(even),
        "small": class_capsule(trained_network("small")),
        "small-cnn": last_hidden_layer(trained_network("small-cnn")),
        "pixels": pixels,
    }
    for path in weights:
        network = network_of_run(path)
        is_capsnet = isinstance(network, CapsNet)
        read = class_capsule(network) if is_capsnet else last_hidden_layer(network)
        readers[path.parent.name] = read
    return readers


def network_of_run(path: Path) -> CapsNet | ConvNet:
    """Return the network of a run, from its weights; the record that lies beside them names its
    changes.
    """
    changes = records.read(path.with_name("result.json"))["changes"]
    parts = build_variant(CapsNetConfig.small(), changes).parts if changes else None
    return load_network(path, parts)


def main() -> None:
    """Measure what is stored, and the weights that are named, and write
    results/equivariance.json.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "weights", nargs="*", type=Path, help="of runs: runs/NAME/weights.safetensors"
    )
    options = parser.parse_args()
    test = digits("test", source="mnist")
    test = test._replace(images=test.images[:COUNT], labels=test.labels[:COUNT])
    path = records.folder() / "equivariance.json"
    stored = records.read(path) if path.exists() else {"networks": {}}
    for name, read in representations(options.weights).items():
        stored["networks"][name] = equivariance(turned_vectors(read, test))
        print(name, stored["networks"][name], flush=True)
    stored["about"] = {
        "command": "python -m capsnet_book.experiments.equivariance",
        "digits": COUNT,
        "axes": WIDTH,
        "step": STEP,
    }
    write_json(path, stored)


if __name__ == "__main__":
    main()
