"""networks.py of the book: its trained networks, and its loader for its own parts and the CNN."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from capsnet_book.experiments.cnn import class_scores, error_of
from capsnet_book.experiments.records import stored
from capsnet_book.networks import (
    SCALE,
    TRAINED,
    load_network,
    pack,
    save_network,
    trained_network,
    unpack,
)
from networks import noise, tiny
from torch import Tensor

from capsnet_tutorial.data import digits
from capsnet_tutorial.model import CapsNetConfig

STORED = json.loads((Path(__file__).parent / "shipped_outputs.json").read_text(encoding="utf-8"))
"""What they answered to `two_digits`, in float64."""
SAMPLE = digits("test", source="sample")


def two_digits(name: str) -> Tensor:
    """Return the sample's first two test digits as a network takes images: [2, C, H, W]."""
    images = SAMPLE.images[:2].double()
    if name == "small-pairs":
        return F.pad(images, (4,) * 4)
    if name == "animals":
        return F.pad(images, (2,) * 4).expand(-1, 3, -1, -1)
    return images


@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_network_answers_as_it_always_did(name):
    network = trained_network(name).double()
    with torch.no_grad():
        scores = class_scores(network, two_digits(name))
    torch.testing.assert_close(
        scores, torch.tensor(STORED[name], dtype=torch.float64), atol=1e-6, rtol=0
    )
    assert not network.training


@pytest.mark.slow
def test_the_shifted_networks_are_what_their_runs_measured(mnist):
    data = digits("test", "mnist", mnist)
    for name, run in (("small-shifted", "small-r3-0"), ("small-cnn", "small-cnn-0")):
        trained = stored(f"runs/{run}")["test"]["error"]
        assert error_of(trained_network(name), data) == pytest.approx(
            trained, abs=3e-4
        )  # eight bits a number


def test_weights_that_did_not_come_along_say_so(tmp_path, monkeypatch):
    monkeypatch.setattr("capsnet_book.assets.__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(
        FileNotFoundError, match=r"the weights 'paper', which a checkout of the project has"
    ):
        trained_network("paper")
    assert trained_network("small").config == CapsNetConfig.small()  # the module's


# --- eight bits a number


def test_every_number_is_off_by_at_most_half_a_step_of_its_own_row():
    scales = torch.tensor([1e-4, 1.0, 0.0, 30.0, 1e3]).view(5, 1, 1)
    tensor = noise(5, 3, 4, dtype=torch.float32) * scales
    packed = pack({"w": tensor}, torch.int8)
    assert packed["w"].dtype == torch.int8 and packed["w"].shape == (5, 3, 4)
    assert packed["w" + SCALE].shape == (5,)
    for row, unpacked in zip(tensor, unpack(packed)["w"], strict=True):
        assert (unpacked - row).abs().max() <= row.abs().max() / 254 * (1 + 1e-5)
    assert unpack(packed)["w"][2].eq(0).all()
    largest = packed["w"][[0, 1, 3, 4]].abs().amax(dim=(1, 2))
    assert largest.tolist() == [127] * 4, "all eight bits are used"
    assert pack({"b": noise(7)}, torch.int8)["b"].dtype == torch.float16  # one axis


@pytest.mark.parametrize("number", [torch.nan, -torch.inf], ids=str)
def test_what_is_no_number_is_refused_by_the_name_of_its_tensor(number):
    tensor = torch.ones(5, 3)
    tensor[2] = number
    with pytest.raises(
        ValueError, match="expected finite numbers in routed.weight; got nan or infinity"
    ):
        pack({"conv.bias": torch.ones(2), "routed.weight": tensor}, torch.int8)


def test_a_capsnet_comes_back_from_eight_bits(tmp_path):
    model, x = tiny().float(), noise(2, 1, 9, 9, dtype=torch.float32)
    save_network(model, tmp_path / "less", torch.int8)
    torch.testing.assert_close(
        load_network(tmp_path / "less")(x).lengths, model(x).lengths, atol=1e-2, rtol=0
    )


# --- what an import brings along


def loaded_by(code: str) -> set[str]:
    """Modules that a fresh process has loaded when it is done."""
    root = Path(__file__).parent.parent
    path = os.pathsep.join([str(root), str(root / "book"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", f"{code}\nimport sys\nprint('loaded', *sys.modules)"]
    done = subprocess.run(
        command,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    return set(done.stdout.rpartition("loaded ")[2].split())


def test_the_module_brings_no_jupyter_and_no_plots():
    network = "capsnet_tutorial.load_pretrained()(torch.rand(2, 1, 28, 28))"
    loaded = loaded_by(f"import torch, capsnet_tutorial, capsnet_tutorial.train\n{network}")
    assert not loaded & {"IPython", "ipywidgets", "matplotlib", "scipy", "accelerate"}


def test_the_pages_are_built_and_widgets_imported_without_torch():
    assert "torch" not in loaded_by(
        "import capsnet_book.palette, capsnet_book.assets, capsnet_book.widgets"
    )
