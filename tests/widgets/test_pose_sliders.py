"""PoseSliders: what the moved capsule draws, beside PyTorch. (The Python side is in test_widgets.py.)"""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import torch

from capsnet_tutorial.data import digits
from capsnet_tutorial.weights import load_pretrained

WEIGHTS = files("capsnet_tutorial.assets") / "weights" / "small.safetensors"


@torch.no_grad()
def test_offsets_move_the_labels_capsule_and_nothing_else(run_node, tmp_path):
    sample, model = digits("test", source="sample"), load_pretrained("small")
    image, label = sample.images[7:8].contiguous(), int(sample.labels[7])
    image.numpy().tofile(tmp_path / "image")
    offsets = torch.linspace(-0.25, 0.25, 16)
    came = run_node(
        "pose_sliders.mjs",
        WEIGHTS,
        tmp_path / "image",
        label,
        json.dumps(offsets.tolist()),
        modules=("pose_sliders.js",),
    )
    masked = torch.zeros(1, 10, 16)
    masked[0, label] = model(image).capsules[0, label] + offsets
    np.testing.assert_allclose(came["drawn"], model.decode(masked).flatten(), atol=1e-4)
    assert came["untouched"]
