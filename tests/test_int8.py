"""int8.py: what comes back is near what went in, row by row."""

from __future__ import annotations

import networks
import pytest
import torch
from networks import noise

from capsnet_tutorial.pretrained import load_weights, save_weights
from capsnet_tutorial.storage import SCALE, pack, read_tensors, unpack, write_tensors


def test_every_number_is_off_by_at_most_half_a_step_of_its_own_row():
    tensor = noise(5, 3, 4, dtype=torch.float32) * torch.tensor([1e-4, 1.0, 0.0, 30.0, 1e3]).view(5, 1, 1)
    packed = pack({"w": tensor})
    assert packed["w"].dtype == torch.int8 and packed["w"].shape == (5, 3, 4)
    assert packed["w" + SCALE].shape == (5,)
    for row, came in zip(tensor, unpack(packed)["w"], strict=True):
        assert (came - row).abs().max() <= row.abs().max() / 254 * (1 + 1e-5)
    assert unpack(packed)["w"][2].eq(0).all()
    assert packed["w"][[0, 1, 3, 4]].abs().amax(dim=(1, 2)).tolist() == [127] * 4  # all eight bits are used


def test_one_axis_stays_in_half_precision_and_floats_pass_through():
    bias = noise(7)
    packed = pack({"b": bias})
    assert packed.keys() == {"b"} and packed["b"].dtype == torch.float16
    mixed = {"b": bias, "temperature.scale": noise(3)}
    assert unpack(mixed) == mixed


def test_a_network_is_saved_in_little_more_than_half_of_float16_and_read_like_any_other(tmp_path):
    torch.manual_seed(0)
    model = networks.learner()
    save_weights(model, tmp_path / "eight", torch.int8)
    save_weights(model, tmp_path / "half")
    sizes = [sum(t.nbytes for t in read_tensors(tmp_path / name)[0].values()) for name in ("eight", "half")]
    assert sizes[0] < 0.6 * sizes[1]
    images = torch.rand(4, 1, 28, 28)
    again = load_weights(tmp_path / "eight")
    assert {parameter.dtype for parameter in again.parameters()} == {torch.float32}
    torch.testing.assert_close(again(images).lengths, model(images).lengths, atol=1e-2, rtol=0)


@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf], ids=str)
@pytest.mark.parametrize("shape", [(5, 3), (5,)], ids=str)
def test_what_is_no_number_is_refused_by_the_name_of_its_tensor(shape, number):
    tensor = torch.ones(shape)
    tensor[2] = number
    with pytest.raises(ValueError, match="expected finite numbers in routed.weight; got nan or infinity"):
        pack({"conv.bias": torch.ones(2), "routed.weight": tensor})


@pytest.mark.parametrize("scale", [None, torch.ones(4), torch.ones(5).half()])
def test_whole_numbers_without_their_scales_are_refused(scale, tmp_path):
    save_weights(networks.tiny(), tmp_path / "file", torch.int8)
    tensors, metadata = read_tensors(tmp_path / "file")
    name = "routed.weight"
    changed = {**tensors, name + SCALE: scale} if scale is not None else tensors
    if scale is None:
        del changed[name + SCALE]
    write_tensors(tmp_path / "file", changed, metadata)
    with pytest.raises(ValueError, match=r"expected float32 scales \[18\] beside routed.weight \[18, 4, 3, 5\]; got"):
        load_weights(tmp_path / "file")
