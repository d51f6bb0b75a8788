"""Expected beside came, as HTML: numbers in a table of tinted cells, or arrows in the plane.

A notebook that is not trusted yet is shown without drawings and without most styles, but with every text. So the
numbers stand in tables, and a drawing holds no text.
"""

from __future__ import annotations

import math
from html import escape

from capsnet_book.palette import css_colour
from torch import Tensor

EXPECTED, CAME, LINE = map(css_colour, ("agree", "contrast", "line"))

PLANE = 150


def picture(what: str, expected: Tensor, came: Tensor, *, arrows: bool = False) -> str:
    """HTML. expected, came: the same shape, at most two axes; arrows: rows [x, y] in the plane."""
    expected, came = (x.detach().double().reshape(-1, x.shape[-1] if x.dim() else 1) for x in (expected, came))
    halves = ((f"{what}, expected", expected, EXPECTED), ("came", came, CAME))
    parts = []
    for title, numbers, colour in halves:
        drawn = _arrows(numbers, expected, colour) if arrows and came.isfinite().all() else ""
        parts.append(
            f'<div><p style="margin:0 0 .2em;color:{colour}">{escape(title)}</p>{drawn}'
            f"{_table(numbers, expected, colour)}</div>"
        )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.4em 2em;font-size:.85em">{"".join(parts)}</div>'


def _table(numbers: Tensor, expected: Tensor, colour: str) -> str:
    """A cell a number; those that differ from what was expected have a border."""
    finite = expected[expected.isfinite()].abs()
    largest = max(float(finite.max()) if len(finite) else 0.0, 1e-12)

    def cell(value: float, wanted: float) -> str:
        tint = min(abs(value) / largest, 1.0) if math.isfinite(value) else 0.0
        same = math.isfinite(value) and abs(value - wanted) <= 1e-3 * max(largest, 1e-3)
        ground = f"color-mix(in srgb,{colour} {5 + 20 * tint:.0f}%,transparent)"
        edge = f"1px solid {LINE}" if same else f"2px solid {CAME}"
        return f'<td style="padding:.1em .5em;text-align:center;background:{ground};border:{edge}">{_short(value)}</td>'

    rows = (
        "".join(cell(value, wanted) for value, wanted in zip(row, right, strict=True))
        for row, right in zip(numbers.tolist(), expected.tolist(), strict=True)
    )
    body = "".join(f'<tr style="background:none">{row}</tr>' for row in rows)
    return (
        f'<table style="border-collapse:separate;border-spacing:2px;width:auto;margin:0"><tbody>{body}</tbody></table>'
    )


def _arrows(vectors: Tensor, expected: Tensor, colour: str) -> str:
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
        )
    return (
        f'<svg aria-hidden="true" viewBox="0 0 {PLANE} {PLANE}" width="{PLANE}" height="{PLANE}" '
        f'style="display:block">{"".join(parts)}</svg>'
    )


def _short(value: float) -> str:
    if not math.isfinite(value):
        return f"{value:g}"
    text = f"{value:.3f}" if value == 0 or abs(value) >= 0.001 else f"{value:.1e}"
    return text.rstrip("0").rstrip(".") if "e" not in text else text
