"""data.py: the sample, MNIST where it is, the way from one to the other, and damaged files."""

from __future__ import annotations

import socket
import struct
import time
from pathlib import Path

import pytest
import torch

from capsnet_tutorial import data as data_module
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


@pytest.mark.parametrize("split", SPLITS)
def test_a_splits_labels_do_not_keep_the_whole_sample_in_memory(split):
    labels = digits(split, source="sample").labels
    assert labels.untyped_storage().nbytes() == labels.nbytes


# --- MNIST


def test_the_sample_is_what_mnist_holds_out(mnist):
    validation = digits("validation", source="mnist", root=mnist)
    sample = [digits(split, source="sample") for split in SPLITS]
    assert validation.images.equal(torch.cat([part.images for part in sample]))
    assert validation.labels.equal(torch.cat([part.labels for part in sample]))


def test_mnists_splits_share_no_place_and_have_their_sizes(mnist):
    splits = {split: digits(split, source="mnist", root=mnist) for split in SPLITS}
    assert [len(splits[split].images) for split in SPLITS] == [55_000, 5_000, 10_000]
    assert {data.source for data in splits.values()} == {"mnist"}
    assert not as_set(splits["train"]) & as_set(splits["validation"])
    assert splits["validation"].labels.bincount().tolist() == [500] * 10
    assert digits("test", root=mnist).images.equal(splits["test"].images)


# --- without MNIST


@pytest.mark.usefixtures("offline")
def test_auto_falls_back_to_the_sample_and_says_so_in_one_line(tmp_path, capfd):
    data = digits("test", root=tmp_path / "nothing here")
    captured = capfd.readouterr()
    assert data.source == "sample"
    assert data.images.equal(digits("test", source="sample").images)
    assert captured.out == ""
    attempt, fallback = captured.err.splitlines()
    assert attempt.endswith(f"downloading MNIST to {tmp_path / 'nothing here'} (11 MB) …")
    assert f"MNIST is not in {tmp_path / 'nothing here'}" in fallback
    assert "using the bundled sample of 5,000 digits" in fallback


def test_a_server_that_never_answers_is_waited_for_only_so_long(tmp_path, monkeypatch, capfd):
    """A socket that accepts and is silent, as behind some firewalls."""
    monkeypatch.setattr(data_module, "DOWNLOAD_TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        monkeypatch.setattr("torchvision.datasets.MNIST.mirrors", [address])
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        started = time.monotonic()
        assert resolved_source("auto", tmp_path) == "sample"
    assert time.monotonic() - started < 20
    assert socket.getdefaulttimeout() is None
    assert "using the bundled sample" in capfd.readouterr().err


@pytest.fixture
def homeless(monkeypatch):
    """A process whose user has no home directory."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", home)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("CAPSNET_DATA", raising=False)


@pytest.mark.usefixtures("homeless", "offline")
def test_without_a_home_directory_a_given_folder_serves_and_else_the_sample(tmp_path):
    lay_out(tmp_path)
    assert resolved_source("mnist", tmp_path) == "mnist"
    assert resolved_source("auto") == "sample"
    with pytest.raises(FileNotFoundError, match="MNIST has no folder to be in"):
        resolved_source("mnist")


@pytest.mark.usefixtures("offline")
def test_a_tilde_in_a_folders_name_is_the_home_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    lay_out(tmp_path / "digits")
    monkeypatch.setenv("CAPSNET_DATA", "~/digits")
    assert resolved_source("mnist") == "mnist"
    assert resolved_source("mnist", "~/digits") == "mnist"


@pytest.mark.usefixtures("offline")
def test_a_folder_that_may_not_be_looked_into_has_no_mnist_for_auto(tmp_path, monkeypatch):
    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", forbidden)
    assert resolved_source("auto", tmp_path) == "sample"


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
    assert "sample" not in capfd.readouterr().err


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
    raw = lay_out(tmp_path)
    file = raw / "t10k-images-idx3-ubyte"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(ValueError, match="expected MNIST's original files .* damaged") as refusal:
        digits("test", root=tmp_path)
    message = str(refusal.value)
    assert file.name in message
    assert str(raw) in message
    assert "train-images" not in message
    assert " ()" not in message


@pytest.mark.usefixtures("offline")
def test_an_unreadable_file_is_not_called_damaged(tmp_path, monkeypatch):
    lay_out(tmp_path)

    def unreadable(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "t10k-images-idx3-ubyte")

    monkeypatch.setattr("torchvision.datasets.MNIST", unreadable)
    with pytest.raises(ValueError, match="that may be read; got .*Permission denied") as refusal:
        digits("test", root=tmp_path)
    assert "Delete" not in str(refusal.value)


def test_an_unknown_split_or_source_is_refused():
    for split in ("training", None):
        with pytest.raises(
            ValueError, match=f"a split, one of train, validation, test; got {split!r}"
        ):
            digits(split, source="sample")
    with pytest.raises(ValueError, match="a source, one of auto, mnist, sample; got 'letters'"):
        digits("test", source="letters")
