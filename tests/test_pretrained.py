"""pretrained.py: the weights that come with the package, and files that hold something else."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from email.message import Message
from importlib.resources import as_file, files
from types import SimpleNamespace

import networks
import pytest
import torch
from capsnet_book.experiments.cnn import ConvNetConfig, error_of
from capsnet_book.experiments.pairs import evaluate_pairs, fixed_pairs
from capsnet_book.experiments.records import stored
from networks import noise

from capsnet_tutorial.data import Digits, digits
from capsnet_tutorial.functional import mask_capsules
from capsnet_tutorial.model import CapsNetConfig
from capsnet_tutorial.pretrained import SHIPPED, load_pretrained, load_weights, save_weights
from capsnet_tutorial.storage import read_tensors, write_tensors
from capsnet_tutorial.training import evaluate


def test_the_shipped_network_is_the_small_preset_ready_to_use():
    model = load_pretrained("small")
    assert model.config == CapsNetConfig.small()
    assert not model.training
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert sum(parameter.numel() for parameter in model.parameters()) == 454_992


def test_every_shipped_file_is_in_low_precision_and_under_a_megabyte_or_the_papers():
    for name in SHIPPED:
        path = files("capsnet_tutorial.assets") / "weights" / f"{name}.safetensors"
        tensors, _ = read_tensors(path)
        eight_bits = {torch.int8, torch.float16, torch.float32}
        assert {tensor.dtype for tensor in tensors.values()} == ({torch.float16} if name == "small" else eight_bits)
        assert all(tensor.isfinite().all() for tensor in tensors.values())
        assert path.stat().st_size < (8_400_000 if name == "paper" else 1_000_000)


def test_the_network_of_pairs_is_the_small_preset_on_larger_images():
    model = load_pretrained("small-pairs")
    assert model.config == replace(CapsNetConfig.small(), image_size=36)
    assert sum(parameter.numel() for parameter in model.parameters()) == 750_416


def test_the_network_of_pairs_finds_and_redraws_both_digits():
    measured = evaluate_pairs(load_pretrained("small-pairs"), fixed_pairs(digits("test", source="sample")))
    assert measured.error < 0.26  # by chance 44 of 45 pairs would be wrong
    assert measured.reconstruction_mse < 0.027  # blank paper has 0.070


def test_the_shifted_network_and_the_cnn_have_one_size_and_read_straight_digits():
    shifted, cnn = load_pretrained("small-shifted"), load_pretrained("small-cnn")
    assert shifted.config == CapsNetConfig.small()
    assert cnn.config == ConvNetConfig.small()
    sizes = [sum(parameter.numel() for parameter in network.parameters()) for network in (shifted, cnn)]
    assert sizes[1] == pytest.approx(sizes[0], rel=0.002)
    for network in (shifted, cnn):
        assert not network.training
        assert error_of(network, digits("test", source="sample")).error < 0.01


def test_the_shifted_networks_are_what_their_runs_measured(mnist):
    data = digits("test", "mnist", mnist)
    for name, run in (("small-shifted", "small-r3-0"), ("small-cnn", "small-cnn-0")):
        trained = stored(f"runs/{run}")["test"]["error"]
        assert error_of(load_pretrained(name), data).error == pytest.approx(trained, abs=3e-4)  # eight bits a number


def test_the_papers_network_has_its_sizes_and_reads_digits_that_it_never_saw(mnist):
    network, data = load_pretrained("paper"), digits("test", "mnist", mnist)
    assert network.config == CapsNetConfig.paper()
    assert error_of(network, Digits(data.images[:1000], data.labels[:1000], "mnist")).error < 0.01


def test_each_call_gives_a_network_of_its_own():
    first, second = load_pretrained(), load_pretrained()
    first.conv.bias.data += 1
    assert not second.conv.bias.equal(first.conv.bias)


def test_the_shipped_network_knows_and_redraws_digits_that_it_was_not_trained_on():
    sample = [digits(split, source="sample") for split in ("train", "validation", "test")]
    unseen = Digits(*(torch.cat([part[k] for part in sample]) for k in (0, 1)), "sample")
    result = evaluate(load_pretrained(), unseen)
    assert result.error < 0.01
    assert result.reconstruction_mse < 0.045  # blank paper has 0.10, the mean digit 0.07


def test_the_shipped_network_is_at_least_99_55_percent_right_on_mnists_test_digits(mnist):
    assert evaluate(load_pretrained(), digits("test", "mnist", mnist)).error <= 0.0045


def test_the_drawing_depends_on_the_pose():
    model, data = load_pretrained(), digits("test", source="sample")
    with torch.no_grad():
        v = mask_capsules(model(data.images[:10]).capsules, data.labels[:10])
        bent = v + 0.25 * (v != 0)
        assert (model.decode(bent) - model.decode(v)).abs().amax(dim=1).min() > 0.05


def test_saved_weights_come_back(tmp_path):
    model, x = networks.tiny().float(), noise(2, 1, 9, 9, dtype=torch.float32)
    save_weights(model, tmp_path / "exact", torch.float32)
    again = load_weights(tmp_path / "exact")
    assert again.config == model.config
    for name, tensor in model.state_dict().items():
        assert again.state_dict()[name].equal(tensor)
    save_weights(model, tmp_path / "half")
    assert {tensor.dtype for tensor in read_tensors(tmp_path / "half")[0].values()} == {torch.float16}
    torch.testing.assert_close(load_weights(str(tmp_path / "half"))(x).lengths, model(x).lengths, atol=1e-2, rtol=0)


# --- weights that an installed package fetches


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package without the paper's weights, and a release of its project that has them, here a tiny network."""
    (package := tmp_path / "package" / "weights").mkdir(parents=True)
    (release := tmp_path / "project" / "releases" / "download" / "v9.1").mkdir(parents=True)
    save_weights(networks.tiny(), file := release / "paper.safetensors", torch.int8)
    (package / "paper.sha256").write_text(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  paper.safetensors\n")
    resources = SimpleNamespace(files=lambda name: package.parent, as_file=as_file)
    monkeypatch.setattr("capsnet_tutorial.pretrained.resources", resources)
    (about := Message())["Version"] = "9.1"
    about["Project-URL"] = f"Repository, {(tmp_path / 'project').as_uri()}"
    monkeypatch.setattr("capsnet_tutorial.pretrained.about_package", lambda name: about)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "hub"))
    return SimpleNamespace(file=file, about=about, kept=tmp_path / "hub" / "checkpoints")


def test_the_papers_weights_are_fetched_once(installed):
    assert load_pretrained("paper").config == networks.tiny().config
    installed.file.unlink()
    assert load_pretrained("paper").config == networks.tiny().config


def test_weights_with_another_checksum_are_refused_and_not_kept(installed):
    installed.file.write_bytes(installed.file.read_bytes()[:-1] + b"?")
    with pytest.raises(FileNotFoundError, match=r"the weights 'paper'.* from file:.*v9\.1.*; got invalid hash"):
        load_pretrained("paper")
    assert not list(installed.kept.iterdir())


def test_weights_that_are_not_to_be_had_say_so(installed):
    installed.file.unlink()
    with pytest.raises(FileNotFoundError, match=r"from file:.*; got .*No such file"):
        load_pretrained("paper")
    del installed.about["Project-URL"]
    with pytest.raises(FileNotFoundError, match="got a package that names no address to fetch them from"):
        load_pretrained("paper")


# --- bad input


def test_an_unknown_name_is_refused():
    for name in ("large", "", None, "../small"):
        with pytest.raises(ValueError, match=f"one of {', '.join(SHIPPED)}; got {name!r}"):
            load_pretrained(name)


def test_missing_weights_are_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a weights file at .*none"):
        load_weights(tmp_path / "none")


def test_truncated_weights_are_refused(tmp_path):
    save_weights(networks.tiny(), tmp_path / "whole")
    content = (tmp_path / "whole").read_bytes()
    for kept in (0, 7, 100, len(content) // 2, len(content) - 1):
        (tmp_path / "part").write_bytes(content[:kept])
        with pytest.raises(ValueError, match="expected a whole safetensors file of this package; got .*part"):
            load_weights(tmp_path / "part")


FOREIGN = {
    "no config": (lambda tensors, config: (tensors, {}), "the weights of a network", "without its config"),
    "a config that is a list": (lambda tensors, config: (tensors, {"config": [1]}), "fields among", "[1]"),
    "an unknown field": (
        lambda tensors, config: (tensors, {"config": config | {"depth": 3}}),
        "fields among",
        "'depth': 3",
    ),
    "sizes that are no numbers": (
        lambda tensors, config: (tensors, {"config": config | {"classes": "ten"}}),
        "classes to be a whole number",
        "'ten'",
    ),
    "a decoder of no numbers": (
        lambda tensors, config: (tensors, {"config": config | {"decoder_hidden": 5}}),
        "decoder_hidden",
        "5",
    ),
    "a network of no name": (
        lambda tensors, config: (tensors, {"config": config, "network": []}),
        "a network, capsnet or cnn",
        "got []",
    ),
    "parts that are a number": (
        lambda tensors, config: (tensors, {"config": config, "parts": 5}),
        "names of parts",
        "got 5",
    ),
    "parts without names": (
        lambda tensors, config: (tensors, {"config": config, "parts": {"routing": ["softmax-axis"]}}),
        "names of parts",
        "got {'routing': ['softmax-axis']}",
    ),
    "a part that is none": (
        lambda tensors, config: (tensors, {"config": config, "parts": {"squash": "mine"}}),
        "a part, one of primary, routing, mask",
        "'squash'",
    ),
    "a part that only its writer has": (
        lambda tensors, config: (tensors, {"config": config, "parts": {"routing": "my_route"}}),
        "Parts(routing=…)",
        "'my_route'",
    ),
    "a share that is no number": (
        lambda tensors, config: (tensors, {"config": asdict(ConvNetConfig()) | {"dropout": "a"}, "network": "cnn"}),
        "the sizes of a network",
        "'dropout': 'a'",
    ),
    "a tensor too few": (
        lambda tensors, config: ({k: v for k, v in tensors.items() if k != "routed.weight"}, {"config": config}),
        "routed.weight of shape [18, 4, 3, 5]",
        "None",
    ),
    "a tensor too many": (
        lambda tensors, config: (tensors | {"routed.bias": noise(4, 5)}, {"config": config}),
        "routed.bias of shape None",
        "[4, 5]",
    ),
    "another shape": (
        lambda tensors, config: (tensors | {"conv.bias": noise(5)}, {"config": config}),
        "conv.bias of shape [4]",
        "[5]",
    ),
    "whole numbers": (
        lambda tensors, config: (tensors | {"conv.bias": torch.ones(4, dtype=torch.long)}, {"config": config}),
        "conv.bias in floating point",
        "int64",
    ),
    "nan": (
        lambda tensors, config: (tensors | {"conv.bias": torch.full((4,), torch.nan)}, {"config": config}),
        "finite",
        "conv.bias",
    ),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_weights_of_something_else_are_refused(what, tmp_path):
    change, expected, came = FOREIGN[what]
    model = networks.tiny().float()
    tensors, metadata = change(model.state_dict(), asdict(model.config))
    write_tensors(tmp_path / "file", tensors, metadata)
    with pytest.raises(ValueError, match="expected") as refusal:
        load_weights(tmp_path / "file")
    assert expected in str(refusal.value)
    assert came in str(refusal.value)


def test_weights_are_not_written_into_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        save_weights(networks.tiny(), tmp_path / "file" / "weights")
