"""A small drawing for each chapter's card: an SVG of lines in the palette's colours."""

from __future__ import annotations

import re
from math import cos, sin

WIDTH, HEIGHT = 96, 54
STYLES = {  # by the classes that the shapes below have
    "accent": "stroke: var(--caps-accent)",
    "contrast": "stroke: var(--caps-contrast)",
    "agree": "stroke: var(--caps-agree)",
    "quiet": "stroke: var(--caps-line)",
    "filled": "fill: var(--caps-surface)",
    "wide": "stroke-width: 3.2",
    "thick": "stroke-width: 5; opacity: 0.8",
}

Point = tuple[float, float]
Arrow = tuple[float, float, float, float]  # start x, y; length x, y


def lines(classes: str, *paths: str) -> str:
    """Return one SVG path made of several."""
    return f'<path class="{classes}" d="{"".join(paths)}"/>'


def dots(places: list[Point], classes: str, radius: float = 2) -> str:
    """Return filled circles."""
    return "".join(
        f'<circle class="{joined("filled", classes)}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
        for x, y in places
    )


def arrows(classes: str, *ends: Arrow) -> str:
    """Return lines with a dot at each end."""
    return "".join(
        f'<path class="{classes}" d="M{x} {y}l{right} {down}"/>'
        f'<circle class="{joined("filled", classes)}" cx="{x + right}" cy="{y + down}" r="1.8"/>'
        for x, y, right, down in ends
    )


def bars(classes: str, left: float, step: float, *heights: float) -> str:
    """Return upright bars that stand on the line y = 46."""
    paths = [f"M{left + number * step} 46v{-height}" for number, height in enumerate(heights)]
    return f'<path class="{joined("wide", classes)}" d="{"".join(paths)}"/>'


def turned(path: str, degrees: float, centre: Point, classes: str = "") -> str:
    """Return a path turned round a point."""
    x, y = centre
    return f'<path class="{classes}" transform="rotate({degrees} {x} {y})" d="{path}"/>'


def joined(*classes: str) -> str:
    """Return classes with spaces between."""
    return " ".join(filter(None, classes))


def four(x: float, y: float) -> str:
    """Return the path of a handwritten 4 from its upper end."""
    return f"M{x} {y}l-8 14h14m-5 -7v15"


def seven(x: float, y: float) -> str:
    """Return the path of a handwritten 7 from its upper left corner."""
    return f"M{x} {y}h13l-8 22m-2 -11h9"


def axes() -> str:
    """Return the axes of a plot."""
    return lines("quiet", "M14 46h70M14 46v-38")


def try_it() -> str:
    """Draw a slider beside a 4."""
    return lines("", four(30, 15)) + lines("quiet", "M52 32h32") + dots([(70, 32)], "accent", 4)


def why_capsules() -> str:
    """Draw a face."""
    outline = '<ellipse class="quiet" cx="48" cy="27" rx="17" ry="22"/>'
    eyes = dots([(41, 21), (55, 21)], "", 2.5)
    return outline + eyes + lines("", "M48 25l-3 8h4") + lines("contrast", "M41 40q7 4 14 0")


def primary_capsules() -> str:
    """Draw a grid of places, one of which has numbers that become a capsule."""
    squares = [f"M{x} {y}h14v14h-14z" for x in (10, 24) for y in (13, 27)]
    chosen = lines("accent", "M24 13h14v14h-14z")
    numbers = bars("quiet", 46, 5, 12, 22, 7, 28)
    return lines("quiet", *squares) + chosen + numbers + arrows("accent", (72, 46, 13, -32))


def squash() -> str:
    """Draw the curve of squash below its limit."""
    return lines("quiet", "M14 46h70M14 46v-38M14 12h70") + lines(
        "accent", "M14 46C34 44 30 14 84 13"
    )


def prediction_vectors() -> str:
    """Draw a roof that predicts a house."""
    roof = lines("contrast", "M18 20l10 -8l10 8z")
    house = lines("accent", "M62 22l12 -10l12 10v20h-24z")
    return roof + house + arrows("quiet", (42, 20, 14, 6))


def routing() -> str:
    """Draw all couplings between two layers, and those that remain."""
    left = (10, 21, 32, 43)
    right = (14, 27, 40)
    all_couplings = [f"M26 {start}L70 {end}" for start in left for end in right]
    remaining = [f"M26 {start}L70 27" for start in left]
    senders = dots([(26, y) for y in left], "")
    receivers = dots([(70, y) for y in right], "accent", 3)
    return lines("quiet", *all_couplings) + lines("accent", *remaining) + senders + receivers


def margin_loss() -> str:
    """Draw the lengths of ten capsules between the two margins."""
    before = bars("", 20, 7, 4, 6, 3)
    longest = bars("accent", 41, 7, 36)
    after = bars("", 48, 7, 5, 3, 7, 4, 5)
    return lines("quiet", "M14 12h70M14 42h70") + before + longest + after


def masking_and_decoder() -> str:
    """Draw one capsule of five that becomes a 7."""
    masked = lines("quiet", *(f"M12 {y}h26" for y in (12, 20, 36, 44)))
    chosen = lines("wide accent", "M12 28h26")
    return masked + chosen + arrows("quiet", (44, 28, 10, 0)) + lines("", seven(66, 16))


def training() -> str:
    """Draw a loss that falls."""
    return axes() + lines("accent", "M16 10C24 42 40 36 84 43")


def sixteen_numbers() -> str:
    """Draw a 4 that leans left and right."""
    poses = ((22, -18, "quiet"), (48, 0, "accent"), (74, 18, "quiet"))
    return "".join(turned(four(x, 16), lean, (x, 27), classes) for x, lean, classes in poses)


def what_the_numbers_mean() -> str:
    """Draw an upright 4 and a leaning one, and below each a capsule that points as it leans."""
    upright = lines("quiet", four(34, 4)) + arrows("quiet", (31, 50, 0, -18))
    leaning = turned(four(66, 4), 32, (64, 15)) + arrows("accent", (60, 50, 9.5, -15.3))
    return upright + leaning + lines("quiet", "M60 50v-18")


def who_votes_who_decides() -> str:
    """Draw a table with nine seats, one of which is far larger."""
    seats = [(48 + 19 * cos(step * 0.7), 27 + 19 * sin(step * 0.7)) for step in range(1, 9)]
    table = '<circle class="quiet" cx="48" cy="27" r="11"/>'
    chair = dots([(67, 27)], "wide contrast", 6)
    return table + dots(seats, "", 2.4) + chair + arrows("contrast", (60, 27, -14, 0))


def message_passing() -> str:
    """Draw a graph whose nodes send to the one in the middle."""
    edges = lines("quiet", "M20 14L48 27L20 40M48 27L76 12M48 27L78 42M20 14L20 40")
    neighbours = dots([(20, 14), (20, 40), (76, 12), (78, 42)], "", 3)
    return edges + neighbours + dots([(48, 27)], "accent", 5)


def two_digits_at_once() -> str:
    """Draw a 7 and a 0 that overlap."""
    return lines("thick contrast", seven(36, 16)) + (
        '<circle class="thick accent" cx="52" cy="30" r="11"/>'
    )


def new_viewpoints() -> str:
    """Draw a 7 from three sides."""
    views = ((18, 0, ""), (48, 60, "accent"), (78, 120, "contrast"))
    return "".join(turned(seven(x - 6, 16), angle, (x, 27), classes) for x, angle, classes in views)


def does_routing_matter() -> str:
    """Draw the results of two groups of runs on both sides of zero."""
    upper = dots([(38, 18), (44, 18), (50, 18), (57, 18), (61, 18)], "accent", 2.6)
    lower = dots([(36, 36), (43, 36), (47, 36), (54, 36), (59, 36)], "contrast", 2.6)
    return lines("quiet", "M48 8v38") + upper + lower


def bugs_in_the_wild() -> str:
    """Draw a beetle."""
    legs = "M39 24l-11 -5M38 30h-12M40 37l-11 6M57 24l11 -5M58 30h12M56 37l11 6"
    feelers = "M44 17l-5 -8M52 17l5 -8"
    return '<ellipse cx="48" cy="29" rx="9" ry="13"/>' + lines("", f"M48 16v26{legs}{feelers}")


def when_it_does_not_learn() -> str:
    """Draw a loss that stays where it was, and one that falls."""
    flat = "M16 14l6 3l7 -4l7 4l6 -3l7 3l6 -4l7 3l8 -2l8 3"
    return axes() + lines("contrast", flat) + lines("accent", "M16 14C30 40 50 36 84 40")


def where_next() -> str:
    """Draw a way that forks in three."""
    straight = lines("quiet", "M12 27h26") + lines("agree", "M38 27h44")
    up = lines("accent", "M38 27C54 27 54 12 82 12")
    down = lines("contrast", "M38 27C54 27 54 42 82 42")
    return straight + up + down


def capsules_that_turn() -> str:
    """Draw a 4 in a ring whose upper part is marked, and the 4 turned."""
    ring = '<circle class="quiet" cx="48" cy="27" r="22"/>'
    arc = lines("wide accent", "M32.4 11.4A22 22 0 0 1 63.6 11.4")
    return ring + arc + turned(four(50, 16), 137, (48, 27), "contrast")


def your_own_pictures() -> str:
    """Draw the face of a bear in a frame."""
    frame = lines("quiet", "M20 4h56v46h-56z")
    head = '<circle class="thick accent" cx="48" cy="30" r="14"/>'
    ears = lines("thick accent", "M36 22a6 6 0 1 1 6 -6", "M54 16a6 6 0 1 1 6 6")
    return frame + head + ears + dots([(43, 28), (53, 28), (48, 34)], "contrast", 2)


EMBLEMS = {  # by the chapter's name, without its number
    "try-it": try_it,
    "why-capsules": why_capsules,
    "primary-capsules": primary_capsules,
    "squash": squash,
    "prediction-vectors": prediction_vectors,
    "routing": routing,
    "margin-loss": margin_loss,
    "masking-and-decoder": masking_and_decoder,
    "training": training,
    "sixteen-numbers": sixteen_numbers,
    "what-the-numbers-mean": what_the_numbers_mean,
    "who-votes-who-decides": who_votes_who_decides,
    "message-passing": message_passing,
    "two-digits-at-once": two_digits_at_once,
    "new-viewpoints": new_viewpoints,
    "does-routing-matter": does_routing_matter,
    "bugs-in-the-wild": bugs_in_the_wild,
    "when-it-does-not-learn": when_it_does_not_learn,
    "capsules-that-turn": capsules_that_turn,
    "your-own-pictures": your_own_pictures,
    "where-next": where_next,
}


def emblem(chapter: str) -> str:
    """Return the drawing of a chapter (`06-routing`) as an SVG; one without lines for others."""
    name = chapter.partition("-")[2]
    shapes = EMBLEMS[name]() if name in EMBLEMS else ""
    return svg(shapes, WIDTH, HEIGHT)


def svg(shapes: str, width: int, height: int) -> str:
    """Return shapes as an SVG, their classes as styles."""
    styled = re.sub(r'class="([^"]*)"', lambda match: f'style="{styles_of(match[1])}"', shapes)
    return f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{styled}</svg>'


def styles_of(classes: str) -> str:
    """Return the CSS of classes."""
    return "; ".join(STYLES[name] for name in classes.split())
