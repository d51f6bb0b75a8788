"""`capsnet check`: what it takes, and what it answers."""

from __future__ import annotations

import json

import nbformat
import pytest

from capsnet_tutorial.check.command import main

SQUASH = """
def squash(s):
    n2 = (s * s).sum({axis}, keepdim=True)
    return n2 / (1 + n2) * s / (n2 + 1e-12).sqrt()
"""
LAYER = """
import torch
from torch import nn

class DigitCaps(nn.Module):
    def __init__(self, below, depth, axis=2):
        super().__init__()
        self.axis, self.rounds = axis, 3
        self.W = nn.Parameter(0.1 * torch.randn(below, 10, depth, 16))

    def forward(self, u):
        u_hat = torch.einsum("bid,ijde->bije", u, self.W)
        b = torch.zeros(u_hat.shape[:3])
        for _ in range(self.rounds):
            v = squash((b.softmax(self.axis).unsqueeze(3) * u_hat).sum(1))
            b = b + (u_hat * v.unsqueeze(1)).sum(3)
        return v
"""


@pytest.fixture
def write(tmp_path):
    def written(name, *sources):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(sources), encoding="utf-8")
        return path

    return written


def right(axis=-1):
    return SQUASH.format(axis=axis)


def test_a_class_with_its_arguments(write, capsys):
    layer = write("caps.py", right(), LAYER)
    assert main([f"{layer}:DigitCaps(60, 8)"]) == 0
    assert "W is `W` [I, J, D_in, D_out], rounds in `rounds`" in capsys.readouterr().out
    assert main([f"{layer}:DigitCaps(60, 8, axis=1)"]) == 1
    assert "softmax-axis" in capsys.readouterr().out
    assert main([f"{layer}:DigitCaps"]) == 2
    assert "with arguments: " in capsys.readouterr().err
    assert main([f"{layer}:DigitCaps(60)"]) == 2


def test_what_was_not_found_can_be_named(write, capsys):
    layer = write("caps.py", right(), LAYER)
    place = f"{layer}:DigitCaps(60, 8)"
    assert main([place, "--weight=W", "--axes=weight=I J D_in D_out", "--iterations=rounds"]) == 0
    assert main([place, "--weight=V"]) == 2
    assert "the name V" in capsys.readouterr().out
    assert main([place, "--axes=I J"]) == 2
    assert 'expected --axes "u=…"' in capsys.readouterr().err


def test_a_whole_file_is_scanned(write, capsys):
    path = write("all.py", right(axis=1), "def mask(v, labels):\n    return ...", "def helper(x):\n    return x")
    assert main([str(path)]) == 1
    out = capsys.readouterr().out
    assert "squash: ✗ squash: 1 known mistake" in out
    assert "mask: … mask: not written yet" in out
    assert "helper" not in out
    assert main([str(write("none.py", "def helper(x):\n    return x"))]) == 2
    assert "got helper" in capsys.readouterr().err


def test_a_package_with_relative_imports(write):
    write("theirs/__init__.py")
    write("theirs/parts/__init__.py")
    write("theirs/squashes.py", right())
    path = write(
        "theirs/parts/layers.py", "from ..squashes import squash as other\ndef squash(s):\n    return other(s)"
    )
    assert main([f"{path}:squash"]) == 0


def test_a_notebook_counts_up_to_the_cell_that_fails(write, capsys):
    notebook = nbformat.v4.new_notebook()
    sources = ["%pip install nothing", "!ls", "%%bash\nls", right(axis=1), "1 / 0", right()]
    notebook.cells = [nbformat.v4.new_code_cell(each) for each in sources]
    path = write("theirs.ipynb", nbformat.writes(notebook))
    assert main([f"{path}:squash"]) == 1
    said = capsys.readouterr()
    assert "squash-axis" in said.out
    assert "ZeroDivisionError" in said.err


def test_findings_as_json(write, capsys):
    path = write("all.py", right(axis=1))
    assert main([f"{path}:squash", "--json"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert (record["name"], record["passed"], record["status"]) == ("squash", False, 1)
    assert [(each["bug"], each["severity"]) for each in record["findings"]] == [("squash-axis", "against the paper")]
    assert main([f"{path}:absent", "--json"]) == 2
    assert "absent" in json.loads(capsys.readouterr().out)["error"]


def test_what_cannot_be_called_is_not_wrong(write, capsys):
    path = write("all.py", "def squash(s, beta):\n    return s", "def route(u_hat, iterations):\n    raise KeyError")
    assert main([f"{path}:squash"]) == 2
    assert "called as squash(s); got squash(s, beta)" in capsys.readouterr().out
    assert main([f"{path}:route"]) == 2


def test_the_help_gives_the_signatures(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "route(u_hat [B, I, J, D], iterations) -> v [B, J, D]" in capsys.readouterr().out
