"""`diagnose` names each slip of chapter 12's table that one batch can show, and no sound run."""

import pytest
import torch
from capsnet_book.diagnosis import diagnose
from capsnet_book.experiments.breaks import BREAKS

from capsnet_tutorial import CapsNet, CapsNetConfig, Parts, digits

pytestmark = pytest.mark.slow

STEPS = 25  # enough to tell a fall from none, with 32 digits

EXPECTED = {
    "nothing: a sound run": None,
    "a learning rate of 0.1": "a tenth of the learning rate",
    "`optimizer.zero_grad()` forgotten": "`optimizer.zero_grad()` is missing",
    "`optimizer.step()` forgotten": "No weight moved",
    "the optimizer holds another network's weights": "No weight moved",
    "a `detach` below the routing": "does not reach the first layer",
    "labels shuffled without their images": None,
    "pixels from 0 to 255": "Divide by 255",
    "pixels of mean 0 and deviation 1": "subtract no mean",
    "the two margins swapped": "margins are swapped",
    "a sum over the batch": "a sum over the batch",
    "a mean over the pixels": "a mean over the pixels",
    "W drawn with deviation 1": "standard deviation of 0.1",
    "no labels given in training": "without labels",
    "a ReLU behind the second convolution": None,
    "a softmax over i": None,
    "a bare `view`": None,
}
"""What one batch cannot show, labels of other images and bugs of layers, is learned by heart."""


def test_every_break_of_the_table_has_an_expectation():
    assert [slip.slip for slip in BREAKS] == list(EXPECTED)


@pytest.mark.parametrize("slip", BREAKS, ids=lambda slip: slip.slip)
def test_it_names_the_slip(slip):
    images, labels, _ = digits("train", source="sample")
    torch.manual_seed(0)
    network = slip.network()
    optimizer = slip.optimizer(network, slip.learning_rate)

    def step(batch_images, batch_labels):
        return slip.step(network, optimizer, batch_images, batch_labels)

    diagnosis = diagnose(network, step, slip.images(images[:32]), slip.labels(labels[:32]), STEPS)
    expected = EXPECTED[slip.slip]
    if expected is None:
        assert diagnosis.findings == ()
        assert str(diagnosis).startswith("✓")
    else:
        assert len(diagnosis.findings) == 1, diagnosis
        assert expected in diagnosis.findings[0]


def test_a_batch_that_is_too_small_is_refused():
    network = BREAKS[0].network()
    with pytest.raises(ValueError, match="at least 8 images; got 4"):
        diagnose(network, lambda images, labels: 0, torch.zeros(4, 1, 28, 28), torch.zeros(4))


@pytest.mark.filterwarnings("error")
def test_a_squash_that_is_missing_is_not_taken_for_a_learning_rate():
    images, labels, _ = digits("train", source="sample")
    torch.manual_seed(0)
    network = CapsNet(CapsNetConfig.small(), Parts(routing=lambda u_hat, _: u_hat.sum(dim=1)))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.006)

    def step(batch_images, batch_labels):
        return BREAKS[0].step(network, optimizer, batch_images, batch_labels)

    diagnosis = diagnose(network, step, images[:8], labels[:8], steps=2)
    assert "squash runs along a wrong axis, or is missing" in str(diagnosis)
