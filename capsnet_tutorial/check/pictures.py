"""Expected beside came, as a small SVG: numbers in tinted cells, or arrows in the plane."""

from __future__ import annotations

import math
from html import escape

from torch import Tensor

from capsnet_tutorial.palette import css_colour

EXPECTED, CAME, MUTED, LINE = map(css_colour, ("agree", "contrast", "muted", "line"))

CELL = 26
WIDE, NARROW = 62, 40  # a cell with decimals, and one of many
MANY = 4  # columns; with more, came stands below expected
PLANE = 150


def picture(what: str, expected: Tensor, came: Tensor, *, arrows: bool = False) -> str:
    """An SVG with a description. expected, came: the same shape, at most two axes; arrows: rows [x, y] in the plane."""
    expected, came = (x.detach().double().reshape(-1, x.shape[-1] if x.dim() else 1) for x in (expected, came))
    drawn = _cells if not arrows or not came.isfinite().all() else _arrows
    left, width, height = drawn(expected, expected, EXPECTED)
    right, _, _ = drawn(came, expected, CAME)
    title = f"{what}: expected {_spoken(expected)}; came {_spoken(came)}"
    width = max(width, 7 * len(f"{what}, expected"))
    stacked = expected.shape[1] > MANY
    across, down = (0, height + 30) if stacked else (width + 30, 0)
    return (
        f'<svg role="img" aria-label="{escape(title)}" viewBox="0 0 {across + width} {down + height + 24}" '
        f'style="max-width:100%;width:{across + width}px;height:auto;font:12px sans-serif" '
        f'fill="currentColor"><text x="0" y="13" fill="{EXPECTED}">{escape(what)}, expected</text>'
        f'<text x="{across}" y="{down + 13}" fill="{CAME}">came</text><g transform="translate(0 22)">{left}</g>'
        f'<g transform="translate({across} {down + 22})">{right}</g></svg>'
    )


def _cells(numbers: Tensor, expected: Tensor, colour: str) -> tuple[str, int, int]:
    """A cell a number; those that differ from what was expected have a border."""
    rows, columns = numbers.shape
    width, height = NARROW if columns > MANY else WIDE, CELL
    finite = expected[expected.isfinite()].abs()
    largest = max(float(finite.max()) if len(finite) else 0.0, 1e-12)
    parts = []
    for r in range(rows):
        for k in range(columns):
            value, wanted = float(numbers[r, k]), float(expected[r, k])
            tint = min(abs(value) / largest, 1.0) if math.isfinite(value) else 0.0
            same = math.isfinite(value) and abs(value - wanted) <= 1e-3 * max(largest, 1e-3)
            x, y = k * width, r * height
            edge = LINE if same else CAME
            parts.append(
                f'<rect x="{x + 1}" y="{y + 1}" width="{width - 3}" height="{height - 3}" rx="3" fill="{colour}" '
                f'fill-opacity="{0.05 + 0.2 * tint:.2f}" stroke="{edge}" stroke-width="{1 if same else 2}"/>'
                f'<text x="{x + width / 2:g}" y="{y + 17}" text-anchor="middle">{_short(value)}</text>'
            )
    return "".join(parts), columns * width, rows * height


def _arrows(vectors: Tensor, expected: Tensor, colour: str) -> tuple[str, int, int]:
    """Vectors from the middle of a circle of radius 1."""
    half = PLANE / 2
    reach = max(1.15, float(vectors.abs().max()), float(expected.abs().max()))
    unit = (half - 8) / reach
    parts = [f'<circle cx="{half}" cy="{half}" r="{unit:.1f}" fill="none" stroke="{LINE}"/>']
    for x, y in vectors.tolist():
        tip = (half + x * unit, half - y * unit)
        parts.append(
            f'<path d="M{half} {half}L{tip[0]:.1f} {tip[1]:.1f}" stroke="{colour}" stroke-width="2.5"/>'
            f'<circle cx="{tip[0]:.1f}" cy="{tip[1]:.1f}" r="4" fill="{colour}"/>'
            f'<text x="{tip[0] + (6 if x >= 0 else -6):.1f}" y="{tip[1] + (-5 if y >= 0 else 14):.1f}" '
            f'text-anchor="{"start" if x >= 0 and tip[0] < PLANE - 30 else "end"}" fill="{MUTED}">'
            f"{math.hypot(x, y):.2f}</text>"
        )
    return "".join(parts), PLANE, PLANE


def _short(value: float) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    text = f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"
    return text.rstrip("0").rstrip(".") if "e" not in text else text


def _spoken(numbers: Tensor) -> str:
    return "; ".join(", ".join(_short(float(x)) for x in row) for row in numbers)
