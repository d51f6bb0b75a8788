"""affine.py: where the digits lie and how far they are bent."""

from __future__ import annotations

import networks
import pytest
import torch
from capsnet_book.experiments.affine import SWEEPS, OnCanvas, read_right

from capsnet_tutorial.augment import Augmentation, transform
from capsnet_tutorial.data import Digits, digits

FEW = Digits(*(part[:64] for part in digits("train", source="sample")[:2]), "sample")
DOT = torch.zeros(2000, 1, 28, 28)
DOT[:, 0, 13:15, 13:15] = 1  # about the centre
DOTS = Digits(DOT, torch.zeros(2000, dtype=torch.long), "made")


def test_in_training_digits_lie_anywhere_on_the_canvas_and_are_nothing_but_shifted():
    images, _ = OnCanvas(DOTS).batch(torch.arange(2000), Augmentation(shift=6), torch.Generator())
    assert images.shape == (2000, 1, 40, 40)
    assert images.sum(dim=(1, 2, 3)).unique().tolist() == [4.0]
    rows = images.amax(dim=3).argmax(dim=2).flatten()
    assert sorted(rows.unique().tolist()) == list(range(13, 26))
    chosen = torch.tensor([3, 1])
    assert OnCanvas(FEW).batch(chosen, Augmentation(), torch.Generator())[1].equal(FEW.labels[chosen])
    assert OnCanvas(FEW).count == 64


@pytest.mark.parametrize("sweep", SWEEPS, ids=lambda sweep: sweep.name)
def test_what_is_still_read_is_asked_digit_by_digit_and_amount_by_amount(sweep):
    network, data = networks.learner().eval(), digits("test", source="sample")
    data = data._replace(images=torch.cat([data.images] * 2)[:503], labels=torch.cat([data.labels] * 2)[:503])
    right = read_right(network, data, sweep)  # two batches
    assert right.shape == (len(sweep.amounts), 503)
    for k, amount in ((0, sweep.amounts[0]), (-1, sweep.amounts[-1])):
        expected = network.predict(transform(data.images, sweep.pose(amount))) == data.labels
        assert right[k].equal(expected)
    straight = [k for k, amount in enumerate(sweep.amounts) if amount == (1 if sweep.name == "size" else 0)]
    assert len(straight) == 1
    assert right[straight[0]].equal(network.predict(data.images) == data.labels)
