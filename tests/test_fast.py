"""fast.py against products with û itself."""

from __future__ import annotations

import pytest
import torch
from networks import noise
from torch.utils._python_dispatch import TorchDispatchMode

from capsnet_tutorial import fast
from capsnet_tutorial.fast import route_capsules
from capsnet_tutorial.functional import prediction_vectors, route

B, I, J, D_IN, D_OUT = 9, 6, 5, 4, 7
ONE_COPY_OF_U = B * I * D_IN * 8  # bytes, in float64


def below() -> tuple[torch.Tensor, torch.Tensor]:
    return noise(B, I, D_IN).requires_grad_(), noise(I, J, D_IN, D_OUT, seed=1).requires_grad_()


@pytest.mark.parametrize(
    "copies", [0.5, 1, 2, 100], ids=["less than one", "one", "two and one left", "all"]
)
@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_routing_without_u_hat_is_routing(monkeypatch, copies, iterations):
    monkeypatch.setattr(fast, "CACHE_BYTES", int(copies * ONE_COPY_OF_U))
    inputs, direction = below(), noise(B, J, D_OUT, seed=9)
    ours, expected = (
        route_capsules(*inputs, iterations),
        route(prediction_vectors(*inputs), iterations),
    )
    torch.testing.assert_close(ours, expected, rtol=1e-10, atol=1e-10)
    gradients = [torch.autograd.grad(v, inputs, direction) for v in (ours, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("gradient", ["all", "last"])
def test_nothing_as_large_as_u_hat_is_ever_made(monkeypatch, gradient):
    monkeypatch.setattr(fast, "CACHE_BYTES", ONE_COPY_OF_U)
    u, weight = below()
    with LargestTensor() as ours:
        route_capsules(u, weight, gradient=gradient).sum().backward()
    with LargestTensor() as textbook:
        route(prediction_vectors(u, weight)).sum().backward()
    assert textbook.numel >= B * I * J * D_OUT
    assert ours.numel <= max(B * I * D_IN, B * I * J, weight.numel()) < B * I * J * D_OUT


def test_a_second_derivative_is_refused_rather_than_wrong():
    u, weight = below()
    with pytest.raises(ValueError, match="one derivative of route_capsules"):
        torch.autograd.grad(route_capsules(u, weight).sum(), u, create_graph=True)


class LargestTensor(TorchDispatchMode):
    """The size of the largest tensor that an operation returned."""

    numel = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                self.numel = max(self.numel, tensor.numel())
        return result
