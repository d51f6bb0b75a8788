"""Capsules that turn, as the page reads with them, against PyTorch; and their speed."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from capsnet_book.assets import asset
from capsnet_book.turning import (
    AngleReader,
    digits_network,
    save_reader,
    trained_decoder,
    trained_reader,
    turned_filters,
)

from capsnet_tutorial.augment import Pose, transform
from capsnet_tutorial.data import digits

Evaluate = Callable[..., Any]
MILLISECONDS = 60
"""What a picture may take on a machine that has other work as well; some 10 where it has not."""


@pytest.fixture(scope="module")
def reader() -> AngleReader:
    """Weights by chance, of which no two answers tie."""
    torch.manual_seed(0)
    reader = AngleReader(digits_network())
    for parameter in reader.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return reader.eval()


def test_filters_are_turned_as_in_pytorch(evaluate: Evaluate) -> None:
    filters = torch.randn(2, 11, 11, generator=torch.Generator().manual_seed(0))
    expected = turned_filters(filters, 12).numpy()
    body = """
        const turns = new m.Turns(11, 12);
        const copiesOf = (filter) => {
          const copies = new Float32Array(11 * 11 * 12); // [S · S, K]
          for (let turn = 0; turn < 12; turn++) turns.turn(Float32Array.from(filter), copies, turn);
          return copies;
        };
        return data.map(copiesOf);"""
    copies = np.array(evaluate(body, filters.flatten(1), m="turning/filters.js"))
    turned = copies.reshape(2, 11, 11, 12).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(turned, expected, atol=1e-5)


def test_scores_parts_and_turn_are_pytorchs(
    evaluate: Evaluate, reader: AngleReader, tmp_path: Path
) -> None:
    images = digits("test", source="sample").images[:20]
    images = transform(images, Pose(rotation=18.0 * torch.arange(20)))
    save_reader(reader, tmp_path / "reader.safetensors")
    images.numpy().astype(np.float32).tofile(tmp_path / "images")
    body = """
        const { answer, forward } = await m.makeTurningNet(bytes(data.weights));
        const pixels = floats(data.images);
        const image = (k) => pixels.subarray(k * 784, (k + 1) * 784);
        const answers = Array.from({ length: 20 }, (_, k) => forward(image(k)));
        const began = process.cpuUsage();
        for (let k = 0; k < 20; k++) forward(image(k));
        const { user, system } = process.cpuUsage(began);
        const milliseconds = (user + system) / 1000 / 20;
        const inner = answers.map(({ scores, turn, parts, votes, pose }, k) => {
          const weight = votes.map((vote) => vote.weight);
          return { scores, short: answer(image(k)).scores, turn, parts, weight, pose };
        });
        return { inner, milliseconds };"""
    paths = {
        "weights": str(tmp_path / "reader.safetensors"),
        "images": str(tmp_path / "images"),
    }
    answer = evaluate(body, paths, m="shared/turning_net.js")
    with torch.no_grad():
        scores, turn, pose = reader.read(images)
        poses, presence = reader.network.parts(images)
        votes = reader.network.votes(poses)
        support = reader.network.agreement.support(votes, presence, scores.argmax(dim=1))
    for k, inner in enumerate(answer["inner"]):
        np.testing.assert_allclose(inner["scores"], scores[k], atol=1e-4)
        assert inner["short"] == inner["scores"]
        there = [part["presence"] for part in inner["parts"]]
        np.testing.assert_allclose(there, presence[k].flatten(), atol=1e-4)
        np.testing.assert_allclose(inner["weight"], support[k].flatten(), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(inner["pose"], pose[k].flatten(), atol=1e-3)
        angle = math.radians(inner["turn"])
        np.testing.assert_allclose([math.cos(angle), math.sin(angle)], turn[k], atol=1e-4)
    print(f"{answer['milliseconds']:.1f} ms a picture")
    assert answer["milliseconds"] < MILLISECONDS


def test_the_drawing_from_pixels_is_pytorchs(evaluate: Evaluate, tmp_path: Path) -> None:
    """Of the page's own reader and decoder: the digit that is read is drawn, turned by more."""
    images = digits("test", source="sample").images[:12]
    images = transform(images, Pose(rotation=30.0 * torch.arange(12)))
    images.numpy().astype(np.float32).tofile(tmp_path / "images")
    more = 25.0
    reader, decoder = trained_reader(), trained_decoder()
    with torch.no_grad():
        scores, turn, pose = reader.read(images)
        by = torch.deg2rad(torch.tensor(more))
        cos, sin = turn.unbind(dim=1)
        turned = torch.stack(
            [cos * by.cos() - sin * by.sin(), sin * by.cos() + cos * by.sin()], dim=1
        )
        expected = decoder(pose, scores.argmax(dim=1), turned)
    body = """
        const { forward } = await m.makeTurningNet(bytes(data.reader));
        const { draw } = m.makePoseDecoder(bytes(data.decoder));
        const pixels = floats(data.images);
        return Array.from({ length: 12 }, (_, k) => {
          const { pose, prediction, turn } = forward(pixels.subarray(k * 784, (k + 1) * 784));
          return Array.from(draw(pose, prediction, turn + data.more));
        });"""
    weights = {
        name: str(asset(f"weights/{file}.safetensors"))
        for name, file in (("reader", "small-turning"), ("decoder", "small-turning-decoder"))
    }
    data = {**weights, "images": str(tmp_path / "images"), "more": more}
    drawings = evaluate(body, data, m="shared/turning_net.js")
    np.testing.assert_allclose(drawings, expected.flatten(1), atol=1e-3)
