"""The playground's engine: its arithmetic against autograd, its two sets of kernels, its files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import my_capsnet
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book.assets import asset
from capsnet_book.widgets import RaiseOne
from safetensors.torch import save_file
from scipy import stats
from torch import Tensor

from capsnet_tutorial import (
    CapsNet,
    CapsNetConfig,
    load_weights,
    prediction_vectors,
    route,
    save_weights,
)
from capsnet_tutorial.data import digits
from tools import pack_digits
from tools.refresh_notebooks import all_notebooks

SETTINGS = {
    "rounds": 3, "types": 8, "batch": 8, "seed": 1,
    "m_plus": 0.9, "m_minus": 0.1, "lambda": 0.5, "drawing": 0.0005, "bug": "",
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]
STEPS = 10
"""So that the gradients are those of a network that has begun to learn."""


TRAINEE = """
    const { settings, images, labels, steps, rate } = data;
    const builds = data.kernels === "simd" ? [m.KERNELS_WASM] : undefined;
    const kernels = data.kernels === "plain" ? k.plainKernels : await k.loadKernels(builds);
    if (builds && !kernels.fast) throw new Error("no WebAssembly here");
    const network = n.makeNetwork(settings, kernels);
    const pixels = floats(images);
    const batch = (step) => {
      const first = (step * settings.batch) % labels.length;
      const [from, to] = [first, first + settings.batch];
      return [pixels.subarray(from * 784, to * 784), labels.slice(from, to)];
    };
    if (data.weights) network.load(c.readSafetensors(bytes(data.weights)).tensors);
    if (settings.silent) network.hold(settings.silent);
    const losses = [];
    for (let step = 0; step < steps; step++) {
      losses.push(network.gradients(...batch(step)));
      network.update(rate, 1); // no average
    }
    const before = network.tensors();
    losses.push(network.gradients(...batch(steps)));
    const [images0] = batch(steps);
    const answer = network.read(images0);
    // one digit, of which the page draws
    const alone = network.read(images0.subarray(0, 784), false);
    const isAnswer = (at) => Math.floor(at / 16) === alone.answers[0];
    const kept = alone.capsules.map((x, at) => (isAnswer(at) ? x : 0));
    answer.drawings.set(c.drawnBy(network.decoder(), kept).subarray(0, answer.drawings.length));
    const tensors = [...Object.values(before), ...Object.values(network.slopes())];
    const parts = tensors.map(({ data }) => data);
    save(data.out, [...parts, answer.lengths, answer.capsules, answer.drawings]);
    return { losses, shapes: Object.entries(before).map(([name, { shape }]) => [name, shape]) };"""
PLAYGROUND = {
    "s": "playground/settings.js", "n": "playground/network.js", "k": "playground/kernels.js",
    "m": "playground/kernels_built.js",
    "f": "playground/files.js", "t": "playground/training.js", "c": "shared/core.js",
}  # fmt: skip


def first_digits() -> tuple[Tensor, Tensor]:
    """Return the first 64 digits as the page has them, in four bits, and their labels."""
    sample = digits("train", source="sample")
    return (sample.images[:64] * 15).round() / 15, sample.labels[:64]


class Engine:
    """The engine's results: losses of each step, weights and gradients by name.

    Its lengths, capsules and drawings are those of the last batch.
    """

    def __init__(
        self,
        evaluate: Callable[..., Any],
        folder: Path,
        settings: dict[str, Any],
        pictures: tuple[Tensor, Tensor] | None = None,
        **job: Any,
    ) -> None:
        self.settings = SETTINGS | settings
        images, labels = pictures or first_digits()
        images.numpy().tofile(folder / "images")
        paths = {"images": str(folder / "images"), "out": str(folder / "out")}
        job = (
            {"settings": self.settings, "steps": STEPS, "rate": 0.003, "labels": labels}
            | job
            | paths
        )
        report = evaluate(TRAINEE, job, **PLAYGROUND)
        self.losses = report["losses"]
        self.bytes = (folder / "out").read_bytes()
        numbers = torch.from_numpy(np.frombuffer(self.bytes, np.float32).copy())
        shapes = [torch.Size(shape) for _, shape in report["shapes"]]
        names = [name for name, _ in report["shapes"]]
        B = self.settings["batch"]
        drawn = 784 * B * (self.settings["drawing"] > 0)
        pieces = numbers.split([shape.numel() for shape in shapes] * 2 + [10 * B, 160 * B, drawn])
        shaped = [piece.view(shape) for piece, shape in zip(pieces, shapes * 2, strict=False)]
        self.weights = dict(zip(names, shaped, strict=False))
        self.slopes = dict(zip(names, shaped[len(names) :], strict=True))
        self.lengths, self.capsules, self.drawings = (
            pieces[-3].view(B, 10),
            pieces[-2].view(B, 10, 16),
            pieces[-1],
        )
        first = STEPS * B % 64 if job["steps"] == STEPS else 0
        self.images, self.labels = images[first : first + B].double(), labels[first : first + B]


def reference(
    weights: dict[str, Tensor], images: Tensor, labels: Tensor, settings: dict[str, Any]
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute `my_capsnet`'s network and loss.

    Return lengths, drawings of the longest, margin loss and loss of the drawing.
    """
    bug, types = settings["bug"], settings["types"]
    silent = {"maps": [], "primary": []} | settings.get("silent", {})
    x = F.conv2d(images, weights["conv.weight"], weights["conv.bias"], stride=2).relu()
    x = x.index_fill(1, torch.tensor(silent["maps"], dtype=torch.long), 0)
    x = F.conv2d(x, weights["primary.conv.weight"], weights["primary.conv.bias"], stride=2)
    if bug != "capsule-view":
        x = x.view(-1, types, 8, 3, 3).permute(0, 1, 3, 4, 2)
    u = my_capsnet.squash(x.reshape(len(images), -1, 8))
    u_hat = torch.einsum("bid,ijde->bije", u, weights["routed.weight"])
    u_hat = u_hat.index_fill(1, torch.tensor(silent["primary"], dtype=torch.long), 0)
    b = u_hat.new_zeros(u_hat.shape[:3])
    for _ in range(settings["rounds"]):
        c = b.softmax(dim=1 if bug == "softmax-axis" else 2)
        v = my_capsnet.squash(torch.einsum("bij,bije->bje", c, u_hat))
        if bug != "no-update-rounds":
            b = b + torch.einsum("bije,bje->bij", u_hat, v)
    lengths = v.norm(dim=2)

    def draw(kept: Tensor) -> Tensor:
        h = (v * F.one_hot(kept, 10)[:, :, None]).flatten(1)
        for layer in (0, 2, 4):
            h = F.linear(h, weights[f"decoder.{layer}.weight"], weights[f"decoder.{layer}.bias"])
            h = h.sigmoid() if layer == 4 else h.relu()
        return h

    T, power = F.one_hot(labels, 10), 1 if bug == "margin-not-squared" else 2
    present = T * (settings["m_plus"] - lengths).relu() ** power
    absent = settings["lambda"] * (1 - T) * (lengths - settings["m_minus"]).relu() ** power
    wrong = (
        draw(lengths.argmax(1) if bug == "mask-prediction" else labels) - images.flatten(1)
    ) ** 2
    drawing = settings["drawing"] * (wrong.mean(1) if bug == "recon-mean" else wrong.sum(1)).mean()
    return lengths, draw(lengths.argmax(1)), (present + absent).sum(1).mean(), drawing


CASES = [
    {},
    {"rounds": 1},
    {"rounds": 5, "types": 4},
    {"types": 2, "m_plus": 0.8, "m_minus": 0.2, "lambda": 1.0, "drawing": 0.01},
    {"drawing": 0},
    *(
        {"bug": bug}
        for bug in ("softmax-axis", "capsule-view", "no-update-rounds", "margin-not-squared")
    ),
    *({"bug": bug} for bug in ("mask-prediction", "recon-mean")),
]


SILENT = {"maps": [0, 5, 30], "primary": [1, 9, 17]}
CASES += [
    {"silent": SILENT},
    {"silent": SILENT, "types": 4, "rounds": 5},
    {"silent": SILENT, "bug": "softmax-axis"},
]
PLAIN = [
    CASES[0],
    CASES[2],
    {"bug": "softmax-axis"},
    {"silent": SILENT},
]  # what differs between the kernels shows in these


@pytest.mark.parametrize(
    ("settings", "kernels"),
    [
        *((settings, "fast") for settings in CASES),
        *((settings, kernels) for settings in PLAIN for kernels in ("plain", "simd")),
    ],
    ids=lambda case: (
        case if isinstance(case, str) else ",".join(map(str, case.values())) or "default"
    ),
)
def test_gradients_are_those_of_autograd(evaluate, tmp_path, settings, kernels):
    compare_with_autograd(Engine(evaluate, tmp_path, settings, kernels=kernels))


def compare_with_autograd(engine: Engine) -> None:
    """Compare losses, lengths, drawings and gradients with PyTorch's."""
    weights = {name: tensor.double().requires_grad_() for name, tensor in engine.weights.items()}
    lengths, drawings, margin, drawing = reference(
        weights, engine.images, engine.labels, engine.settings
    )
    (margin + drawing).backward()

    assert engine.losses[-1]["margin"] == pytest.approx(margin.item(), rel=1e-5)
    assert engine.losses[-1]["drawing"] == pytest.approx(drawing.item(), rel=1e-5)
    assert engine.losses[-1]["right"] == int((lengths.argmax(1) == engine.labels).sum())
    assert (engine.lengths - lengths).abs().max() < 1e-5
    if engine.settings["drawing"]:
        assert (engine.drawings.view(-1, 784) - drawings).abs().max() < 1e-5
    for name, slope in engine.slopes.items():
        if name.startswith("decoder") and not engine.settings["drawing"]:
            assert not slope.any()
            continue
        expected = weights[name].grad
        assert expected.abs().max() > 0, name
        assert (slope - expected).abs().max() < 1e-5 * expected.abs().max(), name


HANDLED = """
    const network = n.makeNetwork(data.settings, await k.loadKernels());
    const image = Float32Array.from({ length: 784 }, (_, at) => ((at * 7) % 13) / 13);
    const images = new Float32Array(8 * 784);
    for (let digit = 0; digit < 8; digit++) images.set(image, digit * 784);
    const learn = () => {
        network.gradients(images, new Uint8Array(8).fill(3));
        network.update(0.003);
    };
    learn();
    const before = network.tensors();
    const snapshot = network.snapshot();
    network.nudge("maps", 5, 2);
    network.nudge("primary", 17, 0.5);
    const nudged = network.tensors();
    network.hold({ maps: [7], primary: [1] });
    learn();
    const silenced = network.tensors();
    const { lengths } = network.read(image);
    network.restore(snapshot);
    const after = network.tensors();
    learn();
    const again = network.tensors();
    const sets = [before, nudged, silenced, after, again];
    save(data.out, [...sets.flatMap((set) => Object.values(set).map((t) => t.data)), lengths]);
    return Object.entries(before).map(([name, { shape }]) => [name, shape]);"""


def test_a_hand_changes_what_it_says_and_can_be_taken_back(evaluate, tmp_path):
    out = tmp_path / "out"
    report = evaluate(HANDLED, {"settings": SETTINGS, "out": str(out)}, **PLAYGROUND)
    shapes = [torch.Size(shape) for _, shape in report]
    numbers = torch.from_numpy(np.fromfile(out, np.float32))
    *pieces, lengths = numbers.split([shape.numel() for shape in shapes] * 5 + [10])
    tensors = [piece.view(shape) for piece, shape in zip(pieces, shapes * 5, strict=True)]
    names = [name for name, _ in report]
    sets = [
        dict(zip(names, tensors[from_:], strict=False))
        for from_ in range(0, len(tensors), len(names))
    ]
    before, nudged, silenced, after, again = sets
    expected = {name: tensor.clone() for name, tensor in before.items()}
    expected["conv.weight"][5] *= 2
    expected["conv.bias"][5] *= 2
    expected["routed.weight"][17] *= 0.5
    for name in names:
        assert torch.equal(nudged[name], expected[name]), name
        assert torch.equal(after[name], before[name]), name
    assert not silenced["conv.weight"][7].any()
    assert not silenced["conv.bias"][7].any()
    assert not silenced["routed.weight"][1].any()
    assert not torch.equal(again["conv.weight"], before["conv.weight"]), "it learns on"
    assert again["conv.weight"][7].any(), "and what was silent speaks"

    network = CapsNet(CapsNetConfig.small()).eval()  # as who opens the file reads
    network.load_state_dict(silenced)
    image = (torch.arange(784) * 7 % 13 / 13).view(1, 1, 28, 28)
    with torch.no_grad():
        assert (network(image).lengths[0] - lengths).abs().max() < 1e-5


NUDGED = """
    const network = n.makeNetwork(data.settings, await k.loadKernels());
    const image = Float32Array.from({ length: 784 }, (_, at) => ((at * 7) % 13) / 13);
    const votes = () => {
        const { answers, ...reading } = network.read(image);
        const watched = { ...reading, answer: answers[0], image };
        const parts = { filters: network.filters(), matrices: network.matrices() };
        const frame = { types: data.settings.types, silent: network.silent(), watched, ...parts };
        return r.readingOf(frame, { names: [], input: "" }).seen.u_hat;
    };
    const before = votes();
    network.nudge("primary", 17, 2);
    const doubled = votes();
    network.hold({ maps: [], primary: [17] });
    return [before, doubled, votes()].map((numbers) => Array.from(numbers));"""


@pytest.mark.parametrize("bug", ["", "capsule-view", "softmax-axis"])
def test_a_hand_acts_on_the_capsule_that_is_pointed_at(evaluate, bug):
    """Also where a planted bug cuts capsules across the maps: its votes alone change."""
    job = {"settings": SETTINGS | {"bug": bug}}
    report = evaluate(NUDGED, job, **PLAYGROUND, r="playground/reading.js")
    before, doubled, silenced = torch.tensor(report).view(3, 72, 160)
    assert before[17].abs().max() > 0
    others = torch.arange(72) != 17
    assert torch.allclose(doubled[17], 2 * before[17])
    assert torch.equal(doubled[others], before[others])
    assert not silenced[17].any()
    assert torch.equal(silenced[others], before[others])


FELT = """ // the lines of pixels that a capsule feels, and the patch that the lens shows
    const network = n.makeNetwork(data.settings, await k.loadKernels());
    const capsuleOf = (image) => {
        const { answers, ...reading } = network.read(image);
        const watched = { ...reading, answer: answers[0], image };
        const parts = { filters: network.filters(), matrices: network.matrices() };
        const frame = { types: data.settings.types, silent: network.silent(), watched, ...parts };
        const words = { names: [], input: "", bug: data.settings.bug };
        const { seen, network: sizes } = r.readingOf(frame, words);
        return { u: seen.u.slice(17 * 8, 18 * 8), config: sizes.config };
    };
    const { u, config } = capsuleOf(new Float32Array(784));
    const lines = Array.from({ length: 28 }, (_, n) => n);
    const linesFelt = (lineOf) => lines.filter((line) => {
        const image = Float32Array.from({ length: 784 }, (_, k) => Number(lineOf(k) === line));
        return capsuleOf(image).u.some((x, d) => x !== u[d]);
    });
    const columns = linesFelt((k) => k % 28);
    const rows = linesFelt((k) => Math.floor(k / 28));
    const box = { x: columns[0], y: rows[0], w: columns.length, h: rows.length };
    return [box, l.patchOf("primary", 17 % 9, config)];"""


@pytest.mark.parametrize("bug", ["", "capsule-view"])
def test_the_patch_of_a_capsule_is_what_it_feels(evaluate, bug):
    """Of a capsule that a planted bug cuts across the maps, too: it feels nearly all places."""
    job = {"settings": SETTINGS | {"bug": bug}}
    modules = PLAYGROUND | {"r": "playground/reading.js", "l": "glass/layout.js"}
    box, patch = evaluate(FELT, job, **modules)
    assert box == patch


READ = """
    const network = n.makeNetwork(data.settings, await k.loadKernels());
    network.hold(data.silent);
    const { answers, drawings: drawing, ...reading } = network.read(floats(data.image), true);
    const watched = { ...reading, answer: answers[0], image: floats(data.image), drawing };
    const parts = { filters: network.filters(), matrices: network.matrices() };
    const frame = { types: data.settings.types, silent: network.silent(), watched, ...parts };
    const { seen, answer, network: sizes, isKept, strongest } = r.readingOf(frame, data.words);
    const matrices = [0, 11, 203].map((at) => sizes.matrixOf(at));
    const numbers = [seen.edges, seen.u, seen.u_hat, answer.c[0], answer.capsules, ...matrices];
    const tensors = Object.values(network.tensors()).map(({ data }) => data);
    save(data.out, [...numbers, ...tensors]);
    return {
        sizes: numbers.map(({ length }) => length),
        kept: [isKept({ part: "primary", at: 3 }), isKept({ part: "maps", at: 4 })],
        strongest: strongest("predictions").at,
    };"""


def test_what_is_pointed_at_is_in_the_order_of_a_file(evaluate, tmp_path):
    """The lens shows maps, capsules, votes, couplings and W as a CapsNet counts them."""
    image = digits("test", source="sample").images[7]
    image.numpy().tofile(tmp_path / "image")
    job = {
        "settings": SETTINGS, "silent": {"maps": [4], "primary": [3]},
        "words": {"names": list("0123456789"), "input": "this digit"},
        "image": str(tmp_path / "image"), "out": str(tmp_path / "out"),
    }  # fmt: skip
    report = evaluate(READ, job, **PLAYGROUND, r="playground/reading.js")
    numbers = torch.from_numpy(np.fromfile(tmp_path / "out", np.float32))
    network = CapsNet(CapsNetConfig.small()).eval()
    shapes = [tensor.shape for tensor in network.state_dict().values()]
    pieces = numbers.split([*report["sizes"], *(shape.numel() for shape in shapes)])
    edges, u, u_hat, c, v, *matrices = pieces[: len(report["sizes"])]
    tensors = pieces[len(report["sizes"]) :]
    network.load_state_dict(
        {
            name: piece.view(shape)
            for name, piece, shape in zip(network.state_dict(), tensors, shapes, strict=True)
        }
    )
    with torch.no_grad():
        maps = network.conv(image[None]).relu()
        capsules = network.primary(maps)
        votes = prediction_vectors(capsules, network.routed.weight)
        _, trace = route(votes, 3, return_trace=True)
    assert (edges.view(64, 10, 10) - maps[0]).abs().max() < 1e-5
    assert (u.view(72, 8) - capsules[0]).abs().max() < 1e-5
    assert (u_hat.view(72, 10, 16) - votes[0]).abs().max() < 1e-5
    assert (c.view(72, 10) - trace.c[-1][0]).abs().max() < 1e-5
    assert (v.view(10, 16) - trace.v[-1][0]).abs().max() < 1e-5
    assert not edges.view(64, 100)[4].any()
    weight = network.routed.weight.flatten(0, 1)
    for at, matrix in zip([0, 11, 203], matrices, strict=True):
        expected = weight[at] * (127 / network.routed.weight.abs().max())
        assert (matrix.view(8, 16) - expected).abs().max() < 1, "255 steps are enough for a picture"
    assert report["kept"] == [False, False]
    answer = int(trace.v[-1][0].norm(dim=1).argmax())
    couplings = trace.c[-1][0, :, answer].clone()
    couplings[3] = 0
    assert report["strongest"] == int(couplings.argmax()) * 10 + answer


def test_a_step_is_adams(evaluate, tmp_path):
    """Ten steps of PyTorch's Adam from the engine's first weights lead to the engine's."""
    (tmp_path / "first").mkdir()
    engine = Engine(evaluate, tmp_path, {})
    first = Engine(evaluate, tmp_path / "first", {}, steps=0)
    weights = {name: tensor.double().requires_grad_() for name, tensor in first.weights.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=0.003)
    sample = digits("train", source="sample")
    images, labels = ((sample.images[:64] * 15).round() / 15).double(), sample.labels[:64]
    for step in range(STEPS):
        at = step * 8 % 64
        *_, margin, drawing = reference(
            weights, images[at : at + 8], labels[at : at + 8], engine.settings
        )
        assert engine.losses[step]["margin"] == pytest.approx(margin.item(), rel=2e-3)
        optimizer.zero_grad()
        (margin + drawing).backward()
        optimizer.step()
    for name, weight in weights.items():
        assert (engine.weights[name] - weight).norm() < 0.01 * (
            first.weights[name] - weight
        ).norm(), name


@pytest.mark.slow
def test_what_reads_is_the_average_of_the_weights_of_late(evaluate):
    body = """
        return [1, 20].map((window) => {
            const net = n.makeNetwork({ ...data, batch: 4, types: 2 }, k.plainKernels);
            return Array.from({ length: 30 }, (_, step) => {
                net.gradients(new Float32Array(4 * 784).fill((step % 5) / 5), [0, 1, 2, 3]);
                net.update(0.01, window);
                return Array.from(net.tensors()["routed.weight"].data.subarray(0, 50));
            });
        });
    """
    newest, averaged = map(
        np.array, evaluate(body, SETTINGS, n="playground/network.js", k="playground/kernels.js")
    )
    expected = 0.0
    for step, weights in enumerate(newest):
        expected = expected + max(1 / 20, 10 / (10 + step)) * (weights - expected)
        assert np.allclose(averaged[step], expected, atol=1e-6)
    assert not np.allclose(averaged[-1], newest[-1], atol=1e-3)


def test_it_begins_as_my_capsnet_does(evaluate, tmp_path):
    """Expect the same sizes under the same names, and numbers of the same spread.

    They are uniform, but W is normal.
    """
    engine = Engine(evaluate, tmp_path, {}, steps=0)
    torch.manual_seed(0)
    expected = my_capsnet.CapsNet().state_dict()
    assert {name: weight.shape for name, weight in engine.weights.items()} == {
        name: weight.shape for name, weight in expected.items()
    }
    for name, weight in engine.weights.items():
        if weight.numel() < 1000:
            continue
        assert weight.mean().abs() < 5 * expected[name].std() / weight.numel() ** 0.5, name
        assert weight.std() == pytest.approx(expected[name].std().item(), rel=0.03), name
        fourth = lambda x: ((x - x.mean()) ** 4).mean() / x.var() ** 2  # noqa: E731
        assert fourth(weight) == pytest.approx(fourth(expected[name]).item(), rel=0.06), name
    assert (engine.weights["conv.weight"].abs() <= 1 / 9).all()


def test_the_same_seed_gives_the_same_bits(evaluate, tmp_path):
    runs = [Engine(evaluate, tmp_path, {"seed": seed}).bytes for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_it_reads_what_pytorch_has_learned(evaluate, tmp_path):
    """`my_capsnet`'s own weights, loaded: the same answers to 1e-5."""
    torch.manual_seed(3)
    network = my_capsnet.CapsNet()
    save_file(network.state_dict(), tmp_path / "weights")
    engine = Engine(evaluate, tmp_path, {}, steps=0, weights=str(tmp_path / "weights"))
    v, lengths, drawings = network(engine.images.float())
    assert (engine.capsules - v).abs().max() < 1e-5
    assert (engine.lengths - lengths).abs().max() < 1e-5
    assert (engine.drawings.view(-1, 784) - drawings).abs().max() < 1e-5


ANIMALS_TO_LEARN = """
    const { tensors, metadata } = c.readSafetensors(bytes(data.file));
    const sample = { ...tensors, card: JSON.parse(metadata.card) };
    const { learn } = await a.unpackAnimals(sample);
    const random = r.makeRandom(1);
    const numbers = Array.from({ length: 64 }, (_, n) => (7 * n) % learn.labels.length);
    save(data.out, numbers.map((n) => learn.picture(n, random)));
    return numbers.map((n) => learn.labels[n]);"""


def test_gradients_on_animals_are_those_of_autograd(evaluate, tmp_path):
    """Their pictures have more ink than digits, and greys of all strengths."""
    paths = {"file": str(asset("digits/animals.safetensors")), "out": str(tmp_path / "animals")}
    modules = {"a": "playground/animals.js", "c": "shared/core.js", "r": "shared/random.js"}
    labels = torch.tensor(evaluate(ANIMALS_TO_LEARN, paths, **modules))
    pictures = np.fromfile(tmp_path / "animals", np.float32).reshape(-1, 1, 28, 28)
    images = torch.from_numpy(pictures)
    assert images.mean() > 2 * first_digits()[0].mean()
    compare_with_autograd(Engine(evaluate, tmp_path, {}, (images, labels)))


# --- around the engine

DIGITS = asset("digits/digits.safetensors")


def test_the_digits_are_the_samples(evaluate, tmp_path):
    assert DIGITS.read_bytes() == pack_digits.packed()
    assert DIGITS.stat().st_size * 4 / 3 < 600_000, "as a script for pages on the disk"
    body = """
        const { learn, test } = await d.unpackDigits(c.readSafetensors(bytes(data[0])).tensors);
        const level = (grey) => Math.round(15 * grey);
        const learned = Array.from(learn.labels, (_, n) => learn.picture(n));
        const images = [...learned, test.images].map((part) => Uint8Array.from(part, level));
        save(data[1], [...images, learn.labels, test.labels]);
        return [learn.labels.length, test.labels.length];"""
    paths = [str(DIGITS), str(tmp_path / "out")]
    assert evaluate(body, paths, d="shared/digit_set.js", c="shared/core.js") == [4000, 500]
    came = torch.frombuffer(bytearray((tmp_path / "out").read_bytes()), dtype=torch.uint8)
    splits = [digits(split, source="sample") for split in ("train", "test")]
    images = torch.cat([split.images for split in splits]).flatten()
    assert (came[: images.numel()] / 15 - images).abs().max() <= 0.5 / 15 + 1e-6
    assert torch.equal(came[images.numel() :].long(), torch.cat([split.labels for split in splits]))


def test_the_hundred_of_the_wall_come_with_the_script(evaluate, tmp_path):
    """In at most 25 kB, as the playground's file has them, under their labels."""
    assert pack_digits.HUNDRED.read_text(encoding="utf-8") == pack_digits.hundred()
    assert pack_digits.HUNDRED.stat().st_size <= 25_000
    body = """
        const { images, labels } = await u.unpackHundred();
        save(data, [images]);
        return labels;"""
    labels = evaluate(body, str(tmp_path / "out"), u="playground/hundred.js")
    images = np.fromfile(tmp_path / "out", np.float32)
    test = digits("test", source="sample")
    assert labels == test.labels[:100].tolist()
    assert np.abs(images - test.images[:100].numpy().ravel()).max() <= 0.5 / 15 + 1e-6


@pytest.mark.slow
def test_a_network_learns_to_read_in_a_few_thousand_digits(evaluate):
    body = """
        const sample = c.readSafetensors(bytes(data)).tensors;
        const [settings] = s.settingsWith({}).settings;
        const training = await t.startTraining(settings, sample, { images: [], labels: [] });
        await training.run("all", 4000);
        return (await training.look(0)).tests;"""
    seen, wrong = zip(*evaluate(body, str(DIGITS), **PLAYGROUND), strict=True)
    assert seen[:5] == (0, 256, 512, 1008, 1504)  # the first batch at or after a moment
    assert seen[-1] == 4000
    assert wrong[0] > 0.7
    assert wrong[-1] < 0.1, "nine in ten are read"


@pytest.mark.slow
def test_it_rests_after_five_minutes_and_goes_on_when_asked(evaluate):
    body = """
        const clock = performance.now.bind(performance);
        performance.now = () => 300 * clock();
        const sample = c.readSafetensors(bytes(data)).tensors;
        const [settings] = s.settingsWith({}).settings;
        const training = await t.startTraining(settings, sample, { images: [], labels: [] });
        const restAndSeconds = async () => [
            await training.run("all"), (await training.look(0)).seconds,
        ];
        return [...(await restAndSeconds()), ...(await restAndSeconds())];"""
    rests, seconds, rests_again, later = evaluate(body, str(DIGITS), **PLAYGROUND)
    assert rests is rests_again is True
    assert 300 <= seconds < 450, "the step that it was in is finished"
    assert 600 <= later < 900


REOPENED = """ // a file of a network, through the engine and out again; or why it was refused
    try {
      const { tensors, types, rounds, remark } = f.fromSafetensors(bytes(data[0]));
      const [settings] = s.settingsWith({ types, rounds }).settings;
      const network = n.makeNetwork(settings, await k.loadKernels());
      network.load(tensors);
      save(data[1], [await f.toSafetensors(network.tensors(), f.configOf({ types, rounds }))]);
      return { types, rounds, remark };
    } catch (error) {
      return error.message;
    }"""


@pytest.mark.parametrize("types", [8, 4])
def test_a_network_travels_between_the_page_and_python(evaluate, tmp_path, types):
    """save_weights -> page -> load_weights: the same answers."""
    torch.manual_seed(1)
    config = replace(CapsNetConfig.small(), primary_types=types, conv_channels=8 * types)
    network = CapsNet(config).eval()
    save_weights(network, tmp_path / "there", torch.float32)
    came = evaluate(REOPENED, [str(tmp_path / "there"), str(tmp_path / "back")], **PLAYGROUND)
    assert came == {"types": types, "rounds": 3, "remark": ""}
    again = load_weights(tmp_path / "back")
    assert again.config == config
    images = digits("test", source="sample").images[:20]
    with torch.no_grad():
        assert all(torch.equal(p, q) for p, q in zip(network(images), again(images), strict=True))


def test_rounds_that_the_page_does_not_offer_are_said(evaluate, tmp_path):
    config = replace(CapsNetConfig.small(), iterations=4)
    save_weights(CapsNet(config), tmp_path / "there", torch.float32)
    report = evaluate(REOPENED, [str(tmp_path / "there"), str(tmp_path / "back")], **PLAYGROUND)
    assert report["rounds"] == 3
    assert "4 rounds of routing" in report["remark"]


def damaged_network(path: Path, name: str) -> None:
    """Write a file that is no network for the page, in one of several ways."""
    tensors = CapsNet(CapsNetConfig.small()).state_dict()
    config = {"config": json.dumps(asdict(CapsNetConfig.small()))}
    if name == "not a number":
        tensors["conv.bias"][3] = torch.nan
        save_file(tensors, path, config)
    elif name == "infinite":
        tensors["routed.weight"].view(-1)[-1] = torch.inf
        save_file(tensors, path, config)
    elif name == "other sizes":
        save_weights(CapsNet(CapsNetConfig(conv_channels=16, primary_types=4)), path)
    elif name == "no config":
        save_file({"x": torch.zeros(3)}, path)
    elif name == "a config of null":
        save_file({"x": torch.zeros(3)}, path, {"config": "null"})
    elif name == "a config that is no JSON":
        save_file({"x": torch.zeros(3)}, path, {"config": "{"})
    elif name == "double precision":
        save_file({"x": torch.zeros(3, dtype=torch.float64)}, path, config)
    elif name == "cut short":
        save_file(tensors, path, config)
        path.write_bytes(path.read_bytes()[:-2])
    elif name == "one byte":
        path.write_bytes(b"0")
    else:
        path.write_bytes(b"no network at all")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("not a number", "expected finite numbers in conv.bias; got nan or infinity"),
        ("infinite", "expected finite numbers in routed.weight; got nan or infinity"),
        ("other sizes", "of this page’s sizes"),
        ("no config", "expected a file that save_weights wrote; got one without a config"),
        ("a config of null", "expected a file that save_weights wrote; got one without a config"),
        ("a config that is no JSON", "got one without a config"),
        ("double precision", "(x is of F64)"),
        ("cut short", "is cut short)"),
        ("one byte", "got 1 bytes (too short for a header)"),
        ("nonsense", "got 17 bytes (its header cannot be read)"),
    ],
)
def test_a_file_that_is_no_such_network_is_refused_in_words(evaluate, tmp_path, name, words):
    damaged_network(tmp_path / "file", name)
    report = evaluate(REOPENED, [str(tmp_path / "file"), str(tmp_path / "out")], **PLAYGROUND)
    assert words in report


def test_settings_from_python_are_taken_or_said_to_be_none(evaluate):
    given = RaiseOne(rounds=[1, 4], drawing=1e-5, lambda_=0.25, colour=1).settings
    came = evaluate("return s.settingsWith(...data);", given, **PLAYGROUND)
    one, other = came["settings"]
    assert (one["rounds"], other["rounds"]) == (1, 3), "what is wrong is left out"
    assert {"drawing": 1e-5, "lambda": 0.25}.items() <= one.items() & other.items()
    assert (
        came["problems"]
        == "There is no setting colour. For rounds, expected one of 1, 2, 3, 5; got 4."
    )


def test_an_address_holds_settings_and_nonsense_is_said(evaluate):
    hashes = ["#how-it-works", "#", "#rounds=1,3&seed=7", "#rate=0.01&bug=softmax-axis&m_plus=0.8"]
    nonsense = [
        "#rounds=4",
        "#rate=fast",
        "#colour=red",
        "#seed=1.5",
        "#rounds=1,2,3",
        "#m_plus=",
        "#bug=<b>",
        "#=",
    ]
    texts = (path.read_text(encoding="utf-8") for path in all_notebooks(ROOT))
    linked = sorted(
        {found for text in texts for found in re.findall(r"raise-one\.ipynb(#[^)]*)", text)}
    )
    body = """
        return data.map((hash) => {
          const found = s.fromAddress(hash);
          return found && { ...found, again: s.toAddress(found.settings) };
        });"""
    plain, empty, two, one, *others = evaluate(body, hashes + nonsense + linked, **PLAYGROUND)
    refusals, presets = others[: len(nonsense)], others[len(nonsense) :]
    assert linked and [preset["again"] for preset in presets] == linked, "the book's links"
    assert plain is empty is None, "a heading's address is none of ours"
    assert [setting["rounds"] for setting in two["settings"]] == [1, 3]
    assert [setting["seed"] for setting in two["settings"]] == [7, 7]
    assert two["again"] == "#rounds=1,3&seed=7"
    assert len(one["settings"]) == 1
    assert {name: one["settings"][0][name] for name in ("rate", "bug", "m_plus")} == {
        "rate": 0.01, "bug": "softmax-axis", "m_plus": 0.8,
    }  # fmt: skip
    assert not two["problems"] + one["problems"]
    for refusal in refusals:
        problems = refusal["problems"]
        assert refusal["again"] == "#", "what is wrong is left out"
        assert problems.count("got") + problems.count("There is no setting") == 1


def test_what_a_notebook_says_repeats_the_settings(evaluate):
    """`lambda` is a word of Python's own."""
    others = [{"rounds": 1, "lambda": 0.25, "bug": "recon-mean", "seed": 7}, {"rounds": 3}]
    body = "const { settings } = s.settingsWith(...data); return [settings, s.toPython(settings)];"
    settings, words = evaluate(body, others, **PLAYGROUND)
    widget = eval(words, {"RaiseOne": RaiseOne})
    again, _ = evaluate(body, widget.settings, **PLAYGROUND)
    assert again == settings


SIGN_OF_STROKES = """
    const wave = (k, n) => [0.5 + 0.25 * Math.sin(0.7 * k + 0.02 * n), 0.2 + 0.06 * k];
    const stroke = (n) => [Array.from({ length: 10 }, (_, k) => wave(k, n))];
    const images = Array.from({ length: 10 }, (_, n) => i.toImage(stroke(n)));
    const sign = { place: 8, images };
"""


def test_a_sign_has_a_digits_place_in_tests_and_batches(evaluate):
    """Two of the drawings are for tests alone; other digits stay as they are."""
    body = f"""{SIGN_OF_STROKES}
        const labels = Uint8Array.from([8, 1, 8, 3]);
        const test = {{ images: new Float32Array(4 * 784).fill(0.5), labels }};
        const picture = (n) => test.images.subarray(n * 784, (n + 1) * 784);
        const changed = s.withSign(test, sign).images;
        const isSame = (n) => changed[n * 784] === 0.5 && changed[n * 784 + 400] === 0.5;
        const own = {{ images: [], labels: [], sign }};
        const learned = new b.Batches({{ labels, picture }}, own, {{ batch: 4, seed: 1 }});
        learned.next();
        const sums = Array.from(learned.labels, (label, n) =>
            [label, learned.images.subarray(n * 784, (n + 1) * 784).reduce((x, y) => x + y)]);
        return {{ same: [0, 1, 2, 3].map(isSame), sums, without: s.withSign(test) === test }};"""
    result = evaluate(body, i="shared/ink.js", s="playground/sign.js", b="playground/batches.js")
    assert result["same"] == [False, True, False, True]
    assert result["without"]
    for label, ink in result["sums"]:
        assert (ink < 150) == (label == 8), "strokes are thin, and the other digits a grey square"


def test_a_drawing_that_is_not_moved_stays_as_it_is(evaluate):
    """And a quarter turn is NumPy's."""
    drawing = np.zeros((28, 28))
    drawing[6:20, 8:12] = 1
    body = """
        const pose = { angle: 0, size: 1, right: 0, down: 0 };
        const still = p.posed(data, 28, pose);
        return [still, p.posed(data, 28, { ...pose, angle: Math.PI / 2 })];"""
    still, turned = evaluate(body, drawing.flatten(), p="playground/posed.js")
    inside = np.s_[8:18, 9:11]  # edges are soft
    assert np.allclose(np.reshape(still, (28, 28))[inside], 1, atol=1e-5)
    assert np.allclose(sum(still), drawing.sum(), rtol=1e-3)
    assert np.allclose(
        np.reshape(turned, (28, 28)), np.rot90(np.reshape(still, (28, 28)), -1), atol=1e-4
    )


def test_a_sign_is_kept_with_the_network(evaluate, tmp_path):
    """Python calls it by its name; what is no sign is refused in words."""
    body = f"""{SIGN_OF_STROKES}
        const net = n.makeNetwork(data.settings, k.plainKernels);
        const about = {{ sign: s.toText(sign), class_names: data.names }};
        const file = await f.toSafetensors(net.tensors(), f.configOf(data.settings), about);
        save(data.path, [file]);
        const again = f.fromSafetensors(file.buffer).sign;
        const apart = again.images.flatMap((image, m) =>
            Array.from(image, (x, j) => Math.abs(x - images[m][j])));
        const wrong = ["", "null", '{{"place":8}}', '{{"place":10,"drawings":[]}}', "<b>"];
        const refused = wrong.map((text) => complaint(() => s.fromText(text)));
        return {{ place: again.place, apart: Math.max(...apart), refused,
            none: s.fromText(undefined) === undefined }};"""
    names = [*"01234567", "★", "9"]
    data = {"settings": SETTINGS, "names": json.dumps(names), "path": str(tmp_path / "signed")}
    modules = {"i": "shared/ink.js", "s": "playground/sign.js", "f": "playground/files.js"}
    result = evaluate(body, data, **modules, n="playground/network.js", k="playground/kernels.js")
    assert result["place"] == 8
    assert result["apart"] <= 0.5 / 255 + 1e-6
    assert result["none"]
    assert all("expected a sign of 10 drawings" in words for words in result["refused"])
    assert list(load_weights(tmp_path / "signed").class_names) == names


def test_an_address_says_that_a_sign_cannot_travel(evaluate):
    body = """
        const { settings, problems } = s.fromAddress("#seed=7&sign=8");
        const wrong = s.fromAddress("#sign=<b>").problems;
        return [s.toAddress(settings, { sign: { place: 8 } }), problems, wrong];"""
    address, words, wrong = evaluate(body, **PLAYGROUND)
    assert address == "#seed=7&sign=8"
    assert "An address cannot hold" in words
    assert wrong == "For sign, expected a number from 0 to 9; got <b>."


def test_an_address_says_that_a_hand_cannot_travel(evaluate):
    body = """
        const { settings, problems } = s.fromAddress("#seed=7&hand=1");
        const python = s.toPython(settings, true);
        return [s.toAddress(settings, { hand: true }), problems, python];"""
    address, words, python = evaluate(body, **PLAYGROUND)
    assert address == "#seed=7&hand=1"
    assert "An address cannot hold" in words
    assert python.startswith("RaiseOne(seed=7)  # without the parts")


def test_the_interval_is_students(evaluate):
    differences = [0.4, -0.2, 1.0, 0.6, 0.0, 0.8, -0.4, 0.2, 0.4, 1.2]
    for n in (2, 5, 10):
        came = evaluate("return m.pairedInterval(data);", differences[:n], m="playground/pairs.js")
        low, high = stats.t.interval(
            0.95, n - 1, np.mean(differences[:n]), stats.sem(differences[:n])
        )
        assert came["mean"] - came["half"] == pytest.approx(low, rel=1e-3)
        assert came["mean"] + came["half"] == pytest.approx(high, rel=1e-3)


def test_two_networks_are_a_list_of_two():
    assert RaiseOne(rounds=[1, 3], lambda_=0.25).settings == [
        {"rounds": k, "lambda": 0.25} for k in (1, 3)
    ]
    assert repr(RaiseOne(rounds=[1, 3])) == "RaiseOne(rounds=[1, 3])"


def test_what_was_kept_is_a_network(tmp_path):
    widget = RaiseOne()
    with pytest.raises(ValueError, match="a network that was kept"):
        widget.network()
    network = CapsNet(CapsNetConfig.small()).eval()
    save_weights(network, tmp_path / "kept", torch.float32)
    widget.set_state({"weights": memoryview((tmp_path / "kept").read_bytes())})
    assert torch.equal(widget.network().routed.weight, network.routed.weight)
