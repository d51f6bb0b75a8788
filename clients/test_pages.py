"""The built pages in Firefox and in Safari's engine: every widget wakes, answers a key, and stays within its place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engines import Engine, firefox, missing, webkit

from .conftest import CHAPTERS, absent

WIDTHS = (1280, 460)  # MiniBrowser's window is no narrower
WAKE = """
const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const seen = [];
for (const figure of document.querySelectorAll("figure.live-widget")) {
  figure.scrollIntoView();
  for (let i = 0; i < 200 && !figure.hasAttribute("data-live"); i++) await rest(100);
  await rest(300);
  const beyond = figure.getBoundingClientRect().right + 1;
  const right = (node) => node.getBoundingClientRect().right;
  seen.push({
    name: figure.dataset.widget,
    live: figure.hasAttribute("data-live"),
    beyond: [...figure.querySelectorAll(".capsnet *")]
      .filter((node) => right(node) > beyond && !node.closest(".unseen"))
      .map((node) => node.className.baseVal ?? node.className),
    cut: [...figure.querySelectorAll(".slider .name")]
      .filter((node) => node.scrollWidth > node.clientWidth + 1)
      .map((node) => node.textContent),
  });
}
return seen;
"""
FOCUS = """
const slider = document.querySelector('figure.live-widget input[type="range"]:not([disabled])');
if (!slider) return null;
slider.scrollIntoView({ block: "center" });
slider.focus();
return slider.value;
"""
VALUE = "return document.activeElement.value;"


@pytest.fixture(scope="module", params=[firefox, webkit], ids=["Firefox", "WebKitGTK"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    lacking = missing().get({"firefox": "Firefox", "webkit": "WebKitGTK"}[request.param.__name__])
    if lacking:
        absent(lacking)
    with request.param() as running:
        yield running


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_widgets_wake_and_stay_in_their_place(engine: Engine, book: str, chapter: str) -> None:
    for width in WIDTHS:
        engine.open(f"{book}chapters/{chapter}.html", width)
        for widget in engine.run(WAKE):
            assert widget["live"], widget
            assert not widget["beyond"], (width, widget)
            assert not widget["cut"], (width, widget)
        assert engine.run("return document.documentElement.scrollWidth <= innerWidth"), width
        assert engine.errors() == []


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_a_slider_answers_a_key(engine: Engine, book: str, chapter: str) -> None:
    engine.open(f"{book}chapters/{chapter}.html", WIDTHS[0])
    engine.run(WAKE)
    before = engine.run(FOCUS)
    if before is None:
        return  # a chapter without sliders
    for key in ("ArrowRight", "ArrowLeft"):
        engine.press(key)
        if engine.run(VALUE) != before:
            break
    else:
        pytest.fail(f"the slider stays at {before}")
    assert engine.errors() == []
