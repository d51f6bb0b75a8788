"""The replay: what the recording holds, what the page reads from it, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import anywidget
import numpy as np
import pytest
import torch
import traitlets
from capsnet_book.experiments.recordings import recorded_run
from capsnet_book.widgets import TrainingReplay

from capsnet_tutorial import digits, load_pretrained
from capsnet_tutorial.weights import write_tensors

RECORDING = Path(str(files("capsnet_book.assets") / "recordings" / "small.safetensors"))
SAMPLES = [7, 475, 178, 264, 442]
RESULT = json.loads((Path(__file__).resolve().parents[2] / "results" / "small.json").read_text(encoding="utf-8"))
run = recorded_run()


# ------------------------------------------------------------------------------------------ the recording


def test_the_curve_is_the_one_in_the_results():
    kept = [{key: point[key] for key in ("epoch", "loss", "validation_error")} for point in RESULT["curve"]]
    assert run.curve == kept
    assert run.about["command"] == RESULT["command"]
    assert run.curve[-1]["epoch"] == run.epochs[-1] == RESULT["recipe"]["epochs"]


def test_its_end_is_what_the_shipped_network_does():
    assert run.about["shipped"] is True
    images, labels, _ = digits("test", source="sample")
    images, labels = images[SAMPLES], labels[SAMPLES]
    model = load_pretrained("small")
    with torch.no_grad():
        output, (_, trace) = model(images), model.trace(images)
    assert run.labels == labels.tolist()
    for name, expected in (
        ("images", images.flatten(1)),
        ("reconstructions", output.reconstruction),
        ("lengths", output.lengths),
        ("couplings", trace.c[-1]),
    ):
        recorded = getattr(run, name) if name == "images" else getattr(run, name)[-1]
        np.testing.assert_allclose(recorded, expected.numpy(), atol=1e-3, err_msg=name)


def test_an_untrained_network_has_no_opinion():
    assert run.epochs[0] == 0
    np.testing.assert_allclose(run.couplings[0], 0.1, atol=1e-3)
    assert run.lengths[0].max() < 0.01
    assert run.couplings[-1].max() > 0.5


def test_couplings_sum_to_one():
    np.testing.assert_allclose(run.couplings.sum(axis=-1), 1, atol=3e-3)


def test_it_is_small_and_needs_no_torch():
    assert RECORDING.stat().st_size < 300_000
    use = "from capsnet_book.widgets import TrainingReplay; TrainingReplay()"
    code = f"import sys; {use}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_another_file_is_refused(tmp_path):
    write_tensors(tmp_path / "other.safetensors", {"x": torch.zeros(2)}, {})
    (tmp_path / "text").write_text("no tensors here")
    for path in (tmp_path / "other.safetensors", tmp_path / "text"):
        with pytest.raises(ValueError, match="expected a recording"):
            recorded_run(path)
    with pytest.raises(FileNotFoundError):
        recorded_run(tmp_path / "nothing")


# --------------------------------------------------------------------------------------------- the widget


@pytest.fixture
def page(run_node):
    return run_node("replay.mjs", RECORDING, modules=("training_replay.js",))


def test_the_page_reads_what_python_reads(page):
    assert (page["epochs"], page["labels"], page["curve"]) == (run.epochs, run.labels, run.curve)
    assert page["sizes"] == [72, 10, 8]
    np.testing.assert_array_equal(page["prediction"], run.predictions)
    np.testing.assert_allclose(page["lengths"], run.lengths, atol=1e-7)
    np.testing.assert_allclose(np.reshape(page["couplings"], run.couplings.shape), run.couplings, atol=1e-7)
    np.testing.assert_allclose(page["ink"], run.reconstructions.sum(axis=-1), rtol=1e-4)
    np.testing.assert_array_equal(page["decided"], (run.couplings.max(axis=-1) > 0.2).sum(axis=-1))
    np.testing.assert_allclose(page["most"], run.couplings.max(axis=(-2, -1)), atol=1e-7)


def test_its_sentences_are_true(page):
    for moment, sentences in enumerate(page["words"]):
        for n, sentence in enumerate(sentences):
            lengths, label = run.lengths[moment, n], run.labels[n]
            long = (lengths >= 0.5).sum()
            if moment == 0:
                assert sentence.startswith("Before training")
            elif long == 1:
                assert ("recognised" in sentence) == (lengths.argmax() == label)
                assert ("taken for" in sentence) == (lengths.argmax() != label)
            else:
                assert ("Several capsules are long" in sentence) == (long > 1)
                assert ("No capsule is half long" in sentence) == (long == 0)
            if moment:
                decided = (run.couplings[moment, n].max(axis=-1) > 0.2).sum()
                assert (f"{decided} of the 72" in sentence) == (decided > 0)
                assert f"largest coupling is {run.couplings[moment, n].max():.2f}" in sentence


def test_what_it_shows_first_and_what_it_is_called():
    widget = TrainingReplay()
    assert isinstance(widget, anywidget.AnyWidget)
    assert repr(widget) == "TrainingReplay(epoch=8, digit=3)"
    assert widget.recording == RECORDING.read_bytes()
    assert (TrainingReplay(60, 0).epoch, TrainingReplay(60, 0).digit) == (60, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epoch": 7}, "epoch to be one of 0, 1, 2.*got 7"),
        ({"epoch": -1}, "epoch"),
        ({"epoch": "all"}, "epoch"),
        ({"epoch": None}, "epoch"),
        ({"epoch": True}, "epoch"),
        ({"digit": 5}, "digit to be one of 0, 1, 2, 3, 4; got 5"),
        ({"digit": -1}, "digit"),
    ],
)
def test_what_was_not_recorded_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        TrainingReplay(**options)


def test_state_reaches_python():
    widget = TrainingReplay()
    widget.set_state({"epoch": 20, "digit": 4})
    assert (widget.epoch, widget.digit) == (20, 4)
    with pytest.raises((ValueError, traitlets.TraitError)):
        widget.epoch = 21
    assert widget.epoch == 20
