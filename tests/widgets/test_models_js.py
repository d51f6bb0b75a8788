"""What the widgets compute, against PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import networks
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.assets import asset
from capsnet_book.experiments.cnn import class_scores
from capsnet_book.experiments.pairs import classes_of, drawings, overlay
from capsnet_book.experiments.viewpoints import PARTS, Capsules, Scenes, turned
from capsnet_book.networks import save_network, trained_network, unpack
from capsnet_book.widgets import PartVotes, turn_scene
from capsnet_book.widgets.face_parts import FACE, VOICE, WAVES, pose_numbers, weight
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from capsnet_tutorial import (
    capsule_lengths,
    digits,
    load_pretrained,
    margin_loss,
    prediction_vectors,
    route,
    squash,
)
from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.files import read_tensors
from capsnet_tutorial.layers import group_into_capsules
from capsnet_tutorial.model import CapsNet

Evaluate = Callable[..., Any]
SMALL = str(files("capsnet_tutorial.assets") / "weights" / "small.safetensors")
CNN, SHIFTED, PAIRS = (
    str(files("capsnet_book.assets") / "weights" / f"small-{name}.safetensors")
    for name in ("cnn", "shifted", "pairs")
)
BENDS = {"turn": (-90, 90), "shear": (-1, 1), "size": (0.5, 2), "right": (-8, 8), "down": (-8, 8)}
PICASSO = [(0.42, 0.5, 35, 1), (-0.3, -0.62, -20, 1.2), (0.55, -0.3, 70, 1), (-0.5, 0.25, -60, 1)]
U_HAT = torch.tensor(
    [[[2.0, 1.0], [1.5, -1.2]], [[1.8, 1.2], [-1.6, 0.8]], [[-0.5, -1.5], [0.6, 1.2]]]
)
OTHERS = torch.tensor(
    [[[0.0, 0.4], [-3.0, 0.1]], [[0.9, -0.2], [-2.5, 0.3]], [[1.1, 1.3], [0.0, 0.0]]]
)


def stored(images: torch.Tensor, folder: Path) -> str:
    images.numpy().astype(np.float32).tofile(folder / "images")
    return str(folder / "images")


# --- weights of eight bits


@pytest.mark.parametrize(
    "name", ["routed.weight", "primary.conv.weight", "decoder.0.weight", "decoder.0.bias"]
)
def test_eight_bits_are_unpacked_as_in_pytorch(
    evaluate: Evaluate, tmp_path: Path, name: str
) -> None:
    save_network(CapsNet(networks.learner().config), path := tmp_path / "weights", torch.int8)
    body = """
        const { shape, data: x } = m.readSafetensors(bytes(data.path)).tensors[data.name];
        return { shape, x };"""
    came = evaluate(body, {"path": str(path), "name": name}, m="shared/core.js")
    expected = unpack(read_tensors(path)[0])[name]
    assert came["shape"] == list(expected.shape)
    np.testing.assert_array_equal(np.float32(came["x"]), expected.float().numpy().ravel())


# --- one widget after the other


def test_features_are_cut_as_the_layer_cuts_them(evaluate: Evaluate) -> None:
    """Each number is its own address, as in chapter 3."""
    addresses = 100 * torch.arange(1, 7)[:, None] + torch.arange(4)  # [6, 4]
    features = addresses.view(1, 6, 1, 4)
    cuts = {"group": group_into_capsules(features, 3), "view": features.view(1, -1, 3)}
    slots = evaluate("return data.map((way) => m.slotsOf(way));", list(cuts), m="cut_features.js")
    for way, expected in zip(slots, cuts.values(), strict=True):
        capsules = torch.zeros(24, dtype=torch.int64)
        capsules[way] = addresses.flatten()
        torch.testing.assert_close(capsules.view(1, 8, 3), expected)


def test_a_guess_of_squash_is_measured_against_the_modules(evaluate: Evaluate) -> None:
    guess = [0.0, 0.1, 0.6, 0.6, 0.9, 0.9, 1.0]
    at = torch.arange(7) / 2  # lengths 0, 0.5, …, 3
    lengths = squash(torch.stack([at, torch.zeros(7)], dim=1)).norm(dim=1)
    expected = float((torch.tensor(guess) - lengths).abs().mean())
    error = evaluate("return m.errorOf(data);", guess, m="squash_vector.js")
    assert error == pytest.approx(expected, abs=1e-6)


def test_margin_loss_and_its_gradients_are_pytorchs(evaluate: Evaluate) -> None:
    body = "return data.map(({ lengths, present }) => m.marginTerms(lengths, new Set(present)));"
    draw = np.random.default_rng(0)
    cases = [
        {"lengths": [0.0, 0.1, 0.9, 0.95, 0.05, 0.5, 0.999, 0.1, 0.9, 0.0], "present": [2, 3, 7]}
    ]
    cases += [
        {"lengths": draw.random(10), "present": draw.choice(10, size, replace=False)}
        for size in (0, 1, 5, 10)
    ]
    for case, came in zip(cases, evaluate(body, cases, m="margin_loss.js"), strict=True):
        lengths = torch.tensor(np.array([case["lengths"]]), requires_grad=True)
        present = torch.zeros(1, 10, dtype=torch.float64)
        present[0, case["present"]] = 1
        loss = margin_loss(lengths, present)
        assert came["total"] == pytest.approx(loss.item(), abs=1e-9)
        np.testing.assert_allclose(
            came["gradients"], torch.autograd.grad(loss, lengths)[0][0], atol=1e-9
        )


@pytest.mark.parametrize(
    "poses", [((25, -1.5, 1.1), (-15, 1.1, -1.2)), ((170, 2.0, -0.5), (-130, -1.2, 1.7))]
)
def test_votes_of_two_parts_are_prediction_vectors_and_turn_with_them(
    evaluate: Evaluate, poses: Any
) -> None:
    widget = PartVotes()
    widget.poses = [list(map(float, pose)) for pose in poses]
    body = """
        const scenes = [
          data.poses,
          m.arranged(0, data.poses, data.places),
          m.arranged(1, data.poses, data.places),
          m.turned(data.poses, 30),
        ];
        return scenes.map((at) => {
          const votes = m.votesOf(at, data.weight);
          return { u: at.map(m.capsuleOf), votes, apart: m.distancesOf(votes) };
        });"""
    state = {"poses": widget.poses, "weight": widget.weight, "places": widget.places}
    now, house, boat, turned = evaluate(body, state, m="part_votes.js")
    matrices = torch.tensor(widget.weight, dtype=torch.float64).view(2, 2, 4, 4)
    for scene in (now, house, boat, turned):
        expected = prediction_vectors(
            torch.tensor(scene["u"], dtype=torch.float64)[None], matrices
        )[0]
        np.testing.assert_allclose(scene["votes"], expected, atol=1e-6)
        np.testing.assert_allclose(
            scene["apart"], (expected[0] - expected[1]).norm(dim=-1), atol=1e-6
        )
    assert house["apart"][0] < 1e-5 < 1 < house["apart"][1]
    assert boat["apart"][1] < 1e-5 < 1 < boat["apart"][0]
    cos, sin = math.cos(math.pi / 6), math.sin(math.pi / 6)
    turn = np.kron(np.eye(2), [[cos, -sin], [sin, cos]])  # of (cos, sin) and of (x, y)
    np.testing.assert_allclose(turned["votes"], np.array(now["votes"]) @ turn.T, atol=1e-6)


def test_a_face_is_judged_as_in_pytorch(evaluate: Evaluate) -> None:
    generator = np.random.default_rng(0)
    scrambled_faces = [
        np.column_stack(
            [generator.uniform(-1, 1, (4, 2)), generator.uniform(-180, 180, 4), [1, 0.6, 1.5, 1]]
        )
        for _ in range(20)
    ]
    every, no_eye = [True] * 4, [True, False, True, True]
    cases = [
        (FACE, every),
        (PICASSO, every),
        (FACE, no_eye),
        (FACE, [False] * 4),
        *((scrambled_face, every) for scrambled_face in scrambled_faces),
    ]
    data = {"weight": weight().ravel(), "waves": np.ravel(WAVES), "cases": cases}
    body = """
        const [W, waves] = [Float32Array.from(data.weight), Float32Array.from(data.waves)];
        return data.cases.map(([poses, shown]) => {
          const judgement = m.judge(poses, shown, W, waves);
          return { ...judgement, remark: m.remarkOn(judgement, shown) };
        });"""
    answers = evaluate(body, data, m="face_parts.js")
    for (poses, shown), came in zip(cases, answers, strict=True):
        opinions = prediction_vectors(
            torch.tensor(pose_numbers(poses))[None], torch.tensor(weight())
        )  # [1, I, J, 4]
        phases = opinions @ torch.tensor(WAVES).T
        u_hat = VOICE / math.sqrt(len(WAVES)) * torch.cat([phases.cos(), phases.sin()], dim=-1)
        v, trace = route(u_hat * torch.tensor(shown)[None, :, None, None], 3, return_trace=True)
        np.testing.assert_allclose(came["opinions"], opinions[0, :, 0], atol=1e-5)
        np.testing.assert_allclose(
            came["couplings"], trace.c[-1][0, :, 0] * torch.tensor(shown), atol=1e-4
        )
        np.testing.assert_allclose(came["lengths"], v[0].norm(dim=-1), atol=1e-4)
    face, picasso, one_eye, nothing = answers[:4]
    assert (face["bag"], picasso["bag"], one_eye["bag"], nothing["bag"]) == (1, 1, 1, 0)
    assert picasso["lengths"][0] < 0.15 < 0.95 < face["lengths"][0]
    assert "Four opinions" in face["remark"] and "misses nothing" in one_eye["remark"]
    assert "both say 0" in nothing["remark"]


@pytest.mark.parametrize("u_hat", [U_HAT, OTHERS])
def test_the_steps_of_routing_are_pytorchs(evaluate: Evaluate, u_hat: torch.Tensor) -> None:
    body = """
        const trace = m.traceOf(data);
        const moments = m.STEPS.map((step, k) => ({ ...step, ...m.momentAt(trace, k) }));
        return { trace, moments, arrows: moments.map((moment) => m.arrowsOf(trace, moment)) };"""
    came = evaluate(body, u_hat.flatten(), m="routing_model.js")
    _, trace = route(u_hat[None], 3, return_trace=True)
    b, c, v = (getattr(trace, name)[:, 0] for name in "bcv")
    s = torch.einsum("rij,ijd->rjd", c, u_hat)
    for name, expected in {
        "b": b,
        "c": c,
        "s": s,
        "v": v,
        "a": torch.einsum("rjd,ijd->rij", v, u_hat),
    }.items():
        np.testing.assert_allclose(
            came["trace"][name], expected[: len(came["trace"][name])].flatten(1), atol=1e-6
        )
    for moment, arrows in zip(came["moments"], came["arrows"], strict=True):
        r = moment["round"] - 1
        if (
            moment["kind"] == "sum"
        ):  # the votes, cut to their shares, lie end to end and end where s does
            np.testing.assert_allclose([tip for _, tip in arrows[-2:]], s[r], atol=1e-5)
        if moment["kind"] == "squash":
            np.testing.assert_allclose(moment["lengths"], capsule_lengths(v)[r], atol=1e-6)
        if moment["kind"] == "agreement" and r < 2:
            np.testing.assert_allclose(moment["b"], b[r + 1].flatten(), atol=1e-6)


@torch.no_grad()
def test_a_bent_digit_is_read_by_both_networks_as_in_pytorch(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    draw = np.random.default_rng(0)
    one_by_one = [
        {},
        {"turn": 20.0},
        {"turn": -75.0},
        {"shear": 0.4},
        {"size": 1.5},
        {"size": 0.6},
        {"right": 3.0},
    ]
    bends = [
        *one_by_one,
        *({name: draw.uniform(*bounds) for name, bounds in BENDS.items()} for _ in range(24)),
    ]
    images = digits("test", source="sample").images[: len(bends)]
    body = """
        const cnn = conv.makeConvNet(bytes(data.cnn));
        const capsnet = core.makeNetwork(bytes(data.capsnet));
        const pixels = floats(data.images);
        return data.bends.map((bend, n) => {
          const image = pixels.subarray(n * 784, (n + 1) * 784);
          const bent = b.bendDigit(image, { ...b.STRAIGHT, ...bend });
          return { bent, scores: cnn.forward(bent).scores, lengths: capsnet.forward(bent).lengths };
        });"""
    data = {"cnn": CNN, "capsnet": SHIFTED, "images": stored(images, tmp_path), "bends": bends}
    modules = {"b": "shared/bending.js", "conv": "shared/conv_net.js", "core": "shared/core.js"}
    cnn, capsnet = trained_network("small-cnn"), trained_network("small-shifted")
    for image, bend, came in zip(images, bends, evaluate(body, data, **modules), strict=True):
        full = {"turn": 0.0, "size": 1.0, "shear": 0.0, "right": 0.0, "down": 0.0} | bend
        pose = Pose(
            full["turn"], full["size"], full["size"], full["shear"], full["right"], full["down"]
        )
        bent = transform(image[None], pose)
        np.testing.assert_allclose(np.reshape(came["bent"], (28, 28)), bent[0, 0], atol=2e-5)
        np.testing.assert_allclose(came["scores"], class_scores(cnn, bent)[0], atol=2e-3, rtol=1e-4)
        np.testing.assert_allclose(came["lengths"], class_scores(capsnet, bent)[0], atol=5e-4)


@torch.no_grad()
def test_two_digits_are_seen_and_drawn_as_in_pytorch(evaluate: Evaluate, tmp_path: Path) -> None:
    draw, sample = torch.Generator().manual_seed(0), digits("test", source="sample")
    at = torch.randint(-4, 5, (20, 2, 2), generator=draw).tolist()
    labels = sample.labels[:40].view(20, 2).tolist()
    layers = torch.stack(
        [
            torch.cat(
                [
                    F.pad(sample.images[2 * n + k], (4 + x, 4 - x, 4 + y, 4 - y))
                    for k, (x, y) in enumerate(both)
                ]
            )
            for n, both in enumerate(at)
        ]
    )  # [20, 2, 36, 36]
    body = """
        const network = core.makeNetwork(bytes(data.weights));
        const pixels = floats(data.images);
        const digit = (k) => pixels.subarray(k * 784, (k + 1) * 784);
        return data.at.map((both, n) => {
          const layer = (k) => m.layerOf(digit(2 * n + k), ...both[k]);
          const image = m.overlay(layer(0), layer(1));
          const { u_hat } = network.look(image);
          const seen = m.readingOf(network, image, u_hat, data.labels[n], n % 11 - 1);
          return { image, ...seen, words: m.inWords(data.labels[n], seen) };
        });"""
    data = {
        "weights": PAIRS,
        "images": stored(sample.images[:40], tmp_path),
        "at": at,
        "labels": labels,
    }
    model, images = trained_network("small-pairs"), overlay(layers)
    output = model(images)
    for n, came in enumerate(evaluate(body, data, m="two_digits.js", core="shared/core.js")):
        np.testing.assert_allclose(came["image"], images[n].flatten(), atol=1e-6)
        np.testing.assert_allclose(came["lengths"], output.lengths[n], atol=1e-4)
        assert sorted(came["classes"]) == classes_of(output.lengths[n : n + 1])[0].tolist()
        third = output.lengths[n].argsort(descending=True)[2].item()
        assert came["third"] == (third if n % 11 == 0 else n % 11 - 1)
        asked = torch.tensor([[*came["classes"], came["third"]]])
        drawn = drawings(model, output.capsules[n : n + 1], asked)[0]
        np.testing.assert_allclose([*came["drawings"], came["absent"]], drawn, atol=1e-4)
        found = len(set(labels[n]) & set(came["classes"]))
        opening = (
            "Two of"
            if len(set(labels[n])) == 1
            else ("Both wrong", "One right", "Both right")[found]
        )
        assert came["words"].startswith(opening)


@torch.no_grad()
def test_a_moved_capsule_draws_what_pytorch_draws(evaluate: Evaluate, tmp_path: Path) -> None:
    sample, model = digits("test", source="sample"), load_pretrained("small")
    image, label = sample.images[7:8], int(sample.labels[7])
    offsets = torch.linspace(-0.25, 0.25, 16)
    body = """
        const network = core.makeNetwork(bytes(data.weights));
        const image = floats(data.image);
        const capsules = network.mask(network.forward(image).capsules, data.label);
        const drawn = network.decode(m.withOffsets(capsules, data.label, data.offsets));
        return { drawn, error: m.squaredError(drawn, image) };"""
    data = {"weights": SMALL, "image": stored(image, tmp_path), "label": label, "offsets": offsets}
    modules = {"m": "bend_capsule.js", "core": "shared/core.js"}
    came = evaluate(body, data, **modules)
    masked = torch.zeros(1, 10, 16)
    masked[0, label] = model(image).capsules[0, label] + offsets
    drawn = model.decode(masked)
    np.testing.assert_allclose(came["drawn"], drawn.flatten(), atol=1e-4)
    assert came["error"] == pytest.approx(
        (drawn.flatten() - image.flatten()).square().sum().item(), rel=1e-3
    )


# --- the glass network

TAKEN_OUT = [
    {},
    {"primary": [0, 5, 71], "rounds": 1},
    {"predictions": [3, 77, 717], "classes": [7], "rounds": 10},
    {"primary": range(8, 70), "classes": [1], "rounds": 5},
]


@pytest.mark.parametrize("taken", TAKEN_OUT)
def test_what_is_left_of_the_network_answers_as_in_pytorch(
    evaluate: Evaluate, tmp_path: Path, taken: Any
) -> None:
    network, images = load_pretrained("small"), digits("test", source="sample").images[:3]
    rounds = taken.get("rounds", 3)
    body = """
        const session = m.makeSession(core.makeNetwork(bytes(data.path)));
        return Array.from({ length: 3 }, (_, n) => {
          session.read(floats(data.images).subarray(n * 784, (n + 1) * 784));
          session.putTogether();
          session.setRounds(data.rounds);
          for (const part of ["primary", "predictions", "classes"])
            for (const at of data.taken[part] ?? []) session.setKept({ part, at }, false);
          const { answer, whole, drawing } = session;
          const { capsules: v, lengths } = answer;
          return { c: answer.c.at(-1), v, lengths, drawing, whole: whole.lengths };
        });"""
    data = {
        "path": SMALL,
        "images": stored(images, tmp_path),
        "rounds": rounds,
        "taken": {part: list(at) for part, at in taken.items() if part != "rounds"},
    }
    keep = torch.ones(72, 10)
    keep[list(taken.get("primary", []))] = 0
    keep[:, list(taken.get("classes", []))] = 0
    keep.view(-1)[list(taken.get("predictions", []))] = 0
    with torch.no_grad():
        u = network.primary(network.conv(images).relu())
        u_hat = prediction_vectors(u, network.routed.weight)
        v, trace = route(u_hat * keep[None, :, :, None], rounds, return_trace=True)
        lengths = capsule_lengths(v)
        drawn = network.decode(v * F.one_hot(lengths.argmax(1), 10)[:, :, None]).flatten(1)
        whole = capsule_lengths(route(u_hat, 3))
    for n, came in enumerate(evaluate(body, data, m="glass/model.js", core="shared/core.js")):
        np.testing.assert_allclose(came["c"], trace.c[-1, n].flatten(), atol=1e-5)
        np.testing.assert_allclose(came["v"], v[n].flatten(), atol=1e-5)
        np.testing.assert_allclose(came["lengths"], lengths[n], atol=1e-5)
        np.testing.assert_allclose(came["drawing"], drawn[n], atol=1e-5)
        np.testing.assert_allclose(came["whole"], whole[n], atol=1e-5)


# --- turned scenes

SHOWN = turn_scene.recorded_scenes()


def scenes(clutter: int) -> Scenes:
    """One of each whole, as the widget has them."""
    parts = torch.tensor(SHOWN["scenes"])[:, : 5 + clutter]
    angle, x, y, kind = parts.unbind(dim=2)
    types = torch.nn.functional.one_hot(kind.long(), PARTS).float()
    return Scenes(torch.stack([angle.cos(), angle.sin(), x, y], dim=2), types, torch.arange(10))


@pytest.mark.parametrize(
    ("kind", "rounds", "clutter"), [("matrices", 3, 7), ("vectors", 3, 12), ("vectors", 1, 0)]
)
def test_a_turned_scene_is_read_as_in_pytorch(
    evaluate: Any, kind: str, rounds: int, clutter: int
) -> None:
    network = Capsules(matrices=kind == "matrices")
    network.weight.data = torch.tensor(SHOWN["weights"][kind]).view_as(network.weight)
    expected = network(turned(scenes(clutter), math.radians(70)), rounds).detach()
    body = """return data.scenes.map((parts, j) => {
      const scene = m.turned(parts.slice(0, data.count), 70);
      const reading = m.read(data.kind, data.weight, scene, data.rounds);
      return { ...reading, spread: m.spreadOf(reading, j) };
    });"""
    given = {
        "scenes": SHOWN["scenes"],
        "weight": SHOWN["weights"][kind],
        "kind": kind,
        "count": 5 + clutter,
    }
    readings = evaluate(body, given | {"rounds": rounds}, m="turn_scene.js")
    np.testing.assert_allclose([reading["lengths"] for reading in readings], expected, atol=1e-5)
    for j, reading in enumerate(readings):
        votes = np.reshape(reading["u_hat"], (5 + clutter, 10, reading["D"]))[:5, j]
        far = (
            np.linalg.norm(votes - votes.mean(axis=0), axis=1).mean()
            / np.linalg.norm(votes, axis=1).mean()
        )
        assert reading["spread"] == pytest.approx(far, abs=1e-5)


def test_the_networks_know_every_whole_as_in_training_and_matrices_know_it_at_every_angle() -> None:
    """What the chapter says of the scenes that the reader turns."""
    for kind, angle in (("matrices", 0), ("vectors", 0), ("matrices", 170)):
        network = Capsules(matrices=kind == "matrices")
        network.weight.data = torch.tensor(SHOWN["weights"][kind]).view_as(network.weight)
        answers = network(turned(scenes(0), math.radians(angle)), 3).argmax(dim=1)
        assert answers.tolist() == list(range(10)), (kind, angle)


# --- what is left of a frame

HAND = """
    let now = 0;
    const tasks = [], begun = [], shown = [0, 0, 0], rested = [];
    globalThis.requestAnimationFrame = (work) => tasks.push([Math.floor(now / 16 + 1) * 16, work]);
    globalThis.MessageChannel = function () {
        this.port1 = {};
        const postMessage = (data) => tasks.push([now, () => this.port1.onmessage({ data })]);
        this.port2 = { postMessage };
    };
    performance.now = () => now;
    const turns = m.makeTurns(shown.map((_, n) => () => { now += data.part; shown[n]++; }));
    const pad = () => {
        begun.push(now);
        now += data.pad;
        if (begun.length < 60) move();
        return true;
    };
    const ask = m.inSpareTime(pad, turns.go, () => rested.push(now));
    const move = () => { turns.begin(); ask(); };
    for (move(); tasks.length; ) {
        const [time, work] = tasks.sort(([a], [b]) => a - b).shift();
        now = Math.max(now, time);
        work(time);
    }
    return { begun, shown, rested };"""


@pytest.mark.parametrize(
    ("pad", "part", "longest", "least"),
    [(2, 2, 16, 120), (6, 7, 16, 40), (13, 2, 16, 60), (20, 7, 32, 40)],
)
def test_the_pad_comes_in_every_frame_and_the_parts_take_turns_in_what_is_left(
    evaluate: Evaluate, pad: int, part: int, longest: int, least: int
) -> None:
    """Move a hand for 60 frames.

    In the last cases a frame has hardly any room, and none; even so, parts get a share of the time.
    """
    came = evaluate(HAND, {"pad": pad, "part": part}, m="shared/ui.js")
    assert np.diff(came["begun"]).mean() <= longest
    assert sum(came["shown"]) >= least
    assert max(came["shown"]) - min(came["shown"]) <= 1
    assert came["rested"][-1] > came["begun"][-1]


@torch.no_grad()
def test_animals_are_read_and_bent_as_in_pytorch(evaluate: Evaluate, tmp_path: Path) -> None:
    images = load_file(asset("animals/shown.safetensors"))["images"][:2].float() / 255
    network = trained_network("animals")
    expected = network(images)
    offsets = torch.linspace(-0.25, 0.25, 16)
    j = 4
    masked = torch.zeros(2, 12, 16)
    masked[:, j] = expected.capsules[:, j] + offsets
    drawn = network.decode(masked).flatten(1)
    body = """
        const network = core.makeNetwork(bytes(data.weights));
        const pixels = floats(data.images);
        return [0, 1].map((n) => {
          const answer = network.forward(pixels.subarray(n * 3072, (n + 1) * 3072));
          const moved = m.withOffsets(answer.capsules, data.j, data.offsets);
          return { lengths: answer.lengths, drawn: network.decode(network.mask(moved, data.j)) };
        });"""
    data = {
        "weights": str(asset("weights/animals.safetensors")),
        "images": stored(images, tmp_path),
        "j": j,
        "offsets": offsets,
    }
    answers = evaluate(body, data, m="bend_capsule.js", core="shared/core.js")
    for n, answer in enumerate(answers):
        np.testing.assert_allclose(answer["lengths"], expected.lengths[n], atol=1e-4)
        np.testing.assert_allclose(answer["drawn"], drawn[n], atol=1e-4)


def test_a_class_is_called_by_the_name_in_the_file(
    evaluate: Callable[..., Any], tmp_path: Path
) -> None:
    """A sign of the reader's own has the place of the 8: nobody calls it an 8."""
    with safe_open(SMALL, "np") as file:
        metadata = file.metadata() | {"class_names": '["0","1","2","3","4","5","6","7","★","9"]'}
    save_file(load_file(SMALL), tmp_path / "sign.safetensors", metadata)
    eight = int((digits("test", source="sample").labels == 8).nonzero()[0])
    images = digits("test", source="sample").images[eight : eight + 1]
    body = """
        const network = core.makeNetwork(bytes(data.path));
        const session = m.makeSession(network);
        session.read(floats(data.images));
        const part = { part: "classes", at: 8 };
        const { lengths } = session.answer;
        const names = b.namesOf(network);
        const read = [m.scoreOf(session), m.sentenceOn(part, session)];
        read.push(b.readingInWords(lengths, false, names), b.drawnBy([8], names));
        session.setKept(part, false);
        return [...read, m.scoreOf(session), m.sentenceOn(part, session)];"""
    modules = {"m": "glass/model.js", "core": "shared/core.js", "b": "bend/words.js"}
    data = {"path": str(tmp_path / "sign.safetensors"), "images": stored(images, tmp_path)}
    sentences = evaluate(body, data, **modules)
    for sentence in sentences:
        assert "★" in sentence
        assert " 8" not in sentence
