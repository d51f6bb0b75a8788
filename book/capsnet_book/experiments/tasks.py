"""Tasks made of MNIST's digits, and the set-up of a training run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from capsnet_book.experiments import affine, pairs, variants
from capsnet_book.experiments.cnn import ConvNet, ConvNetConfig, Labelled, cross_entropy, error_of
from capsnet_tutorial.data import Digits
from capsnet_tutorial.errors import expect
from capsnet_tutorial.model import PRESETS, CapsNet, CapsNetConfig
from capsnet_tutorial.train import Evaluation, Objective, TrainingData, evaluate

NETWORKS = ("capsnet", "cnn", "cnn-recognising")
"""A CNN has as many parameters as the CapsNet; ``cnn-recognising`` as many without its decoder."""


@dataclass(frozen=True)
class Task:
    """A task made of MNIST's digits."""

    summary: str
    image_size: int
    shift: float
    """The largest shift in training, in pixels, unless the recipe has another."""
    to_train_on: Callable[[Digits], Digits | TrainingData]
    to_measure_on: Callable[[Digits], Labelled]
    evaluate: Callable[[CapsNet, Any], Evaluation | pairs.PairEvaluation]
    """Returns the errors of a CapsNet on images of `to_measure_on`."""
    harder: Callable[[Digits], Labelled] | None = None
    """The same as `to_measure_on`, with digits bent as no training image is."""

    def measure(self, network: CapsNet | ConvNet, data: Labelled) -> dict[str, float]:
        """Return a network's measurements on such images, by name; a CNN has an ``error`` only."""
        if isinstance(network, ConvNet):
            return {"error": error_of(network, data)}
        return self.evaluate(network, data)._asdict()


TASKS = {
    "digits": Task(
        "one digit, 28×28",
        image_size=28,
        shift=2.0,
        to_train_on=lambda data: data,
        to_measure_on=lambda data: data,
        evaluate=evaluate,
        harder=lambda data: affine.bent(data, shift=2),
    ),
    "pairs": Task(
        "two digits on top of each other, 36×36",
        image_size=36,
        shift=pairs.SHIFT,
        to_train_on=pairs.Pairs,
        to_measure_on=pairs.fixed_pairs,
        evaluate=pairs.evaluate_pairs,
    ),
    "affine": Task(
        "one digit anywhere on 40×40; then also bent",
        image_size=40,
        shift=affine.SHIFT,
        to_train_on=affine.on_canvas,
        to_measure_on=lambda data: affine.shifted(affine.on_canvas(data), affine.SHIFT),
        evaluate=evaluate,
        harder=lambda data: affine.bent(affine.on_canvas(data), affine.SHIFT),
    ),
}
"""A name -> a task."""


@dataclass(frozen=True)
class TrainingSetup:
    """Task and network of a training run, without the recipe and the digits."""

    task: str = "digits"
    network: str = "capsnet"
    preset: str = "small"
    iterations: int | None = None
    """Of routing, if other than the preset's."""
    changes: tuple[str, ...] = ()
    """Names of `variants.VARIANTS`."""

    def __post_init__(self) -> None:
        if self.network != "capsnet":
            is_plain = self.iterations is None and not self.changes
            expect(is_plain, "iterations of routing and changes for a CapsNet only", "a CNN")
        if self.network == "cnn-recognising":
            is_small = self.preset == "small"
            expect(is_small, "the preset small for cnn-recognising", repr(self.preset))

    @property
    def config(self) -> CapsNetConfig | ConvNetConfig:
        """The network's sizes."""
        size = TASKS[self.task].image_size
        if self.network == "capsnet":
            capsnet = replace(PRESETS[self.preset](), image_size=size)
            for change in variants.chosen(self.changes):
                capsnet = replace(capsnet, **change.sizes)
            if self.iterations is None:
                return capsnet
            return replace(capsnet, iterations=self.iterations)
        if self.preset == "small":
            return ConvNetConfig.small(size, recognising=self.network == "cnn-recognising")
        if self.task == "pairs":
            return ConvNetConfig.paper_pairs()
        return replace(ConvNetConfig.paper(), image_size=size)

    def build(self) -> CapsNet | ConvNet | pairs.OnPairs:
        """Return a fresh network, ready for `fit`."""
        config = self.config
        if isinstance(config, ConvNetConfig):
            network: CapsNet | ConvNet = ConvNet(config)
        else:
            network = variants.build_variant(config, self.changes)
        return pairs.OnPairs(network) if self.task == "pairs" else network

    def objective(self, reconstruction_weight: float) -> Objective:
        """Return the loss function for `fit`."""
        if self.network != "capsnet":
            return cross_entropy
        return variants.variant_objective(self.changes, reconstruction_weight)


def unwrapped(network: nn.Module) -> CapsNet | ConvNet:
    """Return the network itself, without its wrapper for training on pairs."""
    inner = network.network if isinstance(network, pairs.OnPairs) else network
    assert isinstance(inner, (CapsNet, ConvNet))
    return inner


def plain(network: nn.Module) -> CapsNet | ConvNet:
    """Return the network itself in the form of weights files: every W_ij written out."""
    inner = unwrapped(network)
    return variants.with_own_matrices(inner) if isinstance(inner, CapsNet) else inner
