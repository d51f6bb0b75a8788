"""images.py: data sets, tensors and loaders as training data, and what is said of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import networks
import pytest
import torch
from networks import few
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from capsnet_tutorial import CapsNet, Recipe, evaluate, fit
from capsnet_tutorial.augment import Augmentation
from capsnet_tutorial.images import DatasetExamples, training_data

RECIPE = Recipe(epochs=2, batch_size=16, augmentation=Augmentation(shift=1), seed=3)
QUIET: dict[str, Any] = {"progress": False, "threads": 1}

COLOURED = replace(
    networks.TINY,
    image_size=(9, 11),
    in_channels=3,
    classes=2,
    class_dim=4,
    decoder_hidden=(6,),
)


class Bars(Dataset[tuple[Tensor, int]]):
    """Red upright bars and blue level ones, [3, 9, 11]."""

    def __init__(self, count: int = 64) -> None:
        self.count_of_bars = count

    def __len__(self) -> int:
        return self.count_of_bars

    def __getitem__(self, position: int) -> tuple[Tensor, int]:
        if position >= len(self):
            raise IndexError(position)
        image = torch.zeros(3, 9, 11)
        label = position % 2
        if label:
            image[0, :, 2 + position % 7] = 1
        else:
            image[2, 1 + position % 7, :] = 1
        return image, label


def as_pair(data: Dataset[Any]) -> tuple[Tensor, Tensor]:
    images, labels = zip(*data, strict=True)
    return torch.stack(images), torch.tensor(labels)


@pytest.mark.parametrize(
    "data",
    [
        few(),
        (few().images, few().labels),
        TensorDataset(few().images, few().labels),
        Subset(TensorDataset(few().images, few().labels), range(64)),
        DataLoader(TensorDataset(few().images, few().labels), batch_size=7).dataset,
    ],
    ids=["digits", "pair", "TensorDataset", "Subset", "a loader's dataset"],
)
def test_all_forms_of_the_same_images_train_and_are_evaluated_alike(data):
    expected, _ = fit(networks.learner(), few(), RECIPE, validation=few(), **QUIET)
    # The chance of a data set's own transforms comes from the step's generator, before the shifts.
    still = replace(RECIPE, augmentation=Augmentation(shift=0))
    expected_still, _ = fit(networks.learner(), few(), still, **QUIET)
    network, history = fit(networks.learner(), data, still, validation=data, **QUIET)
    for name, weight in network.state_dict().items():
        assert weight.equal(expected_still.state_dict()[name]), name
    assert history.curve[-1]["validation_error"] == evaluate(network, few()).error
    assert evaluate(expected, data, batch_size=9).error == evaluate(expected, few()).error


def test_a_network_learns_coloured_images_that_are_not_square():
    torch.manual_seed(0)
    recipe = replace(RECIPE, epochs=30)
    network, _ = fit(CapsNet(COLOURED), Bars(), recipe, validation=Bars(16), **QUIET)
    assert evaluate(network, as_pair(Bars(14))).error == 0


def test_the_random_transforms_of_a_data_set_follow_from_the_recipes_seed():
    class Noisy(Bars):
        def __getitem__(self, position: int) -> tuple[Tensor, int]:
            image, label = super().__getitem__(position)
            return (image + 0.1 * torch.rand(())).clamp(0, 1), label

    torch.manual_seed(1)
    expected = torch.rand(3)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(0)
        network = CapsNet(COLOURED)
        torch.manual_seed(1)
        fit(network, Noisy(), replace(RECIPE, seed=seed), **QUIET)
        results.append(network.routed.weight)
        assert torch.rand(3).equal(expected), "the caller's chance goes on as if nothing had been"
    assert results[0].equal(results[1])
    assert not results[0].equal(results[2])


def test_images_of_a_data_set_are_read_when_they_are_needed():
    positions = []

    class Noted(Bars):
        def __getitem__(self, position: int) -> tuple[Tensor, int]:
            positions.append(position)
            return super().__getitem__(position)

    data = training_data(Noted(1000))
    assert positions == [0]  # a look at what it holds
    data.batch(torch.tensor([7, 3]), Augmentation(shift=0), networks.generator())
    assert positions == [0, 7, 3]


# --- what is no training data


class Listed(Dataset[Any]):
    """A data set of these examples."""

    def __init__(self, *examples: Any) -> None:
        self.examples = examples

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, position: int) -> Any:
        return self.examples[position]


class Endless(IterableDataset[Any]):
    """Examples without a number."""

    def __iter__(self) -> Any:
        return iter(())


IMAGE = torch.rand(3, 9, 11)
OTHERS = {
    "a loader": (DataLoader(Bars()), "a DataLoader: pass its dataset; the recipe has the batch"),
    "images alone": (few().images, r"got a Tensor of shape \[64, 1, 28, 28\]"),
    "nothing": (None, "a pair of tensors .*; got NoneType"),
    "a name": ("mnist", "got str"),
    "no end": (Endless(), "got Endless"),
    "three": ((IMAGE, IMAGE, IMAGE), "got a tuple of 3: a Tensor of shape"),
    "lists": (([IMAGE], [0]), "got a tuple of 2: list, list"),
    "arrays": ((few().images.numpy(), few().labels.numpy()), "2: ndarray, ndarray"),
    "too few labels": ((few().images, few().labels[:9]), r"64 labels; got labels of shape \[9\]"),
    "no images": ((few().images[:0], few().labels[:0]), "at least one image; got none"),
    "bytes": ((few().images.byte(), few().labels), "torch.uint8, from 0 to 255: divide by 255"),
    "an empty set": (Listed(), "at least one image; got none"),
    "a dictionary": (Listed({"image": IMAGE}), r"a Dataset of \(image, label\); got one of dict"),
    "no label": (Listed(IMAGE), "got one of a Tensor"),
    "a picture": (Listed((object(), 0)), r"ToTensor\(\)\); got object"),
    "a data set of bytes": (Listed((IMAGE.byte(), 0)), "divide by 255"),
    "two sizes": (Listed((IMAGE, 0), (IMAGE[:, 1:], 1)), "images of one size, .*that resizes"),
}


PAIRS = replace(RECIPE, batch_size=2)
USES = {
    "fit": lambda data: fit(CapsNet(COLOURED), data, PAIRS, **QUIET),
    "evaluate": lambda data: evaluate(CapsNet(COLOURED), data),
    "validation": lambda data: fit(CapsNet(COLOURED), Bars(2), PAIRS, validation=data, **QUIET),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("use", ["fit", "evaluate"])
def test_other_data_are_told_what_was_expected(name, use):
    data, message = OTHERS[name]
    with pytest.raises(ValueError, match=message):
        USES[use](data)


@pytest.mark.parametrize("name", ["a loader", "images alone", "a picture"])
def test_what_cannot_validate_is_told_before_the_first_step(name, monkeypatch):
    data, message = OTHERS[name]
    monkeypatch.setattr("capsnet_tutorial.train.loop.train_epoch", None)
    with pytest.raises(ValueError, match=message):
        USES["validation"](data)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize(
    ("change", "advice"),
    [(lambda x: 255 * x, "divide by 255"), (lambda x: 2 * x - 1, "leave out the normalisation")],
)
def test_pixels_that_are_not_from_0_to_1_are_said(use, change, advice):
    data = Listed(*[(change(image), label) for image, label in Bars(2)])
    with pytest.warns(UserWarning, match=advice):
        USES[use](data)


def test_a_data_set_gives_labels_of_several_classes_too():
    data = Listed((IMAGE, torch.tensor([1.0, 0.0])), (IMAGE, torch.tensor([1.0, 1.0])))
    _, labels = DatasetExamples(data).batch(
        torch.tensor([1, 0]), Augmentation(shift=0), networks.generator()
    )
    assert labels.tolist() == [[1, 1], [1, 0]]
