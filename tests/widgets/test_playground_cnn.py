"""The playground's CNN, to race against: its gradients are PyTorch's, and it learns to read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.assets import asset
from torch import Tensor

from capsnet_tutorial.data import digits

DIGITS = asset("digits/digits.safetensors")
MODULES = {
    "n": "playground/cnn.js",
    "k": "playground/kernels.js",
    "m": "playground/kernels_built.js",
    "c": "shared/core.js",
    "o": "playground/settings.js",
    "t": "playground/training.js",
}
BATCH = 8
STEPS = 3
"""So that the gradients are those of a network that has begun to learn."""

LEARNER = """
    const builds = data.kernels === "simd" ? [m.KERNELS_WASM] : undefined;
    const kernels = data.kernels === "plain" ? k.plainKernels : await k.loadKernels(builds);
    const network = n.makeConvNetwork({ types: data.types, batch: data.batch, seed: 1 }, kernels);
    const pixels = floats(data.images);
    for (let step = 0; step < data.steps; step++) {
        network.gradients(pixels, data.labels);
        network.update(0.003, 1); // no average
    }
    const before = network.tensors();
    const loss = network.gradients(pixels, data.labels);
    const { lengths } = network.read(pixels);
    const tensors = [...Object.values(before), ...Object.values(network.slopes())];
    save(data.out, [...tensors.map((tensor) => tensor.data), lengths]);
    return { loss, shapes: Object.entries(before).map(([name, { shape }]) => [name, shape]) };"""


def scores_of(weights: dict[str, Tensor], images: Tensor) -> Tensor:
    """Return the ten scores of images [B, 1, 28, 28], as PyTorch computes them."""
    x = F.conv2d(images, weights["conv.weight"], weights["conv.bias"], stride=2).relu()
    x = F.conv2d(x, weights["primary.conv.weight"], weights["primary.conv.bias"], stride=2).relu()
    x = x.permute(0, 2, 3, 1).flatten(1)  # [B, place · channel]
    x = F.linear(x, weights["hidden.weight"], weights["hidden.bias"]).relu()
    return F.linear(x, weights["classes.weight"], weights["classes.bias"])


@pytest.mark.parametrize(
    ("types", "kernels"), [(8, "fast"), (8, "simd"), (8, "plain"), (2, "fast"), (4, "plain")]
)
def test_gradients_are_those_of_autograd(
    evaluate: Callable[..., Any], tmp_path: Path, types: int, kernels: str
) -> None:
    sample = digits("train", source="sample")
    images, labels = sample.images[:BATCH], sample.labels[:BATCH]
    images.numpy().tofile(tmp_path / "images")
    data = {"types": types, "kernels": kernels, "batch": BATCH, "steps": STEPS, "labels": labels}
    paths = {"images": str(tmp_path / "images"), "out": str(tmp_path / "out")}
    report = evaluate(LEARNER, data | paths, **MODULES)

    numbers = torch.from_numpy(np.fromfile(tmp_path / "out", np.float32))
    shapes = [torch.Size(shape) for _, shape in report["shapes"]]
    names = [name for name, _ in report["shapes"]]
    pieces = numbers.split([*[shape.numel() for shape in shapes * 2], 10 * BATCH])
    shaped = [piece.view(shape) for piece, shape in zip(pieces, shapes * 2, strict=False)]
    weights = {
        name: weight.double().requires_grad_() for name, weight in zip(names, shaped, strict=False)
    }
    scores = scores_of(weights, images.double())
    loss = F.cross_entropy(scores, labels)
    loss.backward()

    assert report["loss"]["margin"] == pytest.approx(loss.item(), rel=1e-5)
    assert report["loss"]["right"] == int((scores.argmax(1) == labels).sum())
    assert (pieces[-1].view(BATCH, 10) - scores.softmax(1)).abs().max() < 1e-5
    for name, slope in zip(names, shaped[len(names) :], strict=True):
        expected = weights[name].grad
        assert expected is not None
        assert expected.abs().max() > 0, name
        assert (slope - expected).abs().max() < 1e-5 * expected.abs().max(), name


@pytest.mark.parametrize("types", [2, 4, 8, 16])
def test_it_has_as_many_numbers_as_the_capsule_network_reads_with(
    evaluate: Callable[..., Any], types: int
) -> None:
    body = """
        const count = (list) => {
            const sizes = list.map(({ shape }) => shape.reduce((size, n) => size * n, 1));
            return sizes.reduce((sum, size) => sum + size, 0);
        };
        const capsules = p.parameterList(data.types);
        const reading = capsules.filter(({ name }) => !name.startsWith("decoder"));
        return [count(reading), count(p.convolutionalParameters(data.types))];"""
    capsules, cnn = evaluate(body, {"types": types}, p="playground/parameters.js")
    assert cnn == pytest.approx(capsules, rel=0.03)
    if types == 8:
        assert [capsules, cnn] == [199_872, 201_642]


def test_it_learns_to_read_in_a_few_thousand_digits(evaluate: Callable[..., Any]) -> None:
    """By the training that the page starts, which also goes back and reads another's state."""
    body = """
        const { tensors } = c.readSafetensors(bytes(data));
        const { settings } = o.settingsWith({ net: "cnn" });
        const training = await t.startTraining(settings[0], tensors, { images: [], labels: [] });
        const begun = await training.mark(7);
        await training.run("all", 4000);
        const frame = await training.look(7);
        training.goBack(begun.mark);
        const again = await training.look(7);
        const { wrong, right, watched, matrices } = frame;
        const shares = watched.lengths.reduce((sum, share) => sum + share, 0);
        return { right, wrong: wrong.length, matrices: matrices ?? "none", shares, again };"""
    report = evaluate(body, str(DIGITS), **MODULES)
    assert report["right"] > 85
    assert report["wrong"] == 100
    assert report["matrices"] == "none"
    assert report["shares"] == pytest.approx(1, abs=1e-5)
    assert report["again"]["seen"] == 0
    assert report["again"]["right"] < 40
