"""Trained networks, recordings and other data of the book, found without importing PyTorch."""

from importlib.util import find_spec
from pathlib import Path


def asset(name: str) -> Path:
    """Path of a data file, such as "weights/small.safetensors": the book's own, else the module's.

    Raises:
        FileNotFoundError: neither package has it.
    """
    module = find_spec("capsnet_tutorial")
    assert module and module.origin
    for folder in (Path(__file__).parent, Path(module.origin).parent / "assets"):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"expected a data file of the book; there is no {name}")
