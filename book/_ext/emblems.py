"""A small drawing for each chapter's card: lines on 96 × 54, in the palette's colours."""

from __future__ import annotations

import re
from math import cos, sin

KINDS = {  # the classes of a line
    "a": "stroke: var(--caps-accent)",
    "c": "stroke: var(--caps-contrast)",
    "g": "stroke: var(--caps-agree)",
    "q": "stroke: var(--caps-line)",
    "f": "fill: var(--caps-surface)",
    "wide": "stroke-width: 3.2",
    "thick": "stroke-width: 5; opacity: 0.8",
}

SEVEN = "M{0} {1}h13l-8 22m-2 -11h9"  # from its upper left corner
FOUR = "M{0} {1}l-8 14h14m-5 -7v15"


def dots(places: list[tuple[float, float]], kind: str, r: float = 2) -> str:
    return "".join(
        f'<circle class="f {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>' for x, y in places
    )


def lines(kind: str, *paths: str) -> str:
    return f'<path class="{kind}" d="{"".join(paths)}"/>'


def arrows(kind: str, *ends: tuple[float, float, float, float]) -> str:
    return "".join(
        f'<path class="{kind}" d="M{x} {y}l{u} {v}"/><circle class="f {kind}" cx="{x + u}" cy="{y + v}" r="1.8"/>'
        for x, y, u, v in ends
    )


def bars(kind: str, left: float, step: float, *heights: float) -> str:
    tops = "".join(f"M{left + k * step} 46v{-height}" for k, height in enumerate(heights))
    return f'<path class="wide {kind}" d="{tops}"/>'


def turned(path: str, degrees: float, x: float, y: float, kind: str = "") -> str:
    return f'<path class="{kind}" transform="rotate({degrees} {x} {y})" d="{path}"/>'


LEFT, RIGHT = (10, 21, 32, 43), (14, 27, 40)
RING = [(48 + 17 * cos(k * 0.72), 27 + 15 * sin(k * 0.72)) for k in range(8)]

EMBLEMS = {
    "01-try-it": lines("", FOUR.format(30, 15))
    + lines("q", "M52 32h32")
    + dots([(70, 32)], "a", 4),
    "02-why-capsules": '<ellipse class="q" cx="48" cy="27" rx="17" ry="22"/>'
    + dots([(41, 21), (55, 21)], "", 2.5)
    + lines("", "M48 25l-3 8h4")
    + lines("c", "M41 40q7 4 14 0"),
    "03-primary-capsules": lines("q", *(f"M{x} {y}h14v14h-14z" for x in (12, 26) for y in (13, 27)))
    + lines("a", "M26 13h14v14h-14z", "M44 20h8")
    + bars("a", 60, 4, 12, 22, 7, 28, 16, 9, 20, 14),
    "04-squash": lines("q", "M14 46h70M14 46v-38M14 12h70")
    + lines("a", "M14 46C34 44 30 14 84 13"),
    "05-prediction-vectors": lines("c", "M18 20l10 -8l10 8z")
    + lines("a", "M62 22l12 -10l12 10v20h-24z")
    + arrows("q", (42, 20, 14, 6)),
    "06-routing": lines("q", *(f"M26 {y}L70 {z}" for y in LEFT for z in RIGHT))
    + lines("a", *(f"M26 {y}L70 27" for y in LEFT))
    + dots([(26, y) for y in LEFT], "")
    + dots([(70, z) for z in RIGHT], "a", 3),
    "07-margin-loss": lines("q", "M14 12h70M14 42h70")
    + bars("", 20, 7, 4, 6, 3)
    + bars("a", 41, 7, 36)
    + bars("", 48, 7, 5, 3, 7, 4, 5),
    "08-masking-and-decoder": lines("q", *(f"M12 {y}h26" for y in (12, 20, 36, 44)))
    + lines("wide a", "M12 28h26")
    + arrows("q", (44, 28, 10, 0))
    + lines("", SEVEN.format(66, 16)),
    "09-training": lines("q", "M14 46h70M14 46v-38") + lines("a", "M16 10C24 42 40 36 84 43"),
    "10-sixteen-numbers": "".join(
        turned(FOUR.format(x, 16), lean, x, 27, kind)
        for x, lean, kind in ((22, -18, "q"), (48, 0, "a"), (74, 18, "q"))
    ),
    "13-what-the-numbers-mean": bars("a", 16, 8, 14, 30, 8, 22, 5, 18, 34, 10, 26),
    "14-who-votes-who-decides": lines(
        "q", f"M{RING[0][0]:.0f} {RING[0][1]:.0f}", *(f"L{x:.0f} {y:.0f}" for x, y in RING)
    )
    + lines("c", f"M{RING[7][0]:.0f} {RING[7][1]:.0f}L{RING[0][0]:.0f} {RING[0][1]:.0f}")
    + arrows("a", (48, 27, 14, -8)),
    "15-message-passing": lines("q", "M20 14L48 27L20 40M48 27L76 12M48 27L78 42M20 14L20 40")
    + dots([(20, 14), (20, 40), (76, 12), (78, 42)], "", 3)
    + dots([(48, 27)], "a", 5),
    "16-two-digits-at-once": lines("thick c", SEVEN.format(36, 16))
    + '<circle class="thick a" cx="52" cy="30" r="11"/>',
    "17-new-viewpoints": "".join(
        turned(SEVEN.format(x - 6, 16), lean, x, 27, kind)
        for x, lean, kind in ((18, 0, ""), (48, 60, "a"), (78, 120, "c"))
    ),
    "18-does-routing-matter": lines("q", "M48 8v38")
    + dots([(38, 18), (44, 18), (50, 18), (57, 18), (61, 18)], "a", 2.6)
    + dots([(36, 36), (43, 36), (47, 36), (54, 36), (59, 36)], "c", 2.6),
    "11-bugs-in-the-wild": '<ellipse cx="48" cy="29" rx="9" ry="13"/>'
    + lines(
        "",
        "M48 16v26M39 24l-11 -5M38 30h-12M40 37l-11 6M57 24l11 -5M58 30h12M56 37l11 6M44 17l-5 -8M52 17l5 -8",
    ),
    "12-when-it-does-not-learn": lines("q", "M14 46h70M14 46v-38")
    + lines("c", "M16 14l6 3l7 -4l7 4l6 -3l7 3l6 -4l7 3l8 -2l8 3")
    + lines("a", "M16 14C30 40 50 36 84 40"),
    "19-where-next": lines("q", "M12 27h26")
    + lines("g", "M38 27h44")
    + lines("a", "M38 27C54 27 54 12 82 12")
    + lines("c", "M38 27C54 27 54 42 82 42"),
}


def emblem(chapter: str) -> str:
    """A chapter's drawing, an SVG."""
    styled = re.sub(
        r'class="([^"]*)"',
        lambda found: f'style="{"; ".join(KINDS[kind] for kind in found[1].split())}"',
        EMBLEMS.get(chapter, ""),
    )
    return f'<svg viewBox="0 0 96 54" aria-hidden="true">{styled}</svg>'
