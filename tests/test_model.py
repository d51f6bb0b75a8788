"""model.py: the whole network against loops, its sizes, and what it refuses."""

from __future__ import annotations

import warnings
from dataclasses import replace

import networks
import oracle
import pytest
import torch
from networks import noise
from oracle import agrees

from capsnet_tutorial.functional import margin_loss, reconstruction_loss
from capsnet_tutorial.model import PRESETS, CapsNet, CapsNetConfig


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def images(batch: int = 3, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return noise(batch, 1, 9, 9, dtype=dtype).sigmoid()


def compare_with_loops(model: CapsNet, x: torch.Tensor, labels: torch.Tensor | None) -> None:
    expected = oracle.network(
        model.state_dict(), x, labels, strides=(1, 2), primary_dim=3, iterations=3
    )
    output = model(x, labels)
    agrees(model.primary_capsules(x), expected.primary)
    agrees(output.capsules, expected.capsules)
    agrees(output.lengths, expected.lengths)
    agrees(output.reconstruction, expected.reconstruction)
    v, trace = model.trace(x)
    agrees(v, expected.capsules)
    agrees(trace.v[-1], expected.capsules)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_network_is_the_papers(dtype):
    compare_with_loops(networks.tiny().to(dtype), images(dtype=dtype), None)


def test_the_label_decides_which_capsule_is_decoded():
    model, x = networks.tiny(), images(4)
    for labels in (torch.tensor([0, 1, 2, 3]), torch.tensor([3, 2, 1, 0])):
        compare_with_loops(model, x, labels)


def test_with_a_label_the_decoder_teaches_only_the_true_capsule():
    model, x = networks.tiny(), images(4)
    labels = (model.predict(x) + 1) % 4  # never the capsule that is longest
    output = model(x, labels)
    (grad,) = torch.autograd.grad(reconstruction_loss(output.reconstruction, x), output.capsules)
    taught = grad.abs().sum(dim=2) > 0
    assert taught.equal(labels.unsqueeze(1) == torch.arange(4)), (
        "the decoder's gradient reached another capsule"
    )


def test_two_calls_with_the_same_input_agree():
    model, x = networks.tiny(), images()
    first = model(x)
    model(1 - x)
    for tensor, expected in zip(model(x), first, strict=True):
        assert tensor.equal(expected)


# --- sizes


def test_the_paper_preset_has_exactly_the_papers_parameters():
    with torch.device("meta"):
        model = CapsNet(CapsNetConfig.paper())
    assert count(model) == 8_215_568
    assert count(model) - count(model.decoder) == 6_804_224
    assert [list(parameter.shape) for parameter in model.routed.parameters()] == [[1152, 10, 8, 16]]
    assert CapsNet().config == CapsNetConfig.paper() == PRESETS["paper"]()


def test_the_small_preset_has_at_most_half_a_million_parameters():
    model = CapsNet(CapsNetConfig.small())
    assert count(model) == 454_992
    assert count(model) <= 500_000
    assert [list(parameter.shape) for parameter in model.routed.parameters()] == [[72, 10, 8, 16]]
    assert CapsNetConfig.small(conv_stride=2, conv_channels=128) == replace(
        CapsNetConfig.small(), conv_channels=128
    )


# --- precision, compilers, devices


def test_bf16_autocast_is_finite_and_close():
    torch.manual_seed(0)
    model, x, labels = CapsNet(CapsNetConfig.small()), torch.rand(4, 1, 28, 28), torch.arange(4)
    with torch.autocast("cpu", torch.bfloat16):
        output = model(x, labels)
    exact = model(x, labels)
    for tensor, expected in zip(output, exact, strict=True):
        torch.testing.assert_close(tensor.float(), expected, atol=0.02, rtol=0.05)
    loss = margin_loss(output.lengths.float(), labels) + reconstruction_loss(
        output.reconstruction.float(), x
    )
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def class_weights_gradient(
    model: torch.nn.Module, weight: torch.Tensor, x: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    loss = margin_loss(model(x, labels).lengths, labels)
    (gradient,) = torch.autograd.grad(loss, weight)
    return gradient


@pytest.mark.slow
@pytest.mark.parametrize("is_labelled", [True, False], ids=["labels", "none"])
def test_a_compiled_network_answers_alike_for_any_number_of_images(is_labelled):
    torch.compiler.reset()
    model = networks.tiny()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    for batch in (3, 8, 1):
        x = images(batch)
        labels = torch.arange(batch) % 4 if is_labelled else None
        for output, expected in zip(compiled(x, labels), model(x, labels), strict=True):
            torch.testing.assert_close(output, expected)


@pytest.mark.slow
def test_a_compiled_network_learns_alike_from_any_number_of_images():
    torch.compiler.reset()
    model = networks.tiny()
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    weight = model.routed.weight
    for batch in (3, 8, 1):
        x = images(batch)
        labels = torch.arange(batch) % 4
        expected = class_weights_gradient(model, weight, x, labels)
        torch.testing.assert_close(class_weights_gradient(compiled, weight, x, labels), expected)


@pytest.mark.nightly
@pytest.mark.timeout(1800)  # a compiler of C++ runs for each kind of batch
def test_a_step_in_machine_code_has_the_gradients_of_an_eager_one():
    torch.compiler.reset()
    model = networks.tiny().float()
    compiled = torch.compile(model, backend="inductor", fullgraph=True)

    def gradients(network: torch.nn.Module, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        labels = torch.arange(len(x)) % 4
        output = network(x, labels)
        loss = margin_loss(output.lengths, labels)
        loss = loss + 0.0005 * reconstruction_loss(output.reconstruction, x)
        return torch.autograd.grad(loss, list(model.parameters()))

    for batch in (3, 8, 1):
        x = images(batch).float()
        expected = gradients(model, x)
        torch.testing.assert_close(gradients(compiled, x), expected, rtol=0, atol=1e-5)


@pytest.mark.skipif(not hasattr(torch.func, "debug_unwrap"), reason="needs PyTorch 2.7 or newer")
def test_an_exported_network_is_saved_loaded_and_answers_for_any_number_of_images(tmp_path):
    model = networks.tiny()
    batch_axis = {0: torch.export.Dim("batch")}
    program = torch.export.export(model, (images(3),), dynamic_shapes=(batch_axis,))
    torch.export.save(program, tmp_path / "network.pt2")
    loaded = torch.export.load(tmp_path / "network.pt2").module()
    for batch in (1, 3, 8):
        x = images(batch)
        torch.testing.assert_close(tuple(loaded(x)), tuple(model(x)))


@pytest.mark.skipif(not hasattr(torch.func, "debug_unwrap"), reason="needs PyTorch 2.7 or newer")
def test_torch_func_gives_the_gradient_of_each_image():
    model, x, labels = networks.tiny(), images(), torch.tensor([0, 3, 1])

    def loss(weights: dict, image: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        output = torch.func.functional_call(model, weights, (image[None], label[None]))
        return margin_loss(output.lengths, label[None]) + reconstruction_loss(
            output.reconstruction, image[None]
        )

    of_each = torch.func.vmap(torch.func.grad(loss), (None, 0, 0))(model.state_dict(), x, labels)
    output = model(x, labels)
    (margin_loss(output.lengths, labels) + reconstruction_loss(output.reconstruction, x)).backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(of_each[name].mean(dim=0), parameter.grad)


def test_a_traced_network_answers_for_any_number_of_images():
    model = networks.tiny()
    traced = torch.jit.trace(model, images(3), check_trace=False)
    for batch in (1, 3, 8):
        x = images(batch)
        torch.testing.assert_close(tuple(traced(x)), tuple(model(x)))


@pytest.mark.parametrize("method", ["__call__", "predict"])
def test_pixels_from_0_to_255_are_warned_of(method):
    model = networks.tiny()
    x = (255 * images()).round()
    with pytest.warns(UserWarning, match="pixels from 0 to 255; .*: divide by 255"):
        getattr(model, method)(x)


@pytest.mark.parametrize(("mean", "deviation"), [(0.1307, 0.3081), (0.5, 0.5), (0.0, 0.01)])
def test_normalised_pixels_are_warned_of(mean, deviation):
    with pytest.warns(UserWarning, match="below 0 or above 1; .*: leave out the normalisation"):
        networks.tiny()((images() - mean) / deviation)


def test_the_overshoot_of_an_interpolation_is_not_warned_of(recwarn):
    networks.tiny()(1.1 * images() - 0.05)
    assert not [warning for warning in recwarn if "pixels" in str(warning.message)]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_gives_the_same():
    model, x, labels = networks.tiny(), images(), torch.tensor([0, 3, 1])
    expected = model(x, labels)
    output = model.cuda()(x.cuda(), labels.cuda())
    for tensor, wanted in zip(output, expected, strict=True):
        torch.testing.assert_close(tensor.cpu(), wanted)


# --- images that are not square, in colour

OBLONG = replace(networks.TINY, image_size=(9, 13), in_channels=3, decoder_hidden=(6,))


def test_an_image_need_not_be_square():
    assert OBLONG.image_shape == (3, 9, 13)
    assert OBLONG.primary_grid == (3, 5)
    assert OBLONG.primary_capsules == 2 * 3 * 5
    model = CapsNet(OBLONG)
    x = torch.rand(2, 3, 9, 13)
    output = model(x, torch.tensor([0, 3]))
    assert list(model.primary_capsules(x).shape) == [2, 30, 3]
    assert list(output.reconstruction.shape) == [2, 3 * 9 * 13]
    with pytest.raises(ValueError, match=r"\[B, 3, 9, 13\]; got shape \[2, 3, 13, 9\]"):
        model(x.mT)


def test_a_pair_of_equal_sides_is_one_number():
    assert CapsNetConfig(image_size=(28, 28)) == CapsNetConfig.paper()


def test_an_image_that_is_too_small_is_told_the_least_size():
    with pytest.raises(ValueError, match="at least 17 pixels; got 16"):
        CapsNetConfig(image_size=16)
    assert CapsNetConfig(image_size=17).primary_grid == (1, 1)
    with pytest.raises(ValueError, match=r"at least 17 pixels; got \(16, 28\)"):
        CapsNetConfig.small(image_size=(16, 28))
    assert CapsNetConfig.small(image_size=17).primary_grid == (1, 1)


# --- bad input

REFUSED_IMAGES = {
    "integers": (images().to(torch.uint8), "images in floating point", "uint8"),
    "another size": (noise(3, 1, 28, 28), "[B, 1, 9, 9]", "[3, 1, 28, 28]"),
    "nan": (images().index_fill(0, torch.tensor(1), torch.nan), "finite images", "nan"),
}


@pytest.mark.parametrize("what", REFUSED_IMAGES)
def test_bad_images_are_refused(what):
    x, expected, actual = REFUSED_IMAGES[what]
    model = networks.tiny()
    for call in (model, model.predict, model.trace, model.primary_capsules):
        with pytest.raises(ValueError, match="expected") as refusal:
            call(x)
        assert expected in str(refusal.value)
        assert actual in str(refusal.value)


@pytest.mark.parametrize("value", [0, 1.5, True, "3", None], ids=repr)
def test_a_config_refuses_anything_but_whole_numbers_above_0(value):
    for field in ("iterations", "classes", "conv_kernel", "image_size", "primary_stride"):
        with pytest.raises(
            ValueError, match=f"expected {field} to be a whole number, at least 1; got {value!r}"
        ):
            replace(CapsNetConfig.small(), **{field: value})
    for hidden in [(value,), *([] if value is None else [value])]:  # None: no decoder
        with pytest.raises(ValueError, match="expected decoder_hidden"):
            replace(CapsNetConfig.small(), decoder_hidden=hidden)


def test_much_memory_is_told_before_it_is_asked_for() -> None:
    photographs = CapsNetConfig(image_size=224, classes=196)
    words = "weights, some [0-9]+ GiB in training: larger strides"
    with torch.device("meta"), pytest.warns(UserWarning, match=words):
        CapsNet(photographs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CapsNet(CapsNetConfig.paper())
