"""Still pictures of the network's parts, in the colours of the page: what the strip shows until it is live.

The digit is a real one; the others are drawn, not computed.
"""

from __future__ import annotations

from markupsafe import Markup

PIXELS = 28  # along a digit's side
UNITS = 44  # along a picture's side
SHADES = 4  # of a digit's ink


def stills(digit: bytes, label: int) -> dict[str, Markup]:
    """Part of the network -> SVG.

    Args:
        digit: 28 × 28 bytes, 0 (paper) to 255 (ink).
        label: what it is, the class that gets the thick votes and the long bar.
    """
    votes = {j: "".join(curve(i / 11, (j + 0.5) / 10) for i in range(12)) for j in (1, 4, label, 9)}
    bars = {j: f"M0 {(j + 0.5) / 10 * UNITS:.1f}h{0.9 * UNITS if j == label else 3 + j % 3}" for j in range(10)}
    return {
        "digit": svg(ink(digit), PIXELS),
        "maps": svg("".join(map_at(x, y) for x in (0.5, 22.5) for y in (0.5, 22.5))),
        "primary": svg(path("".join(map(arrow, range(72))), "accent", 1.2)),
        "votes": svg(others_and_one(votes, label, 0.3, 0.8)),
        "classes": svg(others_and_one(bars, label, 3, 3)),
        "drawing": svg(ink(blurred(digit)), PIXELS),
    }


def svg(content: str, side: int = UNITS) -> Markup:
    """A picture that fills its place."""
    box = f'viewBox="0 0 {side} {side}" preserveAspectRatio="none"'
    return Markup(f'<svg class="still" {box} aria-hidden="true">{content}</svg>')


def path(d: str, role: str, width: float) -> str:
    """Lines in a colour of the palette."""
    return f'<path d="{d}" fill="none" stroke="var(--caps-{role})" stroke-width="{width}"/>'


def others_and_one(lines: dict[int, str], one: int, thin: float, thick: float) -> str:
    """Lines of several classes, one of which stands out."""
    others = "".join(d for j, d in lines.items() if j != one)
    return path(others, "muted", thin) + path(lines[one], "accent", thick)


def map_at(x: float, y: float) -> str:
    """A feature map."""
    return f'<rect x="{x}" y="{y}" width="21" height="21" fill="var(--caps-raised)" stroke="var(--caps-line)"/>'


def arrow(i: int) -> str:
    """The i-th of 72 capsules: 8 types under each other, 9 places beside each other."""
    x, y, dx, dy = UNITS * (i % 9 + 0.3) / 9, UNITS * (i // 9 + 0.5) / 8, i * 5 % 7 - 3, i * 3 % 5 - 2
    return f"M{x:.1f} {y:.1f}l{dx / 2} {dy / 2}"


def curve(start: float, end: float) -> str:
    """A vote, from a height at the left to one at the right."""
    y, to = start * UNITS, end * UNITS
    return f"M0 {y:.1f}C22 {y:.1f} 22 {to:.1f} {UNITS} {to:.1f}"


def ink(grey: bytes) -> str:
    """A digit's pixels as paths, one a shade."""
    paths = [""] * (SHADES + 1)
    for k, value in enumerate(grey):
        paths[round(value / 255 * SHADES)] += f"M{k % PIXELS} {k // PIXELS}h1v1h-1z"
    shaded = [(d, shade / SHADES) for shade, d in enumerate(paths) if shade and d]
    return "".join(f'<path d="{d}" fill="var(--caps-stroke)" fill-opacity="{opacity}"/>' for d, opacity in shaded)


def blurred(grey: bytes) -> bytes:
    """Each pixel's mean over the nine around it (of a digit, which does not touch its frame)."""
    steps = [down * PIXELS + right for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return bytes(sum(grey[(k + step) % len(grey)] for step in steps) // 9 for k in range(len(grey)))
