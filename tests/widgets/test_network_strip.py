"""The strip above the chapters: what it remembers, where it draws, what it says; its tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from capsnet_book.bugs import BUGS
from network_strip import CHAPTER, EFFECTS, LIT, PARTS, WEIGHTS, sizes

from capsnet_tutorial import digits, load_pretrained

ROOT = Path(__file__).resolve().parents[2]

C, TYPES, PLACES, J = 6, 4, 9, 3
I = TYPES * PLACES
RANDOM = np.random.default_rng(0)
MAPS = RANDOM.random((C, 4))
COUPLINGS = RANDOM.dirichlet(np.ones(J), size=I)


@pytest.fixture
def answer(run_node, tmp_path):
    numbers = tmp_path / "numbers.json"
    numbers.write_text(json.dumps({"maps": MAPS.tolist(), "couplings": COUPLINGS.tolist()}))
    return run_node("network_strip.mjs", C, TYPES, PLACES, numbers, modules=("network_strip_model.js",))


def test_the_readers_digit_comes_back_and_nothing_else_does(answer):
    assert answer["remembered"] == answer["digit"]
    assert answer["refused"] == []
    assert answer["strange"] == [None] * 5


def test_the_strongest_maps_in_their_own_order(answer):
    assert answer["strongest"] == sorted(np.argsort(MAPS.sum(1))[-4:].tolist())


def test_capsules_stand_in_order_with_the_types_apart(answer):
    steps = np.diff([0, *answer["heights"], 1])
    within = np.delete(steps[1:-1], np.arange(1, TYPES) * PLACES - 1)
    between = steps[1:-1][np.arange(1, TYPES) * PLACES - 1]
    assert np.allclose(within, within[0])
    assert (between > 2 * within[0]).all()
    assert steps[0] == pytest.approx(steps[-1])
    assert steps[0] > 0


def test_every_vote_is_a_line_and_the_thick_ones_lie_on_top(answer):
    lines = answer["lines"]
    assert {(line["i"], line["j"]) for line in lines} == {(i, j) for i in range(I) for j in range(J)}
    shares = [line["share"] for line in lines]
    assert shares == sorted(shares)
    assert all(line["share"] == pytest.approx(COUPLINGS[line["i"], line["j"]]) for line in lines)


def test_the_sentence_has_the_votes_share_and_the_length(answer):
    shares = COUPLINGS.mean(0)
    assert answer["shares"] == pytest.approx(shares)
    for word in ("Capsule 2", f"{shares[2]:.0%}".replace("%", " %"), "33 %", "0.93", "reads a 2"):
        assert word in answer["seen"]
    for word in ("Capsule 1", f"{shares[1]:.0%}".replace("%", " %"), "0.31", "no digit"):
        assert word in answer["unseen"]


def test_each_bug_stains_a_part(answer):
    assert answer["stained"].keys() == BUGS.keys()
    assert set(answer["stained"].values()) <= PARTS.keys()


# --- the tables, in book/_ext -----------------------------------------------------------------------------------------


def test_the_tables_name_chapters_and_parts_that_exist():
    files = [f"book/chapters/{path.stem}" for path in (ROOT / "book/chapters").glob("*.ipynb")]
    chapters = {CHAPTER.match(file)[2] for file in files}
    named = {*LIT, *EFFECTS, *(chapter for part in PARTS.values() for chapter in part.chapters)}
    assert named <= chapters, "a chapter has another name today"
    assert {part for lit in LIT.values() for part in lit} <= PARTS.keys()


@pytest.mark.parametrize(("size", "shape"), [("digit", "28 × 28"), ("votes", "72 × 10 × 16")])
def test_a_shape_is_written_as_the_book_writes_it(size, shape):
    assert PARTS[size].shape.format(**sizes(ROOT / WEIGHTS)) == shape


def test_the_sizes_are_those_of_the_networks_tensors():
    model, image = load_pretrained("small"), digits("test", source="sample").images[:1]
    _, maps, side, _ = model.conv(image).shape
    _, inputs, d_in = model.primary_capsules(image).shape
    _, classes, d_out = model(image).capsules.shape
    assert sizes(ROOT / WEIGHTS) == {
        "side": image.shape[-1],
        "maps": maps,
        "map_side": side,
        "I": inputs,
        "J": classes,
        "D_in": d_in,
        "D_out": d_out,
        "votes": str(inputs * classes),
    }
