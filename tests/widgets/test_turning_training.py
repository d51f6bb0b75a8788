"""The training of capsules that turn in the page: gradients against autograd, and its kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
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
