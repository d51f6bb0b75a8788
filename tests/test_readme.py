"""The README's Python runs as it stands there, from the first block to the last."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import capsnet_tutorial

pytestmark = pytest.mark.slow

README = Path(capsnet_tutorial.__file__).parent.parent / "README.md"
CHINESE = README.with_name("README.zh-CN.md")
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_block_of_python_runs(tmp_path, monkeypatch):
    for label, name in enumerate(("cat", "dog")):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for k in range(20):
            pixels = np.full((40, 60, 3), 10 * k, dtype=np.uint8)
            pixels[..., 2 * label] = 255
            Image.fromarray(pixels).save(tmp_path / "pictures" / name / f"{k}.png")
    monkeypatch.chdir(tmp_path)
    text = README.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == 5
    names: dict[str, object] = {}
    for block in blocks:
        # Two epochs do: what is tested is that it runs.
        exec(compile(block.replace("epochs=20", "epochs=2"), "README.md", "exec"), names)
    network = names["ResNetCapsules"](classes=2)
    images, labels = torch.rand(4, 3, 64, 64), torch.tensor([0, 1, 0, 1])
    recipe = capsnet_tutorial.Recipe(epochs=1, batch_size=2)
    capsnet_tutorial.fit(network, (images, labels), recipe, progress=False, threads=1)
    assert capsnet_tutorial.evaluate(network, (images, labels)).error <= 1


def test_the_chinese_readme_shows_the_same_module() -> None:
    speaking, module = BLOCK.findall(CHINESE.read_text(encoding="utf-8"))
    assert 'speak("zh_CN")' in speaking
    assert module in BLOCK.findall(README.read_text(encoding="utf-8"))
