"""int8.js against int8.py: the page's weights are PyTorch's, to the last bit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import networks
import numpy as np
import pytest
import torch

from capsnet_tutorial.model import CapsNet
from capsnet_tutorial.weights import read_tensors, save_weights, unpack

MODULES = ("shared/core.js", "shared/int8.js")


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    save_weights(CapsNet(networks.learner().config), tmp_path / "weights", torch.int8)
    return tmp_path / "weights"


@pytest.mark.parametrize("name", ["routed.weight", "primary.conv.weight", "decoder.0.weight", "decoder.0.bias"])
def test_every_number_is_pytorchs(run_node: Callable[..., Any], weights: Path, tmp_path: Path, name: str) -> None:
    came = run_node("int8.mjs", weights, name, tmp_path / "out", modules=MODULES)
    tensors, metadata = read_tensors(weights)
    expected = unpack(tensors)
    assert came["names"] == sorted(expected)
    assert came["shape"] == list(expected[name].shape)
    assert json.loads(came["metadata"]["config"]) == json.loads(json.dumps(metadata["config"]))
    assert np.array_equal(np.fromfile(tmp_path / "out", dtype=np.float32), expected[name].float().numpy().ravel())


def test_a_file_in_half_precision_passes_through(run_node: Callable[..., Any], tmp_path: Path) -> None:
    model = networks.learner()
    save_weights(model, tmp_path / "half")
    came = run_node("int8.mjs", tmp_path / "half", "conv.bias", tmp_path / "out", modules=MODULES)
    assert came["names"] == sorted(model.state_dict())
    assert json.loads(came["metadata"]["config"]) == json.loads(json.dumps(asdict(model.config)))


def test_what_is_no_such_file_is_refused_in_words(run_node: Callable[..., Any], weights: Path, tmp_path: Path) -> None:
    whole = weights.read_bytes()
    for content, words in {
        b"": "a safetensors file, got 0 bytes",
        whole[:100]: "a safetensors file, got 100 bytes",
        whole[:-1]: f"{len(whole)} bytes, got {len(whole) - 1}: the file is cut short",
        whole.replace(b"conv.weight.scale", b"conv.weight.other"): "scales in F32 beside conv.weight",
    }.items():
        (tmp_path / "other").write_bytes(content)
        came = run_node("int8.mjs", tmp_path / "other", "conv.bias", tmp_path / "out", modules=MODULES)
        assert words in came["error"], came
