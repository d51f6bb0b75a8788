"""The playground's animals: their file, their pictures, and what switches to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from capsnet_book import animals
from capsnet_book.assets import asset
from capsnet_book.widgets import RaiseOne
from safetensors import safe_open
from torch import Tensor

from capsnet_tutorial import load_weights
from tools import pack_animals

FILE = asset("digits/animals.safetensors")
DIGITS = asset("digits/digits.safetensors")
MODULES = {
    "a": "playground/animals.js",
    "c": "shared/core.js",
    "f": "playground/files.js",
    "k": "playground/kernels.js",
    "n": "playground/network.js",
    "o": "playground/settings.js",
    "p": "playground/posed.js",
    "s": "playground/session.js",
}
SAMPLE = """
    const { tensors, metadata } = c.readSafetensors(bytes(data.animals));
    const sample = { ...tensors, card: JSON.parse(metadata.card) };
"""
NETWORKS_THAT_WAIT = """
    globalThis.Worker = class {
        postMessage({ id }) {
            const frame = { seen: 0 };
            setTimeout(() => this.onmessage({ data: { id, answer: frame } }));
        }
        terminate() {}
    };
    const fetched = [];
    const fetchFile = async (name) => {
        fetched.push(name);
        return bytes(data[name]);
    };
    const { settings } = o.settingsWith({});
    const session = new s.Session(settings, fetchFile, () => {});
    const switchTo = async (name) => {
        session.change(session.settings.map((setting) => ({ ...setting, data: name })));
        await new Promise((done) => setTimeout(done, 200));
    };
"""


@pytest.fixture
def ask(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs JavaScript with the playground's modules and both files."""

    def run(body: str, **more: Any) -> Any:
        return evaluate(body, {"animals": str(FILE), "digits": str(DIGITS), **more}, **MODULES)

    return run


def test_the_file_is_packed_from_the_chapters_drawings(ask: Callable[..., Any]) -> None:
    assert FILE.read_bytes() == pack_animals.packed()
    assert FILE.stat().st_size * 4 / 3 < 600_000, "as a script for pages on the disk"
    with safe_open(FILE, "pt") as file:
        card = json.loads(file.metadata()["card"])
    for artist in card["artists"]:
        assert artist["licence"]
        assert artist["source"].startswith("https://")
        assert artist["licence_url"].startswith("https://")
    names = ask("const [settings] = o.settingsWith({ data: 'animals' }).settings;"
                "return new s.Session([settings], undefined, () => {}).names();")  # fmt: skip
    assert names == card["animals"]


def test_artists_of_the_tests_are_never_learned_from(
    ask: Callable[..., Any], tmp_path: Path
) -> None:
    """Each of the sixty drawings is met once a pass; a test has every animal of every artist."""
    body = f"""{SAMPLE}
        const {{ learn, test, known }} = await a.unpackAnimals(sample);
        const middle = () => 0.5; // no turn, no shift: the mean of what chance can do
        save(data.out, Array.from(learn.labels, (_, n) => learn.picture(n, middle)));
        const about = ({{ labels, artists }}) => [Array.from(labels), Array.from(artists)];
        return {{ learn: Array.from(learn.labels), test: about(test), known: about(known) }};"""
    report = ask(body, out=str(tmp_path / "out"))
    assert sorted(report["learn"]) == sorted(list(range(10)) * len(animals.SHOWN))
    for name, rows, count in (("test", animals.UNSEEN, 500), ("known", animals.SHOWN, 300)):
        labels, artists = report[name]
        assert len(labels) == count
        assert set(zip(labels, artists, strict=True)) == {
            (label, row) for label in range(10) for row in rows
        }
    pictures = np.fromfile(tmp_path / "out", np.float32).reshape(-1, 10, 28, 28)
    drawings = F.interpolate(pack_animals.greys()[list(animals.SHOWN)], size=(28, 28), mode="area")
    for picture, drawing in zip(pictures, drawings.numpy(), strict=True):
        assert np.corrcoef(picture.ravel(), drawing.ravel())[0, 1] > 0.7


def placed_by_pytorch(
    drawing: Tensor, angle: float, size: float, shift: tuple[float, float]
) -> Any:
    """Return a drawing [S, S], turned, enlarged and moved by PyTorch: [28, 28]."""
    turn = torch.tensor(angle)
    cosine, sine = turn.cos() / size, turn.sin() / size
    right, down = shift[0] / 14, shift[1] / 14
    rows = [
        [cosine, sine, -(cosine * right + sine * down)],
        [-sine, cosine, sine * right - cosine * down],
    ]
    matrix = torch.tensor(rows)[None]
    places = F.affine_grid(matrix, [1, 1, 56, 56], align_corners=False)
    return F.avg_pool2d(F.grid_sample(drawing[None, None], places, align_corners=False), 2)[0, 0]


def test_a_drawing_is_placed_as_pytorch_places_it(ask: Callable[..., Any]) -> None:
    drawing = pack_animals.greys()[6, 1]  # a cat
    pose = {"angle": 0.2, "size": 0.9, "right": 2.0, "down": -1.0}
    body = "return p.posed(data.drawing, 44, data.pose);"
    picture = ask(body, drawing=drawing.flatten(), pose=pose)
    expected = placed_by_pytorch(drawing, 0.2, 0.9, (2.0, -1.0))
    assert np.abs(np.array(picture).reshape(28, 28) - expected.numpy()).max() < 1e-5


def test_what_is_not_asked_for_is_not_fetched(ask: Callable[..., Any]) -> None:
    """And what the reader drew for one set waits there."""
    body = f"""{NETWORKS_THAT_WAIT}
        await session.getHundred();
        session.own.images.push(new Float32Array(784));
        session.own.labels.push(3);
        const before = [...fetched];
        await switchTo("animals");
        const there = {{ own: session.own.labels.length, names: session.names() }};
        const {{ labels }} = session.hundreds.animals;
        await switchTo("digits");
        const {{ notice, own }} = session;
        return {{ before, there, labels, fetched, notice, own: own.labels }};"""
    report = ask(body)
    assert report["before"] == []
    assert report["fetched"] == ["animals"]
    assert report["there"]["own"] == 0
    assert report["there"]["names"][1] == "cat"
    assert report["labels"] == list(range(10)) * 10
    assert report["own"] == [3]
    assert not report["notice"]


def test_the_wall_shows_the_first_hundred_tests(ask: Callable[..., Any]) -> None:
    body = f"""{SAMPLE}
        const hundred = await a.hundredAnimals(sample);
        const {{ test }} = await a.unpackAnimals(sample);
        return hundred.images.every((grey, k) => grey === test.images[k]);"""
    assert ask(body)


def test_an_address_names_the_animals_and_two_networks_have_the_same(
    ask: Callable[..., Any],
) -> None:
    body = """
        const taken = data.hashes.map((hash) => o.fromAddress(hash));
        const again = taken.map(({ settings }) => o.toAddress(settings));
        return { taken, again, python: o.toPython(taken[0].settings) };"""
    hashes = [
        "#data=animals&rounds=1,3",
        "#data=digits,animals",
        "#data=ants",
        "#data=animals&sign=1",
    ]
    report = ask(body, hashes=hashes)
    assert report["again"] == ["#data=animals&rounds=1,3", "#", "#", "#data=animals"]
    problems = [taken["problems"] for taken in report["taken"]]
    assert problems[:3] == [
        "",
        "Two networks have the same pictures.",
        "For data, expected one of digits, animals; got ants.",
    ]
    assert "in the place of the cat." in problems[3]
    widget = eval(report["python"], {"RaiseOne": RaiseOne})
    assert [settings["data"] for settings in widget.settings] == ["animals", "animals"]


def test_a_file_says_that_it_reads_animals(ask: Callable[..., Any], tmp_path: Path) -> None:
    """Python knows their names, and the page finds them again."""
    path = tmp_path / "network"
    body = f"""{NETWORKS_THAT_WAIT}
        await switchTo("animals");
        const network = n.makeNetwork(session.settings[0], await k.loadKernels());
        const call = async () => network.tensors();
        session.trainees = [{{ settings: session.settings[0], call }}];
        const file = await session.file();
        save(data.out, [file]);
        return f.fromSafetensors(file.buffer).data;"""
    assert ask(body, out=str(path)) == "animals"
    assert load_weights(path).class_names[1] == "cat"


def test_a_gallery_counts_by_artist_and_leaves_the_readers_sign_out(
    ask: Callable[..., Any],
) -> None:
    body = """
        const tests = (artists, labels) => ({ artists: Uint8Array.from(artists), labels });
        const unseen = tests([2, 2, 3, 3], [0, 1, 0, 1]);
        const known = tests([0, 1], [0, 0]);
        return a.galleryOf(unseen, [0, 9, 9, 9], known, [0, 5], 1);"""
    assert ask(body) == {
        "counts": [
            {"read": 1, "pictures": 1},
            {"read": 0, "pictures": 1},
            {"read": 1, "pictures": 1},
            {"read": 0, "pictures": 1},
        ],
        "known": 50,
        "unseen": 50,
    }


@pytest.mark.slow
def test_it_learns_artists_that_it_is_shown_and_half_of_the_others(
    ask: Callable[..., Any],
) -> None:
    body = f"""{SAMPLE}
        const t = await import(data.training);
        const [settings] = o.settingsWith({{ data: "animals" }}).settings;
        const training = await t.startTraining(settings, sample, {{ images: [], labels: [] }});
        await training.run("all", 4000);
        return (await training.look(0)).gallery;"""
    module = Path(animals.__file__).parent / "widgets" / "playground" / "training.js"
    gallery = ask(body, training=module.as_uri())
    assert gallery["known"] > 90
    assert gallery["unseen"] > 50
