"""BugPicker: what it refuses, what it is sent, and its numbers against the bugs' own."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest
import torch
from capsnet_book.bugs import BUGS, piece_of, variant
from capsnet_book.bugs.planted import planted_parts
from capsnet_book.experiments.recordings import recorded_bugs
from capsnet_book.widgets import BugPicker

from capsnet_tutorial import load_pretrained
from capsnet_tutorial.model import CapsNet, CapsNetConfig

SHIPPED = str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors")
MODULES = ("bug_picker.js",)


def planted(bug: str | None) -> CapsNet:
    network = CapsNet(CapsNetConfig.small(), planted_parts(bug))
    network.load_state_dict(load_pretrained("small").state_dict())
    return network


@torch.no_grad()
def test_its_numbers_are_those_of_the_bugs(run_node, tmp_path):
    images = torch.frombuffer(bytearray(BugPicker().images), dtype=torch.uint8).view(10, 1, 28, 28) / 255
    images.numpy().tofile(tmp_path / "images")
    report = run_node("bug_picker.mjs", SHIPPED, tmp_path / "images", modules=MODULES)
    assert report["seen"].keys() == BUGS.keys()

    def capsules(answers):
        return torch.tensor([answer["v"] for answer in answers]).view(10, 10, 16)

    right = planted(None)(images).capsules
    torch.testing.assert_close(capsules(report["none"]), right, atol=1e-4, rtol=1e-4)
    for bug, seen in report["seen"].items():
        if bug == "stale-logits":  # the digit before was routed by the same function
            expected = []
            for n in range(10):
                network = planted(bug)
                network(images[n - 1][None])
                expected.append(network(images[n][None]).capsules)
            expected = torch.cat(expected)
        else:
            expected = planted(bug)(images).capsules
        came = capsules(report["bugs"][bug])
        off = 5e-3 if bug == "capsule-view" else 1e-4  # its features are won back from squashed capsules
        torch.testing.assert_close(came, expected, atol=off, rtol=1e-4, msg=lambda text, bug=bug: f"{bug}: {text}")
        changes = (came - right).abs().amax() > 0.01
        assert bool(changes) == (seen == "routing"), bug
        assert (piece_of(bug) in ("routing", "primary_capsules")) == (seen != "training"), bug
        c = np.array([answer["c"] for answer in report["bugs"][bug]]).reshape(10, 72, 10)
        np.testing.assert_allclose(c.sum(1 if bug == "softmax-axis" else 2), 1, atol=1e-5)


def test_it_is_sent_the_catalogue_and_what_was_measured():
    widget, runs = BugPicker(), recorded_bugs()
    assert [each["id"] for each in widget.catalogue] == list(BUGS)
    assert widget.steps == runs.steps
    assert widget.right == runs.error["none"].mean(axis=0).round(4).tolist()
    for each in widget.catalogue:
        assert each["title"] == BUGS[each["id"]].title
        assert each["error"] == runs.error[each["id"]].mean(axis=0).round(4).tolist()
    assert repr(BugPicker("softmax-axis")) == "BugPicker('softmax-axis')"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bug": "typo"}, "expected a bug, one of softmax-axis, .*; got 'typo'"),
        ({"index": 10}, "index from 0 to 9; got 10"),
        ({"index": True}, "index as a whole number; got True"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        BugPicker(**arguments)


def test_a_routing_that_remembers_stays_finite():
    """The logits grow with every call."""
    route, votes = variant("routing", "stale-logits"), torch.ones(1, 3, 2, 4)
    assert all(route(votes, 3).isfinite().all() for _ in range(200))
