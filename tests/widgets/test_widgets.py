"""The Python side: what is sent to the page, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from _ext.widgets.sources import file_of, script_of
from capsnet_book import widgets
from capsnet_book.palette import DARK, LIGHT
from capsnet_book.widgets import _sources
from capsnet_book.widgets._network import shared_network
from capsnet_book.widgets.face_parts import FACE

from capsnet_tutorial import CapsNet, CapsNetConfig, load_weights
from capsnet_tutorial.data import Digits, digits

WEIGHTS = (files("capsnet_tutorial.assets") / "weights" / "small.safetensors").read_bytes()
TWO = np.stack([np.eye(28, dtype=np.uint8) * 255, np.zeros((28, 28), np.uint8)])


@pytest.fixture(scope="module")
def sample() -> Digits:
    return digits("test", source="sample")


# --- the network


def test_one_network_for_all_widgets_with_the_files_exact_bytes():
    first, second = widgets.BendCapsule(TWO, [0, 1]), widgets.BendCapsule()
    assert first.network is second.network
    assert first.network.weights == WEIGHTS
    assert first.get_state("network") == {"network": f"anywidget:{first.network.model_id}"}
    assert first.network._repr_mimebundle_() is None  # nothing to look at


def test_the_readers_own_network_travels_with_its_sliders(tmp_path):
    torch.manual_seed(0)
    own = CapsNet(CapsNetConfig.small())
    for widget in (widgets.BendCapsule(own), widgets.BendCapsule(TWO, [0, 1], model=own)):
        path = tmp_path / "came.safetensors"
        path.write_bytes(widget.network.weights)
        came = load_weights(path).state_dict()
        assert all(torch.equal(came[name], own.state_dict()[name].half().float()) for name in came)
    assert len(widgets.BendCapsule(own).labels) == 10
    assert widgets.BendCapsule().network.weights != widgets.BendCapsule(own).network.weights


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (torch.nn.Linear(2, 2), "expected a CapsNet"),
        (CapsNet(CapsNetConfig(image_size=36, conv_channels=4, primary_types=1)), "28×28"),
        ("small", "a network"),
    ],
)
def test_a_network_that_cannot_bend_digits_is_refused(model, words):
    with pytest.raises(ValueError, match=words):
        widgets.BendCapsule(model=model)


def test_a_closed_network_is_made_anew():
    closed = shared_network()
    closed.close()
    opened = shared_network()
    assert opened is not closed
    assert opened.weights == WEIGHTS


# --- the source


WIDGETS = [getattr(widgets, name) for name in widgets.__all__]


@pytest.mark.parametrize("widget", WIDGETS)
def test_the_source_is_one_module_that_needs_nothing_else(widget):
    source = widget._esm
    code = re.sub(
        r"/\*.*?\*/", "", source, flags=re.DOTALL
    )  # comments may name a type of another file
    assert not re.search(r"^\s*import\b|\bimport\(", code, re.MULTILINE)
    assert source.count("export default ") == 1
    for forbidden in (
        "innerHTML",
        "insertAdjacentHTML",
        "http://",
        "https://",
        "eval(",
        "localStorage",
    ):
        assert forbidden not in source.replace("http://www.w3.org/2000/svg", "")


def test_every_module_loads_in_its_own_scope(evaluate, tmp_path):
    for widget in WIDGETS:
        (tmp_path / f"{widget.__name__}.mjs").write_text(widget._esm, encoding="utf-8")
        evaluate("return [];", m=str(tmp_path / f"{widget.__name__}.mjs"))


def test_modules_are_joined_as_modules(evaluate, tmp_path, monkeypatch):
    """Each keeps its names, imports may rename, and what the joining does not know is refused."""
    texts = {
        "a.js": (
            'import { one as first } from "./deep/b.js";\n'
            "const hidden = 1;\n"
            "export const sum = first + hidden;\n"
        ),
        "deep/b.js": "const hidden = 40;\nexport const one = hidden + 1;\n",
        "circle.js": 'import { x } from "./circle.js";\n',
        "foreign.js": 'import x from "package";\n',
        "star.js": "export * from 'x';\n",
    }
    monkeypatch.setattr(_sources, "_read", texts.__getitem__)
    (tmp_path / "a.mjs").write_text(_sources.module("a.js"), encoding="utf-8")
    assert evaluate("return m.sum;", m=str(tmp_path / "a.mjs")) == 42
    for name in ("circle.js", "foreign.js", "star.js"):
        with pytest.raises(ValueError, match="expected"):
            _sources.module(name)


@pytest.mark.parametrize("widget", WIDGETS)
def test_the_stylesheet_uses_the_palette_and_nothing_but_it(widget):
    rules = widget._css[widget._css.index("/* All widgets.") :]
    used = {part.split(")")[0] for part in rules.split("var(--caps-")[1:]}
    assert used <= LIGHT.keys() & DARK.keys()
    assert not any(word in rules for word in ("#fff", "#000", "rgb(", "hsl(", "url(", "@import"))


# --- pose sliders


def test_digits_come_as_whatever_they_are(sample):
    expected = np.rint(sample.images[:3, 0].numpy() * 255).astype(np.uint8).tobytes()
    labels = sample.labels[:3]
    for images in (
        sample.images[:3],
        sample.images[:3, 0],
        sample.images[:3].numpy(),
        sample.images[:3, 0].double().numpy(),
        (sample.images[:3] * 255).round().to(torch.uint8),
        sample.images[:3].tolist(),
    ):
        assert widgets.BendCapsule(images, labels).images == expected
    assert set(widgets.BendCapsule(np.full((1, 28, 28), 0.999), [0]).images) == {
        255
    }  # the nearest, not the one below
    widget = widgets.BendCapsule(Digits(sample.images[:3], labels, "sample"))
    assert widget.images == expected
    assert widget.labels == labels.tolist()
    assert widgets.BendCapsule(
        SimpleNamespace(images=sample.images[:3], labels=labels), [7, 8, 9]
    ).labels == [7, 8, 9]


@pytest.mark.parametrize(
    ("images", "labels", "words"),
    [
        (np.zeros((2, 27, 28)), [0, 1], r"\[N, 28, 28\].*\[2, 27, 28\]"),
        (np.full((1, 28, 28), 1.01), [0], "0, 1.*1.01"),
        (np.full((1, 28, 28), np.nan), [0], "nan"),
        (TWO, [0], r"2 whole numbers.*\[1\]"),
        (TWO, [0, 10], "0 to 9.*10"),
        (None, [0], "digits"),
    ],
)
def test_bad_digits_are_refused_in_words(images, labels, words):
    with pytest.raises(ValueError, match=words):
        widgets.BendCapsule(images, labels)


def test_names_for_all_or_by_label():
    texts = [f"name {d}" for d in range(16)]
    assert widgets.BendCapsule(TWO, [3, 4], names=texts).names == {"3": texts, "4": texts}
    assert widgets.BendCapsule(TWO, [3, 4], names={4: texts}).names == {"4": texts}
    for names in (["too", "few"], {"x": texts}):
        with pytest.raises(ValueError, match="expected"):
            widgets.BendCapsule(TWO, [3, 4], names=names)


def test_state_reaches_python():
    """What a front end sends back, as ipywidgets hands it over."""
    widget = widgets.BendCapsule(TWO, [0, 1])
    widget.set_state({"index": 1, "offsets": [0.25] + [0] * 15})
    assert (widget.index, widget.offsets[0]) == (1, 0.25)
    vector = widgets.SquashVector()
    vector.set_state({"s": [0, 2]})
    assert vector.s == [0, 2]


# --- what is refused

NAN = float("nan")


REFUSED = [
    (widgets.BendCapsule, {"index": 10}, "index from 0 to 9; got 10"),
    *(
        (widgets.BendCapsule, {"offsets": offsets}, "expected offsets")
        for offsets in ([0.1] * 15, [NAN] * 16)
    ),
    *(
        (widgets.SquashVector, {"s": s}, r"s as finite .* \[2\]")
        for s in ([1.0], [1.0, 2.0, 3.0], [1, NAN], [NAN, 0])
    ),
    (widgets.MarginLoss, {"lengths": [0.5] * 9}, r"lengths as .* \[10\]; got shape \[9\]"),
    (widgets.MarginLoss, {"selected": 10}, "0 to 9"),
    (widgets.CutFeatures, {"way": "reshape"}, "expected way as one of .*; got 'reshape'"),
    (widgets.Choose, {"question": "bug"}, "expected question as one of .*; got 'bug'"),
    (widgets.Choose, {"chosen": -2}, "expected chosen from -1 on; got -2"),
    (widgets.SquashVector, {"guess": [0.5]}, r"guess as .* \[7\]"),
    *(
        (widgets.PartVotes, {"poses": poses}, "expected poses")
        for poses in ([[0, 0, 0]], [[0, 0], [0, 0]], [[0, 0, NAN]] * 2)
    ),
    *(
        (widgets.FaceParts, {"poses": poses}, "expected poses")
        for poses in (FACE[:3], [*FACE[:3], [0, 0, NAN, 1]])
    ),
    (
        widgets.FaceParts,
        {"poses": [[1.7, 0, 0, 1], *FACE[1:]]},
        r"left eye within 1.6 of the centre; got \(1.7",
    ),
    (widgets.FaceParts, {"shown": [True] * 3}, "4 truth values"),
    (widgets.TurnDial, {"turn": 91}, "turn from -90 to 90; got 91"),
    (widgets.TurnScene, {"angle": 181}, "angle from -180 to 180; got 181"),
    (widgets.TurnDigit, {"angle": -181}, "angle from -180 to 180; got -181"),
    (widgets.TurnDigit, {"pose": 181}, "pose from -180 to 180; got 181"),
    (widgets.TurnDigit, {"index": 10}, "index from 0 to 9; got 10"),
    (widgets.TurnDigit, {"mode": "learn"}, "mode as turn or raise; got learn"),
    (widgets.TwoDigits, {"first": 30}, "a digit from 0 to 29; got 30"),
    (widgets.TwoDigits, {"at": [0, 0, 0, 5]}, "four whole numbers from -4 to 4"),
    (widgets.TwoDigits, {"asked": 10}, "a class from 0 to 9"),
    (widgets.BendCapsule, {"keep": "shortest"}, "expected keep"),
]


@pytest.mark.parametrize(("widget", "state", "words"), REFUSED)
def test_what_is_wrong_is_refused_in_words(widget, state, words):
    """Whether Python says it or a front end sends it."""
    state = {
        name: list(map(list, value)) if name == "poses" else value for name, value in state.items()
    }
    with pytest.raises(ValueError, match=words):
        widget().set_state(state)
    made = widget()
    for name, value in state.items():
        with pytest.raises(ValueError, match=words):
            setattr(made, name, value)


def test_votes_and_cases_are_checked():
    for u_hat in (np.zeros((3, 2)), np.full((3, 2, 2), NAN)):
        with pytest.raises(ValueError, match="expected votes"):
            widgets.RoutingSteps(u_hat)
    for case in ((0, 30, (0, 0, 0, 0)), (0, 3, (0, -9, 0, 0))):
        with pytest.raises(ValueError, match="expected"):
            widgets.TwoDigits(cases={"far": case})


# --- what the text calls them

NAMED = re.compile(r"\b(?:press|hold|open|behind) \*{1,2}([^*\n]+)\*", re.IGNORECASE)


def test_what_the_text_tells_to_press_is_a_label():
    sources = " ".join(widget._esm for widget in WIDGETS) + _sources.module("glass/stage.js")
    named = set()
    for chapter in sorted((Path(__file__).parents[2] / "book" / "chapters").glob("*.ipynb")):
        cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
        text = "\n".join(
            "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
        )
        named |= set(NAMED.findall(text))
    assert {"Picasso", "Clear"} <= named
    assert not {label for label in named if label.split(" by ")[0] not in sources}


@pytest.mark.parametrize("name", widgets.__all__)
def test_a_page_of_the_book_has_a_widgets_own_styles_and_script(name: str) -> None:
    """The build of the book finds both by the class's name, without the class."""
    kind = getattr(widgets, name)
    identifier = f"{kind.__module__}.{name}"
    file, version = file_of({"state": {"_anywidget_id": identifier}}).split("?v=")
    script = script_of(file.removesuffix(".js"))
    sources = json.loads(script[script.index("{") : script.rindex("}") + 1])
    assert sources == {"module": kind._esm, "styles": kind._css}
    assert hashlib.sha256(script.encode()).hexdigest().startswith(version)
