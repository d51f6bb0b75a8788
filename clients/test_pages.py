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
READ = """
const samples = [...document.querySelectorAll('[data-widget="DrawDigit"] [data-role="sample"]')].slice(0, 5);
const clock = (work) => {
  const begun = performance.now();
  work();
  return performance.now() - begun;
};
let sum = 0;
const count = () => { for (let k = 0; k < 1e7; k++) sum = (Math.imul(sum, 31) + k) | 0; };
const [reading, counting] = [[], []];
for (let k = 0; k < 30; k++) {
  await new Promise(requestAnimationFrame);
  // The clock may count in whole milliseconds: several drawings at once.
  reading.push(clock(() => samples.forEach((sample) => sample.click())) / samples.length);
  counting.push(clock(count));
}
return [reading, counting].map((times) => times.sort((p, q) => p - q)[15]);
"""
AT_MOST = 12  # milliseconds of a frame's 16.7
SLOW = 1.5  # times what a machine takes to count to ten million: where that is more than AT_MOST, it is slow or busy
VALUE = "return document.activeElement.value;"


@pytest.fixture(scope="module", params=[firefox, webkit], ids=["Firefox", "WebKitGTK"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    lacking = missing().get({"firefox": "Firefox", "webkit": "WebKitGTK"}[request.param.__name__])
    if lacking:
        absent(lacking)
    with request.param() as running:
        yield running


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_widgets_wake_and_stay_in_their_place(engine: Engine, pages: str, chapter: str) -> None:
    for width in WIDTHS:
        engine.open(f"{pages}chapters/{chapter}.html", width)
        for widget in engine.run(WAKE):
            assert widget["live"], widget
            assert not widget["beyond"], (width, widget)
            assert not widget["cut"], (width, widget)
        assert engine.run("return document.documentElement.scrollWidth <= innerWidth"), width
        assert engine.errors() == []


@pytest.mark.parametrize("chapter", [path.stem for path in CHAPTERS])
def test_a_slider_answers_a_key(engine: Engine, pages: str, chapter: str) -> None:
    engine.open(f"{pages}chapters/{chapter}.html", WIDTHS[0])
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


def test_a_drawing_is_read_within_a_frame(engine: Engine, pages: str) -> None:
    engine.open(f"{pages}chapters/01-try-it.html", WIDTHS[0])
    engine.run(WAKE)
    took, counted = engine.run(READ)
    assert took <= max(AT_MOST, SLOW * counted), (
        f"{engine.name} takes {took:.1f} ms for a drawing, in the median of 30. At most {AT_MOST} of a frame's 16.7 ms "
        f"leave time for the page itself; a slow machine, which counts to ten million in {counted:.1f} ms, may take "
        f"{SLOW} times as long as that."
    )


def test_what_goes_wrong_is_heard(engine: Engine, pages: str) -> None:
    engine.open(f"{pages}index.html", WIDTHS[0])
    assert engine.errors() == []
    engine.run("""
      setTimeout(() => { throw new Error("thrown"); });
      Promise.reject(new Error("rejected"));
      console.error("logged");
      await new Promise((done) => setTimeout(done, 500));
    """)
    heard = " ".join(engine.errors())
    assert all(word in heard for word in ("thrown", "rejected", "logged")), heard
