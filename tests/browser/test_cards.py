"""The pictures beside links to chapters: drawn from the drawings as they are now."""

from __future__ import annotations

import numpy as np
from PIL import Image
from playwright.sync_api import Browser

from tools.cards import CARDS, card, chapters

VISIBLE = 64  # of 255: letters differ by less from one Chromium to the next
FEW = 0.0005  # of the pixels; a line more or less is five times as many


def test_every_card_has_its_chapters_number_and_drawing(chromium: Browser) -> None:
    outdated = []
    for number, chapter in enumerate(chapters(), 1):
        stored = np.asarray(Image.open(CARDS / f"{chapter}.png").convert("RGB"), dtype=int)
        fresh = np.asarray(card(chromium, number, chapter).convert("RGB"), dtype=int)
        differing = np.abs(stored - fresh).max(axis=2) > VISIBLE
        if differing.mean() > FEW:
            outdated.append(chapter)
    assert not outdated, "`python -m tools.cards` draws them"
