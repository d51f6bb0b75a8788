"""A planted network is the paper's, but for its bug; what was recorded of such networks is what the command makes."""

import pytest
import torch
from capsnet_book.bugs import piece_of
from capsnet_book.bugs.planted import planted_parts
from capsnet_book.experiments.pairs import OnPairs
from torch.nn.functional import one_hot

from capsnet_tutorial import CapsNet, CapsNetConfig, check_model, digits, load_pretrained

SMALL = CapsNetConfig.small()


def planted(bug):
    """The trained network with this bug."""
    network = CapsNet(SMALL, planted_parts(bug))
    network.load_state_dict(load_pretrained("small").state_dict())
    return network


@pytest.mark.parametrize("bug", ["squash-axis", "softmax-axis", "no-update-rounds", "capsule-view"])
def test_all_that_can_be_asked_of_it_has_the_bug(bug):
    images, labels, _ = digits("test", source="sample")
    right, network = load_pretrained("small"), planted(bug)
    output = network(images)
    assert not output.lengths.allclose(right(images).lengths, atol=1e-3)
    assert network.predict(images).equal(output.lengths.argmax(dim=1))
    assert network.class_capsules(images).equal(output.capsules)
    drawn = torch.stack([labels, (labels + 1) % 10], dim=1)
    pairs = OnPairs(network)(images.expand(-1, 2, -1, -1) / 2, one_hot(drawn, 10).sum(dim=1))
    assert pairs.lengths.equal(output.lengths)
    same_u = network.primary_capsules(images).allclose(right.primary_capsules(images), atol=1e-3)
    assert same_u == (piece_of(bug) == "routing")


@pytest.mark.parametrize("bug", ["batch-agreement", "stale-logits", "mask-prediction"])
def test_with_trained_weights_some_bugs_are_seen_from_outside(bug):
    images, labels, _ = digits("test", source="sample")
    assert check_model(planted(bug), images[:4], labels[:4]).bugs == (bug,)
