"""Bad input of every public function raises `ValueError`, which says what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networks
import pytest
import torch

from capsnet_tutorial import functional
from capsnet_tutorial.augment import Augmentation, Pose, random_shift, transform
from capsnet_tutorial.data import Digits, digits, resolved_source
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.layers import Decoder, PrimaryCapsules, RoutedCapsules
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.train import Recipe, evaluate, fit, over_batches, train_and_save
from capsnet_tutorial.weights import load_pretrained, load_weights, save_weights

S = torch.rand(2, 3, 4)
U = torch.rand(2, 6, 3)
WEIGHT = torch.rand(6, 4, 3, 5)
U_HAT = torch.rand(2, 6, 4, 5)
LENGTHS = torch.rand(2, 4)
LABELS = torch.tensor([0, 3])
IMAGES = torch.rand(2, 1, 9, 9)
TINY = networks.tiny().float()
LEARNER = networks.learner()
FEW = networks.few(32)
ONE_EPOCH = Recipe(epochs=1, batch_size=16)

NO_TENSORS = [None, 3, "a", [1.0, 2.0], S.numpy()]
NO_FLOATS = [
    *NO_TENSORS,
    torch.ones(2, 3, 4, dtype=torch.int64),
    torch.ones(2, 3, 4, dtype=torch.bool),
    torch.ones(2, 3, 4, dtype=torch.complex64),
    torch.ones(2, 3, 4).to(torch.float8_e4m3fn),
    torch.ones(2, 3, 4).to_sparse(),
]
NO_COUNTS = [0, -1, 1.5, True, "3", None, math.nan]
NO_NUMBERS = ["a", None, math.nan, math.inf, [1], True]
NO_LABELS = [
    [0, 3],
    "ab",
    torch.tensor([0, 4]),
    torch.tensor([-1, 3]),
    torch.tensor([0, 1, 2]),
    torch.tensor([[0, 1]]),
    torch.tensor([0.0, 3.0]),
    torch.tensor([True, False]),
    torch.tensor([0, 3], dtype=torch.complex64),
]

CALLS: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
    "squash s": (functional.squash, [*NO_FLOATS, torch.rand(()), torch.rand(2, 0)]),
    "squash dim": (lambda dim: functional.squash(S, dim=dim), [3, -4, 1.5, "a", None]),
    "squash eps": (lambda eps: functional.squash(S, eps=eps), [0, -1, *NO_NUMBERS]),
    "prediction_vectors u": (
        lambda u: functional.prediction_vectors(u, WEIGHT),
        [*NO_FLOATS, U[0], U[:, :5], U.double(), U.half()],
    ),
    "prediction_vectors weight": (
        lambda weight: functional.prediction_vectors(U, weight),
        [*NO_FLOATS, WEIGHT[0], WEIGHT[1:], WEIGHT.double()],
    ),
    "route u_hat": (functional.route, [*NO_FLOATS, U, torch.rand(2, 6, 4, 0)]),
    "route iterations": (lambda count: functional.route(U_HAT, count), NO_COUNTS),
    "route_last iterations": (lambda count: functional.route_last(U_HAT, count), NO_COUNTS),
    "route_capsules u": (
        lambda u: route_capsules(u, WEIGHT),
        [*NO_FLOATS, U[0], U[:, :5], U.double(), U.half()],
    ),
    "route_capsules iterations": (lambda count: route_capsules(U, WEIGHT, count), NO_COUNTS),
    "route_capsules gradient": (
        lambda gradient: route_capsules(U, WEIGHT, gradient=gradient),
        ["first", None, 1],
    ),
    "capsule_lengths v": (functional.capsule_lengths, [*NO_FLOATS, LENGTHS]),
    "margin_loss lengths": (
        lambda lengths: functional.margin_loss(lengths, LABELS),
        [*NO_FLOATS, LENGTHS[0], torch.rand(2, 0)],
    ),
    "margin_loss targets": (
        lambda targets: functional.margin_loss(LENGTHS, targets),
        [*NO_LABELS, None, LENGTHS, torch.zeros(2, 3), torch.zeros(2, 4, dtype=torch.complex64)],
    ),
    "margin_loss m_plus": (
        lambda value: functional.margin_loss(LENGTHS, LABELS, m_plus=value),
        NO_NUMBERS,
    ),
    "margin_loss m_minus": (
        lambda value: functional.margin_loss(LENGTHS, LABELS, m_minus=value),
        NO_NUMBERS,
    ),
    "margin_loss lambda_": (
        lambda value: functional.margin_loss(LENGTHS, LABELS, lambda_=value),
        NO_NUMBERS,
    ),
    "mask_capsules v": (functional.mask_capsules, [*NO_FLOATS, LENGTHS, torch.rand(2, 0, 4)]),
    "mask_capsules labels": (
        lambda labels: functional.mask_capsules(torch.rand(2, 4, 5), labels),
        NO_LABELS,
    ),
    "reconstruction_loss reconstruction": (
        lambda drawing: functional.reconstruction_loss(drawing, IMAGES),
        [*NO_FLOATS, torch.rand(2, 80), torch.rand(81)],
    ),
    "reconstruction_loss images": (
        lambda images: functional.reconstruction_loss(torch.rand(2, 81), images),
        [*NO_FLOATS, torch.rand(2, 80), torch.rand(81)],
    ),
    "CapsNetConfig classes": (lambda count: CapsNetConfig(classes=count), NO_COUNTS),
    "CapsNetConfig decoder_hidden": (
        lambda hidden: CapsNetConfig(decoder_hidden=hidden),
        [3, "512", (0,), (1.5,), [None]],
    ),
    "CapsNetConfig image_size": (
        lambda size: CapsNetConfig(image_size=size),
        [*NO_COUNTS, 16, (28,), (28, 28, 1), (28, 16), (28, "28"), [0, 28], "28"],
    ),
    "CapsNet config": (CapsNet, ["small", 3, {}, CapsNetConfig, Parts()]),
    "CapsNet parts": (
        lambda parts: CapsNet(TINY.config, parts),
        [functional.route, "paper", {}, Parts],
    ),
    "Parts routing": (lambda routing: Parts(routing=routing), [None, 3, "route", torch.nn.Linear]),
    "CapsNet images": (
        TINY,
        [*NO_FLOATS, IMAGES[0], torch.rand(2, 3, 9, 9), IMAGES.double(), IMAGES.half(), IMAGES / 0],
    ),
    "CapsNet labels": (lambda labels: TINY(IMAGES, labels), NO_LABELS),
    "CapsNet.predict threshold": (
        lambda threshold: TINY.predict(IMAGES, threshold),
        ["a", math.nan, [1], True],
    ),
    "evaluate threshold": (lambda value: evaluate(LEARNER, FEW, threshold=value), NO_NUMBERS),
    "Parts decoder": (lambda decoder: Parts(decoder=decoder), [3, "small", torch.nn.Linear]),
    "CapsNet.predict images": (TINY.predict, [*NO_FLOATS, IMAGES[0], IMAGES.double()]),
    "CapsNet.decode capsules": (
        TINY.decode,
        [*NO_FLOATS, torch.rand(2, 5, 4), torch.rand(2, 4, 5).double()],
    ),
    "RoutedCapsules in_capsules": (
        lambda count: RoutedCapsules(in_capsules=count, in_dim=3, out_capsules=4, out_dim=5),
        NO_COUNTS,
    ),
    "PrimaryCapsules types": (
        lambda count: PrimaryCapsules(in_channels=3, types=count, dim=4, kernel=3, stride=1),
        NO_COUNTS,
    ),
    "Decoder pixels": (lambda count: Decoder(inputs=20, hidden=(6,), pixels=count), NO_COUNTS),
    "Recipe epochs": (lambda value: Recipe(epochs=value), [0, -1, *NO_NUMBERS]),
    "Recipe seconds": (lambda value: Recipe(seconds=value), [0, -1, "a", math.nan, math.inf]),
    "Recipe batch_size": (lambda value: Recipe(batch_size=value), NO_COUNTS),
    "Recipe learning_rate": (
        lambda value: Recipe(learning_rate=value),
        [0, -1, *(value for value in NO_NUMBERS if value is not None)],
    ),
    "Recipe warmup": (lambda value: Recipe(warmup=value), [0, 1, *NO_NUMBERS]),
    "Recipe betas": (
        lambda value: Recipe(betas=value),
        [None, 0.9, (0.9,), (0.9, 1.0), (-0.1, 0.9), ("a", 0.9), (math.nan, 0.9)],
    ),
    "Recipe average": (lambda value: Recipe(average=value), [-0.1, 1, *NO_NUMBERS]),
    "Recipe stop_at_accuracy": (
        lambda value: Recipe(stop_at_accuracy=value),
        [0, 101, "a", math.nan],
    ),
    "Recipe reconstruction_weight": (
        lambda value: Recipe(reconstruction_weight=value),
        [-1, *NO_NUMBERS],
    ),
    "Recipe augmentation": (lambda value: Recipe(augmentation=value), [None, 3, "shift"]),
    "Recipe precision": (lambda value: Recipe(precision=value), ["fp16", None, 32]),
    "Recipe seed": (
        lambda value: Recipe(seed=value),
        ["a", 1.5, True, None, math.nan, 10**23, -(10**23)],
    ),
    "Augmentation shift": (lambda value: Augmentation(shift=value), [-1, *NO_NUMBERS]),
    "Augmentation scale": (lambda value: Augmentation(scale=value), [-1, 1, *NO_NUMBERS]),
    "random_shift pixels": (
        lambda pixels: random_shift(IMAGES, pixels, networks.generator()),
        [-1, 10, 1000, 1.5, "a", None],
    ),
    "transform images": (
        lambda images: transform(images, Pose()),
        [*NO_FLOATS, torch.rand(2, 9, 8)],
    ),
    "fit threads": (
        lambda threads: fit(LEARNER, FEW, ONE_EPOCH, threads=threads, progress=False),
        # Not 10**6: were the check missing, a thousand threads would stall the machine.
        [0, -1, 1.5, True, "2"],
    ),
    "fit data": (
        lambda data: fit(LEARNER, data, ONE_EPOCH, progress=False, threads=1),
        [FEW._replace(images=FEW.images.byte()), FEW._replace(images=FEW.images[:15])],
    ),
    "fit recipe": (
        lambda recipe: fit(LEARNER, FEW, recipe, progress=False, threads=1),
        [None, {}, "quick"],
    ),
    "fit validation": (
        lambda validation: fit(
            LEARNER, FEW, ONE_EPOCH, validation=validation, progress=False, threads=1
        ),
        ["test", 3, FEW.images],
    ),
    "evaluate batch_size": (lambda size: evaluate(LEARNER, FEW, size), NO_COUNTS),
    "evaluate data": (
        lambda data: evaluate(LEARNER, data),
        [Digits(FEW.images[:0], FEW.labels[:0], "sample")],
    ),
    "over_batches batch_size": (
        lambda size: over_batches(LEARNER, lambda x: (x,), FEW.images, batch_size=size),
        NO_COUNTS,
    ),
    "digits split": (lambda split: digits(split, "sample"), ["training", None, 3, ["train"]]),
    "digits source": (lambda source: digits("test", source), ["letters", None, 3, ["auto"]]),
    "resolved_source": (resolved_source, ["letters", None, 3]),
    "load_pretrained": (load_pretrained, ["paper", None, 3, "../small"]),
    "load_weights parts": (
        lambda parts: load_weights(Path("none"), parts),
        ["paper", functional.route],
    ),
    "save_weights network": (
        lambda network: save_weights(network, Path("none")),
        [None, "small", torch.nn.Linear(2, 3), torch.nn.Sequential()],
    ),
    "save_weights dtype": (
        lambda dtype: save_weights(TINY, Path("none"), dtype),
        [torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn, "float16", None],
    ),
    "train_and_save recipe": (
        lambda recipe: train_and_save(
            LEARNER, FEW, recipe, "none", about={}, measure=lambda network, record: {}
        ),
        [None, {}],
    ),
}

CASES = [
    pytest.param(call, value, id=f"{name} {number}")
    for name, (call, values) in CALLS.items()
    for number, value in enumerate(values)
]


@pytest.mark.parametrize(("call", "value"), CASES)
def test_bad_input_raises_a_value_error_of_ours(call, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="expected .*; got "):
        call(value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda there: functional.margin_loss(LENGTHS.to(there), LABELS), "targets"),
        (lambda there: functional.margin_loss(LENGTHS.to(there), torch.eye(2, 4)), "targets"),
        (lambda there: functional.mask_capsules(U.to(there), LABELS), "labels"),
        (
            lambda there: functional.reconstruction_loss(torch.rand(2, 81, device=there), IMAGES),
            "images",
        ),
        (lambda there: networks.tiny().float().to(there)(IMAGES), "images"),
    ],
    ids=["margin loss", "margin loss of rows", "mask", "reconstruction loss", "network"],
)
def test_tensors_on_another_device_are_told_where_to_be(call, name):
    with pytest.raises(ValueError, match=f"expected {name} on meta, .*; got cpu"):
        call("meta")


@pytest.mark.parametrize("dtype", [torch.uint8, torch.uint16, torch.uint32, torch.int32], ids=str)
def test_labels_of_every_integer_dtype_are_taken(dtype):
    labels = LABELS.to(dtype)
    assert functional.margin_loss(LENGTHS, labels) == functional.margin_loss(LENGTHS, LABELS)
    v = torch.rand(2, 4, 5)
    assert functional.mask_capsules(v, labels).equal(functional.mask_capsules(v, LABELS))
