"""The training of `my_capsnet.py` at the paper's sizes: an interrupted one is the same."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
import torch
from capsnet_book.experiments import own_file
from capsnet_book.experiments.records import stored
from capsnet_book.page import my_capsnet

from capsnet_tutorial import digits

ROOT = Path(__file__).resolve().parents[1]


def test_an_interrupted_training_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_file, "DIGITS_PER_EPOCH", 48)
    images, labels, _ = digits("train", source="sample")
    whole = own_file.Training(my_capsnet().SMALL)
    for _ in range(3):
        whole.train_one_epoch(images, labels)
    begun = own_file.Training(my_capsnet().SMALL)
    begun.train_one_epoch(images, labels)
    begun.save(tmp_path / "checkpoint.safetensors")
    torch.rand(5)  # what another program does to the random numbers
    resumed = own_file.Training(my_capsnet().SMALL)
    resumed.load(tmp_path / "checkpoint.safetensors")
    for _ in range(2):
        resumed.train_one_epoch(images, labels)
    assert resumed.losses == whole.losses
    for name, tensor in whole.network.state_dict().items():
        torch.testing.assert_close(resumed.network.state_dict()[name], tensor, rtol=0, atol=0)


def test_the_training_is_that_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = my_capsnet()
    images, labels, _ = digits("train", source="sample")
    few = images[:48], labels[:48]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(page, "load", lambda train: few)
    monkeypatch.setattr(page, "PAPER", page.SMALL)
    monkeypatch.setattr(page, "bend_digits", lambda *_: torch.zeros(1, 1, 28, 28))
    monkeypatch.setattr("sys.argv", ["my_capsnet.py", "--paper", "--epochs", "2", "--threads", "1"])
    page.main()
    printed = capsys.readouterr().out
    record = own_file.measure(tmp_path, epochs=2)
    for epoch, loss in enumerate(record["losses"], start=1):
        assert f"epoch {epoch:2} of 2: loss {loss:.2f}" in printed
    right = 1 - record["misread"] / len(few[0])
    assert f"{right:.1%} of 48 test digits are read" in printed


def test_chapter_9_says_what_was_measured() -> None:
    record = stored("own_file")
    minutes = record["processor_seconds"] / 60
    read = 1 - record["misread"] / record["test_digits"]
    assert "--epochs 9" in record["command"] and round(minutes) == 16
    (chapter,) = (ROOT / "book" / "chapters").glob("09-*.ipynb")
    words = " ".join(
        " ".join(cell.source.split()) for cell in nbformat.read(chapter, as_version=4).cells
    )
    said = f"`--paper --epochs 9`, sixteen minutes of processor time) it reads {100 * read:.1f} %"
    assert said in words
