"""turning.py: parts, votes and scores turn with the picture; questions are judged as written."""

from __future__ import annotations

import json
import math

import pytest
import torch
from capsnet_book.experiments import records
from capsnet_book.experiments import turning as trial
from capsnet_book.experiments.evidence import pack_wrong
from capsnet_book.experiments.pictures import draw_strokes
from capsnet_book.experiments.turning_controls import GroupCNN, PooledAngles
from capsnet_book.turning import (
    MARGIN,
    UNIT,
    AngleReader,
    Coincidence,
    PoseDecoder,
    Rounds,
    Sizes,
    TurningCapsules,
    answers_at,
    find_peaks,
    turned_filters,
    wholes_network,
)
from networks import generator

from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import digits
from capsnet_tutorial.functional import capsule_lengths, route

IMAGES = digits("test", "sample").images[:6].double()


def network(**sizes: int) -> TurningCapsules:
    """A small network in double precision, with a prior that is not zero."""
    torch.manual_seed(0)
    chosen = Sizes(kinds=4, turns=8, side=7, count=3)._replace(**sizes)
    built = TurningCapsules(5, Coincidence(5, chosen), chosen).double()
    built.agreement.log_prior.data.normal_()
    return built


def rotation(quarters: int) -> torch.Tensor:
    """R of so many quarter turns, anticlockwise, [2, 2]."""
    angle = quarters * math.pi / 2
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, -sin], [sin, cos]], dtype=torch.float64)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_quarter_turn_of_the_picture_turns_every_pose_and_keeps_every_score(quarters):
    turning = network()
    with torch.no_grad():
        poses, presence = turning.parts(IMAGES)
        turned = torch.rot90(IMAGES, quarters, (2, 3))
        after, presence_after = turning.parts(turned)
        torch.testing.assert_close(presence_after, presence)
        torch.testing.assert_close(after, rotation(quarters) @ poses)
        torch.testing.assert_close(turning(turned), turning(IMAGES))
        votes = turning.votes(poses).unflatten(5, (2, 3))
        votes_after = turning.votes(after).unflatten(5, (2, 3))
        torch.testing.assert_close(votes_after, rotation(quarters) @ votes)


def test_a_turn_by_one_step_of_the_bank_is_answered_by_the_next_copy():
    bank = turned_filters(torch.randn(2, 9, 9, generator=generator()).double(), turns=8)
    for step in (0, 1, 5):
        picture = torch.zeros(1, 1, 28, 28, dtype=torch.float64)
        picture[0, 0, 6:15, 10:19] = bank[0, step]
        row, column = torch.tensor([[[10 - MARGIN], [0]]]), torch.tensor([[[14 - MARGIN], [0]]])
        answers = answers_at(picture, bank, row, column)[0, 0, 0]
        assert answers.argmax() == step and answers[step] == pytest.approx(1)  # of norm 1
    torch.testing.assert_close(bank.sum(dim=(2, 3)), torch.zeros(2, 8, dtype=torch.float64))
    torch.testing.assert_close(bank[:, 2], torch.rot90(bank[:, 0], 1, (1, 2)))


def plain_parts(turning: TurningCapsules, image: torch.Tensor) -> list[tuple]:
    """Kind, presence, M [3, 3] of every part of a picture [28, 28], with loops: strongest first."""
    bank, count = turned_filters(turning.filters, turning.turns), turning.count
    half = bank.shape[3] // 2
    padded = torch.nn.functional.pad(image, (half,) * 4)
    parts = []
    for kind in range(len(bank)):
        answers = {}
        for row in range(MARGIN, 28 - MARGIN):
            for column in range(MARGIN, 28 - MARGIN):
                patch = padded[row : row + 2 * half + 1, column : column + 2 * half + 1]
                answers[row, column] = max(
                    (float((patch * bank[kind, turn]).sum()), turn) for turn in range(turning.turns)
                )
        peaks = []
        for (row, column), (strength, turn) in answers.items():
            around = [
                answers[row + down, column + across][0]
                for down in (-1, 0, 1)
                for across in (-1, 0, 1)
                if (row + down, column + across) in answers
            ]
            if strength == max(around):
                peaks.append((strength, turn, row, column))
        for strength, turn, row, column in sorted(peaks, reverse=True)[:count]:
            presence = 1 / (
                1 + math.exp(-float(turning.slope) * (strength - float(turning.level[kind])))
            )
            angle = 2 * math.pi * turn / turning.turns
            cos, sin = math.cos(angle), math.sin(angle)
            x, y = (column - 13.5) / UNIT, (13.5 - row) / UNIT
            pose = torch.tensor([[cos, -sin, x], [sin, cos, y], [0, 0, 1]], dtype=torch.float64)
            parts.append((kind, presence, pose))
    return parts


def plain_scores(turning: TurningCapsules, parts: list[tuple]) -> list[float]:
    """Scores of a picture by pairs of votes, with loops."""
    agreement = turning.agreement
    scores = []
    for label in range(turning.weight.shape[3]):
        votes = []
        for kind, presence, pose in parts:
            for matrix in range(turning.weight.shape[2]):
                vote = (pose @ turning.weight[kind, 0, matrix, label])[:2]
                prior = math.exp(float(agreement.log_prior[kind, 0, matrix, label]))
                votes.append((kind, presence * prior, vote))
        total = agreement.EPSILON
        for first, (kind, weight, vote) in enumerate(votes):
            for other_kind, other_weight, other_vote in votes[:first]:
                if kind != other_kind:
                    apart = float((vote - other_vote).square().sum())
                    total += (
                        weight * other_weight * math.exp(-apart / 2 / float(agreement.width) ** 2)
                    )
        scores.append(float(agreement.gain) * math.log(total))
    return scores


def test_parts_votes_and_scores_are_those_of_plain_loops():
    turning = network()
    with torch.no_grad():
        poses, presence = turning.parts(IMAGES[:2])
        scores = turning(IMAGES[:2])
        for image, pose, there, score in zip(IMAGES[:2, 0], poses, presence, scores, strict=True):
            parts = plain_parts(turning, image)
            expected = torch.tensor([strength for _, strength, _ in parts], dtype=torch.float64)
            torch.testing.assert_close(there.flatten(), expected)
            matrices = torch.stack([matrix[:2] for _, _, matrix in parts])
            torch.testing.assert_close(pose.flatten(0, 1), matrices)
            assert score.tolist() == pytest.approx(plain_scores(turning, parts))


def test_the_gradient_is_that_of_small_differences():
    turning = network(kinds=3, side=5, count=2)
    target = torch.tensor([0, 1, 2])

    def loss() -> torch.Tensor:
        return torch.nn.functional.cross_entropy(turning(IMAGES[:3]), target)

    loss().backward()
    for parameter in turning.parameters():
        flat, step = parameter.data.view(-1), 1e-6
        for place in {0, len(flat) // 2, len(flat) - 1}:
            before = float(flat[place])
            values = []
            for side in (-step, step):
                flat[place] = before + side
                values.append(loss().item())
            flat[place] = before
            difference = (values[1] - values[0]) / (2 * step)
            assert float(parameter.grad.view(-1)[place]) == pytest.approx(
                difference, rel=1e-4, abs=1e-8
            )


def test_support_is_what_a_vote_adds_to_its_pairs():
    turning = network()
    with torch.no_grad():
        poses, presence = turning.parts(IMAGES)
        votes = turning.votes(poses)
        scores = turning.agreement(votes, presence)
        for label in range(5):
            labels = torch.full((len(IMAGES),), label)
            support = turning.agreement.support(votes, presence, labels)
            pairs = support.sum(dim=(1, 2, 3)) / 2
            expected = turning.agreement.gain * (pairs + Coincidence.EPSILON).log()
            torch.testing.assert_close(scores[:, label], expected)


def test_a_quarter_turn_of_the_picture_is_a_quarter_turn_of_what_is_believed():
    reader = AngleReader(network(), classes=5).double()
    reader.template.data.normal_()
    with torch.no_grad():
        scores, turns = reader.scores_and_turn(IMAGES)
        after, turns_after = reader.scores_and_turn(torch.rot90(IMAGES, 1, (2, 3)))
    torch.testing.assert_close(after, scores)
    torch.testing.assert_close(turns_after, turns @ rotation(1).T)
    torch.testing.assert_close(turns.norm(dim=1), torch.ones(6, dtype=torch.float64))


def test_a_quarter_turn_of_the_picture_is_a_quarter_turn_of_its_drawing():
    reader = AngleReader(network(), classes=5).double()
    decoder = PoseDecoder(5, hidden=(8,)).double()
    with torch.no_grad():
        reading, after = reader.read(IMAGES), reader.read(torch.rot90(IMAGES, 1, (2, 3)))
        labels = reading.scores.argmax(dim=1)
        torch.testing.assert_close(after.pose, reading.pose)
        drawings = decoder(reading.pose, labels, reading.turn)
        expected = torch.rot90(drawings, 1, (2, 3))
        torch.testing.assert_close(decoder(after.pose, labels, after.turn), expected)


def test_a_drawing_is_the_upright_one_turned_as_pictures_are():
    decoder = PoseDecoder(5, hidden=(8,)).double()
    pose = torch.randn(3, 2, 3, generator=generator()).double()
    labels, degrees = torch.tensor([4, 0, 2]), torch.tensor([0.0, 30.0, -110.0]).double()
    angles = torch.deg2rad(degrees)
    with torch.no_grad():
        drawings = decoder(pose, labels, torch.stack([angles.cos(), angles.sin()], dim=1))
        upright = decoder.draw_upright(pose, labels)
        torch.testing.assert_close(drawings, transform(upright, Pose(rotation=degrees)))
        masked = torch.zeros(6 * 5).double()
        masked[24:30] = pose[0].flatten()
        torch.testing.assert_close(drawings[0].flatten(), decoder.layers(masked))


def test_rounds_are_those_of_2017_on_votes_times_presence():
    votes = torch.randn(2, 4, 3, 1, 5, 6, generator=generator())
    presence = torch.rand(2, 4, 3, generator=generator(1))
    u_hat = votes.reshape(2, 12, 5, 6) * presence.reshape(2, 12, 1, 1)
    for iterations in (1, 3):
        rounds = Rounds(iterations)
        expected = rounds.gain * capsule_lengths(route(u_hat, iterations))
        torch.testing.assert_close(rounds(votes, presence), expected)


def test_peaks_of_an_empty_picture_are_not_present():
    turning = wholes_network()
    poses, presence = turning.parts(torch.zeros(1, 1, 28, 28))
    assert presence.max() < 0.001 and poses.isfinite().all()
    rows, columns = find_peaks(torch.zeros(1, 1, 28, 28), turned_filters(turning.filters, 16), 4)
    assert max(int(rows.max()), int(columns.max())) < 28 - 2 * MARGIN


# --- the trial


def test_a_view_has_the_same_pictures_every_time_and_new_angles_are_new():
    task = trial.TASKS["wholes"]
    for view in trial.VIEWS:
        first, again = (trial.pictures_of(task, view, 40) for _ in range(2))
        assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
        assert set(first[1].tolist()) == set(range(8))


def test_clutter_lies_over_the_pictures_of_training_and_of_test():
    clear, cluttered = trial.TASKS["wholes"], trial.TASKS["wholes-clutter"]
    angles = torch.full((40,), 30.0)
    for pictures_of in (
        lambda task: task.training_pictures(angles, generator(3)),
        lambda task: task.test_pictures(angles, 0, generator(3)),
    ):
        (images, labels), (over, labels_over) = pictures_of(clear), pictures_of(cluttered)
        assert torch.equal(labels, labels_over)
        assert (over >= images).all() and over.max() <= 1
        more_ink = (over - images).sum(dim=(1, 2, 3))
        assert (more_ink > 0).all() and not torch.equal(more_ink[0], more_ink[1])


def test_strokes_are_as_long_and_as_thick_as_said():
    ink = draw_strokes(500, 1, generator()).sum(dim=(1, 2, 3))
    assert ink.max() < 10 * 2 + 8  # the soft edge adds a little
    inside = ink[ink > 0.9 * ink.median()]
    assert inside.min() > 6 * 2 - 2 and inside.median() < 10 * 2


def test_wrong_among_some_classes_asks_these_alone():
    scores = torch.tensor([[1.0, 2, 3], [3, 2, 1], [0, 1, 2]])
    labels = torch.tensor([1, 1, 2])
    assert trial.wrong_among(scores, labels, range(3)).tolist() == [True, True, False]
    assert trial.wrong_among(scores, labels, (0, 1)).tolist() == [False, True, False]


def test_questions_are_answered_from_the_stored_pictures_when_all_seeds_are_there():
    asked = trial.questions()
    runs = []
    for number, seed in enumerate(trial.SEEDS):
        for arm, count in (("wholes-coincidence", 3), ("wholes-scalar-r3", 60)):
            wrong = pack_wrong(range(number, number + count), trial.TESTED)
            runs.append({"arm": arm, "seed": seed, "wrong": {"new": {"all": wrong}}})
    by_name = {verdict.question.name: verdict for verdict in trial.answers({"runs": runs})}
    assert by_name.keys() == {question.name for question in asked}
    assert by_name["wholes-scalar"].word == "seen"
    assert by_name["wholes-scalar"].difference.value == pytest.approx(100 * 57 / trial.TESTED)
    assert by_name["wholes-capsules"].word == "not run"
    by_name = {verdict.question.name: verdict for verdict in trial.answers({"runs": runs[:-1]})}
    assert by_name["wholes-scalar"].word == "not run"


def test_every_change_changes_digits_and_leaves_them_digits():
    images = digits("test", "sample").images[:8]
    for name, change in trial.CHANGES.items():
        changed = change(images)
        assert changed.shape == images.shape and 0 <= changed.min() <= changed.max() <= 1
        assert torch.equal(changed, images) == (name == "none")
    ink = {name: float(change(images).sum()) for name, change in trial.CHANGES.items()}
    assert ink["thin"] < ink["none"] < ink["thick"]
    assert ink["small"] < ink["none"] < ink["large"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in trial.ARMS if name.startswith("wholes")])
def test_the_loss_of_every_arm_falls(name, monkeypatch):
    monkeypatch.setattr(trial, "BATCH", 16)
    arm = trial.ARMS[name]
    images, labels = trial.pictures_of(trial.TASKS[arm.task], "familiar", 64)
    first, last = (
        arm.objective(trial.train(arm, 0, steps)(images, labels), images, labels).item()
        for steps in (1, 150)
    )
    assert last < 0.97 * first


def test_a_group_cnn_answers_a_turned_picture_alike_and_a_pooled_bank_need_not():
    torch.manual_seed(0)
    group = GroupCNN(5).double()
    pooled = PooledAngles(5, kinds=4, turns=8).double()
    turned = torch.rot90(IMAGES, 1, (2, 3))
    with torch.no_grad():
        torch.testing.assert_close(group(turned), group(IMAGES))
        assert (pooled(turned) - pooled(IMAGES)).abs().max() > 1e-3


@pytest.mark.slow
def test_the_command_does_what_lacks_and_two_arms_see_the_same_pictures(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "folder", lambda: tmp_path)
    monkeypatch.setattr(trial, "ANGLES", (0, 90))
    monkeypatch.setitem(trial.TASKS, "wholes", trial.TASKS["wholes"]._replace(steps=2))
    monkeypatch.chdir(tmp_path)
    trial.main(["wholes-coincidence", "--seeds", "3"])
    trial.main(["wholes-coincidence", "wholes-capsnet", "--seeds", "3", "4"])
    runs = json.loads((tmp_path / "turning.json").read_text())["runs"]
    assert [(run["arm"], run["seed"]) for run in runs] == [
        ("wholes-coincidence", 3),
        ("wholes-capsnet", 3),
        ("wholes-coincidence", 4),
        ("wholes-capsnet", 4),
    ]
    assert len(runs[0]["by_angle"]["all"]) == 2
    assert (tmp_path / "runs" / "turning" / "wholes-capsnet-4.safetensors").exists()
