"""CostCalculator in the built page: sliders, buttons and speeds answer mouse and keyboard, and the numbers follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from capsnet_tutorial import CapsNet, CapsNetConfig

from .conftest import number

PAGE = "book/chapters/20-making-it-fast.html"


@pytest.fixture
def calculator(alone: Callable[..., Any]) -> Any:
    return alone("CostCalculator", PAGE)


def test_it_starts_with_the_papers_network(calculator: Any) -> None:
    paper = CapsNet(CapsNetConfig.paper())
    assert number(calculator, "parameters") == sum(each.numel() for each in paper.parameters())
    assert number(calculator, "u-hat") == 4 * 128 * 1152 * 10 * 16
    expect(calculator.locator('[data-role="u-hat"]')).to_have_text("94.4 MB")
    assert number(calculator, "buffer") == 4 * 128 * 1152 * 8


def test_the_small_network_is_a_press_away(calculator: Any) -> None:
    button = calculator.locator('[data-role="preset"][data-value="small"]')
    button.press("Enter")
    small = CapsNet(CapsNetConfig.small())
    assert number(calculator, "parameters") == sum(each.numel() for each in small.parameters())
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(calculator.locator('[data-role="primary_types"]')).to_have_attribute("aria-valuetext", re.compile("^72:"))


def test_every_slider_answers_the_keyboard(calculator: Any) -> None:
    ways = {"batch": 2, "primary_types": 33 / 32, "in_dim": 1, "out_capsules": 1.1, "out_dim": 17 / 16, "iterations": 1}
    for role, factor in ways.items():
        before, time = number(calculator, "u-hat"), number(calculator, "milliseconds")
        calculator.locator(f'[data-role="{role}"]').press("ArrowRight")
        assert number(calculator, "u-hat") == pytest.approx(before * factor), role
        assert number(calculator, "milliseconds") > time, role


def test_two_bytes_halve_the_predictions_and_here_cost_time(calculator: Any) -> None:
    before, time = number(calculator, "u-hat"), number(calculator, "milliseconds")
    calculator.locator('[data-role="number_bytes"][data-value="2"]').click()
    assert number(calculator, "u-hat") == before / 2
    assert number(calculator, "milliseconds") > time, "no bfloat16 in the hardware that was measured"
    calculator.locator('[data-role="half_peak"]').fill("5000")
    assert number(calculator, "milliseconds") < time


def test_a_speed_that_is_none_changes_nothing_and_says_so(calculator: Any) -> None:
    speed = calculator.locator('[data-role="peak"]')
    before = number(calculator, "milliseconds")
    speed.fill("0")
    expect(speed).to_have_attribute("aria-invalid", "true")
    assert number(calculator, "milliseconds") == before
    speed.fill("100000")
    expect(speed).to_have_attribute("aria-invalid", "false")
    assert number(calculator, "milliseconds") < before / 10
    expect(calculator.locator('[data-stage="convolutions"] td').last).to_have_text("memory")
