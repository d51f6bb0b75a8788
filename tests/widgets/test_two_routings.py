"""TwoRoutings: what it refuses, what it is sent, and its ways to route against PyTorch's."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import torch
from capsnet_book.experiments.rounds import couplings
from capsnet_book.routings.zoo import ZOO
from capsnet_book.widgets import TwoRoutings
from capsnet_book.widgets.two_routings import TITLES
from torch import Tensor

from capsnet_tutorial.functional import prediction_vectors
from capsnet_tutorial.model import CapsNet, CapsNetConfig, Parts
from capsnet_tutorial.weights import pack, read_tensors, unpack, write_tensors

SHIPPED = Path(str(files("capsnet_book.assets") / "zoo"))
MODULES = ("two_routings.js",)


@pytest.fixture(scope="module")
def widget() -> TwoRoutings:
    return TwoRoutings()


@pytest.fixture(scope="module")
def images(widget) -> Tensor:
    return torch.frombuffer(bytearray(widget.samples), dtype=torch.uint8).view(-1, 1, 28, 28) / 255


def network_in(file: Path, name: str) -> CapsNet:
    """A network of the zoo as it is stored, its decoder left as it happens to be."""
    tensors, metadata = read_tensors(file)
    config = CapsNetConfig.from_dict(metadata["config"])
    network = CapsNet(config, Parts(routing=ZOO[name].make(config)))
    assert not network.load_state_dict(unpack(tensors), strict=False).unexpected_keys
    return network.eval()


def wild(name: str, file: Path) -> None:
    """A fresh network with long votes, and a routing whose own parameters are anything."""
    torch.manual_seed(0)
    config = CapsNetConfig.small()
    network = CapsNet(config, Parts(routing=ZOO[name].make(config)))
    network.routed.weight.data *= 60
    if isinstance(network.routed.routing, torch.nn.Module):
        for parameter in network.routed.routing.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    tensors = {key: each for key, each in network.state_dict().items() if not key.startswith("decoder.")}
    iterations = {"iterations": ZOO[name].iterations}
    write_tensors(file, pack(tensors), {"config": asdict(config) | iterations})


@torch.no_grad()
def expected(network: CapsNet, images: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Couplings [N, I, J] and capsules [N, J, D], in float64: how float32 rounds depends on the processor."""
    network = network.double()
    u_hat = prediction_vectors(network.primary_capsules(images.double()), network.routed.weight)
    rounds = network.config.iterations
    c = couplings(network.routed.routing, u_hat, rounds)
    assert c is not None
    return c.numpy(), network.routed.routing(u_hat, rounds).numpy()


@pytest.mark.parametrize("kind", ["wild", "shipped"])
def test_every_way_to_route_is_pytorchs(run_node, tmp_path, images, kind):
    (tmp_path / "images").write_bytes(images.numpy().tobytes())
    if kind == "wild":
        for name in TITLES:
            wild(name, tmp_path / f"{name}.safetensors")
    place = {name: (tmp_path if kind == "wild" else SHIPPED) / f"{name}.safetensors" for name in TITLES}
    arguments = [f"{name}={file}" for name, file in place.items()]
    report = run_node("two_routings.mjs", tmp_path / "images", *arguments, modules=MODULES)
    for (name, file), came in zip(place.items(), report["read"], strict=True):
        c, v = expected(network_in(file, name), images)
        assert c.std() > 1e-3 or name == "even", "couplings that could come out wrong"
        found = {key: np.array([each[key] for each in came]) for key in came[0]}
        np.testing.assert_allclose(found["c"].reshape(c.shape), c, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(found["v"].reshape(v.shape), v, atol=1e-5, err_msg=name)
        lengths = np.linalg.norm(v, axis=2)
        np.testing.assert_allclose(found["lengths"], lengths, atol=1e-5)
        np.testing.assert_array_equal(found["prediction"], lengths.argmax(axis=1))
        shares = c.mean(axis=1)[np.arange(len(c)), lengths.argmax(axis=1)]
        np.testing.assert_allclose(found["share"], shares, atol=1e-5)


def test_any_two_of_the_zoo_disagree_on_one_of_its_digits(widget, images):
    answers = {name: expected(network_in(SHIPPED / f"{name}.safetensors", name), images)[1] for name in TITLES}
    said = {name: np.linalg.norm(v, axis=2).argmax(axis=1) for name, v in answers.items()}
    for one, other in combinations(TITLES, 2):
        assert (said[one] != said[other])[widget.disputed].any(), (one, other)
    plain = [n for n in range(len(widget.labels)) if n not in widget.disputed]
    assert all((said[name][plain] == np.array(widget.labels)[plain]).all() for name in TITLES)


def test_its_sentences(run_node, tmp_path):
    (tmp_path / "images").write_bytes(b"")
    report = run_node("two_routings.mjs", tmp_path / "images", modules=MODULES)
    both = "Both read a 4. Routing by agreement gives that class 31 % of all shares, even shares 10 %."
    apart = "They disagree: routing by agreement reads a 4, even shares reads an 8."
    assert report["words"][:5] == [
        both,
        both,
        f"{both} It was written as an 8.",
        f"{apart} It was written as an 8.",
        apart,
    ]


def test_its_networks_travel_as_references_and_are_small(widget):
    sent = json.loads(json.dumps(widget.get_state("networks")["networks"]))
    assert sent == {name: f"anywidget:{network.model_id}" for name, network in widget.networks.items()}
    assert TwoRoutings().networks["paper"] is widget.networks["paper"]
    for name, network in widget.networks.items():
        assert network.weights == (SHIPPED / f"{name}.safetensors").read_bytes()
        assert len(network.weights) < 220_000


def test_state_that_makes_no_sense_is_refused(widget):
    with pytest.raises(ValueError, match="a routing, one of paper, even, .*; got 'nonsense'"):
        TwoRoutings("nonsense")
    with pytest.raises(ValueError, match="784 bytes; got 783"):
        widget.image = bytes(783)
    assert repr(TwoRoutings(right="k-means")) == "TwoRoutings('paper', 'k-means')"


def test_what_the_page_sends_back_arrives():
    widget = TwoRoutings()
    widget.set_state({"right": "k-means", "image": memoryview(bytes(784))})
    assert (widget.right, widget.image) == ("k-means", bytes(784))
