"""DecodeCapsule: what its JavaScript masks and draws against the module, and what the Python side refuses."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.widgets import DecodeCapsule
from capsnet_book.widgets.decode_capsule import KEEP

from capsnet_tutorial.data import digits
from capsnet_tutorial.functional import capsule_lengths, mask_capsules, reconstruction_loss
from capsnet_tutorial.weights import load_pretrained

MODULES = ("decode_capsule.js",)
WEIGHTS = files("capsnet_tutorial.assets") / "weights" / "small.safetensors"
TWO = np.stack([np.eye(28, dtype=np.uint8) * 255, np.zeros((28, 28), np.uint8)])


def kept_by(keep: str, v: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """The module's masks. v [1, 10, 16], label [1]"""
    if keep == "all":
        return v
    if keep == "none":
        return torch.zeros_like(v)
    if keep in ("longest", "label"):
        return mask_capsules(v, label if keep == "label" else None)
    return mask_capsules(v, torch.tensor([int(keep)]))


def test_every_mask_draws_what_the_module_draws(run_node, tmp_path):
    """On digits that the network reads and on those that it misreads."""
    sample, model = digits("test", source="sample"), load_pretrained("small")
    which = [0, 1, 2, 342, 442, 101]
    images, labels = sample.images[which], sample.labels[which]
    images.numpy().tofile(tmp_path / "images")
    (tmp_path / "labels").write_text(json.dumps(labels.tolist()))
    (tmp_path / "keeps").write_text(json.dumps(KEEP))
    paths = [tmp_path / name for name in ("images", "labels", "keeps")]
    came = run_node("decode_capsule.mjs", WEIGHTS, *paths, modules=MODULES)
    assert came["zero"] == [0] * 32
    with torch.no_grad():
        capsules = model(images).capsules
        stretched = 0.95 * capsules / capsule_lengths(capsules)[..., None]
        for n, answer in enumerate(came["answers"]):
            assert answer["untouched"]
            for name, v in (("plain", capsules[n : n + 1]), ("stretched", stretched[n : n + 1])):
                for keep, result in zip(KEEP, answer[name], strict=True):
                    masked = kept_by(keep, v, labels[n : n + 1])
                    if not (name == "stretched" and keep == "longest"):  # all are equally long then
                        shown = masked[0].abs().sum(1).nonzero().flatten().tolist()
                        assert result["kept"] == shown, (name, keep)
                        error = reconstruction_loss(model.decode(masked), images[n : n + 1])
                        assert result["error"] == pytest.approx(error.item(), rel=1e-4), (name, keep)


def test_it_starts_with_ten_plain_digits_and_those_that_the_network_misreads():
    widget = DecodeCapsule()
    assert widget.labels[:10] == list(range(10))
    pixels = np.frombuffer(widget.images, np.uint8).reshape(-1, 1, 28, 28)
    read = load_pretrained("small").predict(torch.tensor(pixels) / 255).tolist()
    assert read[:10] == widget.labels[:10]
    assert len(read) == 13 and all(came != label for came, label in zip(read[10:], widget.labels[10:], strict=True))
    assert (widget.index, widget.keep, widget.stretch) == (0, "longest", False)
    assert len(widget.images) < 32_000
    assert repr(widget) == "DecodeCapsule(13 digits)"


def test_it_shares_the_networks_weights():
    widget = DecodeCapsule(TWO, [0, 1])
    assert widget.get_state("network") == {"network": f"anywidget:{widget.network.model_id}"}
    assert repr(DecodeCapsule(TWO[:1], [7], keep="3")) == "DecodeCapsule(1 digit)"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": [0]}, "digits"),
        ({"images": TWO}, "label"),
        ({"images": TWO, "labels": [0]}, "2 whole numbers"),
        ({"images": TWO, "labels": [0, 10]}, "0 to 9"),
        ({"keep": "shortest"}, 'got "?.shortest'),
        ({"keep": "10"}, "expected keep"),
        ({"keep": ""}, "expected keep"),
    ],
)
def test_other_arguments_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        DecodeCapsule(**arguments)


def test_state_reaches_python_and_nonsense_does_not():
    widget = DecodeCapsule(TWO, [0, 1])
    widget.set_state({"index": 1, "keep": "none", "stretch": True})
    assert (widget.index, widget.keep, widget.stretch) == (1, "none", True)
    for name, value in {"index": 2, "keep": "ten"}.items():
        with pytest.raises(ValueError, match="expected"):
            setattr(widget, name, value)
