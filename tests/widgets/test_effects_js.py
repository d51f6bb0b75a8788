"""The rule that names what a number does to a drawing, on changes that PyTorch makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.experiments.poses import thicken
from torch import Tensor

from capsnet_tutorial import digits
from capsnet_tutorial.augment import Pose, transform

Change = Callable[[Tensor], Tensor]


def posed(**values: float) -> Change:
    """Return a change of digits [N, 1, 28, 28] by a pose; what is not given stays."""
    same = {"rotation": 0.0, "width": 1.0, "height": 1.0, "shear": 0.0, "x": 0.0, "y": 0.0}
    return lambda images: transform(images, Pose(*(same | values).values()))


CHANGES = {
    "Thickness": (lambda images: thicken(images, 0.8), "is thicker"),
    "Slant": (posed(shear=0.3), "leans more to the right"),
    "Size": (posed(width=1.25, height=1.25), "is larger"),
    "Width": (posed(width=0.75), "is narrower"),
    "Height": (posed(height=0.75), "is lower"),
    "Place across": (posed(x=-2.0), "lies further left"),
    "Place up and down": (posed(y=2.0), "lies further down"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_known_change_is_named(evaluate: Callable[..., Any], name: str) -> None:
    change, towards = CHANGES[name]
    images = digits("test", source="sample").images[:20]
    pairs = torch.cat([images, change(images)], dim=1).flatten(2)  # [20, 2, 784]
    body = """
        return data.map((pair) => {
          const [first, second] = pair.map((drawing) => Float32Array.from(drawing));
          return m.effectOf(first, second, 28);
        });"""
    effects = evaluate(body, pairs, m="shared/effects.js")
    named = [effect for effect in effects if name in effect["names"]]
    assert len(named) >= 16, effects  # thicker strokes close some loops, and that is named instead
    assert all(towards in effect["towards"] for effect in named)


def test_what_is_not_seen_is_little_and_a_part_is_named_by_its_place(
    evaluate: Callable[..., Any],
) -> None:
    bar = np.zeros((28, 28), np.float32)
    bar[4:24, 12:16] = 1
    dot = bar.copy()
    dot[4:9, 12:16] = 0.55
    body = """
        const [bar, dot] = data.map((drawing) => Float32Array.from(drawing));
        return [m.effectOf(bar, bar, 28), m.effectOf(bar, dot, 28)].map(({ names }) => names);"""
    names = evaluate(body, [bar.ravel(), dot.ravel()], m="shared/effects.js")
    assert names[0] == ["Little"]
    assert names[1] in (["Little"], ["The top"])


def test_the_form_of_a_drawing_is_that_of_its_pixels(evaluate: Callable[..., Any]) -> None:
    """Against weighted moments over the pixels' places, as NumPy has them."""
    images = digits("test", source="sample").images[:5].flatten(1).numpy()
    body = "return data.map((image) => m.formOf(Float32Array.from(image), 28));"
    rows, columns = np.divmod(np.arange(784), 28)
    for image, form in zip(images, evaluate(body, images, m="shared/effects.js"), strict=True):
        spread = np.cov(columns, rows, aweights=image, ddof=0)
        assert form["x"] == pytest.approx(np.average(columns, weights=image), abs=1e-3)
        assert form["y"] == pytest.approx(np.average(rows, weights=image), abs=1e-3)
        assert form["slant"] == pytest.approx(-spread[0, 1] / spread[1, 1], abs=1e-3)
        width = np.sqrt(np.linalg.det(spread) / spread[1, 1])
        assert form["width"] == pytest.approx(width, abs=1e-3)
