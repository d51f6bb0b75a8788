"""The animals of "Your own pictures": drawings, pictures made of them, a folder, the widget."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from capsnet_book import animals
from capsnet_book.assets import asset
from capsnet_book.experiments import animals as trial
from capsnet_book.experiments.records import stored
from capsnet_book.networks import trained_network
from capsnet_book.widgets import BendCapsule
from safetensors.torch import load_file
from torchvision.datasets import ImageFolder
from torchvision.transforms import ToTensor


def test_every_artist_drew_every_animal() -> None:
    drawings = animals.drawings()
    assert drawings.shape == (9, 12, 4, 64, 64)
    opaque = (drawings[:, :, 3] > 0.5).float().mean(dim=(2, 3))
    assert opaque.min() > 0.15, "a drawing is missing"
    different = torch.pdist(drawings.flatten(0, 1).flatten(1))
    assert different.min() > 1, "two drawings are the same"


def test_sources_and_licences_are_named() -> None:
    artists = animals.card()["artists"]
    assert len(artists) == 9
    for artist in artists:
        assert artist["author"]
        assert artist["source"].startswith("https://")
        assert artist["licence"] in ("Apache-2.0", "MIT", "CC-BY-4.0", "CC-BY-SA-4.0")


def test_no_artist_is_for_training_and_for_testing() -> None:
    assert sorted(animals.SHOWN + animals.UNSEEN) == list(range(9))


def test_pictures_follow_from_their_seed() -> None:
    images, labels = animals.pictures([6], 40, seed=1)
    again, _ = animals.pictures([6], 40, seed=1)
    others, _ = animals.pictures([6], 40, seed=2)
    assert images.shape == (40, 3, 32, 32)
    assert torch.equal(images, again)
    assert not torch.equal(images, others)
    assert 0 <= images.min() < 0.2 and 0.9 < images.max() <= 1
    assert set(labels.tolist()) <= set(range(12))


def test_a_folder_is_read_with_the_same_labels(tmp_path: Path) -> None:
    images, labels = animals.pictures([0, 1], 60, seed=3)
    folder = animals.write_folder(tmp_path / "pictures", [0, 1], 60, seed=3)
    read = ImageFolder(folder, ToTensor())
    assert read.classes == [name for j, name in enumerate(animals.ANIMALS) if j in labels]
    for path, label in read.samples:
        number = int(Path(path).stem)
        assert read.classes[label] == animals.ANIMALS[labels[number]]
        pixels = read[read.samples.index((path, label))][0]
        assert (pixels - images[number]).abs().max() < 0.5 / 255 + 1e-3


def test_shipped_network_has_the_recorded_errors() -> None:
    network = trained_network("animals")
    record = next(
        run
        for run in stored("animals")["runs"]
        if (run["arm"], run["seed"]) == ("capsnet-16", trial.STORED)
    )
    images, labels = animals.pictures([6], 600, trial.TEST_SEED + 6)
    with torch.no_grad():
        wrong = (network(images).lengths.argmax(dim=1) != labels).float().mean()
    assert float(wrong) == pytest.approx(record["errors"]["twemoji"], abs=0.05)


def test_the_widget_shows_the_stored_animals() -> None:
    shown = load_file(asset("animals/shown.safetensors"))
    widget = BendCapsule.animals(index=9)
    assert widget.labels == shown["labels"].tolist()
    widget.keep = "11"
    with pytest.raises(ValueError, match="index from 0 to 9; got 10"):
        BendCapsule.animals(index=10)
