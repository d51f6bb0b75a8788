"""files.py: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from networks import noise
from safetensors.torch import save_file

from capsnet_tutorial.storage import read_tensors, write_tensors, write_whole


def test_tensors_and_metadata_come_back_as_they_were(tmp_path):
    tensors = {"half": noise(2, 3).half(), "turned": noise(3, 4).T, "empty": torch.zeros(0, 3), "one": torch.tensor(1)}
    metadata = {"config": {"sizes": [1, 2], "name": "ü"}, "number": 1.5, "none": None}
    write_tensors(tmp_path / "file", tensors, metadata)
    found, described = read_tensors(tmp_path / "file")
    assert described == metadata
    assert found.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].equal(tensor)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    for content in (b"first", b"second"):
        write_whole(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(step, tmp_path, monkeypatch):
    write_whole(tmp_path / "file", b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left on device: '.*file'"):
        write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_others_may_read_what_was_written(tmp_path):
    write_whole(tmp_path / "file", b"content")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o644


def test_a_missing_file_is_a_missing_file(tmp_path):
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(FileNotFoundError, match=f"expected a weights file at {path}"):
            read_tensors(path)


def whole_file(folder: Path) -> bytes:
    write_tensors(folder / "whole", {"x": noise(10, 10)}, {"config": {}})
    return (folder / "whole").read_bytes()


@pytest.mark.parametrize("kept", [0, 4, 8, 50, 200, -1])
def test_a_truncated_file_is_refused(kept, tmp_path):
    (tmp_path / "file").write_bytes(whole_file(tmp_path)[:kept])
    with pytest.raises(ValueError, match="expected a whole safetensors file of this package; got .*file"):
        read_tensors(tmp_path / "file")


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 a zip, as torch.save writes it", b"\xff" * 100, b"{}"], ids=["zip", "bytes", "json"]
)
def test_another_kind_of_file_is_refused(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match="expected a whole safetensors file of this package"):
        read_tensors(tmp_path / "file")


def test_a_pickle_is_refused_unread(tmp_path):
    torch.save({"x": noise(2)}, tmp_path / "file")
    with pytest.raises(ValueError, match="expected a whole safetensors file of this package"):
        read_tensors(tmp_path / "file")


def test_metadata_that_is_not_ours_is_refused(tmp_path):
    save_file({"x": noise(2)}, tmp_path / "file", metadata={"format": "pt"})
    with pytest.raises(ValueError, match="expected a whole safetensors file of this package"):
        read_tensors(tmp_path / "file")
