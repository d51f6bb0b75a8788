"""data.py: the sample, MNIST where it is, the way from one to the other, and damaged files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch

from capsnet_tutorial.data import Digits, digits, resolved_source

SPLITS = ("train", "validation", "test")
FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def lay_out(root: Path, count: int = 20) -> Path:
    """MNIST's four files with digits of our own; the folder they are in."""
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in FILES:
        if "images" in name:
            content = struct.pack(">IIII", 0x803, count, 28, 28) + bytes(range(256)) * (
                count * 784 // 256 + 1
            )
            content = content[: 16 + count * 784]
        else:
            content = struct.pack(">II", 0x801, count) + bytes(k % 10 for k in range(count))
        (raw / name).write_bytes(content)
    return raw


def as_set(data: Digits) -> set[bytes]:
    return {image.numpy().tobytes() for image in (data.images * 255).round().to(torch.uint8)}


# --- the sample


def test_the_sample_is_5000_digits_split_into_4000_500_and_500():
    for split, count in zip(SPLITS, (4000, 500, 500), strict=True):
        data = digits(split, source="sample")
        assert data.source == "sample"
        assert list(data.images.shape) == [count, 1, 28, 28]
        assert list(data.labels.shape) == [count]
        assert data.images.dtype == torch.float32
        assert data.labels.dtype == torch.int64
        assert (data.images.min(), data.images.max()) == (0, 1)
        assert data.labels.equal(torch.arange(count) % 10)
        data.images.zero_()  # which changes nothing for the next caller
    train, validation, test = (as_set(digits(split, source="sample")) for split in SPLITS)
    assert len(train) + len(validation) + len(test) == len(train | validation | test) == 5000


# --- MNIST


def test_the_sample_is_what_mnist_holds_out(mnist):
    validation = digits("validation", source="mnist", root=mnist)
    sample = [digits(split, source="sample") for split in SPLITS]
    assert validation.images.equal(torch.cat([each.images for each in sample]))
    assert validation.labels.equal(torch.cat([each.labels for each in sample]))


def test_mnists_splits_share_no_place_and_have_their_sizes(mnist):
    found = {split: digits(split, source="mnist", root=mnist) for split in SPLITS}
    assert [len(found[split].images) for split in SPLITS] == [55_000, 5_000, 10_000]
    assert {data.source for data in found.values()} == {"mnist"}
    assert not as_set(found["train"]) & as_set(found["validation"])
    assert found["validation"].labels.bincount().tolist() == [500] * 10
    assert digits("test", root=mnist).images.equal(found["test"].images)


# --- without MNIST


@pytest.mark.usefixtures("offline")
def test_auto_falls_back_to_the_sample_and_says_so_in_one_line(tmp_path, capfd):
    data = digits("test", root=tmp_path / "nothing here")
    said = capfd.readouterr()
    assert data.source == "sample"
    assert data.images.equal(digits("test", source="sample").images)
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert f"MNIST is not in {tmp_path / 'nothing here'}" in said.err
    assert "using the bundled sample of 5,000 digits" in said.err


@pytest.mark.usefixtures("offline")
def test_mnist_is_looked_for_where_the_environment_says(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CAPSNET_DATA", raising=False)
    digits("test")
    assert str(tmp_path / "cache" / "capsnet_tutorial") in capfd.readouterr().err
    monkeypatch.setenv("CAPSNET_DATA", str(tmp_path / "data"))
    digits("test")
    assert str(tmp_path / "data") in capfd.readouterr().err


@pytest.mark.usefixtures("offline")
def test_a_source_is_resolved_to_one_that_can_be_had(tmp_path, capfd):
    assert resolved_source("sample", tmp_path) == "sample"
    with pytest.raises(FileNotFoundError, match="MNIST is not in .* and could not be downloaded"):
        resolved_source("mnist", tmp_path)
    lay_out(tmp_path / "there")
    assert [resolved_source(source, tmp_path / "there") for source in ("auto", "mnist")] == [
        "mnist",
        "mnist",
    ]
    assert capfd.readouterr().err == ""


def test_a_download_that_was_cut_is_taken_up_again(tmp_path, monkeypatch):
    raw, asked = lay_out(tmp_path), []
    lacking = {name: (raw / name).read_bytes() for name in FILES[1:]}
    for name in lacking:
        (raw / name).unlink()

    def download(url: str, *_: object, **__: object) -> None:
        asked.append(url)
        name = url.rpartition("/")[2].removesuffix(".gz")
        if name in lacking:
            (raw / name).write_bytes(lacking[name])

    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", download)
    for _ in range(2):
        assert resolved_source("auto", tmp_path) == "mnist"
        assert len(asked) == 4


# --- damaged files

DAMAGES = {
    "truncated": lambda content: content[:-100],
    "cut into the header": lambda content: content[:5],
    "a bit flipped": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "a web page": lambda content: b"<!doctype html><title>404 Not Found</title>" * 20,
    "claims more digits": lambda content: content[:4] + struct.pack(">I", 2**31) + content[8:],
}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_named_as_such_and_never_used(damage, tmp_path):
    raw, name = lay_out(tmp_path), FILES[2]
    (raw / name).write_bytes(damage((raw / name).read_bytes()))
    with pytest.raises(
        ValueError, match="expected MNIST's original files under .* damaged"
    ) as refusal:
        digits("test", root=tmp_path)
    assert str(raw) in str(refusal.value)


def test_an_unknown_split_or_source_is_refused():
    for split in ("training", None):
        with pytest.raises(
            ValueError, match=f"a split, one of train, validation, test; got {split!r}"
        ):
            digits(split, source="sample")
    with pytest.raises(ValueError, match="a source, one of auto, mnist, sample; got 'letters'"):
        digits("test", source="letters")
