"""entropy.py against torch's own entropy."""

import numpy as np
import pytest
import torch
from capsnet_book.routings.entropy import coupling_entropy
from networks import noise

I, J = 6, 4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_entropy_of_couplings_counts_bits_and_averages_over_the_capsules_below(dtype):
    even = torch.full((2, I, 8), 1 / 8, dtype=dtype)
    certain = torch.eye(8, dtype=dtype)[: I - 1].expand(2, I - 1, 8)
    mixed = torch.cat([certain[:, :3], even[:, :3]], dim=1)
    for c, bits in ((even, 3.0), (certain, 0.0), (mixed, 1.5)):
        torch.testing.assert_close(coupling_entropy(c), torch.full((2,), bits, dtype=dtype))
    c = noise(3, I, J, dtype=dtype).softmax(dim=2)
    expected = torch.distributions.Categorical(probs=c).entropy().mean(dim=1) / np.log(2)
    torch.testing.assert_close(coupling_entropy(c), expected)


def test_entropy_needs_two_axes():
    with pytest.raises(ValueError, match=r"\[..., I, J\]; got shape \[4\]"):
        coupling_entropy(torch.ones(4) / 4)
