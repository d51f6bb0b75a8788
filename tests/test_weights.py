"""weights.py: the module's own weights, files whole or not at all, and files of other programs."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import asdict, replace

import networks
import pytest
import torch
from networks import noise
from safetensors.torch import save_file

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.files import read_tensors, write_tensors, write_whole
from capsnet_tutorial.functional import capsule_lengths, mask_capsules, route
from capsnet_tutorial.model import CapsNet, CapsNetConfig, CapsNetOutput, Parts
from capsnet_tutorial.train import evaluate
from capsnet_tutorial.weights import as_capsnet, load_pretrained, load_weights, save_weights

# --- the network that comes with the module


def test_the_pretrained_network_is_the_small_preset_ready_to_use():
    model = load_pretrained()
    assert model.config == CapsNetConfig.small()
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert all(parameter.requires_grad for parameter in model.parameters())
    model.conv.bias.data += 1
    assert not load_pretrained().conv.bias.equal(model.conv.bias), "two calls share their numbers"


def test_the_pretrained_network_recognises_and_draws_unseen_digits():
    sample = [digits(split, source="sample") for split in ("train", "validation", "test")]
    unseen = Digits(*(torch.cat([part[k] for part in sample]) for k in (0, 1)), "sample")
    result = evaluate(load_pretrained(), unseen)
    assert result.error < 0.01
    assert result.reconstruction_mse < 0.045  # blank paper has 0.10, the mean digit 0.07


def test_the_pretrained_network_reads_99_55_percent_of_mnists_test_digits(mnist):
    assert evaluate(load_pretrained(), digits("test", "mnist", mnist)).error <= 0.0045


def test_another_pretrained_network_is_refused():
    for name in ("paper", None, "../small"):
        with pytest.raises(ValueError, match=f'the pretrained network "small", .*; got {name!r}'):
            load_pretrained(name)


# --- what is saved comes back


def test_weights_are_saved_from_within_data_parallel(tmp_path):
    model = networks.tiny().float()
    save_weights(torch.nn.DataParallel(model), tmp_path / "weights", torch.float32)
    again = load_weights(tmp_path / "weights").state_dict()
    assert all(again[name].equal(tensor) for name, tensor in model.state_dict().items())


OWN_SIZES = [
    CapsNetConfig.small(),
    CapsNetConfig.small(conv_channels=32, primary_types=4, primary_kernel=7),
    CapsNetConfig.small(conv_channels=16, decoder_hidden=(8,) * 11),
]


@pytest.mark.parametrize("config", OWN_SIZES, ids=lambda config: f"{config.conv_channels} maps")
def test_bare_tensors_tell_the_sizes_of_their_network(config, tmp_path):
    model = CapsNet(config)
    save_file(model.state_dict(), tmp_path / "file")
    again = load_weights(tmp_path / "file")
    assert again.config == config
    assert all(
        again.state_dict()[name].equal(tensor) for name, tensor in model.state_dict().items()
    )


def test_saved_weights_come_back(tmp_path):
    model, x = networks.tiny().float(), noise(2, 1, 9, 9, dtype=torch.float32)
    model.routed.iterations = 5  # set after it was made
    compiled = torch.nn.Module()
    compiled._orig_mod = model  # what torch.compile returns holds it so
    save_weights(compiled, tmp_path / "exact", torch.float32)
    again = load_weights(tmp_path / "exact")
    assert again.config == replace(model.config, iterations=5)
    assert all(
        again.state_dict()[name].equal(tensor) for name, tensor in model.state_dict().items()
    )
    save_weights(model, tmp_path / "less")
    sizes = [
        sum(tensor.nbytes for tensor in read_tensors(tmp_path / name)[0].values())
        for name in ("less", "exact")
    ]
    assert sizes[0] == sizes[1] / 2
    again = load_weights(str(tmp_path / "less"))
    assert {parameter.dtype for parameter in again.parameters()} == {torch.float32}
    torch.testing.assert_close(again(x).lengths, model(x).lengths, atol=1e-2, rtol=0)


def test_weights_beyond_half_precision_keep_their_own(tmp_path):
    network = networks.tiny().float()
    network.conv.bias.data[0] = 70_000.5
    save_weights(network, tmp_path / "file")
    assert load_weights(tmp_path / "file").conv.bias.equal(network.conv.bias)
    stored, _ = read_tensors(tmp_path / "file")
    assert stored["conv.bias"].dtype == torch.float32
    assert stored["conv.weight"].dtype == torch.float16


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_weights_that_are_not_finite_are_not_saved(value, tmp_path):
    network = networks.tiny().float()
    network.conv.bias.data[0] = value
    with pytest.raises(ValueError, match="finite numbers in conv.bias; got nan, infinity"):
        save_weights(network, tmp_path / "file")
    assert not (tmp_path / "file").exists()


class WithAnotherLayer(CapsNet):
    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__(config)
        self.another = torch.nn.Linear(2, 3)


class WithAnotherAnswer(CapsNet):
    def forward(self, images: torch.Tensor, labels: torch.Tensor | None = None) -> CapsNetOutput:
        output = super().forward(images, labels)
        return output._replace(reconstruction=1 - output.reconstruction)


class WithAnotherMethod(CapsNet):
    def longest(self, images: torch.Tensor) -> torch.Tensor:
        return self(images).lengths.amax(dim=1)


@pytest.mark.parametrize(
    ("kind", "message"),
    [(WithAnotherLayer, "another.bias of shape None"), (WithAnotherAnswer, "that answers as")],
    ids=["another layer", "another answer"],
)
def test_a_subclass_that_would_not_come_back_is_not_saved(kind, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_weights(kind(networks.tiny().config), tmp_path / "file")
    assert not (tmp_path / "file").exists()


def test_a_subclass_that_answers_as_a_capsnet_comes_back_as_one(tmp_path):
    network = WithAnotherMethod(networks.tiny().config)
    images = noise(2, 1, 9, 9, dtype=torch.float32)
    save_weights(network, tmp_path / "file", torch.float32)
    loaded = load_weights(tmp_path / "file")
    assert type(loaded) is CapsNet
    assert loaded(images).lengths.equal(network(images).lengths)


class Gain(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(()))

    def forward(self, u_hat: torch.Tensor, iterations: int) -> torch.Tensor:
        return route(self.gain * u_hat, iterations)


def test_two_networks_loaded_with_the_same_parts_share_none(tmp_path):
    for gain in (3.0, 7.0):
        network = CapsNet(networks.tiny().config, Parts(routing=Gain()))
        network.routed.routing.gain.data.fill_(gain)
        save_weights(network, tmp_path / f"{gain}")
    parts = Parts(routing=Gain())
    first = load_weights(tmp_path / "3.0", parts)
    second = load_weights(tmp_path / "7.0", parts)
    assert first.routed.routing.gain == 3
    assert second.routed.routing.gain == 7
    assert parts.routing.gain == 1


# --- networks that are no CapsNet


class Stranger(torch.nn.Module):
    """The small network under another name, with answers of its own for the second image."""

    def __init__(self, off: float, config: CapsNetConfig | None = None) -> None:
        super().__init__()
        inner = CapsNet(config or CapsNetConfig.small(iterations=2))
        self.conv = inner.conv
        self.primary = inner.primary
        self.routed = inner.routed
        self.decoder = inner.decoder
        self.off = off

    def forward(self, images: torch.Tensor) -> CapsNetOutput:
        u = self.primary(torch.relu(self.conv(images)))
        v = self.routed(u)
        lengths = capsule_lengths(v) + torch.tensor([[0.0], [self.off]])
        return CapsNetOutput(v, lengths, self.decoder(mask_capsules(v).flatten(1)))


def test_a_network_of_the_same_structure_is_converted_with_its_number_of_rounds():
    torch.manual_seed(0)
    network = Stranger(off=0.0)
    converted = as_capsnet(network)
    assert type(converted) is CapsNet
    assert converted.config == CapsNetConfig.small(iterations=2)
    images = digits("test", source="sample").images[:2]
    torch.testing.assert_close(converted(images).lengths, network(images).lengths)


@pytest.mark.parametrize(
    "sizes",
    [
        {"primary_types": 4},
        {"conv_channels": 32, "decoder_hidden": (64,), "iterations": 2},
        {"class_dim": 12, "primary_dim": 6, "classes": 3},
        {"conv_stride": 1, "conv_kernel": 5, "primary_kernel": 9, "iterations": 1},
        {"image_size": 20, "in_channels": 3},
    ],
    ids=str,
)
def test_a_network_of_other_sizes_is_converted_too(sizes):
    torch.manual_seed(0)
    config = CapsNetConfig.small(**sizes)
    assert as_capsnet(Stranger(off=0.0, config=config)).config == config


@pytest.mark.parametrize(
    "tensors", [{}, {"conv.weight": torch.ones(3)}, {"decoder.0.weight": None}], ids=str
)
def test_weights_of_another_structure_are_not_converted(tensors):
    stranger = Stranger(off=0.0)
    state = tensors and stranger.state_dict() | tensors
    stranger.state_dict = lambda: {
        name: value for name, value in state.items() if value is not None
    }
    with pytest.raises(ValueError, match=r"names and shapes of one; got Stranger, whose weights"):
        as_capsnet(stranger)


@pytest.mark.parametrize("off", [0.01, 0.5])
def test_a_network_that_answers_otherwise_for_one_of_two_images_is_not_converted(off):
    torch.manual_seed(0)
    with pytest.raises(ValueError, match="a network that answers as a CapsNet"):
        as_capsnet(Stranger(off))


# --- files: whole or not at all


def test_tensors_and_metadata_come_back_as_they_were(tmp_path):
    tensors = {
        "half": noise(2, 3).half(),
        "turned": noise(3, 4).T,
        "empty": torch.zeros(0, 3),
        "one": torch.tensor(1),
    }
    metadata = {"config": {"sizes": [1, 2], "name": "ü"}, "number": 1.5, "none": None}
    write_tensors(tmp_path / "file", tensors, metadata)
    loaded, described = read_tensors(tmp_path / "file")
    assert described == metadata
    assert loaded.keys() == tensors.keys()
    assert all(
        loaded[name].dtype == tensor.dtype and loaded[name].equal(tensor)
        for name, tensor in tensors.items()
    )


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    for content in (b"first", b"second"):
        write_whole(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    if sys.platform != "win32":
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644  # others may read it


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(step, tmp_path, monkeypatch):
    write_whole(tmp_path / "file", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left on device: '.*file'"):
        write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# --- bad input


@pytest.mark.parametrize("what", [0, 8, 50, -1, "pickle", "zip"])
def test_a_truncated_file_and_one_of_another_kind_are_refused(what, tmp_path):
    path = tmp_path / "file"
    write_tensors(path, {"x": noise(10, 10)}, {"config": {}})
    if isinstance(what, int):
        path.write_bytes(path.read_bytes()[:what])
    elif what == "pickle":
        torch.save({"x": noise(2)}, path)
    else:
        path.write_bytes(b"PK\x03\x04 a zip")
    with pytest.raises(ValueError, match="expected a whole safetensors file; got .*file"):
        read_tensors(path)


@pytest.mark.parametrize(
    "text", ["pt", "{a: 1}", "[" * 100_000, "1" * 5000], ids=lambda text: text[:9]
)
def test_metadata_of_another_program_are_refused_and_shown(text, tmp_path):
    save_file(networks.learner().state_dict(), tmp_path / "file", metadata={"format": text})
    message = (
        "expected metadata of this package in .*file, which are JSON, or none; "
        rf"got {{'format': '{re.escape(text[:9])}"
    )
    with pytest.raises(ValueError, match=message):
        load_weights(tmp_path / "file")


@pytest.mark.parametrize(
    "sizes",
    [{"decoder_hidden": [70_000, 70_000]}, {"image_size": 10**12}, {"classes": 2**62}],
    ids=lambda sizes: f"{sizes}",
)
def test_a_small_file_that_asks_for_more_than_any_memory_is_refused_at_once(sizes, tmp_path):
    write_tensors(tmp_path / "file", {}, {"config": asdict(CapsNetConfig.small()) | sizes})
    assert (tmp_path / "file").stat().st_size < 600
    with pytest.raises(ValueError, match="expected"):
        load_weights(tmp_path / "file")


def test_sizes_that_are_not_square_come_back(tmp_path):
    config = CapsNetConfig.small(image_size=(20, 28), in_channels=3, classes=4)
    save_weights(CapsNet(config), tmp_path / "file")
    assert load_weights(tmp_path / "file").config == config


def test_the_names_of_the_classes_come_back(tmp_path):
    class Own(CapsNet):
        pass

    for kind in (CapsNet, Own):
        network = kind(networks.tiny().config)
        network.class_names = ("猫", "dog", "bird", "ant")
        save_weights(network, tmp_path / "file")
        assert load_weights(tmp_path / "file").class_names == ("猫", "dog", "bird", "ant")


@pytest.mark.parametrize("names", [("cat", "dog"), "cats", ("a", "b", "c", "c"), (0, 1, 2, 3), 4])
def test_names_that_are_not_those_of_the_classes_are_refused(names, tmp_path):
    network = networks.tiny()
    network.class_names = names
    with pytest.raises(ValueError, match="class_names of the 4 classes, all different; got"):
        save_weights(network, tmp_path / "file")
    metadata = {"config": asdict(network.config), "class_names": names}
    write_tensors(tmp_path / "file", networks.tiny().float().state_dict(), metadata)
    with pytest.raises(ValueError, match="class_names of the 4 classes, all different; got"):
        load_weights(tmp_path / "file")


FOREIGN = [  # changes of tensors and metadata (None: deleted), and the message
    ({}, {"network": "cnn"}, "the weights of a CapsNet in .*; got those of a cnn"),
    (
        {},
        {"config": None, "author": "me"},
        "a config in .* with every size of a CapsNetConfig and nothing else; got None",
    ),
    (
        {"routed.weight": None},
        {"config": None},
        "a CapsNet in .*, by their names and shapes; got others",
    ),
    (
        {},
        {"config": {"depth": 3}},
        "every size of a CapsNetConfig and nothing else; got one that differs in ['depth']",
    ),
    ({}, {"config": {"iterations": None}}, "got one that differs in ['iterations']"),
    ({}, {"config": [28, 1]}, "every size of a CapsNetConfig and nothing else; got [28, 1]"),
    ({}, {"config": {"conv_channels": 10**30}}, "the sizes of a network in .*; got "),
    ({}, {"config": {"classes": "ten"}}, "classes to be a whole number.*'ten'"),
    ({}, {"parts": 5}, "parts named 5.*got {}"),
    ({"routed.weight": None}, {}, "routed.weight of shape [18, 4, 3, 5].*None"),
    ({"conv.bias": torch.ones(4, dtype=torch.long)}, {}, "conv.bias in floating point.*int64"),
    ({"conv.bias": torch.full((4,), torch.nan)}, {}, "finite numbers in conv.bias"),
    (
        {"conv.bias": torch.full((4,), torch.nan).to(torch.float8_e4m3fn)},
        {},
        "finite numbers in conv.bias",
    ),
    (
        {"conv.bias": torch.full((4,), 1e300, dtype=torch.float64)},
        {},
        "finite numbers in conv.bias",
    ),
]


def without_none(entries: dict) -> dict:
    """Return the entries whose value is not None."""
    return {name: value for name, value in entries.items() if value is not None}


@pytest.mark.parametrize(("tensors", "about", "message"), FOREIGN, ids=lambda value: "")
def test_weights_of_something_else_are_refused(tensors, about, message, tmp_path):
    model = networks.tiny().float()
    config = asdict(model.config)
    if isinstance(sizes := about.get("config"), dict):
        about = {"config": without_none(config | sizes)}
    stored, metadata = (
        {**all_, **change}
        for all_, change in ((model.state_dict(), tensors), ({"config": config}, about))
    )
    write_tensors(tmp_path / "file", without_none(stored), without_none(metadata))
    with pytest.raises(ValueError, match=".*".join(map(re.escape, message.split(".*")))):
        load_weights(tmp_path / "file")
