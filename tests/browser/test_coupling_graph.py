"""CouplingGraph in the built page: played, scrubbed, pointed at; by mouse, by keyboard, by finger."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.widgets import CouplingGraph
from playwright.sync_api import expect

from capsnet_tutorial import capsule_lengths, load_pretrained, prediction_vectors, route

from .conftest import attribute, number, numbers, picture

PAGE = "book/chapters/13-message-passing.html"


@pytest.fixture
def graph(alone: Callable[..., Any]) -> Any:
    return alone("CouplingGraph", PAGE)


def edges(graph: Any) -> str:
    return picture(graph.locator('[data-role="graph"]'))


def at(graph: Any, x: float, y: float) -> tuple[float, float]:
    """A place on the canvas, in shares of its width; y in pixels from below."""
    canvas = graph.locator('[data-role="graph"]')
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    return box["x"] + x * box["width"], box["y"] + box["height"] - y


@torch.no_grad()
def test_every_digit_and_round_shows_pytorchs_numbers(graph: Any) -> None:
    widget, model = CouplingGraph(), load_pretrained("small")
    images = torch.frombuffer(bytearray(widget.images), dtype=torch.uint8).view(10, 1, 28, 28) / 255
    u_hat = prediction_vectors(model.primary_capsules(images), model.routed.weight)
    _, trace = route(u_hat, 10, return_trace=True)
    for label in (0, 5, 9):
        graph.get_by_role("button", name=f"Show the handwritten {label}").click()
        slider = graph.locator('[data-role="time"]')
        slider.press("Home")
        for r in range(10):
            expect(graph).to_have_attribute("data-round", str(r + 1))
            c = trace.c[r, label]
            np.testing.assert_allclose(
                numbers(graph, "lengths"), capsule_lengths(trace.v[r, label][None])[0], atol=2e-4
            )
            assert number(graph, "entropy") == pytest.approx(
                float(-torch.special.xlogy(c, c).sum() / 72 / np.log(2)), abs=2e-4
            )
            assert sum(numbers(graph, "counts")) == 720
            slider.press("ArrowRight")


def test_play_goes_from_the_first_round_to_the_last_and_edges_grow_on_the_way(graph: Any) -> None:
    play = graph.locator('[data-role="play"]')
    play.click()
    expect(graph).to_have_attribute("data-round", "1")
    first = edges(graph)
    graph.page.wait_for_function(
        """root => root.dataset.round > 1 && !Number.isInteger(Number(root.dataset.moment))""",
        arg=graph.element_handle(),
    )
    assert edges(graph) != first, "between two rounds the edges are on their way"
    expect(graph).to_have_attribute("data-playing", "false", timeout=30_000)
    expect(graph).to_have_attribute("data-round", "10")
    assert edges(graph) != first


def test_pause_stops_and_play_goes_on_from_there(graph: Any) -> None:
    play = graph.locator('[data-role="play"]')
    play.press("Enter")
    expect(graph).to_have_attribute("data-round", "2")
    play.press("Enter")
    expect(graph).to_have_attribute("data-playing", "false")
    stopped = attribute(graph, "round")
    graph.page.wait_for_timeout(1600)
    assert attribute(graph, "round") == stopped
    play.press("Enter")
    expect(graph).to_have_attribute("data-round", str(int(stopped) + 1))


def test_with_reduced_motion_a_press_is_a_round_and_nothing_glides(alone: Callable[..., Any]) -> None:
    graph = alone("CouplingGraph", PAGE, reduced_motion="reduce")
    graph.evaluate("""root => {
        window.moments = [];
        const observer = new MutationObserver(() => moments.push(root.dataset.moment));
        observer.observe(root, { attributeFilter: ["data-moment"] });
    }""")
    play = graph.locator('[data-role="play"]')
    for following in ("4", "5"):
        play.click()
        expect(graph).to_have_attribute("data-round", following)
    assert all(float(moment).is_integer() for moment in graph.page.evaluate("moments"))


def test_the_mouse_on_a_capsule_below_leaves_its_edges_only(graph: Any) -> None:
    everything = edges(graph)
    graph.page.mouse.move(*at(graph, 0.97, 36))
    expect(graph).to_have_attribute("data-shown", "below 71")
    assert edges(graph) != everything
    readout = graph.locator('[data-role="sentence"]')
    expect(readout).to_contain_text("Capsule 71 (type 7, row 2, column 2): 96 % of its vote goes to 5")
    expect(graph.locator(".field")).to_be_visible()
    graph.page.mouse.move(*at(graph, 0.5, 250))
    expect(graph).to_have_attribute("data-shown", "all")
    assert edges(graph) == everything


def test_a_click_keeps_a_capsule_and_another_lets_it_go(graph: Any) -> None:
    place = at(graph, 0.97, 36)
    graph.page.mouse.click(*place)
    graph.page.mouse.move(5, 5)
    expect(graph).to_have_attribute("data-shown", "below 71")
    graph.page.mouse.click(*place)
    graph.page.mouse.move(5, 5)
    expect(graph).to_have_attribute("data-shown", "all")


def test_a_capsule_above_shows_who_feeds_it(graph: Any) -> None:
    everything = edges(graph)
    five = graph.locator('[data-role="above"]').nth(5)
    five.click()
    graph.page.mouse.move(5, 5)
    expect(graph).to_have_attribute("data-shown", "above 5")
    expect(five).to_have_attribute("aria-pressed", "true")
    assert edges(graph) != everything
    expect(graph.locator('[data-role="sentence"]')).to_contain_text("63 %")
    graph.page.keyboard.press("Escape")
    expect(graph).to_have_attribute("data-shown", "all")


def test_the_keyboard_walks_through_the_capsules(graph: Any) -> None:
    canvas = graph.locator('[data-role="graph"]')
    canvas.focus()
    for key, node in (
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowRight", 9),
        ("ArrowDown", 12),
        ("ArrowLeft", 5),
        ("ArrowUp", 2),
        ("ArrowUp", 2),
    ):
        canvas.press(key)
        expect(graph).to_have_attribute("data-shown", f"below {node}")
    canvas.press("Enter")
    canvas.evaluate("canvas => canvas.blur()")
    expect(graph).to_have_attribute("data-shown", "below 2")
    canvas.press("Escape")
    expect(graph).to_have_attribute("data-shown", "all")


def test_tab_on_a_capsule_above_shows_its_edges_and_says_so(graph: Any) -> None:
    graph.locator('[data-role="above"]').nth(1).focus()
    graph.page.keyboard.press("Shift+Tab")
    expect(graph).to_have_attribute("data-shown", "above 0")
    expect(graph.locator('[data-role="announcement"]')).to_contain_text("Capsule 0 is")
    graph.page.keyboard.press("Tab")
    expect(graph).to_have_attribute("data-shown", "above 1")


def test_a_finger_taps_a_capsule_and_everything_is_large_enough(alone: Callable[..., Any]) -> None:
    phone = {"viewport": {"width": 375, "height": 800}, "has_touch": True, "is_mobile": True}
    graph = alone("CouplingGraph", PAGE, **phone)
    graph.page.touchscreen.tap(*at(graph, 0.95, 26))
    expect(graph).to_have_attribute("data-shown", "below 71")
    for button in graph.locator("button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 32
    assert graph.evaluate("root => root.scrollWidth - root.clientWidth") <= 0
