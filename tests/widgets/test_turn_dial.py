"""TurnDial's arithmetic against PyTorch, and what it says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book import figures
from capsnet_book.assets import asset
from capsnet_book.experiments.cnn import class_scores
from capsnet_book.networks import trained_network
from capsnet_book.turning import trained_reader
from capsnet_book.widgets import TurnDial

from capsnet_tutorial import digits, mask_capsules
from capsnet_tutorial.augment import Pose, transform

Evaluate = Callable[..., Any]
CHAPTER = Path(__file__).parents[2] / "book" / "chapters" / "02-why-capsules.ipynb"
TURNS = (-75, -40, 0, 20, 60)  # degrees
FITTED = (-45, -30, -15, 0, 15, 30, 45)  # degrees, at which the plane is found


def weights(name: str) -> str:
    return str(asset(f"weights/{name}.safetensors"))


@pytest.fixture
def digit(tmp_path: Path) -> tuple[torch.Tensor, int, str]:
    """An image [1, 1, 28, 28], its class, and the file that holds its numbers."""
    sample = digits("test", source="sample")
    image = sample.images[14:15]
    path = tmp_path / "image"
    image.numpy().astype(np.float32).tofile(path)
    return image, int(sample.labels[14]), str(path)


@torch.no_grad()
def test_each_network_reads_the_turned_digit_as_in_pytorch(
    evaluate: Evaluate, digit: tuple[torch.Tensor, int, str]
) -> None:
    image, label, path = digit
    body = """
        const image = floats(data.image);
        const capsules = m.makeCapsules(bytes(data.capsnet));
        const cnn = await m.makeOther("cnn", bytes(data.cnn));
        const turning = await m.makeOther("turning", bytes(data.turning));
        return data.turns.map((turn) => {
          const turned = record.turnedDigit(image, turn);
          const readings = [capsules, cnn, turning].map(({ read }) => read(turned, data.label));
          const drawing = capsules.drawingOf(readings[0].capsule, data.label);
          return { readings, drawing };
        });"""
    data = {
        "image": path,
        "label": label,
        "turns": TURNS,
        "capsnet": weights("small-shifted"),
        "cnn": weights("small-cnn"),
        "turning": weights("small-turning"),
    }
    modules = {"m": "dial/readers.js", "record": "dial/record.js"}
    capsnet = trained_network("small-shifted")
    reader = trained_reader()
    answers = evaluate(body, data, **modules)
    for turn, answer in zip(TURNS, answers, strict=True):
        turned = transform(image, Pose(rotation=float(turn)))
        output = capsnet(turned)
        own = output.capsules[0, label]
        shares = class_scores(trained_network("small-cnn"), turned).softmax(dim=1)
        scores, _ = reader.scores_and_turn(turned)
        expected = [own.norm(), shares[0, label], scores.softmax(dim=1)[0, label]]
        values = [reading["value"] for reading in answer["readings"]]
        np.testing.assert_allclose(values, expected, atol=1e-3)
        np.testing.assert_allclose(answer["readings"][0]["capsule"], own, atol=5e-4)
        assert answer["readings"][0]["prediction"] == int(output.lengths.argmax())
        masked = mask_capsules(output.capsules, torch.tensor([label]))
        np.testing.assert_allclose(answer["drawing"], capsnet.decode(masked)[0], atol=1e-3)


@torch.no_grad()
def test_the_plane_is_that_of_the_principal_directions(
    evaluate: Evaluate, digit: tuple[torch.Tensor, int, str]
) -> None:
    image, label, path = digit
    body = """
        return m.makeCapsules(bytes(data.capsnet)).planeOf(floats(data.image), data.label);"""
    data = {"image": path, "label": label, "capsnet": weights("small-shifted")}
    plane = evaluate(body, data, m="dial/readers.js")
    turned = torch.cat([transform(image, Pose(rotation=float(turn))) for turn in FITTED])
    capsules = trained_network("small-shifted")(turned).capsules[:, label]
    mean = capsules.mean(dim=0)
    up = mean / mean.norm()
    rest = capsules - (capsules @ up)[:, None] * up
    first = torch.linalg.svd(rest).Vh[0]
    np.testing.assert_allclose(plane["up"], up, atol=1e-3)
    right = torch.tensor(plane["right"])
    assert abs(float(first @ right)) == pytest.approx(1, abs=1e-3)
    assert (capsules[0] - capsules[-1]) @ right > 0  # turned to the right, it points to the right


@pytest.mark.parametrize(
    ("line", "side", "reach"),
    [
        ([[0, 1.0], [10, 0.9], [20, 0.4]], 1, {"at": 18, "to": 20}),
        ([[-30, 0.0], [-10, 0.8], [0, 1.0], [20, 0.4]], -1, {"at": 17.5, "to": 30}),
        ([[0, 1.0], [40, 0.6]], 1, {"at": None, "to": 40}),
        ([[0, 0.3], [40, 0.6]], 1, {"at": 0, "to": 40}),
        ([[0, 1.0], [30, 0.4], [60, 0.9]], 1, {"at": 25, "to": 60}),
        ([[57, 0.1], [60, 0.0]], 1, {"at": None, "to": 0}),
    ],
)
def test_a_line_is_lost_where_it_first_falls_below_a_half(
    evaluate: Evaluate, line: list[list[float]], side: int, reach: dict[str, float | None]
) -> None:
    answer = evaluate(
        "return m.reachOf(data.line, data.side);", {"line": line, "side": side}, m="dial/record.js"
    )
    assert answer["to"] == reach["to"]
    assert answer["at"] == (None if reach["at"] is None else pytest.approx(reach["at"]))


def test_the_list_of_answers_is_the_same_until_there_is_a_new_one(evaluate: Evaluate) -> None:
    """What is drawn of the list is drawn anew only for another list."""
    body = """
        const reader = { read: () => ({ value: 1, prediction: 0 }) };
        const record = m.makeRecord(() => [reader], () => {});
        record.begin(new Float32Array(784), 0);
        record.read(reader, 6);
        const first = record.inOrder(reader);
        record.read(reader, 6);
        const isSame = record.inOrder(reader) === first;
        record.read(reader, 3);
        return { isSame, angles: record.inOrder(reader).map(([at]) => at) };"""
    answer = evaluate(body, {}, m="dial/record.js")
    assert answer == {"isSame": True, "angles": [3, 6]}


def test_the_record_reads_what_lies_between_and_finds_the_degree(evaluate: Evaluate) -> None:
    """A reader that loses a dot above the middle once it has turned by 37.5 degrees."""
    body = """
        const image = new Float32Array(784);
        for (const column of [13, 14]) for (const row of [3, 4]) image[row * 28 + column] = 1;
        function read(picture) {
          const ink = picture.reduce((sum, grey) => sum + grey, 0);
          const left = picture.reduce((sum, grey, k) => sum + grey * (13.5 - (k % 28)), 0) / ink;
          return { value: left < 10 * Math.sin((37.5 * Math.PI) / 180) ? 1 : 0, prediction: 0 };
        }
        const reader = { key: "network", name: "CapsNet", read };
        const record = m.makeRecord(() => [reader], () => {});
        record.begin(image, 0);
        record.read(reader, 0);
        record.visit(60);
        await new Promise((resolve) => setTimeout(resolve, 500));
        const line = record.inOrder(reader).map(([at, { value }]) => [at, value]);
        record.begin(image, 0);
        return { line, rest: record.inOrder(reader).length };"""
    answer = evaluate(body, {}, m="dial/record.js")
    line = dict(answer["line"])
    assert line.keys() >= set(range(0, 61, 3)), "each third degree on the way"
    assert (line[37], line[38]) == (1, 0), "and both degrees between which the dot is lost"
    assert answer["rest"] == 0


FOLLOWS = {"key": "cnn", "name": "CNN", "value": 1.0, "reach": {"at": None, "to": 90}}


def finding(at: float | None, to: float) -> dict[str, Any]:
    """What is known of the CapsNet."""
    return {"key": "network", "name": "CapsNet", "value": 0.93, "reach": {"at": at, "to": to}}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"findings": [finding(37.6, 60)]}, "follows to 38° to the left. You guessed 70°. Here"),
        ({"findings": [finding(37.6, 60), FOLLOWS]}, "the CNN follows all the way."),
        ({"findings": [finding(None, 60)]}, "At 60° to the left the capsule of the 4 is 0.93 long"),
        ({"findings": [finding(None, 90)]}, "follows all the way to the left. You guessed 70°."),
        ({"findings": [finding(0, 60)], "upright": 0.3}, "is only 0.30 long: choose another"),
    ],
)
def test_the_sentence_says_how_far_and_what_was_guessed(
    evaluate: Evaluate, changes: dict[str, Any], words: str
) -> None:
    state = {"turn": 60, "label": 4, "answer": 2, "guess": 70, "upright": 0.97, "side": 1}
    said = evaluate("return m.sentenceOf(data);", state | changes, m="dial/words.js")
    assert words in said


def test_a_guess_of_the_other_side_is_not_compared(evaluate: Evaluate) -> None:
    state = {"turn": 60, "label": 4, "answer": 2, "guess": -70, "upright": 0.97, "side": 1}
    state["findings"] = [finding(37.6, 60)]
    said = evaluate("return m.sentenceOf(data);", state, m="dial/words.js")
    assert "guessed" not in said


def test_a_swing_passes_all_its_stops(evaluate: Evaluate) -> None:
    body = "return [0, 0.25, 0.5, 1].map((t) => m.alongWay([0, 90, -90], t));"
    assert evaluate(body, {}, m="turn_dial.js") == [0, 67.5, 45, -90]


def test_networks_are_data_and_others_are_refused() -> None:
    widget = TurnDial("small-shifted", others=("small-cnn", "small-turning"))
    assert set(widget.others) == {"cnn", "turning"}
    assert TurnDial("small").trained == 12
    with pytest.raises(ValueError, match="expected a network of small"):
        TurnDial("paper")
    with pytest.raises(ValueError, match="others of small-cnn"):
        TurnDial(others=("small",))


@pytest.fixture(scope="module")
def chapter() -> dict[str, Any]:
    """What chapter 2 defines in the cells of "A number and a vector"."""
    cells = json.loads(CHAPTER.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"math": math, "torch": torch, "figures": figures}
    for function in ("patch", "neuron", "capsule"):
        definition = next(source for source in sources if f"def {function}(" in source)
        exec(definition, names)
    return names


@pytest.mark.parametrize("contrast", [1.0, 0.5, 0.05])
@pytest.mark.parametrize("turn", [0, 60, 90, 137, 180, -45, -180])
def test_a_patch_is_read_as_by_the_code_of_chapter_2(
    evaluate: Evaluate, chapter: dict[str, Any], turn: int, contrast: float
) -> None:
    body = """
        const patch = m.patchOf(data.turn, data.contrast);
        const { length, points } = m.readingOf(data.turn, data.contrast);
        return { patch, neuron: m.neuron(patch), capsule: m.capsule(patch), length, points };"""
    answer = evaluate(body, {"turn": turn, "contrast": contrast}, m="dial/patch.js")
    patch = chapter["patch"](turn, contrast)
    capsule = chapter["capsule"](patch)
    np.testing.assert_allclose(answer["patch"], patch.flatten(), atol=1e-5)
    np.testing.assert_allclose(answer["neuron"], chapter["neuron"](patch), atol=1e-6)
    np.testing.assert_allclose(answer["capsule"], capsule, atol=1e-6)
    assert answer["length"] == pytest.approx(float(capsule.norm()), abs=1e-6)
    assert (answer["points"] - turn) % 360 == 0


@pytest.mark.parametrize(
    ("turn", "contrast", "words"),
    [
        (0, 1.0, "says 1.00: this is the patch that it looks for. The capsule is 1.00 long"),
        (60, 1.0, "to a patch of contrast 0.50 that is not turned. The capsule is 1.00 long and"),
        (0, 0.5, "full contrast turned by 60°. The capsule is 0.50 long and points to 0°."),
        (120, 0.8, "as if nothing were there. The capsule is 0.80 long and points to 120°."),
        (60, 0.0, "the capsule has neither length nor direction"),
    ],
)
def test_the_sentence_names_another_patch_to_which_the_neuron_says_the_same(
    evaluate: Evaluate, turn: int, contrast: float, words: str
) -> None:
    body = "return m.aboutPatch(m.readingOf(data.turn, data.contrast));"
    assert words in evaluate(body, {"turn": turn, "contrast": contrast}, m="dial/patch.js")


def test_a_patch_turns_all_around_and_has_no_network() -> None:
    widget = TurnDial.patch()
    widget.turn = -180
    assert widget.network is None
    with pytest.raises(ValueError, match="turn from -180 to 180; got 181"):
        widget.turn = 181
    with pytest.raises(ValueError, match=r"contrast from 0 to 1; got 1\.5"):
        widget.contrast = 1.5
