"""The picture of the network in notebooks, where no page brings the glass network to life."""

from __future__ import annotations

from IPython.display import Image

from capsnet_book.assets import asset


def network_still(chapter: str | None = None) -> Image:
    """Return a picture of the glass network at work on a digit, as its JavaScript draws it.

    `tools/pictures.py` takes the pictures.

    Args:
        chapter: the name of a chapter, such as "squash", whose parts are enlarged; None: no part.

    Raises:
        FileNotFoundError: there is no picture with this chapter's parts enlarged.
    """
    name = "network" if chapter is None else f"network-{chapter}"
    return Image(asset(f"stills/{name}.png").read_bytes())
