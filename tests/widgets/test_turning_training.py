"""The training of capsules that turn in the page: gradients against autograd, and its kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.assets import asset
from capsnet_book.turning import AngleReader, Coincidence, Sizes, TurningCapsules, save_reader

from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import digits

Evaluate = Callable[..., Any]
BATCH = 12
SIZES = (
    Sizes(),
    Sizes(kinds=4, turns=16, side=9, count=3, matrices=1),
    Sizes(kinds=10, turns=8, side=7, count=5, matrices=3),
)
MODULES = {"n": "turning/network.js", "k": "turning/kernels.js", "b": "turning/kernels_built.js"}
MODULES |= {"c": "shared/core.js"}

GRADIENTS = """
    const { tensors } = c.readSafetensors(bytes(data.weights));
    const builds = data.kernels === "simd" ? [b.KERNELS_WASM] : undefined;
    const kernels = data.kernels === "plain" ? k.plainKernels : await k.loadKernels(builds);
    if (builds && !kernels.fast) throw new Error("no WebAssembly here");
    const network = new n.TurningNetwork(data.sizes, kernels);
    network.load(tensors);
    const { loss, right } = network.gradients(floats(data.images), data.labels);
    const gradients = Object.entries(network.tensors(network.slopes));
    return { loss, right, gradients: gradients.map(([name, { data }]) => [name, data]) };"""


def network_of(sizes: Sizes) -> TurningCapsules:
    """Return a network with weights by chance, none of which is as it began."""
    torch.manual_seed(0)
    network = TurningCapsules(10, Coincidence(10, sizes), sizes)
    for parameter in network.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return network


def noisy_digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Return turned digits on paper that is nowhere white, so that no two answers tie."""
    data = digits("test", source="sample")
    turned = transform(data.images[:BATCH], Pose(rotation=25.0 * torch.arange(BATCH)))
    noise = torch.rand(turned.shape, generator=torch.Generator().manual_seed(0))
    return turned + 0.05 * noise, data.labels[:BATCH]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kernels", ["plain", "simd", "fast"])
def test_gradients_are_those_of_autograd(
    evaluate: Evaluate, tmp_path: Path, sizes: Sizes, kernels: str
) -> None:
    network = network_of(sizes)
    save_reader(AngleReader(network), tmp_path / "reader.safetensors")
    images, labels = noisy_digits()
    images.numpy().astype(np.float32).tofile(tmp_path / "images")
    given = {
        "weights": str(tmp_path / "reader.safetensors"),
        "images": str(tmp_path / "images"),
        "labels": labels,
        "kernels": kernels,
        "sizes": {
            "T": sizes.kinds, "K": sizes.turns, "S": sizes.side, "N": sizes.count,
            "m": sizes.matrices, "J": 10,
        },
    }  # fmt: skip
    report = evaluate(GRADIENTS, given, **MODULES)

    exact = network.double()
    scores = exact(images.double())
    loss = F.cross_entropy(scores, labels)
    loss.backward()
    assert report["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert report["right"] == int((scores.argmax(dim=1) == labels).sum())
    expected = {f"network.{name}": each.grad for name, each in exact.named_parameters()}
    gradients = dict(report["gradients"])
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        actual = torch.tensor(gradients[name]).view(gradient.shape).double()
        error = (actual - gradient).norm() / gradient.norm()
        assert error < 1e-4, f"{name}: {error:.1e}"


def test_the_rate_rises_and_falls_as_in_pytorch(evaluate: Evaluate) -> None:
    steps, most = 50, 0.02
    adam = torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))], lr=most)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        adam, most, total_steps=steps, cycle_momentum=False
    )
    expected = []
    for _ in range(steps):
        expected.append(schedule.get_last_lr()[0])
        adam.step()
        schedule.step()
    body = (
        "return Array.from({ length: data.steps }, (_, k) => m.rateAt(k, data.steps, data.most));"
    )
    rates = evaluate(body, {"steps": steps, "most": most}, m="turning/adam.js")
    assert rates == pytest.approx(expected)


def test_adam_steps_as_in_pytorch(evaluate: Evaluate) -> None:
    gradients = torch.randn(6, 40, generator=torch.Generator().manual_seed(0))
    parameter = torch.nn.Parameter(torch.ones(40))
    adam = torch.optim.Adam([parameter], lr=0.02)
    for gradient in gradients:
        parameter.grad = gradient
        adam.step()
    body = """
        const numbers = new Float32Array(40).fill(1);
        const adam = new m.Adam(40);
        for (const slopes of data) adam.step(numbers, Float32Array.from(slopes), 0.02);
        return numbers;"""
    assert evaluate(body, gradients, m="turning/adam.js") == pytest.approx(
        parameter.tolist(), abs=1e-6
    )


def test_a_short_training_reads_new_angles_and_says_the_turn(evaluate: Evaluate) -> None:
    """Where a guess misreads 90 of 100; and a digit that is turned is believed to be turned."""
    body = """
        const { tensors } = c.readSafetensors(bytes(data));
        const training = await t.startTraining(tensors, 1);
        await training.run(100);
        const { steps, tests, tensors: learned, sizes } = training.look();
        const { forward } = r.readerOf(learned, sizes, await k.loadKernels());
        const { test } = await d.unpackDigits(tensors);
        const turned = (n, turn) => b.bendDigit(test.images.subarray(n * 784, (n + 1) * 784), {
          ...b.STRAIGHT, turn,
        });
        const differences = Array.from({ length: 60 }, (_, n) => {
          const straight = forward(turned(n, 0));
          const quarter = forward(turned(n, 90));
          return (quarter.turn - straight.turn + 720) % 360;
        });
        return { steps, tests, differences };"""
    modules = {
        "c": "shared/core.js",
        "t": "turning/training.js",
        "r": "shared/turning_net.js",
        "k": "turning/kernels.js",
        "d": "shared/digit_set.js",
        "b": "shared/bending.js",
    }
    report = evaluate(body, str(asset("digits/digits.safetensors")), **modules)
    _, *before = report["tests"][0]
    steps, *errors = report["tests"][-1]
    assert steps == report["steps"] == 100
    assert min(before) > 0.7
    assert max(errors) < 0.5
    assert abs(np.median(report["differences"]) - 90) < 5, "by construction, whatever was learned"
