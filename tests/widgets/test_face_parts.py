"""FaceParts: its matrices do what they say, its JavaScript agrees with PyTorch, and what is wrong is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.widgets import FaceParts
from capsnet_book.widgets.face_parts import FACE, PARTS, REACH, SIZES, VOICE, WAVES, WHOLES, pose_numbers, weight

from capsnet_tutorial.functional import prediction_vectors, route

ALL = [True] * 4
PICASSO = [(0.42, 0.5, 35, 1), (-0.3, -0.62, -20, 1.2), (0.55, -0.3, 70, 1), (-0.5, 0.25, -60, 1)]


def moved(part: int, **changes: float) -> list[tuple[float, ...]]:
    """The face with one part's pose changed."""
    names = ("x", "y", "turn", "size")
    return [
        tuple(changes.get(name, value) if i == part else value for name, value in zip(names, row, strict=True))
        for i, row in enumerate(FACE)
    ]


def turned_face(turn: float, size: float, x: float, y: float) -> list[tuple[float, ...]]:
    """The parts of a face that is somewhere else, from the geometry alone."""
    cos, sin = (size * f(math.radians(turn)) for f in (math.cos, math.sin))
    return [(x + cos * px - sin * py, y + sin * px + cos * py, turn + pt, size * ps) for px, py, pt, ps in FACE]


def in_torch(poses: Any, shown: list[bool]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Opinions about the face [4, 4], couplings to it [4], lengths [10]."""
    opinions = prediction_vectors(torch.tensor(pose_numbers(poses))[None], torch.tensor(weight()))  # [1, I, J, 4]
    phases = opinions @ torch.tensor(WAVES).T
    u_hat = VOICE / math.sqrt(len(WAVES)) * torch.cat([phases.cos(), phases.sin()], dim=-1)
    u_hat = u_hat * torch.tensor(shown)[None, :, None, None]
    v, trace = route(u_hat, 3, return_trace=True)
    return opinions[0, :, 0], trace.c[-1][0, :, 0] * torch.tensor(shown), v[0].norm(dim=-1)


@pytest.fixture
def in_javascript(run_node: Callable[..., Any], tmp_path: Path) -> Callable[[list[Any]], list[dict[str, Any]]]:
    def run(cases: list[Any]) -> list[dict[str, Any]]:
        data = {
            "weight": weight().ravel().tolist(),
            "waves": np.ravel(WAVES).tolist(),
            "cases": [{"poses": [list(row) for row in poses], "shown": shown} for poses, shown in cases],
        }
        (tmp_path / "cases.json").write_text(json.dumps(data))
        answer = run_node("face_parts.mjs", tmp_path / "cases.json", modules=("face_parts.js",))
        assert answer["constants"] == {
            "FACE": [list(row) for row in FACE],
            "PICASSO": [list(row) for row in PICASSO],
            "REACH": REACH,
            "SIZES": list(SIZES),
            "VOICE": VOICE,
        }
        return answer["answers"]

    return run


@pytest.mark.parametrize("whole", [(0, 1, 0, 0), (50, 1, 0.2, -0.4), (-160, 0.7, 0.5, 0.3)])
def test_the_parts_of_a_face_name_that_face(whole: tuple[float, float, float, float]) -> None:
    turn, size, x, y = whole
    opinions, _, lengths = in_torch(turned_face(turn, size, x, y), ALL)
    expected = pose_numbers([(x, y, turn, size)] * 4)
    np.testing.assert_allclose(opinions, expected, atol=1e-5)
    assert lengths[0] > 0.95
    assert lengths[1:].max() < 0.5


def test_javascript_computes_what_pytorch_does(in_javascript: Callable[..., Any]) -> None:
    generator = np.random.default_rng(0)
    scrambled = [
        (np.column_stack([generator.uniform(-1, 1, (4, 2)), generator.uniform(-180, 180, 4), [1, 0.6, 1.5, 1]]), ALL)
        for _ in range(20)
    ]
    cases = [(FACE, ALL), (PICASSO, ALL), (FACE, [True, False, True, True]), (FACE, [False] * 4), *scrambled]
    for (poses, shown), came in zip(cases, in_javascript(cases), strict=True):
        opinions, couplings, lengths = in_torch(poses, shown)
        np.testing.assert_allclose(came["opinions"], opinions, atol=1e-5)
        np.testing.assert_allclose(came["couplings"], couplings, atol=1e-4)
        np.testing.assert_allclose(came["lengths"], lengths, atol=1e-4)


def test_what_the_chapter_says_of_it(in_javascript: Callable[..., Any]) -> None:
    cases = [(FACE, ALL), (PICASSO, ALL), (moved(2, x=0.9), ALL), (moved(3, turn=180), ALL)]
    face, picasso, nose, mouth = in_javascript(cases)
    assert [case["bag"] for case in (face, picasso, nose, mouth)] == [1, 1, 1, 1]
    assert face["lengths"][0] > 0.95
    assert picasso["lengths"][0] < 0.15
    for one_off, part in ((nose, 2), (mouth, 3)):
        assert one_off["lengths"][0] > 0.75
        assert np.argmin(one_off["couplings"]) == part
    assert face["turned"] == pytest.approx(face["lengths"][0], abs=0.01)
    np.testing.assert_allclose(face["pose"], [0, 0, 0, 1], atol=1e-6)


def test_a_maximum_cannot_count_and_does_notice_what_is_missing(in_javascript: Callable[..., Any]) -> None:
    cases = [(FACE, [False, True, True, True]), (FACE, [True, True, False, True]), (FACE, [False] * 4)]
    one_eye, no_nose, nothing = in_javascript(cases)
    assert one_eye["found"] == [1, 1, 1]
    assert no_nose["found"] == [1, 0, 1]
    assert (nothing["bag"], nothing["lengths"][0]) == (0, 0)


def test_state_and_name() -> None:
    widget = FaceParts()
    assert repr(widget) == "FaceParts(4 of 4 parts)"
    assert widget.poses == [list(row) for row in FACE]
    assert np.frombuffer(widget.weight, np.float32).shape == (len(PARTS) * WHOLES * 16,)
    np.testing.assert_allclose(np.frombuffer(widget.waves, np.float32), np.ravel(WAVES), rtol=1e-6)
    widget.set_state({"poses": [list(row) for row in PICASSO], "shown": [True, True, False, True]})
    assert repr(widget) == "FaceParts(3 of 4 parts)"


def test_parts_glide_to_a_face_the_short_way_round(in_javascript: Callable[..., Any]) -> None:
    start = moved(3, x=-0.5, turn=170)
    start[0] = (*start[0][:2], -170, 1.2)
    (came,) = in_javascript([(start, ALL)])
    begun, halfway, arrived = (np.array(poses) for poses in came["way"])
    np.testing.assert_allclose(begun, start)
    np.testing.assert_allclose(arrived, FACE, atol=1e-9)
    np.testing.assert_allclose(halfway, (np.array(start) + FACE) / 2, atol=1e-9)


def test_a_pose_out_of_bounds_comes_back(in_javascript: Callable[..., Any]) -> None:
    (came,) = in_javascript([(FACE, ALL)])
    far, *unchanged = came["tidy"]
    assert far == [REACH, 0, -170, SIZES[1]]
    assert unchanged == [list(row) for row in FACE]


@pytest.mark.parametrize(
    ("poses", "words"),
    [
        (FACE[:3], "4 parts"),
        (7, "4 parts"),
        ([*FACE[:3], (0, 0, 0)], "mouth to be 4 finite numbers"),
        ([*FACE[:3], (0, 0, math.nan, 1)], "mouth to be 4 finite numbers"),
        (moved(0, x=1.7), r"left eye within 1.6 of the centre; got \(1.7"),
        (moved(2, size=3), "nose's size from 0.5 to 1.6; got 3"),
    ],
)
def test_bad_poses_are_refused_in_words(poses: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"expected .*{words}"):
        FaceParts(poses)
    widget = FaceParts()
    if isinstance(poses, list):
        with pytest.raises(ValueError, match=words):
            widget.poses = [list(row) for row in poses]
        assert widget.poses == [list(row) for row in FACE]


@pytest.mark.parametrize("shown", [(True,) * 3, (1, 1, 1, 1), "yes!", None])
def test_bad_truths_are_refused(shown: Any) -> None:
    with pytest.raises(ValueError, match="expected shown to be 4 truth values"):
        FaceParts(shown=shown)
