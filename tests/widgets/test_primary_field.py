"""PrimaryField: its numbers are PyTorch's, its patches are what the network reads, and wrong arguments are refused."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import traitlets
from capsnet_book.widgets import PrimaryField, _parts

from capsnet_tutorial.data import digits
from capsnet_tutorial.layers import group_into_capsules
from capsnet_tutorial.weights import load_pretrained

WEIGHTS = Path(str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors"))
COUNT = 12


@pytest.fixture
def answer(run_node: Callable[..., Any], tmp_path: Path) -> tuple[dict[str, Any], np.ndarray, torch.Tensor]:
    """What the script says, the numbers it wrote, the images it was given."""
    images = digits("test", source="sample").images[:COUNT].contiguous()
    images[1] = 0
    images.numpy().tofile(tmp_path / "images")
    modules = ("primary_field.js",)
    said = run_node("primary_field.mjs", WEIGHTS, tmp_path / "images", tmp_path / "out", modules=modules)
    return said, np.fromfile(tmp_path / "out", dtype=np.float32), images


def test_its_numbers_are_pytorchs(answer):
    said, numbers, images = answer
    assert said["sizes"] == {"types": 8, "side": 3, "places": 9, "D": 8, "I": 72}
    model = load_pretrained("small")
    with torch.no_grad():
        s = group_into_capsules(model.primary.conv(model.conv(images).relu()), 8)
        u = model.primary_capsules(images)
    came = torch.from_numpy(numbers[: COUNT * 2 * 576]).view(COUNT, 2, 72, 8)
    torch.testing.assert_close(came[:, 0], s, atol=1e-5 * float(s.abs().max()), rtol=0)
    assert float((came[:, 1] - u).abs().max()) < 1e-5

    drawn = torch.from_numpy(numbers[COUNT * 2 * 576 :][:784]).view(1, 1, 28, 28)
    with torch.no_grad():
        expected = model.primary_capsules(drawn)[0]
    assert float((torch.from_numpy(numbers[-576:]).view(72, 8) - expected).abs().max()) < 1e-5


def test_its_patches_are_what_the_network_reads(answer):
    """By gradients in PyTorch, and by turning every pixel over in JavaScript."""
    said, _, images = answer
    model = load_pretrained("small")
    image = images[:1].clone().requires_grad_(True)
    touched = [set(moved) for moved in said["touched"]]
    for place, patch in enumerate(said["patches"]):
        (gradient,) = torch.autograd.grad(
            model.primary.conv(model.conv(image).relu())[0].flatten(1)[:, place].square().sum(), image
        )
        read = np.zeros((28, 28), bool)
        bottom, right = patch["top"] + patch["size"], patch["left"] + patch["size"]
        read[patch["top"] : bottom, patch["left"] : right] = True
        rows, columns = np.nonzero(gradient[0, 0].numpy())
        assert (rows.min(), rows.max() + 1) == (patch["top"], bottom)
        assert (columns.min(), columns.max() + 1) == (patch["left"], right)
        assert patch["size"] == 17
        moved = np.array([bool(each & set(range(place, 72, 9))) for each in touched]).reshape(28, 28)
        assert not moved[~read].any(), "a pixel outside the patch moved a capsule"
        assert moved[read].mean() > 0.99
    assert said["paper"] == {"top": 10, "left": 2, "size": 17}


def test_no_capsule_reads_the_last_three_rows_and_columns(answer):
    said, _, _ = answer
    moved = np.array([bool(each) for each in said["touched"]]).reshape(28, 28)
    assert moved[:25, :25].mean() > 0.99
    assert not moved[25:].any() and not moved[:, 25:].any()


def test_a_stroke_adds_ink_or_takes_it_away_and_only_near_the_pen(answer):
    said, numbers, images = answer
    drawn, erased = numbers[COUNT * 2 * 576 :][: 2 * 784].reshape(2, 28, 28)
    image = images[0, 0].numpy()
    assert (drawn >= image).all() and drawn[4, 3] == 1 and drawn.max() <= 1
    assert (erased <= image).all() and erased[4, 3] == 0 and erased.min() >= 0
    far = np.ones((28, 28), bool)
    far[1:13, 0:16] = False
    assert (drawn[far] == image[far]).all() and (erased[far] == image[far]).all()
    assert said["untouched"] == []


def test_arrow_keys_walk_through_the_field(answer):
    """Two rows of four types: 6 rows and 12 columns of capsules; at the borders one stays."""

    def where(i: int) -> tuple[int, int]:
        place = answer[0]["placed"][i]
        assert i == 9 * place["type"] + 3 * place["row"] + place["column"]
        return 3 * (place["type"] // 4) + place["row"], 3 * (place["type"] % 4) + place["column"]

    for i, (right, down) in enumerate(answer[0]["walks"]):
        row, column = where(i)
        assert where(right) == (row, min(column + 1, 11))
        assert where(down) == (min(row + 1, 5), column)


def test_how_far_an_arrow_turned(answer):
    same, right_angle, half = answer[0]["turned"]
    assert same == 0
    assert right_angle == pytest.approx(90)
    assert half == pytest.approx(45, abs=1e-4)


# ----------------------------------------------------------------------------------------- the Python side


def test_it_sends_ten_digits_and_shares_the_network():
    widget = PrimaryField()
    assert (widget.labels, len(widget.images)) == (list(range(10)), 10 * 784)
    assert widget.get_state("network") == {"network": f"anywidget:{widget.network.model_id}"}
    assert repr(widget) == "PrimaryField(10 digits, capsule=58)"


def test_it_takes_the_readers_digits():
    sample = digits("test", source="sample")
    widget = PrimaryField(sample.images[:2], sample.labels[:2], capsule=0)
    assert (widget.index, widget.capsule) == (0, 0)
    np.testing.assert_array_equal(
        np.frombuffer(widget.images, np.uint8).reshape(2, 28, 28), _parts.pixels(sample.images[:2])
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"labels": [1]}, "expected digits beside the labels"),
        ({"images": np.zeros((1, 28, 28)), "labels": [12]}, "from 0 to 9"),
        ({"images": np.zeros((1, 28, 28)), "labels": [1], "index": 1}, "expected index from 0 to 0; got 1"),
        ({"capsule": 72}, "expected capsule from 0 to 71; got 72"),
        ({"capsule": -1}, "expected capsule from 0 to 71; got -1"),
        ({"capsule": 1.5}, "expected capsule from 0 to 71; got 1.5"),
    ],
)
def test_wrong_arguments_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        PrimaryField(**arguments)


def test_wrong_changes_are_refused():
    widget = PrimaryField()
    for name, value in (("capsule", 72), ("index", 10), ("index", -1)):
        with pytest.raises((ValueError, traitlets.TraitError)):
            setattr(widget, name, value)
    assert (widget.index, widget.capsule) == (3, 58)
